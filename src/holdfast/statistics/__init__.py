"""Statistics: what can be asked for, what it is of a table, and the play that answers it."""

__all__ = ["NAMES"]

# What people call them in Python: the functions of `call`, told here without loading them.
NAMES = (
    "accuracy",
    "auc",
    "brier",
    "correlation",
    "count",
    "covariance",
    "difference",
    "error",
    "f1",
    "histogram",
    "log_loss",
    "mean",
    "median",
    "proportion",
    "quantile",
    "std",
    "sum",
    "variance",
)
