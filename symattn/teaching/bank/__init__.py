"""Questions as other systems ask them: a box for every entry, what may be typed into it, what a wrong entry is told."""
