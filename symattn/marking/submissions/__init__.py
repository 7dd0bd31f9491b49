"""What students hand in, read: Markdown, notebooks, TOML, JSON, CSV and LaTeX become a `Submission`.

Nothing that was typed is evaluated or executed, and everything has a bound: the file's size, the size of a matrix, the
length and depth of a number.  What cannot be read is said in a remark with its place and costs nothing else.
"""

from symattn.marking.submissions.entries import entry, grid
from symattn.marking.submissions.files import form_of, read_submission, sheet_of

__all__ = ["entry", "form_of", "grid", "read_submission", "sheet_of"]
