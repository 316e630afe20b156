"""Independent rows: Theorems T, M, V, D and P, whose noise hides single rows."""
