"""Marking from files: one piece of work checked, or a class graded, with a gradebook and feedback for everybody."""
