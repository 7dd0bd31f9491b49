"""Laws of the catalogue: layouts agree, pinned lines count, nothing raises, every sentence can be printed."""

import random
import re
from fractions import Fraction

import numpy as np
import oracles
import pytest
import strategies
from catalogue_sheets import sheet_of
from hypothesis import given
from sentences import refused_saying
from tables import tables_beside
from test_golden_variant import GIVENS, worked_out
from trials import at_least_one, tries

from symattn.derivation.derivation import Derivation, transposed
from symattn.derivation.matrixwise import matrixwise
from symattn.derivation.mechanisms import Rounding, Settings, mechanism, mechanisms
from symattn.derivation.misconceptions import (
    FAMILIES,
    drawn_misconceptions,
    misconception,
    misconceptions,
    misconceptions_in,
    replayed,
    signs,
)
from symattn.derivation.misconceptions.base import MatrixwiseDerivation, ReplacementOp, rewritten_everywhere
from symattn.derivation.ops.attention import Softmax
from symattn.derivation.ops.linear import Hadamard, MatMul, Stack
from symattn.exact import Matrix
from symattn.formula import Formula
from symattn.page.document import spans
from symattn.page.notation import load_notation
from symattn.teaching.explanation.wording import Wording
from symattn.teaching.fairness.draw import draw
from symattn.teaching.fairness.separation import separation

# ------------------------------------------------------------------------------------------ looking things up


def test_an_unknown_misconception_is_answered_with_the_command_that_lists_all():
    with refused_saying(r"'Q1'; see symattn list misconceptions\.$"):
        misconception("Q1")
    assert misconception("X14b").name == "e^a + e^b = e^(a+b)"


def test_a_name_that_speaks_of_rows_or_columns_is_turned_where_tokens_are_columns():
    for m in misconceptions().values():
        turned = re.sub("row|column", lambda found: {"row": "column", "column": "row"}[found[0]], m.name)
        assert m.turned_name == ("" if turned == m.name else turned)


@pytest.mark.slow
def test_no_misconception_has_a_place_where_its_family_is_not_looked_for():
    unseen = {sign for known in FAMILIES.values() for sign in known}
    for d in (*(sheet_of(name).problem.derivation for name in mechanisms()), *with_places()):
        laid = MatrixwiseDerivation(d)
        placed = {id for id, m in misconceptions().items() if rewritten_everywhere(laid.rows, m.change, laid.parts)}
        assert placed <= misconceptions_in(laid.rows).keys()
        unseen -= signs(laid.rows)
    assert unseen == set()


def test_only_some_of_them():
    assert [w.misconception.id for w in replayed(worked_out(), ["X1", "M1", "C1"])] == ["X1", "C1"]


# ------------------------------------------------------------------------------------------ where there is no place


def test_core_ones_and_the_others_are_all_in_the_order_of_the_catalogue():
    d = worked_out(mask="causal")
    found = separation(d)
    assert {wrong.misconception.core for wrong in found.wrongs} == {True, False}
    drawn = [wrong.misconception.id for wrong in replayed(d) if wrong.misconception.drawn]
    assert [wrong.misconception.id for wrong in found.wrongs] == drawn
    assert {m.id for m in drawn_misconceptions()} == {id for id, m in misconceptions().items() if m.drawn}
    assert all(m.drawn for m in misconceptions().values() if m.core)


def ids(d):
    return {w.misconception.id for w in replayed(d)}


def families(found):
    return "".join(sorted({id[0] for id in found}))


def test_without_a_scale_without_a_mask_without_projections():
    plain = mechanism("attention").run(
        {"Q": [[1, 0]] * 2, "K": [[1, 2], [0, 1]], "V": [[1], [2]]}, Settings(scale="none")
    )
    assert families(ids(plain)) == "ORTX"
    weights = mechanism("weighted_values").run({"A": [["1/2", "1/2"]], "V": [[1, 2], [3, 5]]}, Settings())
    assert families(ids(weights)) == "O"
    assert not {"O3", "O4", "O5", "O7"} & ids(weights)


