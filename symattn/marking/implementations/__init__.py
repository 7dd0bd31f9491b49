"""Somebody's own program, step by step beside a derivation: which step departs first, and by which misconception."""
