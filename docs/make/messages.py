"""Messages of all pages, read from the sources: `make messages` brings the language files up to date.

A message is the literal template that a call of `message`, `counted`, `sentence` and the like is given, any other text
of two words in a module that makes pages, or what a note, a notation or a bank of sentences says.  New messages are put
into every file without a translation, and pages say them in English; those that the sources no longer have are left
out.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import polib

import symattn.foundation.languages
from symattn.derivation.mechanisms import mechanisms
from symattn.derivation.misconceptions import misconceptions
from symattn.derivation.misconceptions.base import COUNTING
from symattn.derivation.slips import SLIPS
from symattn.foundation.installed import templates
from symattn.foundation.languages import ENGLISH, PLACES, filled, languages
from symattn.practice.choices import words as of_choices
from symattn.teaching.explanation.wording import NAMES
from symattn.teaching.problems.masks import TEXTS

PACKAGE = Path(symattn.__file__).parent
LANGUAGES = Path(symattn.foundation.languages.__file__).parent

SPEAKING = (
    "explanation", "problems", "marker", "reports", "ops", "submissions", "speech.py", "papers.py",
    "summary.py", "handed_in.py", "roster.py", "unpacking.py", "reading.py", "values.py", "intervals.py",
)  # fmt: skip
"""Folders and modules whose texts of two words are messages, if nothing below says otherwise."""

SILENT = (
    "numpy_source.py", "sympy_source.py", "program.py", "program_in_letters.py", "names.py", "scheme.py", "code.py",
    "masks.toml", "starter.toml", "stress.py", "trial.py",
)  # fmt: skip
"""What says nothing: code for notebooks, names to read by, errors in files, tokens, what developers read."""

NEVER = frozenset({
    "no method", "lost already", "answer alone", "not carried forward", "some lines", "all but one",
    "between parts", "own scheme", "feed forward", "feeding forward", "grouped weights",
    "grouped cache", "block operations", "decoder block", "weights of scores", "exact weights", "equal keys",
    "zero input", "one head", "rn cost", "The text", "and others", "Data sheet", "`symattn worksheet", "no nbformat",
    "S turned twice", "S at once", "S by columns", "S own key", "S' first row", "A row maximum", "A global maximum",
    "A masked after", "A column maximum", "Z late weights", "Expr", "Something", "Stated",
    "None", "Off", "Moodle", "Canvas", "Brightspace", "The mark scheme",
})  # fmt: skip
"""Names of kinds and of things to be read, which look like messages and are printed nowhere."""

_FORMULA = re.compile(r" \| |:=|^[^$]*\b(?:frac|exp|hat|under|Softmax)\(|^\"|(?<!\^)\{0\}")
"""Types, the formulas of notes, and code with its operands by number."""

CALLS: Mapping[str, int] = {
    "message": 1, "counted": 2, "sentence": 1, "say": 1, "inlines": 1, "paragraph": 1, "Words": 1, "as_text": 1,
    "Strong": 1, "fill_in": 1, "refusal": 1, "instead": 1,
}  # fmt: skip
"""Calls that make messages, and how many of their first arguments are templates; `in_context` has its context first."""

ERRORS = {
    "InputError", "OutgrownError", "ShapeError", "SelfCheckError", "UndecidedError", "OutsideTheClass",
    "NotImplementedError", "offered",
}  # fmt: skip
PATTERNS = {
    "cast", "compile", "rewriting", "search", "match", "fullmatch", "sub", "findall", "finditer", "removeprefix",
    "removesuffix",
}  # fmt: skip
READ = "words"
WORDS = {"words_for", "any_of", "whole_word"}
"""Calls that are given words to be read, which language files have in the context READ."""
NOT_WRITTEN = ERRORS | PATTERNS | WORDS | {"counted"}
DEVELOPERS = re.compile("prove|complaint|trouble|separated|check|family")
"""Functions that tell a developer, and no page, what a draw has wrong."""

KEYS = {
    "title", "word", "text", "lead", "label", "table", "kind", "as_written", "corrected", "why", "introduction",
    "patch",
}  # fmt: skip
"""Keys of notes and notations under which there is text."""

TURNED = (
    {"row": "row", "rows": "rows", "column": "column", "columns": "columns"},
    {"row": "column", "rows": "columns", "column": "row", "columns": "rows"},
)
_SPOKEN = re.compile(r"[A-Za-z]{2}|[“”,;:.!?()]")
_WORD = re.compile(r"[a-z]{2}")
_QUOTED = re.compile(r'"([A-Za-z][^"]*[a-z]{2}[^"]*)"')
_LABEL = re.compile(r"[A-Z][a-z]{2,}")
_TWO_WORDS = re.compile(r"[a-z]{2}\S*\s+(?:\S+\s+)*[A-Za-z]{2}|[A-Za-z]{2}\S*\s+(?:\S+\s+)*[a-z]{2}")


@dataclass(frozen=True)
class Template:
    """A message as it stands in a source: context, singular, plural ("" if there is none)."""

    context: str
    one: str
    other: str = ""


@cache
def extracted() -> Mapping[Template, str]:
    """Every message with the source that has it first, in the order of the sources."""
    found: dict[Template, str] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        where = path.relative_to(PACKAGE).as_posix()
        tree = ast.parse(path.read_text(encoding="utf-8"))
        speaks = any(part in SPEAKING for part in where.split("/")) and path.name not in SILENT
        called = (x for x in templates_in(tree) if path.name not in SILENT or x.context == READ)
        for template in (*called, *(_written(tree) if speaks else ())):
            found.setdefault(template, where)
    for path in sorted(PACKAGE.rglob("*.toml")):
        where = path.relative_to(PACKAGE).as_posix()
        if path.name in SILENT:
            continue
        with path.open("rb") as file:
            for text in _texts(tomllib.load(file), "problems" in where.split("/")):
                found.setdefault(Template("", text), where)
    for path in sorted(templates().rglob("*.j2")):
        for text in re.findall(r"""\bsay\((["'])(.+?)\1""", path.read_text(encoding="utf-8")):
            found.setdefault(Template("", text[1]), path.name)
    for chosen in mechanisms().values():
        found.setdefault(Template("", chosen.title), "mechanisms")
    for text in of_choices():
        found.setdefault(Template("", text), "practice/choices.py")
    for known in (*misconceptions().values(), *SLIPS.values(), *COUNTING.values()):
        names = filter(None, (known.name, getattr(known, "turned_name", "")))
        advice = filter(None, (known.feedback, getattr(known, "of_weights", "")))
        told = (text for said in advice for text in _feedback(said))
        for text in (*(way for name in names for way in (name, NAMES.sub(r"$\1$", name))), *told):
            found.setdefault(Template("", text), "misconceptions")
    said = {template: where for template, where in found.items() if template.context == READ or _is_said(template.one)}
    words = (Template(text, word) for texts in TEXTS.values() for text in texts for word in text.split())
    return said | dict.fromkeys(words, "teaching/problems/masks.toml")


def _feedback(said: str) -> Iterator[str]:
    """Feedback is said of rows, and turned where tokens are columns."""
    for words in TURNED:
        text = filled(said, words)
        yield text[:1].upper() + text[1:] if text[:1].isascii() else text


def _is_said(text: str) -> bool:
    if text in NEVER or _FORMULA.search(text):
        return False
    return text.count("{") > 1 or bool(_SPOKEN.search(PLACES.sub("", text)))


def templates_in(tree: ast.AST) -> Iterator[Template]:
    """What calls that make messages are given."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name, args = _name(node.func), [tuple(_literals(arg)) for arg in node.args]
        if name == "partial" and args:  # partial(message, "…"), made when it is needed
            name, args = _name(node.args[0]), args[1:]
        match name, args:
            case "counted", [(one,), (other,), *_]:
                yield Template("", one.strip(), other.strip())
            case "Mark", [_, _, texts, *_]:
                yield from (Template("", text.strip()) for text in texts)
            case _, [texts, *_] if name in WORDS:
                yield from (Template(READ, text) for text in texts)
            case "in_context", [(context,), texts, *_]:
                yield from (Template(context, text.strip()) for text in texts)
            case _, [texts, *_] if name in CALLS:
                yield from (Template("", text.strip()) for text in texts)


def _name(node: ast.expr) -> str:
    """What is called, wherever it is from."""
    return node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")


def _literals(node: ast.expr) -> Iterator[str]:
    """A text that is written out, or those that a condition chooses from."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.IfExp(body=body, orelse=other):
            yield from (*_literals(body), *_literals(other))


def _written(node: ast.AST) -> Iterator[Template]:
    """Texts of two words that are no docstrings, errors, patterns, names to be compared or parts of others."""
    match node:
        case ast.Constant(value=str(text)):
            if quoted := _QUOTED.fullmatch(text):
                yield Template("", quoted[1])
            said = PLACES.sub("", text)
            whole = _TWO_WORDS.search(said) or _LABEL.fullmatch(text) or (said != text and _WORD.search(said))
            if whole and not text.startswith("symattn "):
                yield Template("", text.strip())
            return
        case ast.Subscript(value=ast.Dict() as choices):
            yield from _written(choices)
            return
        case ast.Expr(value=ast.Constant()) | ast.Compare() | ast.Subscript() | ast.JoinedStr() | ast.Raise():
            return
        case ast.FunctionDef(name=name, body=body):
            for part in () if DEVELOPERS.fullmatch(name) else body:
                yield from _written(part)
            return
        case ast.Assign(targets=[ast.Name(id="__all__")]):
            return
        case ast.AnnAssign(value=value):
            yield from _written(value) if value else ()
            return
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in NOT_WRITTEN:
            return
        case ast.Call(func=ast.Attribute(attr="several"), args=[_, *others]):  # what is drawn together, by its names
            for other in others:
                yield from _written(other)
            return
        case ast.keyword(arg="options" | "defaults" | "levels"):
            return
        case ast.Dict(values=values):
            for value in values:
                yield from _written(value)
            return
        case ast.match_case():
            for part in node.body:
                yield from _written(part)
            return
    for child in ast.iter_child_nodes(node):
        yield from _written(child)


def _texts(value: object, every: bool, key: str = "") -> Iterator[str]:
    """Texts in a table: under the keys that have text, or every one."""
    match value:
        case str():
            yield from _QUOTED.findall(value)
            if key in KEYS or (every and (_TWO_WORDS.search(PLACES.sub("", value)) or _LABEL.fullmatch(value))):
                yield value.strip()
        case dict():
            for name, inside in value.items():
                yield from _texts(inside, every, name)
        case list():
            for inside in value:
                yield from _texts(inside, every, key)


# ------------------------------------------------------------------------------------------------ the files


def updated(file: polib.POFile, found: Mapping[Template, str]) -> polib.POFile:
    """The catalogue with exactly the messages of the sources, and the translations that it had."""
    had = {(e.msgctxt or "", e.msgid): e for e in file if e.msgctxt != "sign"}
    new = polib.POFile(wrapwidth=110)
    new.metadata = file.metadata
    new.extend(entry for entry in file if entry.msgctxt == "sign")
    for template, where in found.items():
        old = had.get((template.context, template.one))
        entry = polib.POEntry(
            msgctxt=template.context or None, msgid=template.one, msgid_plural=template.other, occurrences=[(where, "")]
        )
        if template.other:
            entry.msgstr_plural = dict(old.msgstr_plural) if old and old.msgstr_plural else {0: "", 1: ""}
        elif old:
            entry.msgstr = old.msgstr
        new.append(entry)
    return new


def coverage(file: polib.POFile) -> tuple[int, int]:
    """How many messages are translated, and how many there are."""
    own = [entry for entry in file if entry.msgctxt != "sign"]
    return sum(bool(e.msgstr or all(e.msgstr_plural.values() or [""])) for e in own), len(own)


def main() -> None:
    """Bring every file up to date and say how much of it is translated; with `--all`, fail if anything is missing."""
    found, whole = extracted(), True
    for code in languages():
        if code == ENGLISH:
            continue
        path = LANGUAGES / f"{code}.po"
        file = updated(polib.pofile(str(path)), found)
        file.save(str(path))
        done, count = coverage(file)
        whole = whole and done == count
        print(f"{code}: {done} of {count} messages are translated ({100 * done / count:.1f} %).")
    if "--all" in sys.argv and not whole:
        sys.exit("A release needs every message in every language.")


if __name__ == "__main__":
    main()
