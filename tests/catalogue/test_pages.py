"""Every sheet of the catalogue as a page: whole, wholly in its language, and the same however it is laid out."""

import re
from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import printed_lines
import pytest
from catalogue_sheets import ROWS, document, draw, every_row, leaves, only, page, sheet, the, written
from finished_languages import OTHERS
from writer_markdown_rules import lint

from symattn.api import derive
from symattn.derivation.derivation import StepName
from symattn.derivation.ops.linear import MatMul
from symattn.exact import Matrix
from symattn.formula import Blank, Fraction, MatrixOf, Negative, Number, Relation, Sum
from symattn.formula import Row as RowOf
from symattn.foundation.languages import catalogue
from symattn.page.document import (
    AnswerGrid,
    Code,
    Columns,
    Display,
    Entries,
    Falk,
    Heading,
    Look,
    Math,
    Strong,
    Together,
    Words,
    WorkingSpace,
    all_blocks,
    blocks_inside,
    settled,
    spans,
)
from symattn.page.presentation import presented, translated, untranslated
from symattn.page.writers import FORMATS
from symattn.page.writers.text import write as on_screen
from symattn.teaching.explanation.documents import derivation_document
from symattn.teaching.question import (
    CellsAnswer,
    ChoiceAnswer,
    FormulaAnswer,
    OrderAnswer,
    PropertyAnswer,
    ShapeAnswer,
    WordAnswer,
)

SOLUTIONS = ("blank", "key", "answers")


@every_row
def test_every_part_has_marks_words_and_an_answer(row):
    """No line is without a mark, so that a sheet with more lines than marks are usual has a mark for each."""
    question = sheet(row).question
    lines = {step.role for step in question.problem.asked_steps} if row.kind == "mechanism" else ()
    assert row.kind == "mechanism" or question.marks >= 4
    assert question.marks <= max(45, len(lines))
    assert all(part.ask and part.key for part in question.parts)
    by_token = row.notation in ("note-001", "note-003")  # whose parts of several tokens have their marks at the last
    assert by_token or all(part.marks or "." in part.name for part in question.parts)
    assert question.features["load"] > 0
    assert list(question.entries())


@pytest.mark.covering(most=7, rest=3)
@the(*ROWS[::2])
def test_drawn_again_it_has_the_same_bytes(row):
    """What is kept came out of the frozen form."""
    again = draw(row)
    for solutions in ("blank", "key"):
        anew = presented(replace(again.document(solutions, layout=row.layout), look=page(row).look))
        assert FORMATS[row.form].write(anew) == written(row, solutions)


@every_row
def test_markdown_keeps_its_rules(row):
    """Headings are plain but for formulas between dollar signs; one matrix runs into no number."""
    for solutions in ("blank", "key"):
        text = written(row, solutions, "markdown")
        assert lint(text) == []
        headings = [re.sub(r"\$[^$]+\$", "", line) for line in re.findall(r"^#.*", text, re.MULTILINE)]
        assert not any(re.search(r"[{}$]|(?<!\\)_(?!_)", heading) for heading in headings), headings


GAP = "\N{NO-BREAK SPACE}"
LONG_NUMBER = re.compile(rf"(?<![\w.,{GAP}])\d+(?:{GAP}\d+)*(?![\w{GAP}]|[.,]\d)")


@only(language="en")
def test_thousands_have_a_gap_from_five_digits_on(row):
    for solutions in ("blank", "key"):
        said = replace(document(row, solutions), sheet="", recipe="")
        for number in LONG_NUMBER.findall(FORMATS["markdown"].write(said)):
            digits = number.replace(GAP, "")
            assert number == (f"{int(digits):,}".replace(",", GAP) if len(digits) > 4 else digits), number


@only(form="text")
def test_students_pages_have_no_recipe(row):
    """And nothing of the key: whoever reads the recipe can make it."""
    for solutions in ("blank", "partly"):
        assert "--seed" not in on_screen(sheet(row).document(solutions))
    assert "--seed 7" in on_screen(sheet(row).document("blank", recipe=True))
    assert "--seed 7" in on_screen(document(row, "key"))


