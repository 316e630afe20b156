"""Estimators of scikit-learn on one holdout: asked, checked, compared and searched, all counted."""

from __future__ import annotations

from holdfast.sklearn.candidates import HoldoutObjective as HoldoutObjective
from holdfast.sklearn.caps import ErrorCaps as ErrorCaps, error_caps as error_caps
from holdfast.sklearn.holdout_search import HoldoutSearchCV as HoldoutSearchCV
from holdfast.sklearn.reusable import ReusableHoldout as ReusableHoldout

__all__ = ["ErrorCaps", "HoldoutObjective", "HoldoutSearchCV", "ReusableHoldout", "error_caps"]
