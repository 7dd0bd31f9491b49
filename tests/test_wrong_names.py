"""Whatever name is wrong by a letter, the answer has the right one: names, options, settings, keys of files.

The witness is all texts that are one typing error away, listed one by one.
"""

import random
import re
import string
from dataclasses import fields
from pathlib import Path
from typing import get_args, get_type_hints

import pytest
from commands import run

import symattn
from symattn.cli.listed import catalogues
from symattn.derivation.mechanisms import Settings, custom, mechanism, mechanisms
from symattn.derivation.mechanisms.masks import mask_keep
from symattn.derivation.mechanisms.settings import CHOICES
from symattn.derivation.misconceptions import misconception, misconceptions
from symattn.derivation.ops import operations
from symattn.errors import MOST_OFFERED, InputError, nearest, offered
from symattn.foundation.languages import SIGNS, catalogue, languages, read_catalogue
from symattn.foundation.typed import keys
from symattn.marking.grading.source import papers
from symattn.marking.marker.policy import POLICIES, Scheme, policy, read_scheme
from symattn.page.notation import Notation, load_notation, notations, read_notation
from symattn.page.presentation import CHOICES as OF_A_LOOK
from symattn.page.presentation import make_look
from symattn.teaching.exam.spec import ExamFile, exam_spec
from symattn.teaching.explanation import CONVENTIONS, LAYOUTS
from symattn.teaching.explanation.diagrams import DIAGRAMS
from symattn.teaching.explanation.documents import known_choice
from symattn.teaching.problem import Erratum, ProblemFile, examples, load_example, problem_file
from symattn.teaching.problems import Spec, problem_type, problem_types
from symattn.teaching.rendering import check_formats, formats
from symattn.teaching.sheets import SOLUTIONS, check_solutions

LETTERS = string.ascii_lowercase + string.digits
MASKS = ("causal", "padding", "window", "prefix", "blocks", "hidden", "additive")
HEADER = 'msgid ""\nmsgstr "Language: xx\\nX-Language-Name: Mine\\nPlural-Forms: nplurals=2; plural=n != 1;\\n"\n'
SIGN = '\nmsgctxt "sign"\nmsgid "{}"\nmsgstr "x"'
ATTENTION = {"Q": [[1, 0]], "K": [[1, 0]], "V": [[1, 2]]}
SETTINGS = [f.name for f in fields(Settings)]
SOLVED = symattn.derive("attention", **ATTENTION)


def cli(*arguments):
    result = run(*arguments)
    if result.exit_code == 2:
        raise InputError(result.stderr.removeprefix("Error: ").strip())


def _marked_as(name):
    symattn.check(SOLVED, {"S": [[1]]}).text(name)


def _derive(name):
    symattn.derive("attention", **ATTENTION, **{name: 1})


def _erratum(key):
    problem_file({"erratum": [{**dict.fromkeys(("id", "kind", "as_written", "corrected"), "x"), key: "x"}]}, "x")


def _gradient(what):
    problem_type("gradient").spec({"options": {"what": what}})


ALSO = {"arguments of derive": ("Q", "K", "V", "K_past", "V_past", "B", "B_1")}
"""What may be meant as well: what attention is given."""

CATALOGUES = {
    "mechanisms": (mechanisms(), mechanism),
    "what is derived": ((*mechanisms(), *examples()), symattn.derive),
    "what is worked on": (mechanisms(), lambda name: cli("worksheet", name)),
    "settings": (SETTINGS, lambda name: Settings.read({name: 1})),
    "arguments of derive": ((*SETTINGS, "symbolic", "corrected"), _derive),
    "arguments of worksheet": ((*SETTINGS, "seed", "together"), lambda name: symattn.worksheet(**{name: 1})),
    "arguments of check": ((*SETTINGS, "policy"), lambda name: symattn.check("note-002", {}, **{name: 1})),
    "masks": (MASKS, lambda name: mask_keep(f"{name}:2", 2, 2)),
    "examples": (examples(), load_example),
    "what is marked against": (examples(), papers),
    "problem types": (problem_types(), problem_type),
    "keys of questions": ([f.name for f in fields(Spec)], lambda name: problem_type("full").spec({name: 1})),
    "presets of gradient": (problem_type("gradient").presets, _gradient),
    "sizes": (mechanism("attention").letters, lambda name: problem_type("full").spec({"sizes": {name: 2}})),
    "misconceptions": (misconceptions(), misconception),
    "policies": (POLICIES, policy),
    "notations": (notations(), load_notation),
    "keys of notations": (
        keys(Notation),
        lambda name: read_notation({name: 1}, "mine"),
    ),
    "formats of a text": ([f for f in formats() if "pdf" not in f], SOLVED.text),
    "formats of a marking": ([f for f in formats() if "pdf" not in f], _marked_as),
    "formats": (formats(), lambda name: check_formats([name])),
    "solutions": (SOLUTIONS, lambda name: check_solutions([name])),
    "languages": (languages(), catalogue),
    "signs of languages": (SIGNS, lambda n: read_catalogue(HEADER + SIGN.format(n), "x.po")),
    "diagrams": (DIAGRAMS, SOLVED.diagram),
    "steps": ([step.name for step in SOLVED.steps], lambda name: SOLVED.derivation[name]),
    "ops": (operations(), lambda name: custom.run({"X": [[1]]}, [{"name": "Y", "op": name, "operands": ["X"]}])),
    "keys of problem files": (keys(ProblemFile), lambda name: problem_file({name: 1}, "problem.toml")),
    "keys of exam files": (keys(ExamFile), lambda n: exam_spec({n: 1}, Path("exam.toml"))),
    "keys of exam questions": (
        (*SETTINGS, "points", "title", "level", "softmax", "sizes", "notation", "exact", "places", "given", "items"),
        lambda name: exam_spec({"question": [{"type": "choice", name: 1}]}, Path("exam.toml")),
    ),
    "sizes on the command line": (("d_model", "d_ff", "d_out"), lambda name: cli("worksheet", "--size", f"{name}=2")),
    "keys of errata": ([f.name for f in fields(Erratum)], _erratum),
    "keys of schemes": (keys(Scheme), lambda name: read_scheme(f'"{name}" = 1')),
    "what a page may be told": ((*OF_A_LOOK, "language"), lambda name: make_look(**{name: "x"})),
    "layouts": (LAYOUTS, lambda name: known_choice("layout", name, LAYOUTS)),
    "conventions": (CONVENTIONS, lambda name: known_choice("conventions", name, CONVENTIONS)),
    "what is described": ((*mechanisms(), *problem_types()), symattn.describe),
    "mechanisms on the command line": (mechanisms(), lambda name: cli("list", "mechanism", name)),
    "problem types on the command line": (problem_types(), lambda name: cli("list", "problem", name)),
    "arguments of grade": (("policy", "scheme", "jobs"), lambda name: symattn.grade("x", "y", **{name: 1})),
    "lists": (catalogues(), lambda name: cli("list", name)),
    **{f"{s}": (known, lambda name, s=s: Settings.read({s: name})) for s, known in CHOICES.items()},
    **{
        f"options of {t.name}": (t.options, lambda name, t=t: t.spec({"options": {name: 1}}))
        for t in problem_types().values() if len(t.options) > 0 and not t.presets
    },
}  # fmt: skip


