"""Typical stability: the notion of Bassily and Freund, its mechanisms and their composition."""
