"""The messages of all pages, found by making pages: `make messages` writes them into symattn/languages/en.toml.

Translators start from that file, and a test compares every language with it.  Messages are grouped by who reads them
and stand in the order in which pages say them.
"""

from __future__ import annotations

import ast
import json
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import resources
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).parent / "marking"))

from said import still_says
from scripts import key_script, spoilt

import symattn
from symattn import figure_words, languages
from symattn.attempt import Attempt
from symattn.dice import Dice
from symattn.document import Document, Inlines, Math, Paragraph, Quoted, Words, sentence
from symattn.exam import Exam, make_exam
from symattn.exam.deploy import documents as exam_documents
from symattn.exam.spec import exam_spec
from symattn.examples import examples
from symattn.explanation import question_document
from symattn.formula import Name, speech
from symattn.languages import Catalogue, numbered
from symattn.marking import mark
from symattn.marking.policy import POLICIES
from symattn.mechanisms import mechanisms
from symattn.misconceptions import COUNTING, SLIPS, misconceptions, replayed
from symattn.notation import load_notation, notations
from symattn.pool import pool
from symattn.problems import ProblemType, problem_types
from symattn.problems.counts import ITEMS
from symattn.problems.ways import WAYS
from symattn.question import Question
from symattn.reports import feedback_document, marking_document
from symattn.reports import words as report_words
from symattn.reports.told import CONSISTENT
from symattn.resources import templates
from symattn.translation import untranslated
from symattn.trial import script

PACKAGE = Path(symattn.__file__).parent
ENGLISH = PACKAGE / "languages" / "en.toml"
GROUPS = {
    "page": "what stands on every page, and what formulas are called for those who listen",
    "worksheet": "worksheets and exam papers",
    "key": "answer keys",
    "feedback": "feedback to students",
    "teacher": "reports for teachers",
    "example": "the handwritten notes that are examples",
}

SELDOM = {
    "worksheet": [
        "Total for Question {1} is {2} mark",
        "Total for Question {1} is {2} marks",
        "This paper has {1} question and {2} mark.",
        "This paper has {1} question and {2} marks.",
        "This paper has {1} questions and {2} marks.",
    ],
    "feedback": [
        "{1} mark is pending",
        "{1} marks are pending",
        "One line is still empty.",
        "{1} lines are still empty.",
    ],
}
"""Sentences that chance seldom brings together."""

WITH_WORDS = {
    "worksheet": ["{word}, head {1}"],
    "key": [
        "{a} {word} shows at {b}, but the last line, {c}, comes out right.",
        "{a} {word} changes nothing here.",
        "{a} {word}",
        "{a} ({word})",
    ],
    "feedback": [
        "Begin with {word} (mistake {1}).",
        "Begin with {word}, {a} (mistake {1}).",
    ],
    "teacher": [
        "{word}, charged to {a}, seen at {b}: {word2}",
        "{word}, charged to {a}, seen at {b}, {word2}: {word3}",
        "{word}, seen at {a}: {word2}",
        "{word}, seen at {a}, {word2}: {word3}",
        "{a}, {word}",
        "{word}, {word2}",
    ],
}
"""Sentences in which words stand that are messages themselves."""


# ------------------------------------------------------------------------------------------------ words in sources


def spoken() -> Iterator[str]:
    """What is said with `say` anywhere in the package and its templates, and the tables of formulas in words."""
    for path in sorted(PACKAGE.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(source)) if "from symattn.languages import" in source else ():
            match node:
                case ast.Call(func=ast.Name(id="say"), args=[ast.Constant(value=str(message)), *_]):
                    yield numbered(message).rstrip(":")
    for path in sorted(templates().rglob("*.j2")):
        found = re.findall(r"""\bsay\((["'])(.+?)\1""", path.read_text(encoding="utf-8"))
        yield from (numbered(message).rstrip(":") for _, message in found)
    for table in (speech.DOTS, speech.RELATIONS, speech.PRODUCTS, speech.BRACKETS):
        yield from map(numbered, table.values())
    yield from (numbered(speech.AND), figure_words.ARROWS)


def with_formulas(text: str, **filled: str) -> Inlines:
    """Text of the package with formulas between dollar signs; {row} and the like are filled in."""
    for name, word in filled.items():
        text = text.replace(f"{{{name}}}", word)
    parts = enumerate(text.split("$"))
    return tuple(Math(Name(Quoted(part))) if k % 2 else Words(part) for k, part in parts if part)


ROWS = {"row": "row", "rows": "rows", "column": "column", "columns": "columns"}
COLUMNS = {"row": "column", "rows": "columns", "column": "row", "columns": "rows"}


def page_of(*contents: Inlines) -> Document:
    return Document("", tuple(map(Paragraph, contents)))


def texts_of(values: Iterable[object]) -> Iterator[str]:
    """Every text in nested tables and lists."""
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, Mapping):
            yield from texts_of(value.values())
        elif isinstance(value, list | tuple):
            yield from texts_of(value)


