"""The service: one folder of ledgers behind HTTP, for people, programs and agents."""