def one_error_away(text):
    """Every text that comes of one letter left out, put in, put in the place of another, or exchanged with the next."""
    cuts = [(text[:i], text[i:]) for i in range(len(text) + 1)]
    return {
        *(a + b[1:] for a, b in cuts if b),
        *(a + b[1] + b[0] + b[2:] for a, b in cuts if len(b) > 1),
        *(a + c + b[1:] for a, b in cuts if b for c in LETTERS),
        *(a + c + b for a, b in cuts for c in LETTERS),
    }


def plain(name):
    return name.lower().replace("_", "").replace("-", "").replace(" ", "")


@pytest.mark.covering(most=12)
@pytest.mark.parametrize("kind", CATALOGUES)
def test_a_name_with_a_typing_error_is_answered_with_that_name(kind):
    known, ask = CATALOGUES[kind]
    names = [str(name) for name in known if str(name)]
    plains = [plain(name) for name in names]
    tried = 0
    for name in names:
        rng = random.Random(f"{kind} {name}")
        typed = sorted(one_error_away(name) - {*names})
        for typo in rng.sample([t for t in typed if plain(t) not in plains and len(plain(t)) > 1], 1):
            near = one_error_away(plain(typo))
            meant = [other for other in (*names, *ALSO.get(kind, ())) if plain(other) in near]
            with pytest.raises(InputError) as raised:
                ask(typo)
            if len(meant) <= MOST_OFFERED or not re.search(r"see symattn list|\(\d+ in all\)", str(raised.value)):
                assert name in str(raised.value), (typo, str(raised.value))
            if len(meant) <= MOST_OFFERED:
                assert "did you mean" in str(raised.value), (typo, str(raised.value))
            tried += 1
    assert tried == len(names)


def test_the_nearest_of_a_catalogue():
    known = ["attention", "self_attention", "self_attention_gradient", "multi_head_attention", "multi_head_gradient"]
    assert nearest("selfattention", known) == ["self_attention"]
    assert nearest("Self-Attention", known) == ["self_attention"]
    assert nearest("slef_atention", known) == ["self_attention"]
    assert nearest("attention_self", known) == ["self_attention"]
    assert nearest("multi", known) == ["multi_head_attention", "multi_head_gradient"]
    assert nearest("nonsense", known) == nearest("x", ["y"]) == nearest("a" * 10**6, known) == nearest(3, known) == []
    assert nearest("C9", [f"C{k}" for k in range(1, 8)]) == []  # any of them
    assert offered("nonsense", ["a", "b"], "{} are known") == "a, b are known."
    assert offered("attetnion", ["attention", "intention"]) == "did you mean attention?"
    assert offered("bat", ["cat", "hat", "dog"]) == "did you mean cat or hat?"


@pytest.mark.parametrize("key", ["separator", "row_end", "list_separator", "bracket", "product"])
def test_a_choice_that_is_no_word_is_seen_in_the_sentence(key):
    """ "one of , ,, ;" offers nothing, a comma and a semicolon."""
    (choices,) = (get_args(hint) for name, hint in get_type_hints(Notation).items() if name == key)
    with pytest.raises(InputError) as refused:
        read_notation({"name": "mine", "title": "Mine", "names": {}, key: "x"}, "mine.toml")
    offers = str(refused.value).partition("one of ")[2].removesuffix(" was expected.")
    assert [offer.strip('"') for offer in offers.split(", ")] == [*choices]


def test_every_mechanism_that_is_listed_makes_worksheets():
    for name in catalogues()["mechanisms"]():
        assert problem_type("full").spec({"mechanism": name}).mechanism == name


# ------------------------------------------------------------------------------------------------ options of exams


def test_a_format_goes_by_the_ending_of_its_files_as_well():
    """Those that a teacher types first: md, tex."""
    assert check_formats(["md", ".tex", "ipynb", "txt", "typ", "html", "pdf", "markdown"]) == (
        "markdown", "latex", "notebook", "text", "typst", "html", "pdf",
    )  # fmt: skip
