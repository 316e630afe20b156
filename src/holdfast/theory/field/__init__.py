"""What others published, as the rows to compare with, and guessers of the field."""
