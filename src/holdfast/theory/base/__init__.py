"""What everything stands on: the safe side, concentration, intervals and what follows from them."""
