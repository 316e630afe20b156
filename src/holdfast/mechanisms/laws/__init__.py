"""Laws of noise, in whole cells of a public grid: how one is drawn, and what it is charged."""
