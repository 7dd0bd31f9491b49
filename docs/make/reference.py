"""What stands in docs/reference.md, and what `symattn list` says: made of docstrings, signatures and `describe`, by
`make reference`."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import symattn
from symattn import errors
from symattn.cli.listed import KEPT, catalogues
from symattn.derivation.derivation import Step
from symattn.derivation.mechanisms import mechanisms
from symattn.derivation.settings import ABOUT
from symattn.exact import Decision, Outline
from symattn.marking.grading.checking import Marking
from symattn.marking.grading.gradebook import Gradebook
from symattn.teaching.description import Description, Given, Setting, describe
from symattn.teaching.problems import problem_types
from symattn.teaching.sheets import Sheet

FILE = Path(__file__).parents[2] / "docs" / "reference.md"
GIVEN_BACK = (Step, Outline, Sheet, Marking, Gradebook, Decision, Description)
"""Classes whose objects the functions give back, beside those of `symattn.__all__`; of these what has words is told."""

OPERATORS = ("__getitem__", "__iter__", "__array__")
WIDTH = 100


def functions() -> list[Callable[..., Any]]:
    return [thing for name in symattn.__all__ if inspect.isfunction(thing := getattr(symattn, name))]


def classes() -> list[type]:
    public = [thing for name in symattn.__all__ if inspect.isclass(thing := getattr(symattn, name))]
    return [*(c for c in public if not issubclass(c, Exception)), *GIVEN_BACK]


def raised() -> list[type[Exception]]:
    found = (thing for thing in vars(errors).values() if inspect.isclass(thing))
    return [thing for thing in found if issubclass(thing, errors.SymattnError)]


def counted() -> Iterator[str]:
    """What `symattn.counting` has: layers by their fields, and functions."""
    module = symattn.counting
    yield from ("", "## Counting", "", *(inspect.getdoc(module) or "").splitlines()[:1], "")
    yield "All of `from symattn import counting`; sizes are whole numbers or SymPy symbols."
    things = [(name, getattr(module, name)) for name in module.__all__]
    for name, thing in things:
        if inspect.isfunction(thing):
            yield from ("", f"### counting.{name}", "", "```python", call(name, thing), "```", "")
            yield from prose(thing)
    for name, thing in things:
        if inspect.isclass(thing) and is_dataclass(thing):
            yield from ("", f"### counting.{name}", "")
            yield from prose(thing)
            yield from ("", "Fields: " + ", ".join(f"`{one.name}`" for one in fields(thing)) + ".")


def members(cls: type) -> Iterator[tuple[str, object]]:
    """The methods and properties of a class that anybody may use, in the order in which they are written."""
    for name, thing in vars(cls).items():
        method = inspect.isfunction(thing) or isinstance(thing, property | classmethod | cached_property)
        if method and inspect.getdoc(thing) and (not name.startswith("_") or name in OPERATORS):
            yield name, thing


def reference() -> str:
    """The whole page."""
    return "\n".join(lines()).rstrip() + "\n"


def listed() -> str:
    """What `symattn list` says, as JSON."""
    return (
        json.dumps({what: dict(entries()) for what, entries in catalogues().items()}, ensure_ascii=False, indent=1)
        + "\n"
    )


def lines() -> Iterator[str]:
    yield "# Reference"
    yield from ("", "Made by `make reference` from the sources: what Python has, and every mechanism with its givens,")
    yield "settings and steps. In Python, `symattn.describe(name)` says the same of a mechanism, in the shell"
    yield from ("`symattn list mechanism NAME`.", "")
    for title in ("Functions", "Classes", "Counting", "Errors", "Settings", "Mechanisms", "Problem types"):
        yield f"- [{title}](#{title.lower().replace(' ', '-')})"
    yield from ("", "## Functions", "")
    yield f"All of `import symattn`; `symattn.__version__` is the version. {len(functions())} functions:"
    for function in functions():
        yield from ("", f"### {function.__name__}", "", "```python", call(function.__name__, function), "```", "")
        yield from prose(function)
    yield from ("", "## Classes")
    for cls in classes():
        yield from of_class(cls)
    yield from counted()
    yield from ("", "## Errors", "", "Each is a sentence: where, what came, what was expected.", "")
    for cls in raised():
        bases = ", ".join(f"`{base.__name__}`" for base in cls.__bases__)
        yield f"- `{cls.__name__}` ({bases}): {' '.join((cls.__doc__ or '').split())}"
    yield from (
        "",
        "## Settings",
        "",
        "What may be said of a mechanism, as an argument in Python, a key in a file and an",
    )
    yield from ("option in the shell. Each mechanism names those that it has.", "")
    yield from table(("setting", "values", "what it does"), [(f"`{k}`", s.values, s.about) for k, s in ABOUT.items()])
    yield from ("", "## Mechanisms", "")
    yield "Shapes are for tokens as rows. Givens in brackets may be left out; of the settings the defaults are shown."
    for name in (*mechanisms(), "custom"):
        yield from of_mechanism(describe(name))
    yield from ("", "## Problem types", "")
    yield "What `symattn worksheet --problem TYPE` and `symattn.worksheet(problem=TYPE)` ask, with their options."
    for name in problem_types():
        told = describe(name)
        yield from ("", f"### Problem type {name}", "", f"{told.title}.", "")
        yield from table(("option", "default", "what it does"), [(f"`{s.name}`", code(s.default), s.about)
                                                                 for s in told.settings])  # fmt: skip


def of_class(cls: type) -> Iterator[str]:
    yield from ("", f"### {cls.__name__}", "")
    yield from prose(cls)
    if is_dataclass(cls):
        listed = ", ".join(f"`{f.name}: {f.type}`" for f in fields(cls))
        yield from ("", f"Fields: {listed}.")
    elif cls.__init__ is not object.__init__ and cls.__init__.__doc__:
        yield from ("", "```python", call(cls.__name__, cls.__init__), "```", "")
        yield from prose(cls.__init__)
    for name, thing in members(cls):
        function = next((f for a in ("func", "fget", "__func__") if (f := getattr(thing, a, None))), thing)
        assert inspect.isfunction(function), name
        said = f"`{name}`" if function is not thing else f"`{call(name, function, 10_000)}`"
        first, *rest = (inspect.getdoc(thing) or "").split("\n\n")
        yield from ("", f"- {said}: {' '.join(first.split())}")
        for paragraph in rest:
            yield from ("", f"  {' '.join(paragraph.split())}")


def of_mechanism(told: Description) -> Iterator[str]:
    yield from ("", f"### {told.name}", "", *told.about.split("\n"), "")
    if told.givens:
        yield f"Givens: {', '.join(map(given, told.givens))}."
        yield ""
    yield f"Settings: {', '.join(map(setting, told.settings))}."
    if told.steps:
        where = ", ".join(f"{letter} = {size}" for letter, size in told.sizes.items())
        widths = [max(len(cell) for cell in column) for column in zip(*map(cells, told.steps), strict=True)]
        yield from ("", f"Steps, for {where}:" if where else "Steps:", "", "```text")
        for step in told.steps:
            yield "  ".join(cell.ljust(width) for cell, width in zip(cells(step), widths, strict=True)).rstrip()
        yield "```"
    yield from ("", "```python", *told.example.python.splitlines(), "```", "", "```sh", told.example.shell, "```")


def cells(step: Any) -> tuple[str, str, str]:
    return step.name, " × ".join(step.shape), step.computes


def given(one: Given) -> str:
    said = f"`{one.name}` {' × '.join(one.shape)}"
    return f"[{said}]" if one.optional else said


def setting(one: Setting) -> str:
    return f"`{one.name}` {one.default}"


def code(text: str) -> str:
    return f"`{text}`" if text else ""


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> Iterator[str]:
    if rows:
        yield f"| {' | '.join(head)} |"
        yield f"|{'---|' * len(head)}"
        yield from (f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows)


def call(name: str, function: Callable[..., Any], width: int = WIDTH) -> str:
    """How something is called: parameters with types and defaults, each on a line of its own where they are many."""
    said: list[str] = []
    for p in inspect.signature(function).parameters.values():
        if p.name == "self" or (p.kind is p.VAR_KEYWORD and p.name == "unknown"):
            continue
        if p.kind is p.KEYWORD_ONLY and "*" not in said and not any(x.startswith("*") for x in said):
            said.append("*")
        stars = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        kind = f": {p.annotation}" if p.annotation is not p.empty else ""
        default = "" if p.default is p.empty else f" = {shown(p.default)}" if kind else f"={shown(p.default)}"
        said.append(f"{stars}{p.name}{kind}{default}")
    back = inspect.signature(function).return_annotation
    arrow = "" if back is inspect.Signature.empty or name[0].isupper() else f" -> {back}"
    line = f"{name}({', '.join(said)}){arrow}"
    return line if len(line) <= width else f"{name}(\n    " + ",\n    ".join(said) + f",\n){arrow}"


def shown(default: object) -> str:
    if isinstance(default, symattn.Look):
        return "Look()"
    return default.__name__ if inspect.isfunction(default) else repr(default)


def prose(thing: object) -> Iterator[str]:
    """A docstring as Markdown: examples and lists of words as code."""
    for number, paragraph in enumerate((inspect.getdoc(thing) or "").split("\n\n")):
        if number:
            yield ""
        if paragraph.lstrip().startswith(">>>"):
            yield from ("```python", *paragraph.split("\n"), "```")
        elif all(re.match(r"\S+ {2,}\S", line) for line in paragraph.split("\n")):
            yield from ("```text", *paragraph.split("\n"), "```")
        else:
            yield from paragraph.replace(".  ", ". ").split("\n")


if __name__ == "__main__":
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(reference(), encoding="utf-8")
    KEPT.write_text(listed(), encoding="utf-8")
