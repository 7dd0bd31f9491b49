"""Variants that are worth setting: no draw is degenerate, and no key leaves unchecked."""

from symattn.fairness.draw import Draw, draw
from symattn.fairness.selfcheck import self_check

__all__ = ["Draw", "draw", "self_check"]
