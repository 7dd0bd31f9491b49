"""Languages: files that are sound, pages that say the same in every language, words of people that stay theirs."""

import pickle
import re
import textwrap
from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import cycle, pairwise
from pathlib import Path

import pytest
from catalogue_sheets import leaves
from filling import fill
from finished_languages import FINISHED, OTHERS
from hypothesis import given
from hypothesis import strategies as st
from scripts import key_script
from sentences import refused_saying
from tables import tables_beside
from writer_samples import FORMULAS

from symattn.api import derive
from symattn.formula import Name, Number, Product
from symattn.formula.speech import speak
from symattn.foundation import languages as languages_read
from symattn.foundation.dice import Dice
from symattn.foundation.languages import (
    Catalogue,
    capitalised,
    catalogue,
    counted,
    in_context,
    languages,
    listed,
    message,
    read_catalogue,
    say,
    speaking,
)
from symattn.marking.attempt import Attempt, Submission, Text
from symattn.marking.marker import mark
from symattn.marking.reports import feedback_document
from symattn.marking.submissions import read_submission
from symattn.page.document import (
    Document,
    Look,
    Math,
    Paragraph,
    Quoted,
    Strong,
    Table,
    Words,
    sentence,
)
from symattn.page.presentation import presented, translated, untranslated
from symattn.page.writers import markdown
from symattn.page.writers import text as terminal
from symattn.page.writers.characters import columns_of, plain, wrapped
from symattn.page.writers.common import visible
from symattn.teaching.exam.deploy import collections
from symattn.teaching.exam.deploy import documents as exam_documents
from symattn.teaching.exam.frozen_exam import make_exam
from symattn.teaching.exam.spec import exam_spec
from symattn.teaching.explanation.documents import booklet
from symattn.teaching.pool import pool
from symattn.teaching.problem import examples
from symattn.teaching.problems import drawn_types, problem_type

TABLES = tables_beside(__file__)

TYPES = sorted(drawn_types())
in_every_language = pytest.mark.parametrize("language", OTHERS)


def in_(language, document):
    return translated(replace(document, look=Look(language=language)))


@cache
def question(name, notation="standard"):
    return next(iter(pool(problem_type(name).spec({"notation": notation}), Dice.seeded(2026))))


def page(*contents):
    return Document("", tuple(map(Paragraph, contents)))


def words(text):
    return (Words(text),)


# ------------------------------------------------------------------------------------------------ files

HEAD = """msgid ""
msgstr ""
"Language: xx\\n"
"X-Language-Name: Mine\\n"
"Plural-Forms: nplurals=2; plural=(n != 1);\\n"
"""


def file_with(*entries, head=HEAD):
    return "\n\n".join((head, *entries)) + "\n"


def entry(one, said):
    return f'msgid "{one}"\nmsgstr "{said}"'


def test_the_languages():
    assert set(FINISHED) == {"en", "de", "fr", "es", "zh"}
    assert set(FINISHED) <= set(languages())
    assert all(catalogue(code).code == code for code in languages())


BROKEN = {
    "mine.po is empty": "",
    "line 2 cannot be read": 'msgid "a"\nnonsense\n',
    "its header has no 'X-Language-Name'": 'msgid ""\nmsgstr "Language: xx\\n"\n',
    "Plural-Forms is 'two'": file_with(head=HEAD.replace("nplurals=2; plural=(n != 1);", "two")),
    "Plural-Forms is 'nplurals=2; plural=import;'": file_with(head=HEAD.replace("(n != 1)", "import")),
    "there is no sign 'decimel'; did you mean decimal": file_with('msgctxt "sign"\n' + entry("decimel", ",")),
    "has the places {row}; {line} were expected": file_with(entry("Every {line}", "Jede {row}")),
    "has the places {line}, {line}; {line} were": file_with(entry("Every {line}", "{line}{line}")),
    "has the places none; $W_Q$ were": file_with(entry("of $W_Q$", "von")),
    "2 plural forms were expected": file_with('msgid "{n} x"\nmsgid_plural "{n} xs"\nmsgstr[0] "{n} y"'),
}  # fmt: skip


