"""World of the trials: populations with a known truth, their questions, and who answers."""
