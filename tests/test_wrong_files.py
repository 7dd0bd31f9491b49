"""Whatever stands in a file that somebody wrote: it is used, or refused in one sentence that says why."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest
from wrong_values import WRONG, dumps, mutations, places, spoilt

import symattn
from symattn.errors import SymattnError
from symattn.foundation.languages import counted, read_catalogue
from symattn.foundation.typed import keys
from symattn.marking.marker import mark
from symattn.marking.marker.policy import Policy
from symattn.marking.marker.scheme import Scheme, read_scheme
from symattn.marking.submissions import read_submission
from symattn.page.notation import Notation, read_notation
from symattn.page.writers import text
from symattn.teaching.exam.spec import ExamFile, exam_spec
from symattn.teaching.explanation import derivation_document
from symattn.teaching.problem_file import ProblemFile, problem_file

QKV = {"Q": [[1, 0], [0, 1]], "K": [[1, 0], [0, 1]], "V": [[1], [2]]}
PROBLEM = {
    "title": "T", "mechanism": "attention", "notation": "standard", "source": "s", "seed": 3, "given": QKV,
    "scale": "sqrt(d_k)", "mask": "causal", "mask_style": "keep", "base": 2, "orientation": "rows", "by": "matrix",
    "scores": "row", "rounding": {"places": 2, "method": "nearest", "ties": "even"}, "stop_at": "Z", "cap": "2",
    "temperature": "2", "bias": "none", "empty": "zero", "weights": "softmax", "order": "QKV", "activation": "identity",
    "ask": {"steps": ["S", "A"], "exact": True, "places": 3}, "introduction": ["One.", "Two."],
    "assume": {"positive": ["a"]}, "corrected": {"scale": "none", "names": {"S": {"matrix": "S"}}}, "as_written": {},
    "erratum": [{"id": "E1", "kind": "gap", "as_written": "a", "corrected": "b", "why": "w", "at": "x", "patch": "p"}],
    "miniature": {"Q": [[1]], "K": [[1]], "V": [[1]]},
}  # fmt: skip
STEPS = {
    "scale": {"by": "sqrt(d_k)", "written": "sqrt(2)"}, "mask": {"mask": "causal", "style": "keep"},
    "softmax": {"along": "rows", "base": "e", "empty": "zero"}, "temperature": {"by": 2}, "soft_cap": {"cap": 2},
    "round": {"places": 1, "method": "nearest", "ties": "even"}, "activation": {"function": "relu"},
    "part": {"first": 1, "count": 1, "every": 1, "of": "columns"}, "sum": {"over": "rows"},
    "variance": {"of": "sample", "over": "columns"}, "standardise": {"epsilon": 1}, "feature_map": {"feature": "relu"},
    "exponentials": {"along": "rows", "base": 2}, "norm": {"along": "rows"}, "slope": {"function": "tanh"},
}  # fmt: skip
CUSTOM = {
    "mechanism": "custom", "given": QKV,
    "step": [{"name": "S", "op": "product", "operands": ["Q", "K^T"], "section": "one"},
             *({"name": f"B{k}", "op": op, "operands": ["S"], **said} for k, (op, said) in enumerate(STEPS.items()))],
}  # fmt: skip
EXAM = {
    "title": "T", "institution": "I", "course": "C", "date": "today", "time": "60 minutes", "aids": "none",
    "formula_sheet": "short", "layout": "falk", "conventions": "full", "variants": 3, "seats_per_row": 3,
    "blank_pages": 1, "id_boxes": 8, "exponentials": True, "data_sheet": True, "new_page": True,
    "common_answers": False, "text_size": 11, "paper": "a4", "spacing": "compact", "decimal_sign": "comma",
    "brackets": "round", "transpose": "T", "language": "de", "notation": "standard", "level": "starter", "softmax": "e",
    "exact": False, "places": 3, "mechanism": "attention", "sizes": {"n": 2, "m": 2, "d_k": 2, "d_v": 1},
    "instructions": ["Be neat."], "class": "",
    "question": [{"type": "full", "points": 12, "title": "t", "text": "u", "scale": "none", "mask": "none"},
                 {"type": "counts", "title": "n"},
                 {"type": "full", "given": {"Q": [[1, 0]], "K": [[1, 0], [0, 1]], "V": [[1], [2]]}},
                 {"type": "masks", "sizes": {"n": 3}}, {"type": "gradient", "what": "attention"}],
}  # fmt: skip
NOTATION = {
    "name": "mine", "title": "M", "settings": {"by": "matrix", "order": "QKV"}, "letters": {"d_k": "d", "n": "N"},
    "product": "×", "softmax": "softmax", "shapes": "under", "shape_style": "tuple", "bracket": "[", "separator": ",",
    "row_end": ";", "nested": True, "list_separator": ",", "numbers": "exact", "decimals": 3, "first_index": 1,
    "names": {"Q": {"matrix": "Q", "row": "q_i", "entry": "q_{i,j}", "word": "queries"}, "S": "T"},
    "section": [{"label": "1", "title": "t", "covers": ["S"], "repeat": "", "needs": ["Q"], "only": "corrected",
                 "items": [{"id": "a", "text": "words of {n} $Q$"}, {"math": ["Q = @values(Q)"], "lead": ["So:"]},
                           {"steps": ["S", "A"]}, {"table": [["$Q$", "b"], ["c", "d"]]}, {"diagram": "graph"},
                           {"repeat": "i", "math": "@values(Q[i])"}]}],
}  # fmt: skip
SCHEME = {
    "policy": "ecf", "settings": {"precision": 1, "threshold": "1/2", "marks": True, "rounding": "truncate"},
    "line": [{"part": "S", "marks": "M1 A2", "accuracy": "all", "follow": "ft", "flagged": True, "seen": True,
              "group": "a"}, {"part": ["A", "Z"], "marks": "A1"}],
}  # fmt: skip
LANGUAGE = {
    "header": {"Language": "xx", "X-Language-Name": "X", "Plural-Forms": "nplurals=2; plural=(n != 1);"},
    "sign": [{"msgid": "decimal", "msgstr": ","}],
    "message": [
        {"msgid": "blank", "msgstr": "leer"}, {"msgctxt": "matrix", "msgid": "head", "msgstr": "Kopf"},
        {"msgid": "{rows} by {columns} of $W_Q$", "msgstr": "{rows} mal {columns} von $W_Q$"},
        {"msgid": "{n} file", "msgid_plural": "{n} files", "msgstr[0]": "eine f", "msgstr[1]": "{n} ff"},
    ],
}  # fmt: skip
"""A catalogue as data; `catalogue_text` writes it, wrong values and all."""
ANSWERS = {
    "sheet": "X6A9-X3ZM", "name": "Ada", "student": 17,
    "answers": {"S": [[1, 0], [0, 1]], "S'": {"factor": "1/sqrt(2)", "rows": [["1", 0], [0, 1.5]]}, "A": "1 0; 0 1",
                "q1": {"Z": [[1], [2]]}},
    "methods": ["A"], "points": {"Z": 1}, "question": [{"S": [[1]]}], "Z": [["e/(1+e)"], [2]],
}  # fmt: skip


def derived(data: dict[str, Any]) -> None:
    text.write(derivation_document(problem_file(data, "x.toml").problem()))


def as_written(data: dict[str, Any]) -> None:
    file = problem_file(data, "x.toml")
    file.problem(corrected=False)
    if "miniature" in data:
        file.problem(miniature=True)


def exam(data: dict[str, Any]) -> None:
    exam_spec(data, Path("exam.toml"))


def notation(data: dict[str, Any]) -> None:
    read = read_notation(data, "x")
    text.write(derivation_document(problem_file(ATTENTION, "x.toml").problem(notation=read)))


def scheme(data: dict[str, Any]) -> None:
    read = read_scheme(dumps(data))
    mark(asked(), right(), read.over(Policy("ecf", "")), read)


def language(data: dict[str, Any]) -> None:
    known = read_catalogue(catalogue_text(data), "xx.po")
    for n in (0, 1, 2, 10**30):
        known.text(counted("{n} file", "{n} files", n=n))
    known.text("blank")


def catalogue_text(data: Mapping[str, Any]) -> str:
    """A .po file of a table as `LANGUAGE` is, whatever stands in it; keys that gettext has not are lines all the same.

    A value that is no table where one was expected is a line of its own.
    """
    lines: list[str] = []
    for kind, entries in data.items():
        for entry in entries if isinstance(entries, list) else [entries]:
            if not isinstance(entry, Mapping):
                lines += [str(entry), ""]
            elif kind == "header":
                lines += ['msgid ""', 'msgstr ""', *(quoted(f"{key}: {said}\n") for key, said in entry.items()), ""]
            else:
                lines += ['msgctxt "sign"'] * (kind == "sign")
                lines += [*(f"{key} {quoted(str(said))}" for key, said in entry.items()), ""]
    return "\n".join(lines)


def quoted(text: str) -> str:
    for sign, written in {"\\": "\\\\", '"': '\\"', "\n": "\\n"}.items():
        text = text.replace(sign, written)
    return f'"{text}"'


def answers(data: dict[str, Any]) -> None:
    submission = read_submission(dumps(data), [asked()], form="toml")
    mark(asked(), submission.attempts[0])


ATTENTION = {"mechanism": "attention", "given": QKV, "scale": "none"}


def asked():
    if not _asked:
        _asked.append(symattn.derive("attention", **QKV).worksheet().question)
    return _asked[0]


def right():
    return read_submission(dumps({"S": [[1, 0], [0, 1]]}), [asked()], form="toml").attempts[0]


_asked: list[Any] = []

KEYS = set(keys(ProblemFile))
READERS: Mapping[str, tuple[Callable[[dict[str, Any]], None], dict[str, Any], set[str]]] = {
    "problem": (derived, PROBLEM, KEYS),
    "problem as written": (as_written, PROBLEM, KEYS),
    "steps": (derived, CUSTOM, KEYS),
    "exam": (exam, EXAM, set(keys(ExamFile))),
    "notation": (notation, NOTATION, set(keys(Notation))),
    "scheme": (scheme, SCHEME, set(keys(Scheme))),
    "language": (language, LANGUAGE, {"header", "sign", "message"}),
    "answers": (answers, ANSWERS, {"answers", "question", "methods", "points", "name", "sheet"}),
}


def trouble(read: Callable[[dict[str, Any]], None], data: dict[str, Any]) -> str:
    """What is wrong with how a file is taken: "" if it is used, or refused in one sentence."""
    try:
        read(tomllib.loads(dumps(data)))
    except SymattnError as error:
        said = str(error)
        one = "\n" not in said and said.rstrip().endswith((".", "?", ")", "]")) and len(said) < 1500
        return "" if one else f"no sentence: {said[:300]!r}"
    except Exception as error:
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        place = f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}" if trace else ""
        return f"{place} {type(error).__name__}: {str(error)[:100]}"
    return ""


def changes(name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every wrong value at every place."""
    _, data, more = READERS[name]
    for at in [*places(data), *((key,) for key in sorted(more - set(data)))]:
        for value in WRONG:
            yield f"{'.'.join(map(str, at))} = {str(value)[:40]!r}", spoilt(data, at, value)


