"""Variants that are worth setting: givens drawn so that no variant is degenerate, and keys checked before they leave."""

from symattn.fairness.draw import Draw, draw
from symattn.fairness.selfcheck import self_check

__all__ = ["Draw", "draw", "self_check"]