@pytest.mark.parametrize("complaint", BROKEN)
def test_a_broken_file_is_refused_in_one_sentence(complaint):
    with refused_saying(re.escape(complaint)) as caught:
        read_catalogue(BROKEN[complaint], "mine.po")
    assert str(caught.value).startswith("mine.po")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [("klingon", None, f"There is no language 'klingon'; there are {', '.join(languages())}, or a .po file."),
     ("none.po", None, "There is no language file"), ("bad.po", b"msgid", "bad.po"),
     ("bytes.po", b"\xff", "not text in UTF-8")],
)  # fmt: skip
def test_a_file_that_is_none_is_refused(tmp_path, name, content, complaint):
    path = tmp_path / name if name.endswith(".po") else name
    if content is not None:
        path.write_bytes(content)
    with refused_saying(re.escape(complaint)):
        catalogue(str(path))


def test_a_file_of_ones_own_speaks_as_far_as_it_goes(tmp_path):
    path = tmp_path / "mine.po"
    path.write_text(file_with(entry("Rows {a} of {tokens} tokens.", "{tokens} T: {a}.")), "utf-8")
    content = (*sentence("Rows {a} of {tokens} tokens.", a=Name("A"), tokens=3), Words(" "), Words("Other words."))
    said = in_(str(path), page(content))
    assert plain(said.blocks[0].content) == "3 T: A. Other words."
    assert untranslated(replace(page(content), look=Look(language=str(path)))) == ["Other words."]


def test_a_fuzzy_translation_waits_for_its_translator():
    text = file_with("#, fuzzy\n" + entry("Queries", "Fragen"), entry("Keys", "Schl\u00fcssel"))
    known = read_catalogue(text, "mine.po")
    assert (known.text("Queries"), known.text("Keys")) == ("Queries", "Schl\u00fcssel")


def test_what_a_language_lacks_is_said_once(tmp_path, caplog):
    path = tmp_path / "mine.po"
    path.write_text(file_with(), "utf-8")
    for text in ("Fill in every box.", "Give exact values.", "Fill in every box."):
        in_(str(path), page(words(text)))
    assert [record.getMessage() for record in caplog.records] == [
        ": not everything is in Mine yet, and stays English: Fill in every box."
    ]


# ------------------------------------------------------------------------------------------------ messages


@pytest.mark.parametrize(
    ("rule", "expected"),
    [("(n != 1)", ["0 points", "1 point", "2 points", "21 points"]),
     ("(n > 1)", ["0 point", "1 point", "2 points", "21 points"]),
     ("(n%10==1 && n%100!=11 ? 0 : 1)", ["0 points", "1 point", "2 points", "21 point"])],
)  # fmt: skip
def test_plural_forms(rule, expected):
    said = 'msgid "{n} mark"\nmsgid_plural "{n} marks"\nmsgstr[0] "{n} point"\nmsgstr[1] "{n} points"'
    known = read_catalogue(file_with(said, head=HEAD.replace("(n != 1)", rule)), "mine.po")
    assert [known.text(counted("{n} mark", "{n} marks", n=n)) for n in (0, 1, 2, 21)] == expected


def test_a_message_in_a_message_is_said_in_its_language():
    inside = in_context("matrix", "head {head}", head=2)
    whole = capitalised(message("{name}: {what} of {quoted}", name=inside, what="scores", quoted=Quoted("scores")))
    assert whole == "Head 2: scores of scores"
    known = Catalogue("xx", "Mine", {("matrix", "head {head}"): ("kopf {head}",), ("", "scores"): ("Werte",),
                                     ("", "{name}: {what} of {quoted}"): ("{name}: {quoted} ({what})",)})  # fmt: skip
    assert known.text(whole) == "Kopf 2: scores (Werte)"
    assert known.text(pickle.loads(pickle.dumps(whole))) == "Kopf 2: scores (Werte)"


@given(st.lists(st.sampled_from(["a", "b", "row {1}", "{x}"]) | st.text(max_size=5), min_size=1, max_size=5))
def test_lists_are_their_own_english(items):
    expected = ", ".join(items[:-1]) + (" and " if len(items) > 1 else "") + items[-1]
    assert listed(items) == expected


