"""Somebody's own program, step by step beside a derivation: which step departs first, and by which misconception."""

from __future__ import annotations

from symattn.marking.implementations.comparison import compared, traced
from symattn.marking.implementations.report import Comparison, Departure, Difference, StepComparison

__all__ = ["Comparison", "Departure", "Difference", "StepComparison", "compared", "traced"]
