"""Estimators of scikit-learn on one holdout: asked, checked, compared and searched, all counted."""

from __future__ import annotations

from holdfast.sklearn.objective import HoldoutObjective as HoldoutObjective
from holdfast.sklearn.reusable import ReusableHoldout as ReusableHoldout
from holdfast.sklearn.searching import HoldoutSearchCV as HoldoutSearchCV

__all__ = ["HoldoutObjective", "HoldoutSearchCV", "ReusableHoldout"]
