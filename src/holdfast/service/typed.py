"""What people type into the fields of forms."""

from __future__ import annotations

from holdfast.errors import InvalidArgument
from holdfast.service.tokens import ROLES, TokenRole

__all__ = ["typed_count", "typed_number", "typed_role"]


def typed_number(name: str, text: str) -> float | int:
    """A number as people type it into a field."""
    cleaned = text.strip().replace(",", "").replace("_", "")
    for kind in (int, float):
        try:
            return kind(cleaned)
        except ValueError:
            continue
    raise InvalidArgument(f"{name} is {text[:20]!r}; it must be a number.")


def typed_count(name: str, text: str) -> int | None:
    """A whole number; None where nothing is typed."""
    found = typed_number(name, text) if text.strip() else None
    if found is not None and not isinstance(found, int):
        raise InvalidArgument(f"{name} is {text[:20]!r}; it must be a whole number.")
    return found


def typed_role(text: str) -> TokenRole:
    """A role of a token."""
    for role in ROLES:
        if role == text:
            return role
    raise InvalidArgument(f"role is {text[:20]!r}; it must be one of {', '.join(ROLES)}.")