# ------------------------------------------------------------------------------------------------ pages


def numbers(text):
    return Counter(re.findall(r"\d+(?:[.,]\d+)*", text))


# ------------------------------------------------------------------------------------------------ words of people

HOSTILE = (
    "Fill in every box.", "{1}", "{a} {b}", "Answer key", "{word}", "Total", "\ue000\ue001 and \ue002", "\U000f0000",
    "Step 3: Marks; Name. Keys", "row 1, column 2", "“Fill in every box.”", "1, 2 and 3", "a\x1fb", "}{",
)  # fmt: skip


@pytest.mark.covering(product=False)
@in_every_language
@pytest.mark.parametrize("text", HOSTILE)
def test_what_a_student_wrote_is_not_translated(language, text):
    asked = question("prove")
    part = next(part.name for part in asked.parts if type(part.answer).__name__ == "RubricAnswer")
    report = mark(asked, Attempt({part: Text(text)}))
    document = feedback_document(report, Submission("", (), name=text, student=text))
    said = in_(language, document)
    expected = Counter(own for own in leaves(document, Quoted))
    assert expected[Quoted(text)] >= 3
    assert Counter(own for own in leaves(said, Quoted)) == expected
    assert "".join(plain(p.content) for p in leaves(said, Paragraph)).count(visible(text)) >= 1


@given(st.lists(st.sampled_from([*HOSTILE, "a", "2", " and ", ". "]) | st.text(max_size=6), max_size=5))
def test_any_quoted_text_stands_between_translated_words(parts):
    text = "".join(parts)
    for language in OTHERS:
        content = sentence("Time allowed: {time}.", time=Words(Quoted(text)))
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


EXAM = TABLES["exam"]
"""An exam with everything that a paper can have; words of the teacher's look like messages and are none."""


@cache
def exam():
    return make_exam(exam_spec(EXAM, Path("exam.toml")), Dice.seeded(2026))


@pytest.mark.slow
@pytest.mark.parametrize("language", ["de", "zh"])
def test_an_exam_paper_keeps_the_words_of_its_teacher_and_is_read_back(language):
    asked, stem = exam().questions(0), f"papers/{exam().ids[0]}"
    document = dict(exam_documents(exam()))[stem]()
    said = in_(language, document)
    assert said.title == EXAM["title"]
    shown = [plain(paragraph.content) for paragraph in leaves(said, Paragraph)]
    assert any(text.endswith(" · Total · Answer key · Date") for text in shown)
    assert any("90 minutes" in text for text in leaves(said, str))
    assert "Fill in every box." in shown  # the teacher's own words, which are like ours
    attempts = [key_script(one) for one in asked]
    blank = markdown.write(presented(replace(document, look=Look(language=language))))
    found = read_submission(fill(blank, asked, attempts), asked, form="markdown")
    assert stem == f"papers/{found.sheet}"
    for one, expected in zip(found.attempts, attempts, strict=True):
        assert one.answers.keys() == expected.answers.keys()
        assert all(one.answers[part] == said for part, said in expected.answers.items() if not isinstance(said, Text))


@pytest.mark.covering(most=1)
@pytest.mark.parametrize("name", TYPES[::8])
def test_what_an_exam_is_marked_with_is_wholly_in_its_language(name):
    """Overview, keys, papers, answers and common wrong answers; ids, letters and numbers are in no language."""
    asked = {"title": "X1", "variants": 2, "question": [{"type": name}, {"type": "full", "level": "starter"}]}
    made = make_exam(exam_spec(asked, Path("exam.toml")), Dice.seeded(3))
    pages = [document() for _, document in exam_documents(made)]
    pages += [booklet(bound()) for _, bound in collections(made)]
    for language in OTHERS:
        lost = {text for one in pages for text in untranslated(replace(one, look=Look(language=language)))}
        assert lost == set(), language


