"""What the notes name and leave out: note 003's heads, encoder and recurrent network, note 001's feed-forward network.

The numbers are ours and say so.
"""

import itertools
import re

import oracles
import pytest
import sympy
from sentences import refused_saying

from symattn.api import derive, make_recipe, worksheet
from symattn.derivation.mechanisms import mechanisms
from symattn.marking.grading.recipes import read_recipe
from symattn.teaching.examples import load_example
from symattn.teaching.problem_file import problem_file

OURS = ("note-001-feed-forward", "note-003-encoder", "note-003-multi-head", "note-003-recurrent")


# ------------------------------------------------------------------------------------------------ note 003


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
    """N inputs of width m: one product with W_x and one with W_h for each state; Q, K, V, W_O, scores, mixing."""

    def multiply_adds(a, b, c):
        return sum(1 for _ in itertools.product(range(a), range(b), range(c)))

    recurrent = sum(2 * multiply_adds(1, width, width) for _ in range(count))
    attention = 4 * multiply_adds(count, width, width)
    attention += multiply_adds(count, width, count) + multiply_adds(count, count, width)
    numbers = [[(i + j) % 3 - 1 for j in range(width)] for i in range(count)]
    square = [[int(i == j) for j in range(width)] for i in range(width)]
    network = derive("recurrent_network", X=numbers, W_x=square, W_h=square).derivation
    projected = {f"W_{role}": square for role in "QKV"}
    attended = derive("self_attention", X=numbers, **projected, by="token").derivation
    said = dict(zip(sympy.symbols("N m"), (count, width), strict=True))
    cells = {
        "multiply-adds": ("2 N m^2", "4 N m^2 + 2 N^2 m", recurrent, attention),
        "steps that wait for one another": ("N", "1", in_a_row(network, "H"), in_a_row(attended, "Z")),
        "steps from Input 1 to Output $N$": ("N - 1", "1", len(range(1, count)), 1),
    }
    notation = load_example("note-003-recurrent").problem().notation
    [rows] = [item.table for section in notation.sections for item in section.items if item.table]
    printed = {row[0]: [cell.strip("$") for cell in row[1:]] for row in rows}
    for name, (rn, heads, counted_rn, counted_heads) in cells.items():
        assert printed[name] == [rn, heads]
        for formula, counted in ((rn, counted_rn), (heads, counted_heads)):
            python = re.sub(r"([Nm0-9]) (?=[Nm])", r"\1*", formula.replace("^", "**"))
            letters = {str(letter): letter for letter in said}
            assert sympy.sympify(python, locals=letters).subs(said) == counted, name


def test_the_page_is_in_the_notation_of_the_note():
    text = derive("note-003-multi-head").text("text")
    assert "W = [K₄ₓ₄, V₄ₓ₄, Q₄ₓ₄]" in text
    assert [s.name for s in derive("note-003-multi-head").steps[:3]] == ["K", "V", "Q"], "the note's order"
    for words in ("Input 1", "(A) Scores S^(1)", "(B) Softmax Ŝ^(2)", "(D) Output, head 2", "k₁^(1)", "O₄ₓ₄"):
        assert words in text, words
    recurrent = derive("note-003-recurrent")
    assert [s.name for s in recurrent.steps[:2]] == ["H_x.1", "H.1"], "one input after the other"
    assert "Recurrent Network vs MH-attention" in recurrent.text()


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


# ------------------------------------------------------------------------------------------------ note 001


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


# ------------------------------------------------------------------------------------------------ layouts and settings


@pytest.mark.slow
def test_a_notation_that_goes_token_by_token_is_used_for_heads_matrix_by_matrix():
    [sheet] = worksheet("multi_head_attention", notation="note-003", seed=3)
    steps = [step.name for step in sheet.problem.derivation]
    assert steps[:3] == ["K", "V", "Q"]
    assert {"S_1", "A_2", "O"} <= set(steps)
    with refused_saying("has no setting 'by'"):
        worksheet("multi_head_attention", by="token")


SAID = [
    ("multi_head_attention", {"heads": "4", "kv_heads": 2, "split": "interleaved", "mask": "causal"}),
    ("self_attention", {"temperature": "1/2", "notation": "note-003", "by": "matrix"}),
    ("layer_norm", {"variance": "sample", "epsilon": "1/100"}),
]


@pytest.mark.parametrize(("name", "said"), SAID, ids=[name for name, _ in SAID])
def test_footers_hold_the_settings_of_every_mechanism(name, said):
    recipe = make_recipe(name, {k: v for k, v in said.items() if k != "notation"}, notation=said.get("notation"))
    again, _ = read_recipe(recipe.command())
    assert again.spec.chosen_settings() == recipe.spec.chosen_settings()
    assert again.command() == recipe.command()


def test_every_mechanism_writes_its_own_settings_into_footers():
    for chosen in mechanisms().values():
        recipe = make_recipe(chosen.name, {}, seed=1)
        assert read_recipe(recipe.command())[0].spec.chosen_settings() == recipe.spec.chosen_settings()


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
