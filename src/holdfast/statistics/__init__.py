"""Statistics: what can be asked for, what it is of a table, and the play that answers it."""