@pytest.mark.covering(most=20, rest=2)
@every_row
def test_the_answers_alone_are_all_there(row):
    lines = on_screen(document(row, "answers")).splitlines()
    marks = next(line for line in lines if line.startswith("Marks")).split()
    assert sum(map(int, marks[1:-1])) == int(marks[-1]) == sheet(row).question.marks
    for number, part in enumerate(sheet(row).question.parts, 1):
        line = next((line for line in lines if line.startswith(f"{number}. ")), "")
        match part.answer:
            case ChoiceAnswer() as answer:
                words = line.rsplit("  ", 1)[-1].replace(",", " ").split()
                assert {*words} - {"and"} == {"ABCDEFGHIJ"[k] for k, one in enumerate(answer.options) if one.right}
            case ShapeAnswer(shape):
                assert line.endswith(f"{shape[0]}×{shape[1]}" if shape else "not defined")
            case FormulaAnswer() | OrderAnswer() | WordAnswer() | CellsAnswer() | PropertyAnswer():
                assert line


@every_row
def test_no_place_of_a_sentence_is_left_open(row):
    """Plain text has no braces, other than round what a sentence should have been given."""
    for solutions in ("blank", "key"):
        assert re.findall(r"\{\w+\}", written(row, solutions, form="text")) == []


@pytest.mark.covering(most=20, rest=2)
@every_row
def test_no_key_repeats_itself(row):
    key = document(row, "key").blocks
    for found in leaves(key, Relation):
        assert all(one != other for one, other in pairwise(found.parts[1:]) if isinstance(one, MatrixOf))
    for found in leaves(key, RowOf):
        assert all(one != other for one, other in pairwise(found.items))


def test_a_negative_fraction_is_not_too_wide_for_its_box():
    """It ended in an error."""
    d = derive("softmax_jacobian", a=[["1/4", "1/2", "1/4"]], da=[[1, 0, 2]], notation="note-002")
    assert FORMATS["latex"].write(d.worksheet().key)


# ------------------------------------------------------------------------------------------------ languages


def texts(node):
    return " ".join(leaves(node, str))


def figures(text):
    return Counter(re.findall(r"\d+(?:[.,]\d+)*", text))


@pytest.mark.covering(most=20, rest=2)
@every_row
def test_a_page_is_wholly_in_its_language(row):
    look = Look(language=row.language)
    pages = [replace(document(row, solutions), look=look) for solutions in SOLUTIONS]
    assert [lost for one in pages for lost in untranslated(one)] == []
    assert row.language != "en" or all(translated(one) is one for one in pages)


WORD = re.compile(r"\b[A-Za-z][a-z]{2,}\b")


def words(document):
    """The words of its texts: formulas and programs have names."""
    return {word for kind in (Words, Strong) for said in leaves(document, kind) for word in WORD.findall(said.text)}


@cache
def vocabulary(language):
    """Every word of its translations."""
    said = " ".join(form for forms in catalogue(language).messages.values() for form in forms)
    return {word.lower() for word in WORD.findall(said)}


@pytest.mark.covering(most=20, product=False, rest=2)
@every_row
@pytest.mark.parametrize("language", OTHERS)
def test_no_word_of_the_english_page_stands_in_a_translated_one(row, language):
    """Unless it is one of that language too: whatever is put into a sentence is a message, not a text."""
    for solutions in ("blank", "key"):
        english = replace(document(row, solutions), sheet="", recipe="")
        said = translated(replace(english, look=Look(language=language)))
        left = {word for word in words(english) & words(said) if word.lower() not in vocabulary(language)}
        assert left == set()