@pytest.mark.parametrize("name", READERS)
def test_what_is_right_is_read(name):
    read, data, _ = READERS[name]
    assert trouble(read, data) == ""
    assert tomllib.loads(dumps(data)) == data


@pytest.mark.covering(most=1)
@pytest.mark.parametrize("name", READERS)
def test_some_wrong_values_at_every_key(name):
    read, data, more = READERS[name]
    rng = Random(name)
    listed = [*places(data), *((key,) for key in sorted(more - set(data)))]
    if name == "answers":  # to mark takes longer than to read
        listed = rng.sample(listed, len(listed) // 6)
    tried = [(at, value) for at in listed for value in rng.sample(WRONG, 2)]
    found = {at: said for at, value in tried if (said := trouble(read, spoilt(data, at, value)))}
    assert found == {}


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_thousands_of_wrong_files(name):
    read, data, more = READERS[name]
    made = mutations(data, Random(name), dict.fromkeys(more))
    found = [said for _, changed in zip(range(500), made, strict=False) if (said := trouble(read, changed))]
    assert found == []


CATALOGUES: Mapping[str, tuple[tuple[str | int, ...], Any]] = {
    "header has no 'Language'": (("header", "Language"), ""),
    "header has no 'X-Language-Name'": (("header", "X-Language-Name"), ""),
    "header has no 'Plural-Forms'": (("header", "Plural-Forms"), ""),
    "header has no": (("header",), {}),
    "Plural-Forms is 'two'": (("header", "Plural-Forms"), "two"),
    "Plural-Forms is 'nplurals=2; plural=(((( ;'": (("header", "Plural-Forms"), "nplurals=2; plural=(((( ;"),
    "no sign 'decimel'; did you mean decimal": (("sign", 0, "msgid"), "decimel"),
    "has the places {rows}; $W_Q$, {columns}, {rows} were": (("message", 2, "msgstr"), "{rows}"),
    "has the places {n}; none were": (("message", 0, "msgstr"), "{n} leer"),
    "has the places {m}; {n} were": (("message", 3, "msgstr[1]"), "{m} ff"),
    "2 plural forms were expected": (("message", 3, "msgstr[0]"), ""),
    "is not a gettext catalogue": (("message", 1), "nonsense"),
}


@pytest.mark.parametrize("complaint", CATALOGUES)
def test_a_wrong_catalogue_is_refused_with_what_is_wrong(complaint):
    at, value = CATALOGUES[complaint]
    with pytest.raises(SymattnError, match=rf"^xx\.po.*{re.escape(complaint)}[^\n]*[.?]$"):
        language(spoilt(LANGUAGE, at, value))


def test_a_plural_rule_that_leads_nowhere_is_refused():
    for rule in (
        "nplurals=2; plural=n;",
        "nplurals=2; plural=1/n;",
        "nplurals=0; plural=0;",
        f"nplurals={'9' * 5000}; plural=0;",
    ):
        data = spoilt(LANGUAGE, ("header", "Plural-Forms"), rule)
        with pytest.raises(SymattnError, match=r"^xx\.po: Plural-Forms is .*\.$"):
            language(data)


NO_SIZES = [value for value in WRONG if not (type(value) is int and 1 <= value <= 10_000)]


@pytest.mark.parametrize("value", NO_SIZES, ids=lambda value: repr(value)[:20])
def test_a_size_that_is_none_is_refused_before_anything_is_drawn(value):
    question = {"type": "full", "mechanism": "attention", "sizes": {"n": value}}
    with pytest.raises(SymattnError, match=r"question 1, sizes\.n is .*; a whole number from 1 to 10000"):
        exam_spec({"question": [question]}, Path("exam.toml"))


@pytest.mark.parametrize("number", ["inf", "-inf", "nan"])
def test_a_setting_that_is_no_number_is_refused(number):
    data = tomllib.loads(dumps(PROBLEM) + f"epsilon = {number}\n")
    with pytest.raises(SymattnError, match=r"epsilon is -?(inf|nan); a number was expected\."):
        problem_file(data, "x.toml").problem()