def words_of_notations() -> Iterator[Document]:
    """The words of matrices: Queries, Scaled scores."""
    for name in notations():
        notation = load_notation(name)
        words = [names.word for names in notation.names.values() if names.word]
        yield page_of(*((Words(word),) for word in dict.fromkeys([*words, notation.title])))


def theorems() -> Iterator[Document]:
    """Their words: papers have the statement and the proof, keys the points."""
    with resources.files("symattn.problems").joinpath("theorems.toml").open("rb") as file:
        for theorem in tomllib.load(file).values():
            yield page_of(*(with_formulas(text) for text in texts_of(theorem.values())))


def what_went_wrong() -> Iterator[Document]:
    """Names of misconceptions, slips and miscounts, and what is told to somebody who has one."""
    for known in (*misconceptions().values(), *SLIPS.values(), *COUNTING.values()):
        ways = [with_formulas(capital(known.feedback), **turned) for turned in (ROWS, COLUMNS)]
        yield page_of((Words(known.name),), *ways)


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]


FRAGMENTS = {"BETWEEN", "LINES_BEFORE", "NUMBERED", "ELLIPSIS", "SHADED"}
"""Words of reports that are no message by themselves."""


def words_of_reports() -> Iterator[Document]:
    texts = [value for name, value in vars(report_words).items() if name.isupper() and name not in FRAGMENTS]
    yield page_of(*((Words(text),) for text in texts_of(texts) if "{" not in text))
    lines: list[Inlines] = [(Math(Name("S")),), (Words(report_words.LINES_BEFORE),)]
    for ways in CONSISTENT.values():
        for whole, _ in ways.values():
            yield page_of(*(sentence(whole, lines=line) for line in lines))


def ways_of_working() -> Iterator[Document]:
    """The options of a choice among ways of working, and why each is right or wrong."""
    yield page_of(*(with_formulas(text) for way in WAYS for text in (way.text, way.why)))


def formulas_that_count() -> Iterator[Document]:
    """Every formula in letters that may be asked for, with the wrong ones that keys tell of."""
    counts = problem_types()["counts"]
    [drawn] = islice(pool(counts.spec({}), Dice.seeded(1)), 1)
    for name in ITEMS:
        question = counts.make({**drawn.content, "polynomials": [name]})
        yield from (question_document(question), question_document(question, solutions="key"))


def kinds_of_errata() -> Iterator[Document]:
    kinds = {erratum.kind for name in examples() for erratum in symattn.derive(name).problem.errata}
    yield page_of(*((Words(kind),) for kind in sorted(kinds)))


# ------------------------------------------------------------------------------------------------ pages


POOLS = {
    "choice": 4, "counts": 40, "design": 10, "drills": 10, "estimate": 40, "heatmap": 20, "masks": 20, "prove": 40,
    "recurrence": 60, "shapes": 40, "translate": 10,
}  # fmt: skip
"""How many variants it takes to hear everything that a type has to say; of others two."""


def drawn(chosen: ProblemType, seed: int) -> Iterator[Question]:
    """Variants of a type for beginners and others, with each of its options said otherwise."""
    stated: list[dict[str, Any]] = [{"level": "starter"}, {}]
    stated += [{"options": {name: not usual}} for name, (usual, _) in chosen.options.items() if isinstance(usual, bool)]
    stated += [{"options": {"what": what}} for what in chosen.presets]
    for one in stated:
        yield from islice(pool(chosen.spec(one), Dice.seeded(seed)), POOLS.get(chosen.name, 2))


@cache
def questions(seed: int) -> tuple[Question, ...]:
    """Questions of every type and full derivations of every mechanism, and those of every example."""
    found = [question for chosen in problem_types().values() for question in drawn(chosen, seed)]
    full = problem_types()["full"]
    for name in mechanisms():
        found += islice(pool(full.spec({"mechanism": name}), Dice.seeded(seed)), 1)
    found += [symattn.derive(name).worksheet().question for name in examples()]
    return tuple(found)


EXAM: dict[str, Any] = {
    "title": "Name", "institution": "Total", "course": "Answer key", "date": "Date", "time": "90 minutes",
    "aids": "Marks", "instructions": ["Output"], "variants": 3, "formula_sheet": "full", "exponentials": True,
    "data_sheet": True, "blank_pages": 1,
    "question": [
        {"type": "full", "mechanism": "causal_self_attention"},
        {"type": "choice"},
        {"type": "counts"},
        {"type": "full", "mechanism": "multi_head_attention", "title": "Shapes", "text": "Fill in every box."},
        {"type": "full", "mechanism": "causal_self_attention", "orientation": "columns"},
    ],
}  # fmt: skip
"""An exam with everything that a paper can have; words of the teacher's look like messages and are none."""


@cache
def exam(seed: int) -> Exam:
    return make_exam(exam_spec(EXAM, Path("exam.toml")), Dice.seeded(seed))


@cache
def exam_pages(seed: int) -> Mapping[str, Document]:
    return {stem: document() for stem, document in exam_documents(exam(seed))}


