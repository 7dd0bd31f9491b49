"""What the package can say on a page, read from its sources: no page has to be made for a sentence to be found.

Every text in the modules that make pages counts, but for what is never printed: docstrings, errors, patterns, names
that are compared or looked up, and what problem types and misconceptions say about themselves.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path

import symattn
from symattn.misconceptions import COUNTING, SLIPS, misconceptions
from symattn.problems import problem_types
from symattn.problems.counts import ITEMS
from symattn.problems.masks import TEXTS
from symattn.problems.properties import RULES
from symattn.problems.recurrence import STATEMENTS
from symattn.problems.ways import WAYS

PACKAGE = Path(symattn.__file__).parent
SPEAKING = (
    "explanation", "problems", "marking", "reports", "misconceptions", "ops", "submissions", "figure_words.py",
    "exam/papers.py", "grading/summary.py", "grading/handed_in.py", "exact/reading.py", "exact/values.py",
    "exact/intervals.py",
)  # fmt: skip
SILENT = ("explanation/numpy_source.py", "explanation/program.py", "submissions/names.py", "marking/scheme.py")
"""Modules of those folders that say nothing: code for notebooks, names to read by, errors in files."""

TOLD = ("exact/",)
"""Modules whose errors are told to whoever wrote a number."""

NEVER = frozenset({
    " has entries that are too long to be written.", "a weight of a token for itself", "next token's powers",
    "is no folder and no zip", "is not there", "no nbformat", " (it names the sheet ", " and others",
    "(an integer of about ", " stands in no expression of this problem type", "`symattn worksheet", "rn cost",
    "W_O^T Concat(H_1, H_2)^T", "W_O Concat(H_1, H_2)",
})  # fmt: skip
"""Parts of errors that are put together before they are raised; commands, names and formulas."""

REASONS = frozenset({"no method", "lost already", "answer alone"})
"""Ids of reasons for marks that are no words of a report."""

NOT_YET = frozenset({
    "Masked cross-attention", "The outputs of the heads stand one below the other in {outputs}, head 1 first.",
    "The largest score of each column gets the weight 1; ties share it.",
    "Each column of {above} is divided by its own entry of {below}.",
    "max takes the greatest number of each column, of all matrices in it.",
    "In the exponent, each column has its own entry of the maximum.", "⊙ multiplies each column by its own number.",
    "The loss of a token is minus the sum of target times ln of probability, over its column; ln has base e, and what "
    "is wanted not at all counts 0.",
    "The norm is the largest sum of absolute values in a column.",
    "Each column has its own mean and variance, which divides the sum of the squares by {divisor}.",
    "The column of a position is {features}.", "Over the sum of the column",
})  # fmt: skip
"""Sentences about tokens as columns, and a figure, that the catalogues do not have yet and that stay English."""

ERRORS = {
    "InputError",
    "OutgrownError",
    "ShapeError",
    "SelfCheckError",
    "UndecidedError",
    "OutsideTheClass",
    "NotImplementedError",
    "offered",
}
PATTERNS = {"compile", "search", "match", "fullmatch", "sub", "findall", "finditer", "removeprefix", "removesuffix"}
CHECKS = re.compile(r"_?(?:prove|complaint|trouble|separated|check|family)")
"""Functions that tell a developer, and no page, what a draw has wrong."""


def texts() -> Iterator[tuple[str, int, str]]:
    """Module, line and text of everything that may be said."""
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if name.startswith(SPEAKING) and name not in SILENT:
            tree = ast.parse(path.read_text(encoding="utf-8"))
            parts = _titles(tree) if name.startswith("ops") else [tree]
            for line, text in (said for part in parts for said in _spoken(part, name.startswith(TOLD))):
                if text not in _unsaid() | NEVER | REASONS | NOT_YET and not text.startswith("symattn "):
                    yield name, line, text


def _titles(tree: ast.AST) -> Iterator[ast.AST]:
    """What operations are called: all that they say themselves."""
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id="title")], value=value):
                yield value
            case ast.FunctionDef(name="title", body=body):
                yield from body


def _spoken(node: ast.AST, errors: bool) -> Iterator[tuple[int, str]]:
    """Line and text of every constant below a node that may be printed; with `errors`, also of what is raised."""
    match node:
        case ast.Constant(value=str(text)):
            yield node.lineno, text
            return
        case ast.Expr(value=ast.Constant()) | ast.Compare() | ast.Subscript():
            return
        case ast.FunctionDef(name=name) if CHECKS.match(name):
            return
        case ast.Raise() if not errors:
            return
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in ERRORS | PATTERNS:
            return
        case ast.keyword(arg="options" | "defaults" | "levels"):
            return
        case ast.Dict(values=values):
            for value in values:
                yield from _spoken(value, errors)
            return
        case ast.match_case():
            for part in node.body:
                yield from _spoken(part, errors)
            return
    for child in ast.iter_child_nodes(node):
        yield from _spoken(child, errors)


@cache
def _unsaid() -> frozenset[str]:
    """What problem types, misconceptions and ways of working say about themselves, and sentences to be masked."""
    found = {text for chosen in problem_types().values() for _, text in chosen.options.values()}
    for known in (*misconceptions().values(), *SLIPS.values(), *COUNTING.values()):
        found |= {str(getattr(known, f.name)) for f in fields(known) if f.name not in ("name", "feedback")}
    found |= {way.id for way in WAYS} | set(ITEMS) | set(RULES) | set(STATEMENTS)
    return frozenset(found.union(*TEXTS.values()))


_BETWEEN = re.compile(r"\$[^$]*\$|\{[^{}]*\}|\\[a-z]+|\b[A-Z]\b(?:(?:, | and )[A-Z]\b)+|[^A-Za-z'’ -]+")


def still_says(message: str) -> bool:
    """Whether all words of a message stand in the sources, so that a page may say it though none did."""
    return all(words.strip(" -'’").lower() in _everything() for words in _BETWEEN.split(message))


@cache
def _everything() -> str:
    return " | ".join(part.lower() for _, _, text in texts() for part in _BETWEEN.split(text))


def clauses(text: str) -> Iterator[str]:
    """The runs of at least two words in a text, without formulas, numbers and punctuation."""
    for run in _BETWEEN.split(text):
        words = run.strip(" -'’").lower()
        if " " in words and re.search("[a-z]{3}", words):
            yield words
