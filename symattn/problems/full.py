"""The full derivation in boxes: every step asked, from the givens to the output."""

from __future__ import annotations

from symattn.problem import Problem

NAME = "full"
TITLE = "Full derivation in answer boxes"


def ask(problem: Problem) -> Problem:
    """Asks for every step."""
    return problem
