"""Translate a derivation from one notation into another: names, products, shapes, layout (rules.md 5, type 8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from symattn.derivation.derivation import Derivation, Operand, Step, oriented, transposed, turned
from symattn.derivation.matrixwise import matrixwise
from symattn.derivation.mechanisms import Settings, mechanism
from symattn.errors import InputError, SelfCheckError
from symattn.exact import values_of
from symattn.formula import equal
from symattn.foundation.dice import pick, shuffled
from symattn.foundation.languages import message
from symattn.page.document import AnswerGrid, Display, Heading, Inlines, as_text, in_turn, sentence
from symattn.page.notation import Notation, kept_notation, load_notation, notations
from symattn.teaching.derivation_question import all_given
from symattn.teaching.explanation.parts import mask_shown, wording_of
from symattn.teaching.explanation.steps import cell_kind
from symattn.teaching.explanation.wording import Wording
from symattn.teaching.problem import Problem
from symattn.teaching.problems import derived
from symattn.teaching.problems.asking import WORKED_OUT, Offer, choice_part, fill_in, make_part, put_in
from symattn.teaching.problems.derived import Family, balanced_places
from symattn.teaching.problems.draws import Draw, ProvedQuestion, Record, Spec
from symattn.teaching.question import MatrixAnswer, Part, Question, ShapeAnswer

CLASSES = (("X", "W_Q", "W_K", "W_V"), ("Q", "K", "V", "A"), ("S", "S'", "A", "Z"))
"""Matrices that are mistaken for one another."""

PRODUCTS = (
    (Operand("Q"), transposed("K")),
    (Operand("K"), transposed("Q")),
    (transposed("Q"), Operand("K")),
    (transposed("K"), Operand("Q")),
)
OPTIONS = 4


# ------------------------------------------------------------------------------------------------ drawing


def family(spec: Spec, rng: Random) -> Family:
    """With the places of the right name and the right product."""
    return replace(derived.family(spec, rng), places=balanced_places(rng, OPTIONS, 2))


def draw_variant(rng: Random, draw: Draw) -> Record:
    """A derivation, the notation to write it `into`, and what is asked of it.

    `names` are offered for the matrix `role`, and `products` (see `PRODUCTS`) for the scores; one `token` is written.
    """
    spec, drawn = draw.spec, derived.drawn_numbers(rng, draw)
    settings = spec.chosen_settings()
    if settings.activation != "identity" or settings.rounding:
        raise InputError("A derivation to be translated has neither an activation nor rounded weights.")
    into = draw.option("into") or ("columns" if settings.orientation == "rows" else "standard")
    if into == spec.notation:
        raise InputError(f"The option into of translate is {into!r}, which is the notation that one starts from.")
    target = load_notation(into)
    d = matrixwise(derived.problem_of(drawn).derivation)
    other = translated(d, target)
    tokens = values_of(d.value("S")).shape[0 if d.orientation == "rows" else 1]
    named = _named(d, load_notation(spec.notation), other, target)
    if not named:
        raise InputError(f"Between the notations {spec.notation} and {into} there are no names to be told apart.")
    role, group = named[(draw.number - 1) % len(named)]
    wrong = shuffled(rng, [name for name in group if name != role])
    if (operands := other["S"].operands) not in PRODUCTS:
        factors = " and ".join(operand.name for operand in d["S"].operands)
        raise InputError(f"Scores to be translated are made of Q and K; those of {spec.mechanism} of {factors}.")
    right = PRODUCTS.index(operands)
    products = shuffled(rng, [k for k in range(len(PRODUCTS)) if k != right])
    return {
        **drawn,
        "into": kept_notation(into),
        "names": put_in(wrong, draw.family.place(0, draw.number), role),
        "role": role,
        "products": put_in(products, draw.family.place(1, draw.number), right),
        "token": pick(rng, range(tokens)),
    }


def _named(d: Derivation, source: Notation, other: Derivation, target: Notation) -> list[tuple[str, tuple[str, ...]]]:
    """Roles with their class, which the target writes in four ways; only those whose name changes, if there are any."""
    here, there = Wording(d, source), Wording(other, target)
    named_roles: list[tuple[str, tuple[str, ...]]] = []
    for group in CLASSES:
        if all(name in d for name in group) and len({there.name(name) for name in group}) == len(group):
            named_roles += [(role, group) for role in group]
    return [x for x in named_roles if here.name(x[0]) != there.name(x[0])] or named_roles


def translated(d: Derivation, target: Notation) -> Derivation:
    """The derivation with its tokens as the target notation has them, matrix by matrix."""
    return oriented(d, "columns" if target.settings.get("orientation") == "columns" else "rows")


# ------------------------------------------------------------------------------------------------ making


def made(draw: Draw) -> ProvedQuestion:
    problem = derived.problem_of(draw.record, TYPE.title)
    problem = replace(problem, derivation=matrixwise(problem.derivation))
    target = load_notation(draw["into"])
    other = replace(problem, derivation=translated(problem.derivation, target), notation=target)
    here, there = wording_of(problem), wording_of(other)
    shaped = "W_Q" if "W_Q" in problem.derivation else "Q"
    parts = (
        _name_part(draw["names"], draw["role"], here, there),
        _product_part(draw["products"], there),
        _shape_part(shaped, here, there),
        _token_part(draw["token"], there),
        _matrix_part("S", there, other),
        _matrix_part(other.derivation.last.name, there, other),
    )
    derivation = [
        block for step in problem.steps for block in (*mask_shown(step, here), Display(derived.printed(step, here)))
    ]
    given = (*all_given(problem, here), Heading(as_text("The derivation"), 1), *derivation)
    settings = replace(Settings.read(draw.record["settings"]), orientation=other.derivation.orientation, by="matrix")

    def proof(question: Question) -> None:
        """The translation worked out from translated givens by the mechanism itself, and compared step by step."""
        again = mechanism(problem.mechanism).run(other.derivation.givens, settings)
        for step in again:
            if step.name not in other.derivation or step.result != other.derivation.value(step.name):
                raise SelfCheckError(f"In the notation {target.name}, {step.name} is not what was translated.")

    return derived.question(draw, problem, parts, _introduction(problem, other), given=given, proof=proof)


def _introduction(problem: Problem, other: Problem) -> Inlines:
    step = next((step for step in other.steps if step.name == "Q"), None)
    return in_turn(
        (
            sentence(
                "The derivation below is written in one notation. Rewrite it in another: {notation}.",
                notation=other.notation.title.partition(":")[0],
            ),
            sentence(
                "In the new notation, products are written as in {product}.", product=wording_of(other).equation(step)
            )
            if step
            else (),
            as_text(_LYING[problem.derivation.orientation, other.derivation.orientation]),
            as_text("Nothing needs to be worked out again."),
        )
    )


_LYING = {
    ("rows", "rows"): "In both, tokens are rows.",
    ("columns", "columns"): "In both, tokens are columns.",
    ("rows", "columns"): (
        "In the new notation tokens are columns, so softmax is taken along each column; here they are rows."
    ),
    ("columns", "rows"): (
        "In the new notation tokens are rows, so softmax is taken along each row; here they are columns."
    ),
}
"""How tokens lie here and there."""


def _name_part(names: Sequence[str], role: str, here: Wording, there: Wording) -> Part:
    offers = []
    for name in names:
        why = sentence("{there} in the new notation is {here} here.", there=there.name(name), here=here.name(name))
        offers.append(Offer(there.name(name), why, name == role))
    prompt = [sentence("What is {matrix} called in the new notation?", matrix=here.name(role))]
    return choice_part(message("A name"), prompt, offers, key=prompt)


def _product_part(products: Sequence[int], there: Wording) -> Part:
    step = there.derivation["S"]
    other = turned(there.derivation)["S"].operands
    offers = []
    for k in products:
        operands = PRODUCTS[k]
        right, diagnosis = operands == step.operands, ""
        if right:
            why = "right: each score is the product of a query and a key."
        elif operands == other:
            why = "this is the product where tokens lie the other way."
        elif operands == tuple(replace(o, name=_SWAPPED[o.name]) for o in step.operands):
            why, diagnosis = "this is the transpose: query and key are swapped.", "T2"
        else:
            why, diagnosis = "this compares features, not tokens.", "T3"
        formula = equal(there.name("S"), there.rule(step.with_operands(*operands)))
        offers.append(Offer(formula, why, right, diagnosis))
    prompt = ["Which product gives the scores in the new notation?"]
    return choice_part("The scores as a product", prompt, offers, key=prompt)


_SWAPPED = {"Q": "K", "K": "Q"}


def _shape_part(name: str, here: Wording, there: Wording) -> Part:
    shape = there.derivation.value(name).shape
    prompt = sentence(
        "What is the shape of {there} in the new notation ({here} above)?", there=there.name(name), here=here.name(name)
    )
    text = "{shape}, with rows and columns swapped: every matrix is transposed."
    if here.orientation == there.orientation:
        text = "{shape}, as here: tokens lie the same way."
    return make_part(
        message("A shape"),
        [prompt, fill_in("Rows × columns:", 30)],
        [in_turn((prompt, sentence(text, shape="×".join(map(str, shape)))))],
        ShapeAnswer(shape),
    )


def _token_part(token: int, there: Wording) -> Part:
    """One token's query as it stands there: a row or a column."""
    row = values_of(there.token("Q", token + 1))
    value = row if there.orientation == "rows" else row.T
    name = there.read(there.notation.named("Q").row, i=token + 1, t=token + 1)
    prompt = sentence("Write the query of token {token} in the new notation.", token=token + 1)
    whole_numbers = all(isinstance(x, int) for x in value)
    return make_part(
        "One token",
        [prompt, AnswerGrid(name, *value.shape, "integer" if whole_numbers else "fraction")],
        [prompt, Display((equal(name, there.values(value)),))],
        MatrixAnswer(value),
    )


def _matrix_part(name: str, there: Wording, other: Problem) -> Part:
    step = other.derivation[name]
    answer = MatrixAnswer.of(_alone(other.derivation, step), name)
    prompt = sentence("Write {matrix}, with its values, in the new notation.", matrix=there.name(name))
    return make_part(
        there.notation.named(name).word or step.op.title,
        [prompt, AnswerGrid(there.name(name), *answer.value.shape, cell_kind(step.result, other.exact), step=name)],
        [prompt, Display(derived.printed(step, there))],
        answer,
        *WORKED_OUT,
    )


def _alone(d: Derivation, step: Step) -> Derivation:
    """The step and its operands: what is written in another notation follows from no line above, and implies none."""
    return replace(d, givens={o.name: d.value(o.name) for o in step.operands}, steps=(step,))


TYPE = derived.about_derivations(
    made,
    draw_variant,
    name="translate",
    title="Translate the notation",
    family=family,
    options={
        "into": ("", f"the notation to translate into: {', '.join(notations())}; else the other layout of tokens")
    },
)
