"""The papers and the field as they stand: typical stability, composition, baselines, guessers."""