@pytest.mark.covering(most=5, rest=3)
@the(*ROWS[1::2])
def test_in_its_language_a_key_says_the_same(row):
    """The same numbers, formulas, programs and headings; matrices lie as they lay, descriptions have all numbers."""
    english = document(row, "key")
    said = translated(replace(english, look=Look(language=row.language)))
    assert figures(texts(said.blocks).replace(" null ", " 0 ")) == figures(texts(english.blocks))
    for kind in (Number, Code):
        assert Counter(leaves(said, kind)) == Counter(leaves(english, kind))
    assert len([*leaves(said, Math)]) == len([*leaves(english, Math)])
    assert [h.level for h in leaves(said, Heading)] == [h.level for h in leaves(english, Heading)]
    for here, there in zip(leaves(english, MatrixOf), leaves(said, MatrixOf), strict=True):
        assert [*leaves(here.rows, Number)] == [*leaves(there.rows, Number)]
    told = [[one.description for one in leaves(d, object) if hasattr(one, "description")] for d in (english, said)]
    for here, there in zip(*told, strict=True):
        assert figures(here) == figures(there)
    assert row.language == "en" or said.title != english.title or row.kind == "type"


@only(language="en")
def test_a_decimal_comma_is_all_that_changes_in_numbers(row):
    digits = Counter(one.digits for one in leaves(document(row, "key").blocks, Number))
    comma = presented(replace(document(row, "key"), look=Look(decimal=",")))
    assert Counter(one.digits for one in leaves(comma.blocks, Number)) == Counter(
        {number.replace(".", ","): count for number, count in digits.items()}
    )


# ------------------------------------------------------------------------------------------------ layouts


def flat(blocks):
    """Blocks in reading order, without those that only hold others."""
    return (block for block in all_blocks(blocks) if not blocks_inside(block))


def without_rules(one):
    """What stands there but for what a layout moves, and the rules: those stand in a heading or below it."""
    rest = []
    rules = []
    for block in flat(settled(one).blocks):
        match block:
            case Heading(content):
                in_it = [span.formula for span in spans(content) if isinstance(span, Math)]
                rules += [formula for formula in in_it if isinstance(formula, Relation)]
                words = "".join(span.text for span in spans(content) if isinstance(span, Words)).rstrip(": ")
                rest.append(f"{block.label} {words} {block.marks}")
            case Display((Relation() as rule,), role="rule"):
                rules.append(rule)
            case Display() | Falk() | Columns():
                pass
            case _:
                rest.append(repr(block))
    return Counter(rest), rules


@the(*(row for row in ROWS if row.layout in ("falk", "columns")))
def test_a_layout_moves_things_and_loses_none(row):
    for solutions in ("blank", "key"):
        usual, rules = without_rules(sheet(row).document(solutions))
        other, moved = without_rules(document(row, solutions))
        assert other == usual
        assert row.layout != "columns" or solutions == "key" or moved == rules


@pytest.mark.covering(most=12, rest=3)
@only(kind="mechanism")
def test_a_layout_changes_no_entry(row):
    def entries(one):
        blocks = all_blocks(settled(one).blocks)
        return Counter(repr(x) for block in blocks if isinstance(block, Entries) for x in block.equations)

    usual, other = (derivation_document(sheet(row).problem, layout=x) for x in ("matrix", row.layout))
    assert entries(usual) <= entries(other)  # notes print no entries of their projections
    assert row.notation not in ("standard", "columns") or entries(usual) == entries(other)
    if row.layout == "columns":
        rows = [line for block in other.blocks if isinstance(block, Columns) for line in block.rows]
        assert len(rows) == len(sheet(row).problem.steps)
        assert not any(isinstance(block, Entries) for left, _ in rows for block in left)


def schemes(one):
    return [block for block in all_blocks(one.blocks) if isinstance(block, Falk)]


