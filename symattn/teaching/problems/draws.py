"""Types of problem by named draws: one function draws and asks, and the record of what it drew is the content.

    def largest(draw: Draw, say: Prose) -> Item:
        row = draw("row", lambda rng: sample(rng, range(9), 4))
        ...

Where most of what is drawn is only compared, it draws and returns a function that asks.

When a variant is drawn, what stands behind a name is worked out and recorded; whenever its question is made again, it
is what the record says.  So nothing but the choices themselves may depend on dice, levels, options and numbers.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from symattn.errors import InputError, SelfCheckError
from symattn.exact import Matrix
from symattn.foundation import dice
from symattn.foundation.typed import plain
from symattn.page.document import TextLike, as_text
from symattn.page.notation import kept_notation, load_notation
from symattn.teaching.problems.asking import BlockLike, Prose, blocks, lettered, right_letter
from symattn.teaching.problems.base import ATTENTION, ProblemType, Record, Spec
from symattn.teaching.question import (
    Answer,
    CellsAnswer,
    ChoiceAnswer,
    Content,
    FormulaAnswer,
    MatrixAnswer,
    Part,
    Question,
    ShapeAnswer,
)

T = TypeVar("T")


class Draw:
    """Random choices by name, recorded when they are made, and read from the record ever after.

    `spec`, the `number` of the variant and its `family` exist only while a variant is drawn.
    """

    spec: Spec
    number: int
    family: Any

    def __init__(self, of: ProblemType, record: Record, rng: random.Random | None = None) -> None:
        self.type, self.record, self.rng = of, record, rng

    @property
    def turn(self) -> int:
        """The number of the variant, counted from where its family begins."""
        first: int = self.family.get("first", 0)
        return self.number + first

    def __call__(
        self, name: str, choose: Callable[[random.Random], T], holds: Callable[[T], bool] = lambda x: True
    ) -> T:
        """Make a choice, again and again until it holds, or read it."""
        if self.rng is not None:
            while not holds(choice := choose(self.rng)):
                pass
            self.record[name] = plain(choice)
        value: T = self[name]
        return value

    def several(
        self,
        names: str,
        choose: Callable[[random.Random], Sequence[Any]],
        holds: Callable[..., bool] = lambda *xs: True,
    ) -> tuple[Any, ...]:
        """Make several choices at once, or read them; `names` are separated by spaces."""
        listed = names.split()
        if self.rng is not None:
            while not holds(*(choice := choose(self.rng))):
                pass
            self.record |= dict(zip(listed, plain(choice), strict=True))
        return tuple(self[name] for name in listed)

    def __getitem__(self, name: str) -> Any:
        """The recorded choice, with tuples for lists."""
        return _fixed(self._recorded(name))

    def _recorded(self, name: str) -> Any:
        if name not in self.record:
            raise InputError(f"The content of {self.type.name} has no {name}.")
        return self.record[name]

    def pick(self, name: str, items: Sequence[T]) -> T:
        return self(name, lambda rng: dice.pick(rng, items))

    def whole(self, name: str, low: int, high: int) -> int:
        return self(name, lambda rng: dice.whole(rng, low, high))

    def together(self, choose: Callable[[random.Random], Record]) -> None:
        """Record several choices at once, by their names."""
        if self.rng is not None:
            self.record |= plain(choose(self.rng))

    def has(self, name: str) -> bool:
        """Whether there is a choice of that name: always while one is drawn, and perhaps not in an older record."""
        return self.rng is not None or name in self.record

    def option(self, name: str) -> Any:
        return self.type.option(self.spec, name)

    def inside(self, name: str) -> Draw:
        """Return draws whose record is nested under a name."""
        if self.rng is not None:
            self.record[name] = {}
        return self._within(self._recorded(name))

    def each(self, name: str, begun: Callable[[], Sequence[Record]]) -> list[Draw]:
        """Return draws for each item of a list; their records begin as `begun` returns them, such as with a kind."""
        if self.rng is not None:
            self.record[name] = plain(begun())
        return [self._within(record) for record in self._recorded(name)]

    def _within(self, record: Record) -> Draw:
        other = Draw(self.type, record, self.rng)
        if self.rng is not None:
            other.spec, other.number, other.family = self.spec, self.number, self.family
        return other

    def notation(self) -> str:
        return self("notation", lambda rng: kept_notation(self.spec.notation))

    def prose(self, turns: bool = False) -> Prose:
        """Return sentences in the recorded notation."""
        return Prose(load_notation(self.notation()), turns)


def _fixed(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return tuple(map(_fixed, value))
    return {name: _fixed(inside) for name, inside in value.items()} if isinstance(value, Mapping) else value


# ------------------------------------------------------------------------------------------------ what is asked


@dataclass(frozen=True)
class ProvedQuestion:
    """A question, and its proof, which raises `SelfCheckError` for answers of its parts that are not the right ones."""

    question: Question
    proof: Callable[[Question], None] = lambda question: None


@dataclass(frozen=True)
class Item:
    """One item of a question: its part, perhaps with `more` parts after it, and how much work it is (`load`).

    `again` is the answer by another route: a matrix, or all its entries, a number, a shape, cells, or the places of
    right options.  `check` says what else is wrong with a part, "" if nothing is.  The keys of items of one `kind` are
    balanced together.
    """

    part: Part
    check: Callable[[Part], str] = lambda part: ""
    load: float = 0
    kind: str = "key"
    more: tuple[Part, ...] = ()
    again: Callable[[], object] | None = None

    def error(self, part: Part) -> str:
        """What is wrong with its part, "" if nothing is."""
        if self.again and not _agrees(part.answer, again := self.again()):
            return f"the key says {part.answer}; by another route it is {again}"
        return self.check(part)


def _agrees(answer: Answer, again: object) -> bool:
    match answer:
        case MatrixAnswer(matrix):
            return matrix == again if isinstance(again, Matrix) else list(matrix) == again
        case ChoiceAnswer():
            return answer.right == again
        case CellsAnswer(_, right) | ShapeAnswer(right) | FormulaAnswer(right):
            return bool(right == again)
    raise TypeError(f"{type(answer).__name__} is not worked out again.")


def question(
    draw: Draw,
    items: Sequence[Item | Part],
    introduction: BlockLike,
    conventions: Sequence[TextLike],
    given: Sequence[BlockLike] = (),
    proof: Callable[[Question], None] = lambda question: None,
    **more: Any,
) -> ProvedQuestion:
    """Make the question of some items; its parts are lettered unless they have names.

    `proof` is that of the whole question, besides those of its items; `more` are further fields of `Question`, or take
    the place of the title of the type, the load of all items and the letters of right options.
    """
    first = [item if isinstance(item, Item) else Item(item) for item in items]
    all_items = [one for item in first for one in (item, *map(Item, item.more))]
    keys: dict[str, str] = {}
    for item in all_items:
        if letter := right_letter(item.part):
            keys[item.kind] = keys.get(item.kind, "") + letter
    usual = {
        "title": draw.type.title,
        "features": {"load": float(sum(item.load for item in all_items))},
        "positions": keys,
    }
    made = Question(
        type=draw.type.name,
        introduction=blocks([introduction]),
        given=blocks(given),
        parts=lettered(item.part for item in all_items),
        content=draw.record,
        conventions=tuple(map(as_text, conventions)),
        **{**usual, **more},
    )

    def proved(question: Question) -> None:
        for part, item in zip(question.parts, all_items, strict=True):
            if error := item.error(part):
                raise SelfCheckError(f"Part {part.name} of {question.type}, {draw.record}: {error}.")
        proof(question)

    return ProvedQuestion(made, proved)


Asked = ProvedQuestion | Callable[[], ProvedQuestion]
"""A question, or what makes it when it is wanted, and draws nothing."""


def named_draws(ask: Callable[[Draw], Asked], **stated: Any) -> ProblemType:
    """Make a problem type of a function that draws and asks; `stated` are further fields of `ProblemType`.

    Unless `stated` says otherwise, its questions are about attention in general and draw their own sizes and numbers.
    """
    last: tuple[Record, Asked | None] = {}, None  # a variant is drawn, set and proved in turn

    def made(content: Content) -> ProvedQuestion:
        nonlocal last
        record, asked = last if last[0] is content else (dict(content), None)
        try:
            asked = asked or ask(Draw(chosen, record))
            asked = asked() if callable(asked) else asked
        except (LookupError, TypeError, AttributeError) as error:  # a frozen file was changed
            raise InputError(f"The content of {chosen.name} cannot be read: {error!r}.") from error
        last = record, asked
        return asked

    def draw(spec: Spec, rng: random.Random, number: int, family: Any) -> Record:
        nonlocal last
        drawn = Draw(chosen, {"type": spec.type}, rng)
        drawn.spec, drawn.number, drawn.family = spec, number, family
        last = drawn.record, ask(drawn)
        return drawn.record

    chosen = ProblemType(
        draw=draw,
        make=lambda content: made(content).question,
        proof=lambda question: made(question.content).proof(question),
        **{"mechanisms": ATTENTION, "draws": ("sizes", "given"), **stated},
    )
    return chosen
