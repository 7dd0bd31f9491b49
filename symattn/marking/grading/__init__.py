"""Marking from files: one piece of work checked, or a class graded, with a gradebook and feedback for everybody."""

from symattn.marking.grading.checking import Marking, checked
from symattn.marking.grading.gradebook import Change, Gradebook
from symattn.marking.grading.record import Row, Terms
from symattn.marking.grading.run import grade_class
from symattn.marking.grading.source import Papers, of_question, papers

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
