"""Agents: the verbs of a holdout as tools of the Model Context Protocol. No row is ever shown."""
