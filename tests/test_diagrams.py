"""Figures of derivations: nothing is left out, nothing is invented, and words say all of it."""

import re
from functools import cache
from operator import mul

import pytest
from commands import run

from symattn.api import derive, worksheet
from symattn.derivation.mechanisms import mechanism, mechanisms
from symattn.errors import InputError
from symattn.exact import decimal_text
from symattn.formula import Relation
from symattn.formula.speech import speak
from symattn.page.document import Diagram, HeatMaps, all_blocks
from symattn.page.writers.figures import drawn
from symattn.teaching.explanation.diagrams import DIAGRAMS, diagram_document, level
from symattn.teaching.explanation.documents import set_overview
from symattn.teaching.explanation.wording import Wording
from symattn.teaching.problem import examples
from symattn.teaching.rendering import render
from symattn.teaching.sheets import sheets

SIZES = {"n": 2, "m": 3, "d_model": 4, "d_k": 2, "d_v": 2, "d_ff": 3, "d_out": 2, "d_source": 2, "d_h": 2, "d_vocab": 3}


@cache
def worked(name):
    if name in examples():
        return derive(name)
    known = {
        letter for shape in mechanism(name).givens.values() for text in shape for letter in re.findall(r"\w+", text)
    }
    sizes = {letter: size for letter, size in SIZES.items() if letter in known}
    return derive(name, symbolic=True, sizes={**sizes, **mechanism(name).default_sizes})


def figures(name, kind):
    return [b for b in all_blocks(diagram_document(worked(name).problem, kind).blocks) if isinstance(b, Diagram)]


def parts(box):
    """What a box of the graph is called, and the shape under it."""
    return (box.body.parts[0] if isinstance(box.body, Relation) else box.body), box.note


SOURCES = [*examples(), *(name for name in mechanisms() if not name.endswith("gradient"))]


@pytest.mark.covering(most=8, rest=3)
@pytest.mark.parametrize("name", SOURCES)
def test_the_graph_has_every_matrix_with_its_shape_and_every_use_of_one(name):
    problem = worked(name).problem
    wording = Wording(problem.derivation, problem.notation)
    edges, boxes = set(), {}
    for diagram in figures(name, "graph"):
        contents = {(i, j): box for i, layer in enumerate(diagram.layers) for j, box in enumerate(layer.boxes)}
        for box in contents.values():
            called, shape = parts(box)
            boxes.setdefault(called, set()).add(shape)
        edges |= {(parts(contents[a])[0], parts(contents[b])[0]) for a, b in diagram.edges}
    used = {(o.name, step.name) for step in problem.steps for o in step.operands}
    assert edges == {(wording.name(low), wording.name(high)) for low, high in used}
    for step in problem.steps:
        assert wording.shape(step.result) in boxes[wording.name(step.name)]


@pytest.mark.covering(most=55, product=False)
@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("kind", list(DIAGRAMS))
def test_words_say_every_box_and_label(name, kind):
    try:
        blocks = figures(name, kind)
    except InputError as error:
        assert str(error).endswith(".")  # noqa: PT017
        return
    for diagram in blocks:
        for layer in diagram.layers:
            assert all(speak(box) in diagram.description for box in layer.boxes)
        assert all(edge[0][0] >= edge[1][0] for edge in diagram.edges)
        assert drawn(diagram).width < 300


def test_the_heads_of_a_layer_are_framed_each_on_its_own():
    (diagram,) = figures("note-003-multi-head", "heads")
    held = [{speak(diagram.layers[i].boxes[j]) for i, j in frame.boxes} for frame in diagram.frames]
    assert len(held) == 2
    assert not held[0] & held[1]
    assert all(len(boxes) == 5 for boxes in held)