def test_a_scale_of_1_is_no_scale():
    narrow = {**GIVENS, "W_Q": [row[:1] for row in GIVENS["W_Q"]], "W_K": [row[:1] for row in GIVENS["W_K"]]}
    assert "C" not in families(ids(mechanism("self_attention").run(narrow, Settings())))


def test_a_wrong_divisor_that_is_the_right_one_changes_nothing():
    wrong = misconception("C3").on(worked_out(scale="sqrt(d_model)"))
    assert wrong.first is None
    assert wrong.stopped == ""
    assert wrong.value("Z") == wrong.right.value("Z")


def test_biases_and_padding():
    assert not {"P10", "P10b", "M8", "M9"} & ids(worked_out(mask="causal"))
    biased = {**GIVENS, "b_V": [[1, -1]]}
    found = ids(mechanism("self_attention").run(biased, Settings(mask="padding:2")))
    assert {"P10", "P10b", "M8", "M9"} <= found
    assert not {"M1", "M6"} & found
    window = worked_out(mask="window:2")
    assert {"M1", "M6"} <= ids(window)
    assert "M6" not in ids(worked_out(mask="blocks:2,1"))


def test_other_bases():
    with_2 = misconception("X3").on(worked_out(base=2)).derivation
    assert with_2.value("Z") == worked_out().value("Z")
    with_10 = {w.misconception.id: w for w in replayed(worked_out(base=10))}
    assert with_10["X3"].derivation["A"].op == Softmax("rows", "e")
    assert with_10["X4"].derivation["A"].op == Softmax("rows", "e")
    assert not {"X7", "R6"} & set(with_10)


def test_a_divisor_that_is_a_root_may_be_rounded():
    wrong = misconception("R4").on(worked_out(scale="sqrt(3)"))
    assert wrong.value("S'")[0, 0] == Fraction(20, 17)
    assert misconception("R4").on(worked_out()) is None


def test_where_weights_are_to_be_rounded_so_are_the_wrong_ones():
    # row 1 of A is 0.7054, 0.0351, 0.2595: by largest remainder 0.71, 0.03, 0.26
    rounded = worked_out(rounding=Rounding(2, "largest-remainder"))
    alone = misconception("X11").on(rounded)
    assert alone.first == "A_rounded"
    assert alone.value("A_rounded").decimals(2)[0] == ("0.71", "0.04", "0.26")
    assert alone.value("Z").decimals(2) == (("2.35", "-5.51"), ("1.86", "-3.52"), ("1.45", "-3.71"))
    cut = misconception("R3").on(rounded)
    assert cut.value("A_rounded").decimals(2)[0] == ("0.70", "0.03", "0.25")
    assert misconception("R2").on(rounded) is None
    nearest = misconception("X11").on(worked_out(rounding=Rounding(1, "nearest")))
    assert nearest.first is None


# ------------------------------------------------------------------------------------------ layouts


@pytest.mark.covering(most=4)
@pytest.mark.parametrize("orientation", ["rows", "columns"])
@pytest.mark.parametrize("scores", ["row", "column"])
@pytest.mark.parametrize(
    "more", [{}, {"mask": "causal", "rounding": {"places": 2}}, {"scale": "none", "mask": "padding:2"}]
)
def test_token_by_token_is_the_same_as_matrix_by_matrix(orientation, scores, more):
    turned = {k: [list(c) for c in zip(*v, strict=True)] for k, v in GIVENS.items()}
    givens = GIVENS if orientation == "rows" else turned
    settings = {"orientation": orientation, "scores": scores, **more}
    matrix = mechanism("self_attention").run(givens, Settings.read({**settings, "by": "matrix"}))
    token = mechanism("self_attention").run(givens, Settings.read({**settings, "by": "token"}))
    assert matrixwise(token) == matrix
    assert matrixwise(matrix) is matrix
    for a, b in zip(replayed(matrix), replayed(token), strict=True):
        assert a.misconception is b.misconception
        assert (a.first, a.stopped) == (b.first, b.stopped)
        assert a.derivation == b.derivation