@pytest.mark.parametrize(("name", "language"), list(zip(examples(), cycle(OTHERS), strict=False)))
def test_a_note_and_a_worksheet_of_it_are_wholly_in_a_language(name, language):
    """What is drawn has laws of its own; a note has errata, a page, and letters in place of numbers."""
    solution, look = derive(name), Look(language=language)
    documents = [derive(name, corrected=False).document, solution.document]
    documents += [solution.worksheet().document(solutions) for solutions in ("blank", "key")]
    assert [lost for one in documents for lost in untranslated(replace(one, look=look))] == []


def test_the_row_of_a_letter_is_said_with_the_letter():
    """The query was called {i} where the index of a row is i itself."""
    shown = terminal.write(derive("encoder_block", symbolic=True, notation="note-002").document)
    assert "query i key jᵀ" in shown
    assert "{i}" not in shown


@pytest.mark.parametrize(
    ("text", "english"),
    [("N433-FKAQ", False), ("X1, C4", False), ("TFFT", False), ("2/6", False), ("S'", False), ("X6 or X13", True)],
)
def test_only_words_are_english(text, english):
    assert untranslated(replace(page(words(text)), look=Look(language="de"))) == [text] * english


def test_strong_words_are_said_by_themselves():
    said = {language: in_(language, page((Strong("Answer key"), Words(" Feedback")))) for language in OTHERS}
    for one in said.values():
        [paragraph] = one.blocks
        assert isinstance(paragraph, Paragraph)
        strong, *_ = paragraph.content
        assert isinstance(strong, Strong)
        assert strong.text != "Answer key"


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


def _letters(formula):
    """The names of one capital letter, each at least so often."""
    return Counter(name.base for name in leaves(formula, Name) if re.fullmatch("[A-Z]", name.base))


def spoken(language, name):
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
    product = Product((Number("7"), Number("8")), "·")
    with speaking("de"):
        assert say("row {row}", row=2) == "Zeile 2"
        assert speak(product) == "7 mal 8"
    assert say("row {row}", row=2) == "row 2"
    assert speak(product) == "7 times 8"


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
    at = 0
    for above, below in pairwise(lines):
        at = text.index(above, at) + len(above)
        gap = len(text[at:]) - len(text[at:].lstrip())
        assert columns_of(above) <= width or len(wrapped(above, 1)) == 1
        assert columns_of(above) + gap + columns_of(wrapped(below, 1)[0]) > width


def test_tables_on_a_terminal_stand_in_columns_of_their_width():
    table = Table((words("符号"), words("含义")), ((words("K"), words("键")), (words("查询 Q"), words("每个词元一行"))))
    shown = terminal.write(Document("", (table,))).splitlines()
    rows = [line for line in shown if "键" in line or "含义" in line or "每个" in line]
    assert len(rows) == 3
    assert len({columns_of(line[: max(line.find(mark) for mark in ("含义", "键", "每个"))]) for line in rows}) == 1


def test_languages_are_listed_with_what_is_missing(monkeypatch):
    head = (
        'msgid ""\nmsgstr ""\n"Language: xx\\n"\n"X-Language-Name: Xx\\n"\n"Plural-Forms: nplurals=1; plural=0;\\n"\n'
    )
    entries = (
        'msgctxt "sign"\nmsgid "space"\nmsgstr ""\n', 'msgid "a"\nmsgstr "b"\n', '#, fuzzy\nmsgid "c"\nmsgstr "d"\n',
        'msgid ""\n"e"\nmsgstr ""\n"f"\n', 'msgid "g"\nmsgstr ""\n', '#~ msgid "h"\n#~ msgstr "i"\n',
    )  # fmt: skip
    text = "\n".join((head, *entries))
    monkeypatch.setattr(languages_read, "ready_catalogue", lambda language: text)
    read = read_catalogue(text, "xx.po")
    assert languages_read.about("xx") == f"Xx ({len(read.messages)} of 4 messages; the rest is in English)"
    assert len(read.messages) == 2


def test_ready_languages_are_counted_as_they_are_read():
    for code in languages():
        read, said = catalogue(code), languages_read.about(code)
        assert said == read.name or said.startswith(f"{read.name} ({len(read.messages):,} of ")
