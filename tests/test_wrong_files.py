"""Whatever stands in a file that somebody wrote: it is used, or refused in one sentence that says why."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from random import Random

import pytest
from tables import tables_beside
from trials import some
from wrong_values import WRONG, dumps, places, spoilt

import symattn
from symattn.errors import SymattnError
from symattn.foundation.languages import counted, read_catalogue
from symattn.foundation.typed import keys
from symattn.marking.marker import mark
from symattn.marking.marker.policy import Policy, Scheme, read_scheme
from symattn.marking.submissions import read_submission
from symattn.page.notation import Notation, read_notation
from symattn.page.writers import text
from symattn.teaching.exam.spec import ExamFile, exam_spec
from symattn.teaching.explanation.documents import derivation_document
from symattn.teaching.problem import ProblemFile, problem_file

RIGHT = tables_beside(__file__, "right_files.toml")
QKV = RIGHT["problem"]["given"]


def derived(data):
    text.write(derivation_document(problem_file(data, "x.toml").problem()))


def as_written(data):
    file = problem_file(data, "x.toml")
    file.problem(corrected=False)
    if "miniature" in data:
        file.problem(miniature=True)


def exam(data):
    exam_spec(data, Path("exam.toml"))


def notation(data):
    read = read_notation(data, "x")
    text.write(derivation_document(problem_file(ATTENTION, "x.toml").problem(notation=read)))


def scheme(data):
    read = read_scheme(dumps(data))
    mark(asked(), right(), read.over(Policy("ecf", "")), read)


def language(data):
    known = read_catalogue(catalogue_text(data), "xx.po")
    for n in (0, 1, 2, 10**30):
        known.text(counted("{n} file", "{n} files", n=n))
    known.text("blank")


def catalogue_text(data):
    """A .po file of a table as in `right_files.toml`, whatever stands in it, keys that gettext has not, too.

    A value that is no table where one was expected is a line of its own.
    """
    lines = []
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


def quoted(text):
    for sign, written in {"\\": "\\\\", '"': '\\"', "\n": "\\n"}.items():
        text = text.replace(sign, written)
    return f'"{text}"'


def answers(data):
    submission = read_submission(dumps(data), [asked()], form="toml")
    mark(asked(), submission.attempts[0])


ATTENTION = {"mechanism": "attention", "given": QKV, "scale": "none"}


def asked():
    if not _asked:
        _asked.append(symattn.derive("attention", **QKV).worksheet().question)
    return _asked[0]


def right():
    return read_submission(dumps({"S": [[1, 0], [0, 1]]}), [asked()], form="toml").attempts[0]


_asked = []

KEYS = set(keys(ProblemFile))
READERS = {
    "problem": (derived, RIGHT["problem"], KEYS),
    "problem as written": (as_written, RIGHT["problem"], KEYS),
    "steps": (derived, RIGHT["steps"], KEYS),
    "exam": (exam, RIGHT["exam"], set(keys(ExamFile))),
    "notation": (notation, RIGHT["notation"], set(keys(Notation))),
    "scheme": (scheme, RIGHT["scheme"], set(keys(Scheme))),
    "language": (language, RIGHT["language"], {"header", "sign", "message"}),
    "answers": (answers, RIGHT["answers"], {"answers", "question", "methods", "points", "name", "sheet"}),
}


def trouble(read, data):
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


@pytest.mark.parametrize("name", READERS)
def test_what_is_right_is_read(name):
    read, data, _ = READERS[name]
    assert trouble(read, data) == ""
    assert tomllib.loads(dumps(data)) == data


@pytest.mark.covering(most=1)
@pytest.mark.parametrize("name", READERS)
def test_a_wrong_value_at_every_key(name):
    read, data, more = READERS[name]
    rng = Random(name)
    listed = [*places(data), *((key,) for key in sorted(more - set(data)))]
    if name in ("answers", "exam"):  # to mark and to foresee an exam takes longer than to read
        listed = some(rng.sample(listed, len(listed)), len(listed) // 5)
    tried = [(at, value) for at in listed for value in some(rng.sample(WRONG, 2), 1)]
    found = {at: said for at, value in tried if (said := trouble(read, spoilt(data, at, value)))}
    assert found == {}


@pytest.mark.parametrize("number", ["inf", "-inf", "nan"])
def test_a_setting_that_is_no_number_is_refused(number):
    data = tomllib.loads(dumps(RIGHT["problem"]) + f"epsilon = {number}\n")
    with pytest.raises(SymattnError, match=r"epsilon is -?(inf|nan); a number was expected\."):
        problem_file(data, "x.toml").problem()
