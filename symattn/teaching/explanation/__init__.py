"""From a derivation, a problem or a question to a document: to read, to fill in, to mark by."""

from typing import Literal

Layout = Literal["matrix", "falk", "columns", "flow"]
LAYOUTS: tuple[Layout, ...] = ("matrix", "falk", "columns", "flow")
Conventions = Literal["full", "bare", "none"]
CONVENTIONS: tuple[Conventions, ...] = ("full", "bare", "none")
