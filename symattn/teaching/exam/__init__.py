"""Exams: several questions on a paper, a variant for every student, frozen in one file, with keys and an overview."""
