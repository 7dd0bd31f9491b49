"""docs/reference.md is what `make reference` would make now, and has everything that is public."""

import inspect
import re
from dataclasses import fields

import pytest
import reference
from trials import at_least_one

import symattn
from symattn import errors
from symattn.derivation.mechanisms import Settings, mechanisms
from symattn.teaching.problems import problem_types

PAGE = reference.FILE.read_text("utf-8")
HEADINGS = re.findall(r"^### (.*)$", PAGE, re.MULTILINE)


def test_the_page_is_current():
    assert reference.reference() == PAGE, "run `make reference`"


def test_what_is_listed_is_current():
    assert reference.listed() == reference.KEPT.read_text("utf-8"), "run `make reference`"


def test_everything_public_has_a_place():
    public = {name: getattr(symattn, name) for name in symattn.__all__}
    raised = {name for name, thing in public.items() if inspect.isclass(thing) and issubclass(thing, Exception)}
    assert set(public) - raised - {"__version__", "counting"} <= set(HEADINGS)
    assert raised == {cls.__name__ for cls in reference.raised()}
    counted = {name for name in symattn.counting.__all__ if name not in ("BYTES", "Count", "Layer")}
    assert {f"counting.{name}" for name in counted} <= set(HEADINGS)
    assert set(mechanisms()) | {"custom"} <= set(HEADINGS)
    assert {f"Problem type {name}" for name in problem_types()} <= set(HEADINGS)
    assert all(f"| `{f.name}` | " in PAGE for f in fields(Settings))
    for name, thing in vars(errors).items():
        if inspect.isclass(thing) and issubclass(thing, Exception):
            assert f"- `{name}` (" in PAGE


@pytest.mark.parametrize("cls", [symattn.Matrix, symattn.Solution])
def test_every_method_of_the_main_classes_is_told(cls):
    section = PAGE.split(f"\n### {cls.__name__}\n")[1].split("\n### ")[0]
    public = [name for name in dir(cls) if not name.startswith("_")]
    told = [*re.findall(r"^- `(\w+)", section, re.MULTILINE), *re.findall(r"[`(](\w+): ", section), "rows"]
    assert set(public) <= set(told)


def test_every_argument_of_every_function_stands_in_its_signature():
    for function in at_least_one(reference.functions()):
        section = PAGE.split(f"\n### {function.__name__}\n")[1].split("\n### ")[0]
        said = section.split("```")[1]
        for name in inspect.signature(function).parameters:
            assert re.search(rf"\b{name}\b", said) or name == "unknown", (function, name)


def test_what_can_go_wrong_is_told_of_every_function():
    for function in at_least_one(reference.functions()):
        assert "`InputError`" in (function.__doc__ or ""), function


def test_fences_are_closed_and_the_contents_lead_somewhere():
    assert PAGE.count("\n```") % 2 == 0
    for title in re.findall(r"^- \[(.*)\]\(#", PAGE, re.MULTILINE):
        assert f"\n## {title}\n" in PAGE
