"""The five notes: every figure as written, every erratum listed and mended, and the values that follow from them.

`notes/*.md` are transcriptions that a teacher can read and add to; see `notes/README.md`.
"""

import itertools
import math
import re
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import oracles
import pytest
import sympy
from oracles import plain
from sentences import refused_saying
from sympy import Matrix
from trials import at_least_one

from symattn.api import derive, worksheet
from symattn.derivation.counting import multiply_adds
from symattn.derivation.derivation import StepName
from symattn.derivation.mechanisms import Settings, mechanism
from symattn.derivation.ops.attention import Mask, Softmax
from symattn.derivation.ops.entrywise import Round
from symattn.errors import UndefinedError
from symattn.exact import Matrix as Ours
from symattn.exact.reading import read
from symattn.formula import Annotated, ListOf, MatrixOf, Relation, Row
from symattn.page.document import Diagram, Display, Entries, Heading, all_blocks, with_blocks_inside
from symattn.page.writers.paper import Page
from symattn.page.writers.rows import groups
from symattn.teaching.explanation.documents import derivation_document
from symattn.teaching.explanation.wording import Wording
from symattn.teaching.problem import load_example, problem_file
from symattn.teaching.rendering import render

NOTES = ("note-000", "note-001", "note-002", "note-003", "note-004")
FOLDER = Path(__file__).parent / "notes"

# Section 1 of the pedagogy notes; 001, 003 and 004 number further ones of their own
ERRATA = {
    "note-000": [f"E0.{i}" for i in range(1, 11)],
    "note-001": [f"E1.{i}" for i in range(1, 9)],
    "note-002": [f"E2.{i}" for i in range(1, 9)],
    "note-003": [f"E3.{i}" for i in range(1, 9)],
    "note-004": [f"E4.{i}" for i in range(1, 7)],
}
# S0 and S2 share their numbers
X = [[1, 0, 1, 0], [0, 2, 0, 2], [1, 1, 1, 1]]
Q, K, V = [[1, 0, 2], [2, 2, 2], [2, 1, 3]], [[0, 1, 1], [4, 4, 0], [2, 3, 1]], [[1, 2, 3], [2, 8, 0], [2, 6, 3]]
S = [[2, 4, 4], [4, 16, 12], [4, 12, 10]]


def figures(note, mistakes=True):
    """The figures of a transcription by heading, perhaps without `mistakes`; remarks such as (sic) are left out."""
    found = {}
    heading = ""
    for line in (FOLDER / f"{note}.md").read_text("utf-8").splitlines():
        if line.startswith("#"):
            heading = line.lstrip("# ")
        elif line.startswith("- ") and (mistakes or "(sic" not in line):
            found.setdefault(heading, []).append(re.sub(r" \(sic[^)]*\)$", "", line[2:]))
    return found


def squeezed(text):
    """Blanks beside signs do not count, and all others are one blank."""
    return re.sub(r"\s+", " ", re.sub(r"\s*([,;()\[\]⟨⟩=·×⊙→^+−])\s*", r"\1", text))


def labelled(block):
    """Headings with their numbers before them, as pages print them."""
    if isinstance(block, Heading):
        return replace(block, content=block.whole, label=())
    return with_blocks_inside(block, lambda blocks: tuple(map(labelled, blocks)))


@cache
def lines_of(note, corrected):
    """Its title and its page without the errata, as it is read."""
    document = derive(note, corrected=corrected).document
    document = replace(document, blocks=tuple(map(labelled, document.blocks)))
    return tuple(map(squeezed, [document.title, *oracles.page_lines(document, until="Errata")]))


def page_of(note, corrected):
    return squeezed("\n".join(lines_of(note, corrected)))


def in_order(listed, page, heading):
    at = 0
    for figure in listed:
        found = page.find(squeezed(figure), at)
        assert found >= 0, f"{heading}: {figure!r} is not on the page" + (
            " after the one before it" if squeezed(figure) in page else ""
        )
        at = found + 1


