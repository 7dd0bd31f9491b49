"""Exams: several questions on a paper, a variant for every student, frozen in one file, with keys and an overview."""

from symattn.teaching.exam.deploy import Exam, make_exam, write_exam
from symattn.teaching.exam.spec import ExamSpec, is_exam, read_exam_file

__all__ = ["Exam", "ExamSpec", "is_exam", "make_exam", "read_exam_file", "write_exam"]