def scripts(question: Question, seed: int, tried: set[str]) -> Iterator[Attempt]:
    """What students hand in: nothing, the key, the key spoilt, and misconceptions that were not tried yet."""
    yield Attempt({})
    yield key_script(question)
    yield from (spoilt(question, Random(f"{seed} {k}")) for k in range(3))
    if question.problem is not None and question.type == "full":
        for wrong in replayed(question.problem.derivation, [id for id in misconceptions() if id not in tried]):
            if not wrong.stopped and wrong.first is not None:
                tried.add(wrong.misconception.id)
                yield script(question, wrong.derivation)


def reports(seed: int) -> Iterator[tuple[str, Document]]:
    """Feedback and marking of scripts, by every policy in turn."""
    policies = list(POLICIES.values())
    number, tried = 0, set[str]()
    for question in questions(seed):
        for attempt in scripts(question, seed, tried):
            report = mark(question, attempt, policies[number % len(policies)])
            number += 1
            yield "feedback", feedback_document(report, name="Total", student="1815", sheet="3f9a-0007")
            yield "teacher", marking_document(report)


def pages(seed: int) -> Iterator[tuple[str, Document]]:
    """Pages of every kind, each with the group of its readers."""
    for question in questions(seed):
        yield "worksheet", question_document(question)
    yield from (("worksheet", page) for stem, page in exam_pages(seed).items() if stem.startswith("papers"))
    for question in questions(seed):
        yield "key", question_document(question, solutions="key")
    yield from (("key", page) for stem, page in exam_pages(seed).items() if stem.startswith("keys"))
    yield "teacher", exam_pages(seed)["overview"]
    for name in examples():
        yield "example", symattn.derive(name).document


def static() -> Iterator[tuple[str, Document]]:
    yield from (("worksheet", page) for page in words_of_notations())
    yield "worksheet", page_of(*((Words(chosen.title),) for chosen in problem_types().values()))
    yield from (("worksheet", page) for page in theorems())
    yield from (("key", page) for page in what_went_wrong())
    yield from (("feedback", page) for page in words_of_reports())
    yield from (("key", page) for pages in (ways_of_working(), formulas_that_count()) for page in pages)
    yield from (("example", page) for page in kinds_of_errata())


# ------------------------------------------------------------------------------------------------ the file


def listed() -> dict[str, str]:
    """The messages of the English catalogue by their groups."""
    groups = tomllib.loads(ENGLISH.read_text(encoding="utf-8")).get("messages", {})
    return {message: group for group, said in groups.items() for message in said}


def messages(seeds: Iterable[int], known_before: Mapping[str, str]) -> dict[str, str]:
    """Every message by its group, besides those that are known before; no other that another one covers."""
    sure = {**known_before, **dict.fromkeys(spoken(), "page")}
    found = dict(sure)
    for group, said in (*WITH_WORDS.items(), *SELDOM.items()):
        found |= dict.fromkeys(said, group)
    known = Catalogue("en", "English", messages=_Same(found))

    def add(pages: Iterable[tuple[str, Document]]) -> None:
        order = list(GROUPS)
        for group, page in pages:
            for message in untranslated(page, known):
                if message not in found or order.index(group) < order.index(found[message]):
                    found[message] = group

    add(static())
    for seed in seeds:
        add(pages(seed))
        add(reports(seed))
    return {message: group for message, group in found.items() if message in sure or not _covered(message, found)}


class _Same(Mapping[str, str]):
    """Messages as their own translations."""

    def __init__(self, found: Mapping[str, str]) -> None:
        self.found = found

    def __getitem__(self, message: str) -> str:
        if message not in self.found:
            raise KeyError(message)
        return message

    def __iter__(self) -> Iterator[str]:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)


def _covered(message: str, found: Mapping[str, str]) -> bool:
    small = message[:1].lower() + message[1:]
    ways = (small, message.removesuffix("."), message.removeprefix("(").removesuffix(")"))
    return any(way != message and way in found for way in ways)


def file_of(found: Mapping[str, str]) -> str:
    """The English catalogue: every message with an empty translation, which is how a new language begins."""
    head, _, _ = ENGLISH.read_text(encoding="utf-8").partition("\n[messages.")
    lines = [head.rstrip("\n")]
    for group, says in GROUPS.items():
        lines += ["", f"# {capital(says)}.", f"[messages.{group}]"]
        lines += [f'{json.dumps(message, ensure_ascii=False)} = ""' for message, own in found.items() if own == group]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write the file.  Seeds may be given; messages that are listed stay, unless `anew` is said as well.

    Those that no page says and whose words stand in no source are then left out.
    """
    seeds = [int(word) for word in sys.argv[1:] if word.isdigit()] or [1, 2, 3]
    before = listed()
    kept = {message: group for message, group in before.items() if still_says(message)}
    found = messages(seeds, kept if "anew" in sys.argv else before)
    ENGLISH.write_text(file_of(found), encoding="utf-8")
    languages.catalogue.cache_clear()
    languages.catalogue("en")
    print(len(found), "messages;", len(found.keys() - before.keys()), "new,", len(before.keys() - found.keys()), "gone")


if __name__ == "__main__":
    main()