@pytest.mark.parametrize("note", NOTES)
def test_every_figure_is_there_in_order_as_written_and_what_is_right_stays_when_corrected(note):
    for corrected in (False, True):
        for heading, listed in figures(note, mistakes=not corrected).items():
            in_order(listed, page_of(note, corrected), heading)
    assert sum(map(len, figures(note).values())) >= 25


REMARK = re.compile(r"\[(?:the|The|shaded)[^\]]*\]")
"""What we say ourselves stands in brackets."""


@pytest.mark.parametrize("note", NOTES)
def test_nothing_is_added_to_a_note_as_written(note):
    _, *lines = lines_of(note, corrected=False)
    written = [squeezed(figure) for listed in figures(note).values() for figure in listed]
    for line in at_least_one(lines):
        left = REMARK.sub("", line)
        for figure in sorted(written, key=len, reverse=True):
            left = left.replace(figure, " ")
        assert not re.search(r"\w", left), f"{line!r}: nobody wrote {left.strip()!r}"


@pytest.mark.parametrize("note", NOTES)
def test_lost_parts_are_named_in_both_versions(note):
    written, corrected = (
        [remark for line in lines_of(note, mode) for remark in REMARK.findall(line)] for mode in (False, True)
    )
    assert written == corrected
    assert bool(written) == (note in ("note-000", "note-003", "note-004"))


@pytest.mark.parametrize("note", NOTES)
def test_matrices_have_as_many_rows_as_their_steps(note):
    problem = derive(note).problem
    wording = Wording(problem.derivation, problem.notation)
    rows = {wording.name(name): problem.derivation.value(name).shape[0] for name in (*problem.givens, *names(problem))}
    checked = 0
    for line in equations(note):
        own = next((rows[part] for part in map(bare, line.parts) if part in rows), None)
        for part in map(bare, line.parts):
            if own is not None and isinstance(part, MatrixOf | ListOf):
                assert (len(part.rows) if isinstance(part, MatrixOf) else 1) == own, plain(line)
                checked += 1
    assert checked >= 4 or note == "note-002"  # which names no matrix but its weights


@pytest.mark.parametrize("note", NOTES)
def test_no_two_matrices_share_a_name(note):
    problem = derive(note).problem
    wording = Wording(problem.derivation, problem.notation)
    roles = {StepName.of(name).stem: name for name in (*problem.givens, *names(problem))}
    called = [plain(wording.name(name)) for name in roles.values()]
    called += re.findall(r"\bP_\d", page_of(note, corrected=True))  # positions, in note 004
    letters = [re.split(r"[_ ]", name)[0] for name in called if name.startswith("P")]
    twice = {name for name in called if called.count(name) > 1}
    if note == "note-004":
        assert set(letters) == {"P"}
        assert all(name.startswith("P_") for name in called if name[0] == "P")
        twice -= {"H"}  # worked out twice: from the weights that are stated, and from those of the scores
    assert not twice


def names(problem):
    return [step.name for step in problem.steps]


def bare(formula):
    """Without a shape below, beside or as an index."""
    return formula.body if isinstance(formula, Annotated) else formula


def equations(note):
    for block in all_blocks(derive(note).document.blocks):
        if isinstance(block, Display):
            for line in block.lines:
                yield from (x for x in (line.items if isinstance(line, Row) else (line,)) if isinstance(x, Relation))


# ------------------------------------------------------------------------------------------------ errata


@pytest.mark.parametrize("note", NOTES)
def test_every_erratum_is_listed_in_both_modes(note):
    for corrected, title in ((True, "Errata corrected here"), (False, "Errata of the note, left as they are")):
        text = derive(note, corrected=corrected).text()
        listed = text.partition(title)[2]
        assert listed, title
        for erratum in ERRATA[note]:
            assert re.search(rf"• {re.escape(erratum)} \(", listed), erratum