@pytest.mark.parametrize("name", ["encoder_block", "encoder_block_gradient"])  # of the way back nothing is drawn
@pytest.mark.parametrize("place", ["post", "pre"])
def test_residuals_pass_the_sublayers_and_norms_stand_where_the_derivation_has_them(name, place):
    solution = derive(name, symbolic=True, norm_place=place,
                      sizes={"n": 2, "d_model": 2, "d_k": 1, "d_v": 2, "d_ff": 2})  # fmt: skip
    (diagram,) = diagram_document(solution.problem, "blocks").blocks
    from_below = [speak(layer.boxes[0]).split(" equals")[0] for layer in reversed(diagram.layers)]
    attention, network, norm = "Self-attention", "Feed-forward network", "Layer norm"
    first, second = (box for box in from_below if box.startswith("R"))
    post = ["X, 2 by 2", attention, first, norm, network, second, norm]
    pre = ["X, 2 by 2", norm, attention, first, norm, network, second]
    output = ["Y"] if name == "encoder_block_gradient" else []
    assert from_below == [*(post if place == "post" else pre), *output]
    top = len(from_below) - 1
    skips = {(top - a, top - b) for (a, _), (b, _) in diagram.edges if a - b > 1}
    assert skips == ({(0, 2), (3, 5)} if place == "post" else {(0, 3), (3, 6)})


def test_a_recurrence_has_long_paths_and_attention_short_ones():
    """Lengths of the longest paths, by a search of its own."""
    (diagram,) = figures("note-003-recurrent", "recurrence")
    n = len(diagram.layers[0].boxes) // 2

    def longest(place):
        return max((1 + longest(b) for a, b in diagram.edges if a == place), default=0)

    assert longest((1, 0)) == n
    assert all(longest((1, n + t)) == 1 for t in range(n))


def test_heat_maps_have_the_weights_in_their_cells():
    solution = worked("note-002")
    (maps,) = diagram_document(solution.problem, "weights").blocks
    ((_, picture),) = maps.items
    rows = [step.result.rows[0] for step in solution.steps if step.stem == "A"]
    assert picture.levels == tuple(tuple(map(level, row)) for row in rows)
    for words, row in zip(picture.words, rows, strict=True):
        assert list(words) == [decimal_text(x, 2) for x in row]
        assert ", ".join(words) in picture.description


@pytest.mark.parametrize("notation", ["note-003", "columns", "standard"])
def test_every_drawn_score_is_the_dot_product_of_what_leads_to_it(notation):
    """Also where the scores of one token are a column, as in note-003: K q₁ᵀ."""
    [made] = worksheet("self_attention", seed=7, notation=notation)
    text = render(diagram_document(made.problem, "dot-products"), "text")[1].decode().replace("−", "-")
    [query], keys = (
        [list(map(int, row.split())) for row in re.findall(rf"{of} = \[(.+?)\]", text)] for of in ("q₁", "k.")
    )
    scores = list(map(int, re.findall(r"s\S+(?: 1| 2| 3)?}? = (-?\d+)", text)))
    assert scores == [sum(map(mul, query, key)) for key in keys]
    assert len(scores) == 3


def test_the_command_draws_and_says_what_there_is():
    assert "softmax" in run("derive", "note-002", "--diagram").output
    assert "X₁" not in run("derive", "note-002", "--diagram=heads").output
    for arguments, said in (
        (["note-002", "--diagram", "heads"], "There are no heads here"),
        (["note-002", "--diagram", "blocks"], "There are no residuals here"),
        (["note-002", "--diagram", "recurrence"], "There are no states"),
        (["note-003-recurrent", "--diagram", "weights"], "There are no weights in numbers here"),
        (["note-002", "--diagram", "pie"], "There is no diagram 'pie'; there are graph, dot-products"),
        (["note-002", "--diagram", "graph", "--as", "key"], "it does not go with --as"),
    ):
        result = run("derive", *arguments)
        assert result.exit_code != 0
        assert said in result.output


def test_documents_of_what_is_put_together_begin_with_a_figure():
    for name, wanted in (("note-003-multi-head", 1), ("note-003-encoder", 1), ("note-002", 0)):
        document = worked(name).document
        assert sum(isinstance(block, Diagram) for block in document.blocks) == wanted


@pytest.mark.slow
def test_an_overview_has_every_sheet_with_its_answer_and_its_weights():
    from symattn.api import make_recipe

    made = [(s.name, s.question) for s in sheets(make_recipe("attention", seed=3), 4)]
    document = set_overview("Attention", made)
    text = render(document, "text")[1].decode()
    for name, question in made:
        assert text.count(name) == 2  # in the table, and under its heat map
        last = question.problem.steps[-1].result
        for row in last.decimals(2):
            assert "  ".join(row).replace("-", "−") in text
    assert sum(isinstance(block, HeatMaps) for block in document.blocks) == 1
