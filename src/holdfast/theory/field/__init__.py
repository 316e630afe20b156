"""Published results of others, as the rows to compare with, and guessers of the field."""
