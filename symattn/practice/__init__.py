"""Practice pages: the marker in the student's own browser, as files that any web space serves."""
