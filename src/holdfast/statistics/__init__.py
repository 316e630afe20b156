"""Statistics: what is asked about the population, made of row values, with their concentration."""