@pytest.mark.parametrize("note", NOTES)
def test_errata_have_ids_of_their_own_say_what_is_right_and_change_their_places(note):
    problem = derive(note).problem
    errata = problem.errata
    places = {item.id: item for section in problem.notation.sections for item in section.items if item.id}
    patches = [e for e in errata if e.patch]
    assert len({e.id for e in errata}) == len(errata)
    assert len({e.at for e in patches}) == len(patches), "two errata patch one place, and only one can show"
    assert {e.at for e in patches} <= set(places)
    for e in errata:
        assert all((e.as_written, e.corrected, e.kind, e.as_written != e.corrected)), e.id
        assert bool(e.at) == bool(e.patch), f"{e.id}: a patch and its place go together"


def without(problem, erratum):
    kept = tuple(e for e in problem.errata if e.id != erratum)
    return replace(problem, errata=kept)


@pytest.mark.parametrize("every", [8, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("note", NOTES)
def test_without_its_patch_the_place_is_as_corrected(note, every):
    problem = derive(note, corrected=False).problem
    patched = oracles.page_lines(derivation_document(problem), until="Errata")
    corrected = oracles.page_lines(derive(note).document, until="Errata")
    for erratum in [e.id for e in problem.errata if e.patch][::every]:
        mended = oracles.page_lines(derivation_document(without(problem, erratum)), until="Errata")
        changed = [a for a in patched if a not in mended]
        assert changed, f"{erratum}: the patch changes nothing"
        assert not set(changed) <= set(corrected), f"{erratum}: {changed} stands in the corrected text as well"


def is_right_elsewhere(note, figure):
    """Whether the same words stand in a line that is right: "For Input 1:" is so in step 4."""
    right = (line for lines in figures(note, mistakes=False).values() for line in lines)
    return any(squeezed(figure) in squeezed(line) for line in right)


@pytest.mark.parametrize("note", NOTES)
def test_no_mistake_is_left_in_the_corrected_text(note):
    text = (FOLDER / f"{note}.md").read_text("utf-8")
    wrong = re.findall(r"^- (.*) \(sic", text, re.MULTILINE)
    assert wrong
    page = page_of(note, corrected=True)
    assert not [figure for figure in wrong if not is_right_elsewhere(note, figure) and squeezed(figure) in page]


# ------------------------------------------------------------------------------------------------ notes 000 and 002


@pytest.mark.parametrize(("note", "corrected"), list(itertools.product(("note-000", "note-002"), (True, False))))
def test_what_the_notes_print_is_computed(note, corrected):
    solution = derive(note, corrected=corrected, by="matrix")
    for name, right in (("Q", Q), ("K", K), ("V", V), ("S", S)):
        assert solution[name].result.sympy() == Matrix(right), name


def test_the_corrected_output_of_note_000_in_decimals():
    solution = derive("note-000")
    assert solution["S'"].result.sympy() == Matrix([[1, 2, 2], [2, 8, 6], [2, 6, 5]])
    assert solution["A"].result.decimals(4) == (
        ("0.1554", "0.4223", "0.4223"), ("0.0022", "0.8789", "0.1189"), ("0.0132", "0.7214", "0.2654"),
    )  # fmt: skip
    assert solution["Z"].result.decimals(4) == (
        ("1.8446", "6.2232", "1.7330"), ("1.9978", "7.7490", "0.3634"), ("1.9868", "7.3899", "0.8358"),
    )  # fmt: skip


@pytest.mark.parametrize("corrected", [True, False])
def test_the_figures_of_note_000_lead_where_the_formulas_do(corrected):
    _, figure = (
        b for b in all_blocks(derive("note-000", corrected=corrected).document.blocks) if isinstance(b, Diagram)
    )
    boxes = {(i, j): plain(box) for i, layer in enumerate(figure.layers) for j, box in enumerate(layer.boxes)}
    at = {text.partition(" = ")[0]: place for place, text in boxes.items() if " = " in text}
    numbers = max(i for i, _ in at.values()) + 1  # the layer of the rows of Q, K and V, token by token
    rows = {role: {(numbers, 3 * t + k) for t in range(3)} for k, role in enumerate("QKV")}
    assert [boxes[numbers, j] for j in range(9)] == [
        f"[{' '.join(map(str, m[t]))}]" for t in range(3) for m in (Q, K, V)
    ]
    lead = {name: {low for low, high in figure.edges if high == place} for name, place in at.items()}
    right = {"S": rows["Q"] | rows["K"], "S'": {at["S"]}, "S''": {at["S'"]}}
    if corrected:
        right["Y"] = {at["S''"]} | rows["V"]
    assert lead == right
    assert min(at.values()) == at["Y" if corrected else "S''"] == (0, 0)


def test_every_dot_product_of_note_000_is_written_out():
    written, corrected = (lines_of("note-000", mode) for mode in (False, True))
    weights = (np.array(m.rows, int) for name, m in derive("note-000").problem.givens.items() if name[0] == "W")
    for name, left, right in (*zip("qkv", [X] * 3, weights, strict=True), ("S", Q, np.transpose(K))):
        for i, j in np.ndindex(3, 3):
            terms = "+".join(f"{a}·{b}" for a, b in zip(left[i], right[:, j], strict=True))
            line = f"{name}_{{{i + 1},{j + 1}}}={terms}={np.dot(left[i], right[:, j])}"
            assert line in corrected
            assert line not in written


def test_note_002_corrected_follows_from_what_it_prints():
    lines = oracles.page_lines(derive("note-002").document, until="Errata")
    assert "⊙" not in "".join(lines)
    numbers = r"(?:\d+(?:\.\d+)?)"
    products = [re.search(rf"({numbers})×\[([\d.,]+)\]=\[([\d.,]+)\]$", line.replace(" ", "")) for line in lines]
    weighted = []
    for weight, value, result in (found.groups() for found in products if found):
        weighted.append([Fraction(x) for x in result.split(",")])
        assert weighted[-1] == [Fraction(weight) * Fraction(x) for x in value.split(",")]
    assert len(weighted) == 9
    sums = [re.findall(rf"((?:{numbers} \+ )+{numbers}) = ({numbers})", line) for line in lines]
    totals = []
    for (terms, total), column in zip(
        itertools.chain(*sums), [row for t in range(3) for row in zip(*weighted[3 * t :][:3], strict=True)], strict=True
    ):
        assert [Fraction(x) for x in terms.split("+")] == list(column)
        assert sum(column) == Fraction(total)
        totals.append(f"{float(Fraction(total)):.4f}")
    right = oracles.numpy_attention(np.array(Q), np.array(K), np.array(V), scale=math.sqrt(3))["Z"]
    assert totals == [f"{x:.4f}" for x in right.flatten()]
    for t in range(3):
        assert any(line.replace(" ", "").endswith(f"[{','.join(totals[3 * t :][:3])}]Output{t + 1}") for line in lines)


def test_rational_weights_of_note_002_are_not_rounded():
    page = "\n".join(oracles.page_lines(derive("note-002", base=2, scale="none").document, until="Errata"))
    for score, value in zip(S[0], V, strict=True):
        weight = Fraction(2**score, sum(2**s for s in S[0]))
        weighted = ", ".join(str(weight * v) for v in value)
        assert f"{weight} × [{', '.join(map(str, value))}] = [{weighted}]" in page


@pytest.mark.parametrize("corrected", [True, False])
@pytest.mark.parametrize("form", ["markdown", "html"])
def test_leading_words_stand_on_the_line_of_their_formula(form, corrected):
    page = render(derive("note-002", corrected=corrected).document, form)[1].decode()
    for t, row in enumerate(X, 1):
        if form == "markdown":
            assert f"Input {t}: $[{', '.join(map(str, row))}]$" in page.splitlines()
        else:
            (line,) = (line for line in page.splitlines() if line.startswith(f"<p>Input {t}: "))
            assert line.endswith("</p>")


def test_note_002_is_largest_remainder_rounding_and_goes_on_with_the_rounded_weights():
    solution = derive("note-002", corrected=False)
    witness = oracles.numpy_attention(np.array(Q), np.array(K), np.array(V))["A"]
    stated = [[0, "0.5", "0.5"], [0, 1, 0], [0, "0.9", "0.1"]]
    for t, (row, exact_row) in enumerate(zip(stated, witness, strict=True), 1):
        rounded = [Fraction(x) for x in row]
        assert oracles.largest_remainder(exact_row, 1) == rounded
        assert list(solution[f"A_rounded.{t}"].result) == rounded
        assert sum(rounded) == 1
    outputs = [[2, 7, "1.5"], [2, 8, 0], [2, "7.8", "0.3"]]
    assert solution["Z"].result == Ours(outputs)
    assert solution["Z"].result.sympy() == oracles.table(stated) * Matrix(V)


def test_the_three_ways_of_rounding_the_first_row():
    row = Softmax().apply(Ours([S[0]]))
    assert Round(1, "nearest").apply(row) == Ours([["0.1", "0.5", "0.5"]])
    assert Round(1, "largest-remainder").apply(row) == Ours([[0, "0.5", "0.5"]])
    assert Round(1, "truncate").apply(row) == Ours([[0, "0.4", "0.4"]])


# ------------------------------------------------------------------------------------------------ note 001


@pytest.mark.parametrize("corrected", [True, False])
def test_note_001_is_done_by_its_shapes(corrected):
    solution = derive("note-001", corrected=corrected)
    shapes = {"Q": (2, 64), "K": (2, 64), "V": (2, 64), "S.1": (1, 2), "A.2": (1, 2), "Z.1": (1, 64), "Z": (2, 64)}
    for name, shape in shapes.items():
        assert solution[name].result.shape == shape
    assert solution["S'.1"].op.divisor == 8 == math.isqrt(64)
    text = solution.text()
    for words in ("512×64", "1×512", "1×64", "√64 = 8"):
        assert words in text
    assert max(map(len, text.splitlines())) < 200, "a matrix of 512 columns is written out"


def test_note_001_with_any_number_of_words():
    solution = derive("note-001", sizes={"n": "N"}, by="matrix")
    assert {s.name: s.result.shape for s in solution.steps} == {
        "Q": ("N", 64), "K": ("N", 64), "V": ("N", 64), "S": ("N", "N"), "S'": ("N", "N"), "A": ("N", "N"),
        "Z": ("N", 64),
    }  # fmt: skip
    assert "Z" in solution.text()


def test_the_miniature_of_note_001_has_the_same_pattern_and_is_worked_out():
    solution = derive("note-001", miniature=True)
    givens = {name: np.array(m.sympy().tolist(), dtype=float) for name, m in solution.givens.items()}
    assert givens["X"].shape[1] == 8 * givens["W_Q"].shape[1]
    q, k, v = (givens["X"] @ givens[f"W_{r}"] for r in "QKV")
    witness = oracles.numpy_attention(q, k, v, scale=math.sqrt(givens["W_Q"].shape[1]))
    np.testing.assert_allclose(oracles.floats(solution["Z"].result), witness["Z"], atol=1e-12)
    assert abs(witness["A"] - 0.5).min() > 0.01, "uniform weights would teach nothing"


def test_the_shapes_of_note_001_up_to_the_feed_forward_network():
    solution = derive("note-001-feed-forward")
    shapes = {
        "Q": ("N", 512), "Q_8": ("N", 64), "S_8": ("N", "N"), "Z_8": ("N", 64), "C": ("N", 512), "O": ("N", 512),
        "R1": ("N", 512), "N1": ("N", 512), "H": ("N", 2048), "F": ("N", 512), "N2": ("N", 512),
    }  # fmt: skip
    assert {name: solution[name].result.shape for name in shapes} == shapes
    assert all(solution[f"S'_{i}"].op.divisor == 8 for i in range(1, 9))


def test_one_head_stands_for_all_of_them_on_the_page():
    lines = oracles.page_lines(derive("note-001-feed-forward").document)
    assert any("columns 1–64" in line for line in lines)
    assert not any("columns 65–128" in line for line in lines)
    assert len(lines) < 120


def test_the_64_columns_of_one_head_cannot_feed_the_network():
    narrow = {"X": {"rows": "N", "columns": 64}, "W_1": {"rows": 512, "columns": 2048}}
    with refused_saying("d_model would be 512; but d_model is 64"):
        problem_file(
            {"mechanism": "feed_forward", "given": {**narrow, "W_2": {"rows": 2048, "columns": 512}}}, "it"
        ).problem()


def test_the_miniature_of_the_hand_over():
    solution = derive("note-001-feed-forward", miniature=True)
    heads = sum(step.stem == "S" for step in solution.steps)
    rows, columns = solution.givens["W_Q"].shape
    width = columns // heads
    assert heads * width == rows, "as 8 · 64 = 512"
    assert solution["S'_1"].op.divisor == sympy.sqrt(width)
    assert all(x.is_Rational for x in solution["N2"].result.sympy())


# ------------------------------------------------------------------------------------------------ note 003


def test_note_003_is_done_with_letters():
    solution = derive("note-003")
    assert [s.name for s in solution.steps[:3]] == ["K", "V", "Q"]
    assert solution["K"].result.shape == (2, "m")
    assert solution["S.1"].result.shape == (2, 1), "the scores of a token stand in a column"
    assert solution["Z.2"].result.shape == (1, "m")
    assert not any(s.role == "S'" for s in derive("note-003", corrected=False).steps)
    assert any(s.role == "S'" for s in solution.steps)


@pytest.mark.parametrize(("name", "last"), [("multi-head", "O"), ("encoder", "N2"), ("recurrent", "H")])
def test_the_numbers_of_note_003_are_rational(name, last):
    """Which of them follow is seen where the values of mechanisms are (tests/mechanisms/test_values.py)."""
    solution = derive(f"note-003-{name}")
    assert solution.steps[-1].name == last
    assert all(x.is_Rational for step in solution for x in step.result.sympy())


def test_the_heads_of_note_003_differ_and_their_scores_are_not_symmetric():
    solution = derive("note-003-multi-head")
    assert solution["A_1"].result != solution["A_2"].result
    assert all(m.sympy() != m.T.sympy() for m in (solution["S_1"].result, solution["S_2"].result))


def test_what_is_said_of_the_gradients_is_so():
    w = derive("note-003-recurrent").givens["W_h"].sympy()
    assert sorted((w * w).diagonal()) == [sympy.Rational(1, 4), 4]
    assert all(set((w**t).eigenvals()) == {2**t, sympy.Rational(1, 2**t)} for t in range(1, 8))
    # h_3 depends on h_1 by W_h W_h, since there is no function
    h = sympy.Matrix([sympy.symbols("a b")])
    jacobian = (h * w * w).jacobian(h).T
    assert jacobian == w * w
    said = derive("note-003-recurrent").problem.errata
    [stability] = [e for e in said if e.id == "E3.7"]
    assert "2 has become 4" in stability.corrected
    assert "frac(1, 2)$ has become $frac(1, 4)$" in stability.corrected


def in_a_row(d, role):
    """How many lines of single inputs wait for one another, for one role."""
    chain = {}
    for step in d:
        before = max((chain.get(operand.name, 0) for operand in step.operands), default=0)
        chain[step.name] = before + (step.role == role and step.token is not None)
    return max(chain.values())


@pytest.mark.parametrize(("count", "width"), [(3, 2), (5, 4)])
def test_the_numbers_of_the_comparison(count, width):
    """N inputs of width m, by what derivations multiply, and W_O."""
    numbers, square = np.ones((count, width), int), np.eye(width, dtype=int)
    network = derive("recurrent_network", X=numbers, W_x=square, W_h=square, H_0=numbers[:1]).derivation
    projected = {f"W_{role}": square for role in "QKV"}
    at_once, attended = (
        derive("self_attention", X=numbers, **projected, by=by).derivation for by in ("matrix", "token")
    )
    notation = load_example("note-003-recurrent").problem().notation
    [rows] = [item.table for section in notation.sections for item in section.items if item.table]
    printed = {name: cells for name, *cells in rows}
    for name, counted in {
        "multiply-adds": [multiply_adds(network), multiply_adds(at_once) + count * width**2],
        "steps that wait for one another": [in_a_row(network, "H"), in_a_row(attended, "Z")],
        "steps from Input 1 to Output $N$": [count - 1, 1],
    }.items():
        said = (read(cell.strip("$"), symbols=True).value for cell in printed[name])
        assert [sympy.sympify(x).subs({"N": count, "m": width}) for x in said] == counted, name


def test_the_page_is_in_the_notation_of_the_note():
    text = derive("note-003-multi-head").text("text")
    assert "W = [K₄ₓ₄, V₄ₓ₄, Q₄ₓ₄]" in text
    assert [s.name for s in derive("note-003-multi-head").steps[:3]] == ["K", "V", "Q"], "the note's order"
    for words in ("Input 1", "(A) Scores S^(1)", "(B) Softmax Ŝ^(2)", "(D) Output, head 2", "k₁^(1)", "O₄ₓ₄"):
        assert words in text, words
    recurrent = derive("note-003-recurrent")
    assert [s.name for s in recurrent.steps[:2]] == ["H_x.1", "H.1"], "one input after the other"
    assert "Recurrent Network vs MH-attention" in recurrent.text()


OURS = ("note-001-feed-forward", "note-003-encoder", "note-003-multi-head", "note-003-recurrent")


@pytest.mark.parametrize("name", OURS)
def test_nothing_of_ours_is_said_to_be_the_notes(name):
    problem = derive(name).problem
    said = " ".join(problem.introduction) + " ".join(e.corrected + e.why for e in problem.errata)
    assert re.search(r"numbers (are )?(of our own|not the note's)|the note gives none", said)
    assert problem.errata
    assert not derive(name, notation="standard").problem.errata


@pytest.mark.parametrize("name", ["multi-head", "encoder", "recurrent"])
def test_note_003_says_where_its_empty_sections_are_filled(name):
    assert f"note-003-{name}" in derive("note-003").text()
    assert f"note-003-{name}" not in derive("note-003", corrected=False).text()


# ------------------------------------------------------------------------------------------------ note 004


def test_the_weights_of_note_004_mix_the_values():
    v1, v2, v3 = sympy.symbols("v_1:4", positive=True)
    found = derive("note-004")["H"].result.sympy()
    found = found.subs({s: {"v_1": v1, "v_2": v2, "v_3": v3}[s.name] for s in found.free_symbols})
    tenths = [sympy.Rational(x, 10) for x in (7, 3, 3, 5, 2)]
    assert list(found) == [
        v1,
        tenths[0] * v1 + tenths[1] * v2,
        tenths[2] * v1 + tenths[3] * v2 + tenths[4] * v3,
    ]


def test_note_004_divides_by_the_root_of_d_k_everywhere():
    scaled = derive("note-004")["S'"].result.sympy()
    q, k, d_k = sympy.symbols("q_1:4"), sympy.symbols("k_1:4"), sympy.Symbol("d_k")
    plain_names = {s: sympy.Symbol(s.name) for s in scaled.free_symbols}
    assert scaled.subs(plain_names) == Matrix(3, 3, lambda i, j: q[i] * k[j] / sympy.sqrt(d_k))
    assert "√d)" not in page_of("note-004", corrected=True)
    assert not re.search(r"√d(?!_k)", page_of("note-004", corrected=True))


def test_the_output_of_note_004_has_its_factors_and_stands_after_the_weights():
    lines = lines_of("note-004", corrected=True)
    at = lines.index("H=α V")
    assert lines[at + 1] == squeezed("= [1 0 0; α_{2,1} α_{2,2} 0; α_{3,1} α_{3,2} α_{3,3}] [v_1; v_2; v_3]")
    assert lines[at + 2].startswith("h_1=")
    assert lines[at - 1].startswith("α_{3,3}=")


@pytest.mark.parametrize("note", NOTES)
def test_equations_stand_beside_their_own_step_alone(note):
    # as they are set side by side: the rule of a step before its entries, the result after them
    document = derive(note).document
    for group in at_least_one(groups(document.blocks, Page(document.look))):
        middle = next((k for k, block in enumerate(group.blocks) if isinstance(block, Entries)), None)
        if middle is not None and len(group.blocks) > 1:
            before, after = ([b.role for b in part] for part in (group.blocks[:middle], group.blocks[middle + 1 :]))
            assert "values" not in before
            assert "rule" not in after


def test_scores_that_give_the_weights_of_note_004():
    # row 2: ln 7, ln 3; row 3: ln 3, ln 5, ln 2, up to a constant for each row
    logs = [["ln(7)", "ln(3)", 0], ["ln(3)", "ln(5)", "ln(2)"]]
    keep = ((True, True, False), (True, True, True))
    found = Softmax().apply(Mask(keep).apply(Ours(logs)))
    assert oracles.same_matrix(found.sympy(), oracles.table([["7/10", "3/10", 0], ["3/10", "5/10", "2/10"]]))


def test_multiplying_by_minus_infinity_works_for_positive_scores():
    q = k = [[1], [2], [3]]
    rule = {"mask": "causal", "scale": "none"}
    right = mechanism("attention").run({"Q": q, "K": k, "V": V}, Settings.read(rule))
    written = mechanism("attention").run(
        {"Q": q, "K": k, "V": V}, Settings.read({**rule, "mask_style": "multiplicative"})
    )
    assert written.value("A") == right.value("A")
    assert written.value("A").sympy()[0, :] == Matrix([[1, 0, 0]])


@pytest.mark.parametrize(("score", "shown"), [(0, "0·"), (-2, "-2"), ("-1/3", "-1/3")])
@pytest.mark.parametrize("by", ["matrix", "token"])
def test_multiplying_by_minus_infinity_is_refused_for_other_scores(score, shown, by):
    # entry (2, 3) of the scores is the only hidden one that is not positive
    q = [[1], [1], [1]]
    k = [[1], [2], [score]]
    settings = Settings.read(
        {"mask": [[1, 1, 1], [1, 1, 0], [1, 1, 1]], "mask_style": "multiplicative", "by": by, "scale": "none"}
    )
    with pytest.raises(UndefinedError) as error:
        mechanism("attention").run({"Q": q, "K": k, "V": V}, settings)
    message = str(error.value)
    assert ("(2, 3)" if by == "matrix" else "'M.2'") in message
    assert "3)" in message
    assert shown in message
    assert "additive" in message, "what would be right is said"


def test_note_004_as_written_needs_positive_scores():
    assert derive("note-004", corrected=False)["M"].op.style == "multiplicative"
    assert derive("note-004")["M"].op.style == "additive"
    derivation = derive("note-004", corrected=False).derivation
    with refused_saying("Add 0 or −∞ instead"):
        derivation.replay(givens={"Q": [[1], [-1], [1]], "K": [[1], [1], [1]], "V": [[1], [2], [3]]})


# ------------------------------------------------------------------------------------------------ layouts and settings


@pytest.mark.slow
def test_a_notation_that_goes_token_by_token_is_used_for_heads_matrix_by_matrix():
    [sheet] = worksheet("multi_head_attention", notation="note-003", seed=3)
    steps = [step.name for step in sheet.problem.derivation]
    assert steps[:3] == ["K", "V", "Q"]
    assert {"S_1", "A_2", "O"} <= set(steps)
    with refused_saying("has no setting 'by'"):
        worksheet("multi_head_attention", by="token")


def test_a_miniature_may_have_settings_of_its_own_and_givens_may_not():
    data = {"mechanism": "multi_head_attention", "heads": 2, "given": {}}
    small = {"X": [[1, 0], [0, 1]], "W_Q": [[1], [2]], "W_K": [[1], [0]], "W_V": [[1], [1]], "W_O": [[1, 2]]}
    file = problem_file({**data, "miniature": {**small, "heads": 1}}, "it")
    assert [s.name for s in file.problem(miniature=True).steps][-2:] == ["Z", "O"]
    with refused_saying("no given 'heads'"):
        problem_file({**data, "given": {**small, "heads": [[1]]}}, "it").problem()


def test_columns_that_only_become_a_heads_own_are_not_asked_for():
    question = derive("note-003-multi-head").worksheet().question
    asked = [part.name for part in question.parts]
    assert "S_1" in asked
    assert not {"Q_1", "K_2", "V_1"} & set(asked)