@given(strategies.problems(exotic=False))
@tries(6)
def test_any_derivation_gathers_to_the_matrix_wise_one(problem):
    assert matrixwise(problem.run()) == problem.run(by="matrix")


@pytest.mark.slow
@given(strategies.problems(exotic=False))
@tries(25)
def test_nothing_raises_and_what_is_not_wrong_is_right(problem):
    d = problem.run()
    matrix = problem.run(by="matrix")
    for wrong in at_least_one(replayed(d)):
        names = [s.name for s in matrix]
        here = [s.name for s in wrong.derivation]
        assert here == names[: len(here)]
        assert (len(here) < len(names)) == bool(wrong.stopped)
        before = names if wrong.first is None else names[: names.index(wrong.first)]
        for name in before:
            if name in wrong.derivation:
                assert oracles.same_matrix(wrong.value(name).sympy(), matrix.value(name).sympy())


@pytest.mark.covering(most=5)
@pytest.mark.parametrize("stop", ["S", "S'", "M", "A", "A_rounded"])
@pytest.mark.parametrize("by", ["matrix", "token"])
def test_derivations_that_stop_earlier(stop, by):
    d = worked_out(mask="causal", by=by, stop_at=stop, rounding=Rounding(2))
    full = {w.misconception.id: w for w in replayed(worked_out(mask="causal", rounding=Rounding(2)))}
    for wrong in at_least_one(replayed(d)):
        assert "Z" not in wrong.derivation
        if wrong.value(stop) is not None and wrong.misconception.id not in ("X11", "R2", "R3"):
            assert wrong.value(stop) == full[wrong.misconception.id].value(stop)


def test_a_derivation_of_ones_own_has_no_place_for_most():
    own = Derivation({"X": Matrix([[1, 2], [3, 4]])}).then("S", Hadamard(), "X", "X").then("A", Softmax(), "S")
    assert families(ids(own)) == "RX"
    lines = Derivation({"X": Matrix([[1, 2], [3, 4]])}).then("S.1", MatMul(), "X", "X").then("Q.2", MatMul(), "X", "X")
    assert replayed(lines) == ()
    assert matrixwise(lines) is lines


# ------------------------------------------------------------------------------------------ pinned lines


def test_the_wrong_step_is_made_from_what_was_written():
    written = [[1, 0, 2, -1], [0, 1, 0, 0], [3, 1, 1, 1]]
    d = worked_out().replay(pinned={"Q": written})
    q, k = np.array(written, dtype=float), oracles.floats(d.value("K"))
    transposed_scores = misconception("T2").on(d)
    assert np.allclose(oracles.floats(transposed_scores.value("S")), k @ q.T)
    assert transposed_scores.first == "S"
    assert transposed_scores.derivation["Q"].pinned
    assert np.allclose(oracles.floats(misconception("C2").on(d).value("S'")), q @ k.T / 4)


def test_pinned_lines_that_do_not_follow_from_the_mistake_are_kept():
    written = [[1, 1], [2, 2], [3, 3]]
    d = worked_out().replay(pinned={"V": written})
    wrong = misconception("P8").on(d)
    assert wrong.value("V") == Matrix(written)
    assert wrong.derivation["V"].pinned
    x = oracles.array(GIVENS["X"]) @ oracles.array(GIVENS["W_Q"])
    assert np.allclose(oracles.floats(wrong.value("S")), x @ x.T)


def test_a_pinned_line_after_the_mistake_does_not_hide_it():
    script = misconception("T2").on(worked_out()).derivation  # somebody's paper, every line of it
    pinned = worked_out().replay(pinned={s.name: s.result for s in script})
    wrong = misconception("T2").on(pinned)
    assert wrong.first == "S"
    assert wrong.value("S") == pinned.value("S")
    assert wrong.right.value("S") == worked_out().value("S")
    assert wrong.value("Z") == script.value("Z")


