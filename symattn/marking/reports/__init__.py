"""A report as a document or as data: for the student without the key, for the teacher with it."""

from symattn.marking.reports.documents import feedback_document, marking_document, report_json
from symattn.marking.reports.exercise import exercise_sheet
from symattn.marking.reports.parts import Reader

__all__ = ["Reader", "exercise_sheet", "feedback_document", "marking_document", "report_json"]
