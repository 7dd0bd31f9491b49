"""Marking: what was handed in, read, followed, diagnosed, marked and reported."""