def test_a_pinned_token_counts_as_well():
    d = worked_out(by="token").replay(pinned={"A.2": [[1, 0, 0]]})
    wrong = misconception("O5").on(d)
    x = oracles.array(GIVENS["X"])
    assert np.allclose(oracles.floats(wrong.value("Z"))[1], x[0])


# ------------------------------------------------------------------------------------------ words


def test_ids_names_and_sentences():
    found = misconceptions()
    assert len({m.name for m in found.values()}) == len(found)
    for id, m in found.items():
        assert m.id == id
        assert m.at
        for sentence in (m.feedback, m.tell):
            assert sentence.endswith(".")
        assert m.feedback[0].isupper() or not m.feedback[0].isascii()
        assert m.exactly
        assert m.source
        assert set(re.findall(r"\{(\w+)\}", m.feedback)) <= {"row", "rows", "column", "columns"}


PLACES = tables_beside(__file__)["places"]
"""Where the misconceptions have a place that have none in the golden variant."""


def with_places():
    """Derivations in which every misconception has a place."""
    biased = {**GIVENS, "b_Q": [[1, 0, 0, 1]], "b_K": [[0, 1, 0, 0]], "b_V": [[1, -1]]}
    golden = ({"scale": "sqrt(3)", "mask": "padding:2"}, {"mask": "causal", "rounding": {"places": 2}})
    for more in golden:
        yield mechanism("self_attention").run(biased, Settings.read(more))
    for name, more in PLACES:
        chosen = mechanism(name)
        sizes = {"n": 3, "m": 3, "d_model": 4, "d_k": 2, "d_v": 2, **chosen.default_sizes}
        settings = Settings.read({**chosen.defaults, **chosen.drawn, **more})
        given = {letter: size for letter, size in sizes.items() if letter in chosen.letters}
        yield chosen.run(draw(chosen, settings, given, random.Random(3)).givens, settings)


@pytest.mark.slow
def test_every_misconception_has_a_place_where_its_sentence_can_be_filled_in():
    seen = set()
    for k, d in enumerate(with_places()):
        wording = Wording(matrixwise(d), load_notation(("standard", "note-000", "note-004")[k % 3]))
        for wrong in replayed(d):
            seen.add(wrong.misconception.id)
            words = {"row": "row", "rows": "rows", "column": "column", "columns": "columns"}
            for part in spans(wording.inlines(wrong.misconception.feedback, words)):
                assert isinstance(getattr(part, "formula", None), Formula) or not re.search(r"[{}$@]", part.text)
    assert sorted(set(misconceptions()) - seen) == []


def test_why_it_stops_is_said_in_the_own_orientation():
    assert misconception("T1").on(worked_out()).stopped == (
        "S is not defined: the columns of the first must match the rows of the second, but Q is 3×4 and K is 3×4."
    )
    columns = {k: [list(c) for c in zip(*v, strict=True)] for k, v in GIVENS.items()}
    d = mechanism("self_attention").run(columns, Settings(orientation="columns"))
    assert misconception("T1").on(d).stopped == (
        "S is not defined: the columns of the first must match the rows of the second, but K is 4×3 and Q is 4×3."
    )
    assert d["S"].operands == (transposed("K"), d["S"].operands[1])


@pytest.mark.parametrize("turned", [False, True])
def test_what_stands_for_an_operation_takes_as_many_operands_as_it(turned):
    """Of an operation that takes any number all are its own, also where one thing stands for another."""
    blocks = [np.arange(2 * width).reshape(2, width) for width in (1, 3, 2)]
    joined = np.hstack(blocks)
    op = Stack("columns")
    for _ in range(2):
        op = ReplacementOp(op, lambda of, *matrices: of.apply(*matrices))
    stands, operands = (op.turn(), [block.T for block in blocks]) if turned else (op, blocks)
    expected = joined.T if turned else joined
    assert stands.shape(*(block.shape for block in operands)) == expected.shape
    assert stands.apply(*map(Matrix, map(np.ndarray.tolist, operands))) == Matrix(expected.tolist())
