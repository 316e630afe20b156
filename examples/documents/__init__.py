"""The five source documents, a script each: what it describes, run from end to end."""
