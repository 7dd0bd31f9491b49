"""Marking from files: one piece of work checked, or a class graded, with a gradebook and feedback for everybody."""

from symattn.grading.checking import Marking, checked
from symattn.grading.gradebook import Change, Gradebook
from symattn.grading.record import Row, Terms
from symattn.grading.run import grade_class
from symattn.grading.source import Papers, of_question, papers

__all__ = [
    "Change",
    "Gradebook",
    "Marking",
    "Papers",
    "Row",
    "Terms",
    "checked",
    "grade_class",
    "of_question",
    "papers",
]
