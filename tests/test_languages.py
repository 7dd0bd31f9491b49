"""Languages: files that are sound, pages that say the same in every language, words of people that stay theirs."""

from __future__ import annotations

import re
import textwrap
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from functools import cache
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import messages
import pytest
import said as sources
from hypothesis import given
from hypothesis import strategies as st
from writer_samples import FORMULAS

import symattn
from symattn.attempt import Attempt, Said, Text
from symattn.dice import Dice
from symattn.document import (
    Code,
    Document,
    Heading,
    Inlines,
    Look,
    Math,
    Paragraph,
    Quoted,
    Strong,
    Table,
    Words,
)
from symattn.errors import InputError
from symattn.explanation import question_document
from symattn.explanation.layouts import LAYOUTS
from symattn.formula import Formula, MatrixOf, Name, Number
from symattn.formula.speech import speak
from symattn.identity import identity
from symattn.languages import PLACEHOLDER, Catalogue, catalogue, languages, read_catalogue, say, speaking
from symattn.marking import mark
from symattn.misconceptions import replayed
from symattn.pool import pool
from symattn.presentation import presented
from symattn.problems import problem_type, problem_types
from symattn.question import Question
from symattn.reports import feedback_document
from symattn.submissions import fill, read_submission
from symattn.translation import in_language, translated, untranslated
from symattn.trial import script
from symattn.writers import FORMATS, markdown
from symattn.writers import text as terminal
from symattn.writers.blocks import columns_of
from symattn.writers.common import visible
from symattn.writers.text import plain, wrapped

OTHERS = tuple(code for code in languages() if code != "en")
TYPES = sorted(problem_types())
in_every_language = pytest.mark.parametrize("language", OTHERS)
HEAD = {"code": "xx", "name": "Test", "plural": "one if n == 1"}


def in_(language: str, document: Document) -> Document:
    return translated(replace(document, look=Look(language=language)))


@cache
def question(name: str, notation: str = "standard") -> Question:
    return next(iter(pool(problem_type(name).spec({"notation": notation}), Dice.seeded(2026))))


def page(*contents: Inlines) -> Document:
    return Document("", tuple(map(Paragraph, contents)))


def words(text: str) -> Inlines:
    return (Words(text),)


# ------------------------------------------------------------------------------------------------ files


@cache
def messages_of(language: str) -> dict[str, object]:
    """Every message of a language file, with its translation."""
    text = (Path(symattn.__file__).parent / "languages" / f"{language}.toml").read_text(encoding="utf-8")
    return {message: said for group in tomllib.loads(text)["messages"].values() for message, said in group.items()}


def test_the_languages():
    assert set(languages()) == {"en", "de", "fr", "es", "zh"}
    assert all(catalogue(code).code == code for code in languages())


@in_every_language
def test_a_language_has_every_message_and_no_other(language):
    assert set(messages_of(language)) == set(messages_of("en"))
    assert all(messages_of(language).values())


def test_english_is_its_own_language():
    assert not any(messages_of("en").values())
    document = question_document(question("full"))
    assert translated(document) is document
    assert untranslated(document) == []


BROKEN = {
    "the tables language, signs, messages are known": {"language": HEAD, "words": {}},
    r"\[language\] with the texts code, name and plural": {"language": {"code": "xx"}},
    "plural is 'two'; one of": {"language": {**HEAD, "plural": "two"}},
    "the sign 'dash' is unknown": {"language": HEAD, "signs": {"dash": "-"}},
    r"has the placeholders \{b\}; \{a\} were expected": {"language": HEAD, "messages": {"g": {"of {a}": "{b}"}}},
    r"has the placeholders \{1\}, \{1\}; \{1\} were": {"language": HEAD, "messages": {"{1} mark": "{1}{1}"}},
    r"has the placeholders none; \{a\}": {"language": HEAD, "messages": {"of {a}": "von"}},
    "the plural forms are one; one, other were": {"language": HEAD, "messages": {"{1} x": {"one": "{1} y"}}},
    "which is no number in the message": {"language": HEAD, "messages": {"x": {"one": "y", "other": "z"}}},
    "a text was expected": {"language": HEAD, "messages": {"x": 3}},
}


