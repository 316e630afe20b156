"""Estimators of scikit-learn on one holdout: asked, checked, compared and searched, all counted."""

from __future__ import annotations

from holdfast.sklearn.candidates import HoldoutObjective as HoldoutObjective
from holdfast.sklearn.holdout_search import HoldoutSearchCV as HoldoutSearchCV
from holdfast.sklearn.reusable import ReusableHoldout as ReusableHoldout

__all__ = ["HoldoutObjective", "HoldoutSearchCV", "ReusableHoldout"]