@only(kind="mechanism", layout="falk")
def test_in_every_scheme_the_factors_make_the_product(row):
    found = schemes(derivation_document(sheet(row).problem, layout="falk"))
    assert found or not any(isinstance(step.op, MatMul) for step in sheet(row).problem.steps)
    for scheme in found:
        assert len(scheme.names) == 2
        left, above, inside = map(printed_lines.floats, (scheme.left, scheme.above, scheme.inside))
        if left is not None and above is not None and inside is not None:
            exact = sheet(row).problem.derivation.arithmetic == "exact" and sheet(row).problem.exact
            np.testing.assert_allclose(left @ above, inside, rtol=1e-9 if exact else 5e-3, atol=5e-3)


@only(kind="mechanism", layout="falk")
def test_boxes_of_every_product_stand_in_a_scheme_that_shows_only_what_is_given(row):
    problem, found = sheet(row).problem, schemes(document(row))
    assert len(found) == sum(isinstance(step.op, MatMul) for step in problem.asked_steps)
    given = [np.array(m.rows, dtype=float) for m in problem.givens.values() if isinstance(m, Matrix)]
    lines = [line[None] for m in given for turned in (m, m.T) for line in turned]  # one token's row, or column
    known = [*given, *(m.T for m in given), *lines, *(line.T for line in lines)]
    for scheme in found:
        assert isinstance(scheme.inside, AnswerGrid)
        assert not scheme.inside.filled
        assert (len(scheme.left.rows), len(scheme.above.rows[0])) == (scheme.inside.rows, scheme.inside.columns)
        for factor in (scheme.left, scheme.above):
            cells = [cell for line in factor.rows for cell in line]
            if (numbers := printed_lines.floats(factor)) is None or all(isinstance(cell, Blank) for cell in cells):
                assert not any(isinstance(cell, Number | Negative | Fraction | Sum) for cell in cells)
            else:
                assert any(m.shape == numbers.shape and np.allclose(m, numbers) for m in known)


@the(*(row for row in ROWS if row.layout == "matrix" and row.notation not in ("note-001", "note-003")))
def test_all_that_is_asked_stays_on_one_page(row):
    """The part's boxes and its space for working among it, in one frame; its rule may stand in the heading."""
    blocks = document(row).blocks
    starts = [k for k, block in enumerate(blocks) if isinstance(block, Heading) and block.marks]
    assert len(starts) == len(sheet(row).question.parts)
    for part, start, end in zip(sheet(row).question.parts, starts, [*starts[1:], len(blocks)], strict=True):
        heading, group, *after = blocks[start:end]
        assert isinstance(heading, Heading)
        assert isinstance(group, Together)
        assert not any(isinstance(block, WorkingSpace | AnswerGrid) for block in after)
        missing = Counter(map(repr, flat(part.ask))) - Counter(map(repr, flat((group,))))
        rules = [repr(span.formula) for span in spans(heading.content) if isinstance(span, Math)]
        assert missing.total() <= 1
        assert all(any(rule in leaf for rule in rules) for leaf in missing)


# ------------------------------------------------------------------------------------------------ what is said


@only(kind="mechanism")
def test_conventions_speak_of_heads_blocks_and_keys_only_where_there_are_any(row):
    said = " ".join(texts(sentence) for sentence in sheet(row).question.conventions).lower()
    problem = sheet(row).problem
    stems = {StepName.of(given).stem for given in problem.givens} | {step.stem for step in problem.steps}
    assert stems & {"K", "W_K"} or "the key" not in said
    assert "head 1 has" not in said or "head" in row.name or row.name in ("cross_attention", "encoder", "encoder_block")
    assert ("block 1 has" in said) == (row.name == "online_softmax")


@only(kind="mechanism", language="en")
def test_a_shape_that_has_a_mark_is_asked_for(row):
    """B marks stand beside method and accuracy: whoever gives one has to be told what for."""
    marks = [mark for part in sheet(row).question.parts for mark in part.marks]
    assert all(mark.what for mark in marks if mark.code == "B" and len(marks) > 1)
    asked = FORMATS["html"].write(document(row)).count("(rows × columns) beside its name.")
    assert asked == sum(mark.rule == "shapes" for mark in marks)
