"""What trials are made of: populations with a known truth, their questions, and who answers."""