@pytest.mark.parametrize("complaint", BROKEN)
def test_a_broken_file_is_refused_in_one_sentence(complaint):
    with pytest.raises(InputError, match=complaint) as caught:
        read_catalogue(BROKEN[complaint], "mine.toml")
    assert str(caught.value).startswith("mine.toml")


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [("klingon", None, "There is no language 'klingon'; there are de, en, es, fr, zh, or a .toml file."),
     ("none.toml", None, "There is no language file"), ("bad.toml", b"[language", "not valid TOML"),
     ("bytes.toml", b"\xff", "not text in UTF-8")],
)  # fmt: skip
def test_a_file_that_is_none_is_refused(tmp_path, name, content, complaint):
    path = tmp_path / name if name.endswith(".toml") else name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=re.escape(complaint)):
        catalogue(str(path))


def test_a_file_of_ones_own_speaks_as_far_as_it_goes(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(
        '[language]\ncode = "xx"\nname = "Mine"\nplural = "one if n == 1"\n[signs]\nand = " ja "\n'
        '[messages]\n"Rows {a} of {1} tokens" = "{1} T: {a}"\n',
        encoding="utf-8",
    )
    content = (Words("Rows "), Math(Name("A")), Words(" and "), Math(Name("B")), Words(" of 3 tokens. Other words."))
    said = in_(str(path), page(content))
    assert plain(said.blocks[0].content) == "3 T: A ja B. Other words."  # type: ignore[union-attr]
    assert untranslated(replace(page(content), look=Look(language=str(path)))) == ["Other words."]


def test_what_a_language_lacks_is_said_once(tmp_path, caplog):
    path = tmp_path / "mine.toml"
    path.write_text('[language]\ncode = "xx"\nname = "Mine"\nplural = "other"\n', encoding="utf-8")
    for text in ("Fill in every box.", "Give exact values.", "Fill in every box."):
        in_(str(path), page(words(text)))
    assert [record.getMessage() for record in caplog.records] == [
        ": not everything is in Mine yet, and stays English: Fill in every box."
    ]


QUOTED = {
    "de": "„Nicht skaliert“",
    "fr": "«\u202fPas de mise à l'échelle\u202f»",
    "es": "«Sin escalar»",
    "zh": "“未缩放”",
}


@in_every_language
def test_quotation_marks_are_those_of_the_language(language):
    known = catalogue(language).signs
    mark = known["open"], known["close"]
    [said] = in_(language, page((Words("See “Not scaled”, 'f_1' and “"), Words(Quoted("“hi”")), Words("”.")))).blocks
    shown = plain(said.content)
    assert QUOTED[language] in shown
    assert "f_1".join(mark) in shown
    assert "“hi”".join(mark) in shown  # the marks of what a student wrote are the student's


@in_every_language
def test_names_and_expressions_stand_in_sentences(language):
    texts = "Entry (2, 1) of W_Q^self is e^2/(1 + sqrt(2)) and was read as −3.", "0·(−∞) is not defined."
    english = page(*map(words, texts))
    assert untranslated(replace(english, look=Look(language=language))) == []
    shown = " ".join(plain(block.content) for block in in_(language, english).blocks)
    assert all(text in shown for text in ("W_Q^self", "e^2/(1 + sqrt(2))", "−3", "0·(−∞)"))


# ------------------------------------------------------------------------------------------------ plural forms

MARKS = {"{1} marks": {"one": "{1} point", "other": "{1} points"}}


@pytest.mark.parametrize(
    ("plural", "expected"),
    [("one if n == 1", ["0 points", "1 point", "2 points", "21 points"]),
     ("one if n < 2", ["0 point", "1 point", "2 points", "21 points"])],
)  # fmt: skip
def test_plural_forms(plural, expected):
    known = Catalogue("xx", "Test", plural, MARKS)
    assert [known.say("{1} marks", n) for n in (0, 1, 2, 21)] == expected


def test_the_plural_may_be_that_of_another_number():
    said = {"one": "{2} Stern bei {1}", "other": "{2} Sterne bei {1}", "plural": "{2}"}
    known = read_catalogue({"language": HEAD, "messages": {"{1} has {2} stars": said}}, "xx.toml")
    assert [known.say("{1} has {2} stars", 2, n) for n in (1, 2)] == ["1 Stern bei 2", "2 Sterne bei 2"]


def test_one_mark_and_two():
    said = {count: in_language(f"(Total for Question 3 is {count})", "de") for count in ("1 mark", "2 marks")}
    assert re.search(r"1 Punkt\b", said["1 mark"])
    assert re.search(r"2 Punkte\b", said["2 marks"])


# ------------------------------------------------------------------------------------------------ pages

ENGLISH = Catalogue("en", "English", messages=messages._Same(dict.fromkeys(messages_of("en"), "")))


def fresh_pages() -> Iterator[Document]:
    """Pages that the catalogue was not made from."""
    for name in TYPES:
        yield question_document(question(name))
        yield question_document(question(name), solutions="key")
        for layout in LAYOUTS:
            for solutions in ("partly", "worked"):
                yield question_document(question(name), "", "", solutions, layout, "bare")


@pytest.mark.slow
def test_fresh_pages_say_nothing_that_translators_have_not_seen():
    assert {message for one in fresh_pages() for message in untranslated(one, ENGLISH)} == set()


def test_every_sentence_in_the_sources_is_known_to_translators():
    """No page has to be made: each clause that is written in a module that makes pages is part of some message."""
    known = " | ".join(" | ".join(sources.clauses(message)) for message in messages_of("en"))
    found = [(name, line, text) for name, line, text in sources.texts() for part in sources.clauses(text)
             if part not in known]  # fmt: skip
    assert found == []
    assert set(messages.spoken()) <= set(messages_of("en"))
    assert sum(1 for _ in sources.texts()) > 3000  # nothing was overlooked


@pytest.mark.slow
def test_examples_exams_and_feedback_say_nothing_that_translators_have_not_seen():
    known = [symattn.derive(name).document for name in messages.examples()]
    known += messages.exam_pages(2026).values()
    asked = question("full")
    assert asked.problem is not None
    for wrong in islice(replayed(asked.problem.derivation), 0, None, 3):
        known.append(feedback_document(mark(asked, script(asked, wrong.derivation))))
    assert {message for one in known for message in untranslated(one, ENGLISH)} == set()


def leaves(node: Any, kind: type) -> Iterator[Any]:
    """Everything of a kind in a document, in reading order."""
    if isinstance(node, kind):
        yield node
    if isinstance(node, tuple):
        for item in node:
            yield from leaves(item, kind)
    elif is_dataclass(node):
        for field in fields(node):
            yield from leaves(getattr(node, field.name), kind)


def texts(node: Any) -> str:
    return " ".join(leaves(node, str))


def numbers(text: str) -> Counter[str]:
    return Counter(re.findall(r"\d+(?:[.,]\d+)*", text))


@pytest.mark.covering(most=2)
@in_every_language
@pytest.mark.parametrize("name", TYPES)
def test_a_key_has_the_same_numbers_formulas_and_marks(language, name):
    english = question_document(question(name), solutions="key")
    said = in_(language, english)
    assert numbers(texts(said.blocks)) == numbers(texts(english.blocks))
    assert Counter(leaves(said, Number)) == Counter(leaves(english, Number))
    assert Counter(leaves(said, Code)) == Counter(leaves(english, Code))
    assert len([*leaves(said, Math)]) == len([*leaves(english, Math)])
    assert [h.level for h in leaves(said, Heading)] == [h.level for h in leaves(english, Heading)]


@in_every_language
def test_matrices_lie_as_they_lay(language):
    """Left to right, row by row, whatever the language."""
    for name in ("full", "translate", "masks"):
        english, said = (question_document(question(name)), in_(language, question_document(question(name))))
        for here, there in zip(leaves(english, MatrixOf), leaves(said, MatrixOf), strict=True):
            assert [[*leaves(x, Number)] for row in here.rows for x in row] == [
                [*leaves(x, Number)] for row in there.rows for x in row
            ]


@pytest.mark.covering(most=3)
@in_every_language
def test_descriptions_have_every_number(language):
    documents = [symattn.derive(name).document for name in ("note-000", "note-004")]
    documents += [question_document(question(name), solutions="key") for name in ("heatmap", "masks")]
    told = 0
    for english in documents:
        for here, there in zip(_described(english), _described(in_(language, english)), strict=True):
            assert numbers(there) == numbers(here)
            told += here != there
    assert told > 3


def _described(document: Document) -> list[str]:
    return [node.description for node in leaves(document, object) if hasattr(node, "description")]


@in_every_language
def test_titles_fields_and_headings_are_said(language):
    english = question_document(question("full"))
    said = presented(replace(english, look=Look(language=language)))
    assert said.title != english.title
    assert not set(said.fields) & {"Student ID"}
    assert "Given" not in {plain(heading.content) for heading in leaves(said, Heading)}


@in_every_language
def test_every_format_writes_a_page(language):
    look = Look(language=language)
    for document in (question_document(question("full")), question_document(question("choice"), solutions="key")):
        for writer in FORMATS.values():
            assert writer.write(presented(replace(document, look=look)))


# ------------------------------------------------------------------------------------------------ words of people

HOSTILE = (
    "Fill in every box.", "{1}", "{a} {b}", "Answer key", "{word}", "Total", "\ue000\ue001 and \ue002", "\U000f0000",
    "Step 3: Marks; Name. Keys", "row 1, column 2", "“Fill in every box.”", "1, 2 and 3", "a\x1fb", "}{",
)  # fmt: skip


@in_every_language
@pytest.mark.parametrize("text", HOSTILE)
def test_what_a_student_wrote_is_not_translated(language, text):
    asked = question("prove")
    part = next(part.name for part in asked.parts if type(part.answer).__name__ == "RubricAnswer")
    report = mark(asked, Attempt({part: Text(text)}))
    document = feedback_document(report, name=text, student=text)
    said = in_(language, document)
    expected = Counter(own for own in leaves(document, Quoted))
    assert expected[Quoted(text)] >= 3
    assert Counter(own for own in leaves(said, Quoted)) == expected
    assert "".join(plain(p.content) for p in leaves(said, Paragraph)).count(visible(text)) >= 1


@given(st.lists(st.sampled_from([*HOSTILE, "a", "2", " and ", ". "]) | st.text(max_size=6), max_size=5))
def test_any_quoted_text_stands_between_translated_words(parts):
    text = "".join(parts)
    for language in OTHERS:
        content = (Words("Time allowed: "), Words(Quoted(text)), Words("."))
        [said] = in_(language, page(content)).blocks
        assert isinstance(said, Paragraph)
        assert text in "".join(part.text for part in said.content if not isinstance(part, Math))


@given(st.text(max_size=40))
def test_text_that_is_in_no_catalogue_stays_as_it_is(text):
    """Signs between sentences apart, which are the language's own."""
    for language in ("de", "es"):
        assume_unknown = untranslated(replace(page(words(text)), look=Look(language=language)))
        if assume_unknown == [text]:
            assert in_(language, page(words(text))).blocks == page(words(text)).blocks


@pytest.mark.slow
@in_every_language
def test_an_exam_keeps_the_words_of_its_teacher(language):
    pages = dict(messages.exam_pages(2026))
    paper = next(page for stem, page in pages.items() if stem.startswith("papers"))
    said = in_(language, paper)
    assert said.title == messages.EXAM["title"]
    shown = [plain(paragraph.content) for paragraph in leaves(said, Paragraph)]
    assert "Total · Answer key · Date" in shown
    assert any("90 minutes" in text for text in leaves(said, str))
    assert "Fill in every box." in shown  # the teacher's own words, which are like ours


def test_strong_words_are_said_by_themselves():
    said = {language: in_(language, page((Strong("Answer key"), Words(" Feedback")))) for language in OTHERS}
    for one in said.values():
        [paragraph] = one.blocks
        assert isinstance(paragraph, Paragraph)
        strong, *_ = paragraph.content
        assert isinstance(strong, Strong)
        assert strong.text != "Answer key"


# ------------------------------------------------------------------------------------------------ reading back


def answers(attempt: Attempt) -> dict[str, Said]:
    """What was written; a text without the points that it was given."""
    return {
        part: replace(said, points=None) if isinstance(said, Text) else said for part, said in attempt.answers.items()
    }


NOTES = [("full", f"note-00{number}") for number in range(5)]


@pytest.mark.covering(most=3)
@in_every_language
@pytest.mark.parametrize(("name", "notation"), [*((name, "standard") for name in TYPES), *NOTES])
def test_a_worksheet_that_was_filled_in_is_read_back(language, name, notation):
    asked = question(name, notation)
    sheet = identity(asked.content)
    document = presented(replace(question_document(asked, sheet, "symattn worksheet x"), look=Look(language=language)))
    attempt = messages.key_script(asked)
    found = read_submission(
        fill(markdown.write(document), [asked], [attempt], name="Ada", student="17"), [asked], form="markdown"
    )
    assert (found.sheet, found.name, found.student) == (sheet, "Ada", "17")
    assert answers(found.attempts[0]) == answers(attempt)


@pytest.mark.slow
@in_every_language
def test_an_exam_paper_is_read_back(language):
    asked = messages.exam(2026).questions(0)
    stem = f"papers/{messages.exam(2026).ids[0]}"
    document = messages.exam_pages(2026)[stem]
    blank = markdown.write(presented(replace(document, look=Look(language=language))))
    attempts = [messages.key_script(one) for one in asked]
    found = read_submission(fill(blank, asked, attempts), asked, form="markdown")
    assert stem == f"papers/{found.sheet}"
    for one, expected in zip(found.attempts, attempts, strict=True):
        assert answers(one) == answers(expected)


# ------------------------------------------------------------------------------------------------ speech


@pytest.mark.parametrize("name", FORMULAS)
def test_formulas_are_spoken_with_every_number_and_letter(name):
    english = speak(FORMULAS[name])
    for language in OTHERS:
        with speaking(language):
            said = speak(FORMULAS[name])
        assert not numbers(english) - numbers(said)
        assert "{" not in said
        assert not _letters(FORMULAS[name]) - Counter(re.findall(r"[A-Za-z]+", said))


def _letters(formula: Formula) -> Counter[str]:
    """The names of one capital letter, each at least so often."""
    return Counter(name.base for name in leaves(formula, Name) if re.fullmatch("[A-Z]", name.base))


def spoken(language: str, name: str) -> str:
    with speaking(language):
        return speak(FORMULAS[name])


def test_german_and_french_as_they_are_spoken():
    assert spoken("de", "matrix") == "2-mal-3-Matrix, Zeile 1: 1, 0, minus 1; Zeile 2: 2, 14, 3"
    assert spoken("fr", "matrix") == "matrice 2 par 3, ligne 1 : 1, 0, moins 1; ligne 2 : 2, 14, 3"
    assert spoken("de", "transposed") == "K transponiert"
    assert spoken("fr", "transposed") == "transposée de K"
    assert spoken("de", "big sum") == "die Summe über i von 1 bis n von a Index i mal v Index i"
    assert spoken("de", "root") == "die Wurzel aus 3"
    assert spoken("es", "power") == "2 elevado a 10"


def test_speech_is_english_again_afterwards():
    with speaking("de"):
        assert say("row {1}", 2) == "Zeile 2"
    assert say("row {1}", 2) == "row 2"


# ------------------------------------------------------------------------------------------------ on a terminal

MIXED = st.lists(
    st.sampled_from("请填写所有答题框，（）“”。： abc de f 12, 3;") | st.sampled_from(["词元 ", "K = XW^K。"])
)


@given(
    st.text("ab ,.()-\N{NO-BREAK SPACE}", max_size=60),
    st.integers(4, 30),
    st.sampled_from([("", ""), ("  • ", "    ")]),
)
def test_latin_text_is_wrapped_as_the_standard_library_does(text, width, before):
    expected = textwrap.wrap(
        text, width, initial_indent=before[0], subsequent_indent=before[1],
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
    assert [line.rstrip() for line in wrapped(text, width, *before)] == [line.rstrip() for line in expected]


@given(MIXED, st.integers(8, 40))
def test_chinese_text_is_wrapped_by_width_and_by_the_rules(parts, width):
    """Nothing is lost; lines fit but for what may not be parted; what closes begins no line, what opens ends none."""
    text = "".join(parts)
    lines = wrapped(text, width)
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert not any(line[0] in "，。：；）” " for line in lines[1:])
    assert not any(line[-1] in "（“" for line in lines[:-1])
    for above, below in pairwise(lines):
        assert columns_of(above) <= width or len(wrapped(above, 1)) == 1
        assert (
            columns_of(above) + columns_of(wrapped(below, 1)[0]) + (above[-1].isascii() and below[0].isascii()) > width
        )


def test_tables_on_a_terminal_stand_in_columns_of_their_width():
    table = Table((words("符号"), words("含义")), ((words("K"), words("键")), (words("查询 Q"), words("每个词元一行"))))
    shown = terminal.write(Document("", (table,))).splitlines()
    rows = [line for line in shown if "键" in line or "含义" in line or "每个" in line]
    assert len(rows) == 3
    assert len({columns_of(line[: max(line.find(mark) for mark in ("含义", "键", "每个"))]) for line in rows}) == 1


# ------------------------------------------------------------------------------------------------ messages


def test_messages_have_placeholders_in_order():
    for message in messages_of("en"):
        found = [name for name in PLACEHOLDER.findall(message) if not name.startswith("word")]
        counted = [name for name in dict.fromkeys(found) if name.isdigit()]
        others = [name for name in dict.fromkeys(found) if not name.isdigit()]
        assert counted == [str(k) for k in range(1, len(counted) + 1)]
        assert others == list("abcdefghijklm")[: len(others)]
