"""Variants that are worth setting: no draw is degenerate, and no key leaves unchecked."""

from symattn.teaching.fairness.draw import draw
from symattn.teaching.fairness.selfcheck import self_check

__all__ = ["draw", "self_check"]
