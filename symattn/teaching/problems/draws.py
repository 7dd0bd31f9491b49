"""Types of problem by named draws: one function draws and asks, and the record of what it drew is the content.

    def largest(draw: Draw, say: Prose) -> Item:
        row = draw("row", lambda rng: sample(rng, range(9), 4))
        ...

Where most of what is drawn is only compared, it draws and returns a function that asks.

When a variant is drawn, what stands behind a name is worked out and recorded; whenever its question is made again, it
is what the record says.  So nothing but the choices themselves may depend on dice, levels, options and numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import combinations
from math import isqrt
from random import Random
from types import MappingProxyType
from typing import Annotated, Any, Literal, TypeVar

from symattn.derivation.mechanisms import Settings, mechanism, named_mechanism
from symattn.derivation.mechanisms.masks import mask_keep
from symattn.derivation.mechanisms.settings import is_unset, layered
from symattn.derivation.mechanisms.steps import scale_op
from symattn.derivation.sizes import LARGEST_SIZE
from symattn.errors import InputError, SelfCheckError, offered
from symattn.exact.values import listed
from symattn.foundation import dice
from symattn.foundation.typed import Between, OneOf, Place, Such, plain, read
from symattn.page.document import TextLike, as_text
from symattn.page.notation import kept_notation, load_notation
from symattn.teaching.problems.asking import BlockLike, Prose, blocks, lettered, right_letter
from symattn.teaching.question import (
    Answer,
    CellsAnswer,
    ChoiceAnswer,
    Content,
    FormulaAnswer,
    Json,
    MatrixAnswer,
    Part,
    Question,
    ShapeAnswer,
)

# ------------------------------------------------------------------------------------------------ what may be wanted

NOTHING: Mapping[str, Any] = MappingProxyType({})
DEFAULT_SIZES = {"n": 3, "m": 3, "d_model": 5, "d_k": 4, "d_v": 2}
"""All different but for n and m, and d_k a square: then wrong ways give other answers than the right one."""

SIZES = {
    "starter": {"n": 3, "m": 3, "d_model": 4, "d_k": 2, "d_v": 2},
    "standard": DEFAULT_SIZES,
    "long": {"n": 4, "m": 4, "d_model": 5, "d_k": 4, "d_v": 2},
}
"""What each level takes where no sizes are stated (rules.md 4.8)."""


@dataclass(frozen=True, kw_only=True)
class Shared:
    """What all questions of an exam may have in common."""

    mechanism: str = ""
    sizes: Annotated[Mapping[str, Annotated[int, Between(1, LARGEST_SIZE)]], Such("{n = 3, d_k = 2}")] = field(
        default_factory=lambda: NOTHING
    )
    notation: str = "standard"
    level: Literal["starter", "standard", "long"] = "standard"
    softmax: Literal["e", "base 2", "base 3", "equal"] = "e"
    exact: bool = True
    places: Annotated[int, Between(0, 50)] = 4


@dataclass(frozen=True, kw_only=True)
class Spec(Shared):
    """What is wanted of a problem type; field by field, what a question in an exam file may say.

    `settings` are those of `symattn.derivation.mechanisms.Settings` that are stated, `options` the problem type's own,
    `given` the teacher's own matrices instead of random ones.  `softmax` asks for weights that come out pretty: powers
    of e with whole exponents, base 2 or 3 with terminating decimals, or equal scores.
    """

    type: str = "full"
    settings: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    given: Mapping[str, Json] = field(default_factory=lambda: NOTHING)
    options: Mapping[str, Json] = field(default_factory=lambda: NOTHING)

    def chosen_settings(self) -> Settings:
        """The mechanism's settings, then the notation's, then those stated.

        Those that make numbers come out are for random numbers that stay exact; a base among them is left out where
        weights are no powers, or their exponents irrational.  On the starter level scores are not scaled where √d_k
        would be irrational.
        """
        return self._chosen_settings

    @cached_property
    def _chosen_settings(self) -> Settings:  # read once: every draw asks for them
        chosen = mechanism(self.mechanism)
        stated = self.settings.get("arithmetic")
        drawn = dict(chosen.drawn) if not self.given and stated in (None, "exact") else {}
        if drawn and stated == "exact":
            drawn |= chosen.drawn_exactly
        if self.settings.get("weights", "softmax") != "softmax":
            drawn.pop("base", None)
        if {"angles", "wavelength"} & self.settings.keys():  # those that are drawn have exact cosines and sines
            drawn.pop("arithmetic", None)
        preset = {**chosen.defaults, **drawn, **chosen.layout(load_notation(self.notation).settings)}
        usual = {**SIZES[self.level], **chosen.default_sizes, **self.sizes}
        d_k = usual["d_k"] if "d_k" in chosen.letters else 1
        if isqrt(d_k) ** 2 != d_k:
            if self.level == "starter":
                preset.setdefault("scale", "none")
            if "scale" not in {**preset, **self.settings}:
                preset.pop("base", None)
        base = {"base": int(self.softmax[-1])} if self.softmax.startswith("base") else {}
        settings = Settings.read(layered(preset, base, self.settings))
        if settings.letters:
            name, letter = settings.letters[0]
            raise InputError(f"{name} is {letter}; random numbers need a number there, and a letter is for derive.")
        return settings

    def chosen_sizes(self) -> dict[str, int]:
        """The sizes that the mechanism has: as stated, else the defaults (as many keys as queries)."""
        chosen = mechanism(self.mechanism)
        stated = {**({"m": self.sizes["n"]} if "n" in self.sizes else {}), **self.sizes}
        if unknown := [name for name in self.sizes if name not in {*DEFAULT_SIZES, *chosen.letters}]:
            known = dict.fromkeys((*DEFAULT_SIZES, *chosen.letters))
            raise InputError(f"There is no size {unknown[0]!r}; {offered(unknown[0], known, 'the sizes are {}')}")
        usual = {**SIZES[self.level], **chosen.default_sizes, **stated}
        return {name: size for name, size in usual.items() if name in chosen.letters}


Option = tuple[Json, str] | tuple[Json, str, Any]
"""An option's default, a word on what it does, and what `typed.read` reads it as, where not all values will do."""


def one_of(names: Iterable[str]) -> Any:
    """What an option is that is one of some names."""
    return Annotated[str, OneOf(lambda: names)]


def up_to(most: int) -> Any:
    """What an option is that is a whole number from 1."""
    return Annotated[int, Between(1, most)]


def changed(settings: Mapping[str, Any]) -> list[str]:
    """The names of settings that are stated and say something else than the default."""
    default = {f.name: getattr(Settings(), f.name) for f in fields(Settings)}
    said = {name: listed(value) for name, value in settings.items() if name in default and not is_unset(name, value)}
    return [name for name, value in said.items() if value != default[name]]


def tokens_are_rows(spec: Spec) -> None:
    """`InputError` for a notation that has its tokens as columns: these questions are worded for rows."""
    if spec.chosen_settings().orientation == "columns":
        raise InputError(
            f"The problem type {spec.type} is worded for tokens as rows; the notation {spec.notation} has columns."
        )


T = TypeVar("T")
ATTENTION = ("attention", "self_attention")
"""What questions on attention in general are true of."""

Record = dict[str, Any]
"""What was drawn, by its names, as JSON: numbers, texts, lists, and records of items and of things inside."""

Key = tuple[str, ...]
Relabellings = Callable[[Record, Spec, Any, Random], Iterator[tuple[Key, Callable[[], Record]]]]


class Draw:
    """Random choices by name, recorded when they are made, and read from the record ever after.

    `spec`, the `number` of the variant and its `family` exist only while a variant is drawn.
    """

    spec: Spec
    number: int
    family: Any

    def __init__(self, of: ProblemType, record: Record, rng: Random | None = None) -> None:
        self.type, self.record, self.rng = of, record, rng

    @property
    def turn(self) -> int:
        """The number of the variant, counted from where its family begins."""
        first: int = self.family.get("first", 0)
        return self.number + first

    def __call__(self, name: str, choose: Callable[[Random], T], holds: Callable[[T], bool] = lambda x: True) -> T:
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
        choose: Callable[[Random], Sequence[Any]],
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

    def together(self, choose: Callable[[Random, Draw], Record]) -> None:
        """Record several choices at once, by their names."""
        if self.rng is not None:
            self.record |= plain(choose(self.rng, self))

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
        if self.again:
            again, key = self.again(), _stated(part.answer)
            if (list(key) if isinstance(again, list) else key) != again:
                return f"the key says {key}; by another route it is {again}"
        return self.check(part)


def _stated(answer: Answer) -> Any:
    """What an answer says is right, to be compared."""
    match answer:
        case ChoiceAnswer():
            return answer.right
        case MatrixAnswer(right) | CellsAnswer(_, right) | ShapeAnswer(right) | FormulaAnswer(right):
            return right
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


# ------------------------------------------------------------------------------------------------ types


def first_place(spec: Spec, rng: Random) -> Any:
    """A family whose first variant has its right options anywhere; from there they move on from variant to variant."""
    return {"first": dice.whole(rng, 0, 59)}


@dataclass(frozen=True)
class ProblemType:
    """One way of asking.

    `ask` draws by name, and makes the question.  What it drew is the content of a variant, JSON that an exam keeps; the
    question is made of it again without a draw, so that a frozen variant comes out the same for ever.  `family` fixes
    what all variants of a pool share (a band of difficulty, positions to be balanced), if more than where right options
    stand in the first of them.
    `key` gives the entries that two variants may share only in part (rules.md 4.8), where keys are numbers; other keys,
    such as letters of choices, are alike by nature.  `relabellings` gives other keys of equally hard contents, and what
    makes each of these.  `options` are its own settings; `defaults` are its own choices for the fields of `Spec`, and
    `presets` further ones for every value of its option `what`, by which such a type chooses the mechanism.  A type
    that `draws` sizes or given matrices itself takes none that are stated; `own_sizes` are those of a type whose sizes
    are not a mechanism's; one with `rows_only` is worded for tokens as rows, and refuses a notation with columns.  One
    whose questions are the same for every mechanism names in `mechanisms` those that may be stated all the same, since
    the questions are true of them, and in `settings` those settings that its questions go by; any other is refused.
    Of one that is `fixed` nothing is drawn: all its variants are one.
    """

    ask: Callable[[Draw], Asked]
    name: str
    title: str
    family: Callable[[Spec, Random], Any] = first_place
    key: Callable[[Record], Key] | None = None
    relabellings: Relabellings | None = None
    options: Mapping[str, Option] = field(default_factory=lambda: NOTHING)
    defaults: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    presets: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: NOTHING)
    draws: tuple[Literal["sizes", "given"], ...] = ("sizes", "given")
    own_sizes: tuple[str, ...] = ()
    rows_only: bool = False
    mechanisms: tuple[str, ...] = ATTENTION
    settings: tuple[str, ...] = ()
    fixed: bool = False
    _last: list[Any] = field(default_factory=lambda: [({}, None)], init=False, repr=False, compare=False)
    """The content that was drawn or made last, and what `ask` gave: a variant is drawn, made and proved in turn.  They
    are one pair, taken and put as a whole, since threads may ask."""

    def draw(self, spec: Spec, rng: Random, number: int, family: Any) -> Record:
        """The content of a variant: everything that is random."""
        draw = Draw(self, {"type": spec.type}, rng)
        draw.spec, draw.number, draw.family = spec, number, family
        self._last[0] = draw.record, self.ask(draw)
        return draw.record

    def make(self, content: Content) -> Question:
        """The question of a content; `InputError` if this cannot be read."""
        return self._asked(content).question

    def _asked(self, content: Content) -> ProvedQuestion:
        last = self._last[0]
        record, asked = last if last[0] is content else (dict(content), None)
        try:
            asked = asked or self.ask(Draw(self, record))
            asked = asked() if callable(asked) else asked
        except (LookupError, TypeError, AttributeError) as error:  # a frozen file was changed
            raise InputError(f"The content of {self.name} cannot be read: {error!r}.") from error
        self._last[0] = record, asked
        return asked

    def spec(self, stated: Mapping[str, Any], where: str | Place = "") -> Spec:
        """What was stated, over this type's own choices; `InputError` names what is unknown or out of range."""
        read(Spec, stated, where)
        preset = self._preset(stated.get("options", NOTHING))
        chosen = layered(preset.get("settings", NOTHING), stated.get("settings", NOTHING))
        spec = read(Spec, {**self.defaults, **preset, **stated, "type": self.name, "settings": chosen})
        usual = "attention" if spec.level == "starter" else "self_attention"
        spec = replace(spec, mechanism=named_mechanism(spec.mechanism or usual))
        if preset and spec.mechanism != preset["mechanism"]:
            raise InputError(
                f"What {self.name} asks for here is worked out with {preset['mechanism']}, not with {spec.mechanism}; "
                "say it by the option what, and leave the mechanism out."
            )
        if self.mechanisms:
            self._refuse_other_mechanisms(spec, stated.get("settings", NOTHING))
        self._check_options(spec)
        self._check_sizes(spec)
        return spec

    def _refuse_other_mechanisms(self, spec: Spec, settings: Mapping[str, Any]) -> None:
        if spec.mechanism not in self.mechanisms:
            raise InputError(
                f"The questions of {self.name} are the same for every mechanism, so {spec.mechanism} is not used; "
                "leave the mechanism out."
            )
        self._refuse_idle_settings(spec, settings)

    def _check_options(self, spec: Spec) -> None:
        for name, value in spec.options.items():
            if name not in self.options:
                tail = offered(name, self.options, "its options are {}" if self.options else "it has no options")
                raise InputError(f"The problem type {self.name} has no option {name!r}; {tail}")
            default, _, *kinds = self.options[name]
            if value != default or type(value) is not type(default):
                read(kinds[0] if kinds else _OPTION[type(default)], value, f"The option {name} of {self.name}")
        for name in self.draws:
            if getattr(spec, name):
                raise InputError(f"The problem type {self.name} draws its own {_DRAWN[name]}; leave {name} out.")
        if self.rows_only:
            tokens_are_rows(spec)

    def _check_sizes(self, spec: Spec) -> None:
        """Those of its own, and that the mechanism's fit the scale and the mask."""
        if self.own_sizes:
            Place("sizes").know(spec.sizes, self.own_sizes)
        of_mechanism = replace(spec, sizes=NOTHING) if self.own_sizes else spec
        settings, sizes = of_mechanism.chosen_settings(), of_mechanism.chosen_sizes()
        if "d_k" in sizes:
            scale_op(settings.scale, sizes)
        keep = mask_keep(settings.mask, sizes.get("n", 1), sizes.get("m", sizes.get("n", 1)))
        if settings.empty == "undefined" and (blind := [i for i, row in enumerate(keep or (), 1) if not any(row)]):
            raise InputError(f"By the mask {settings.mask!r}, query {blind[0]} sees nothing; empty = 'zero' allows it.")

    def _preset(self, options: Mapping[str, Json]) -> Mapping[str, Any]:
        """The choices that go with what is asked for."""
        if not self.presets:
            return NOTHING
        what = options.get("what", self.options["what"][0])
        if not isinstance(what, str) or what not in self.presets:
            tail = offered(what, self.presets, "one of {} was expected")
            raise InputError(f"The option what of {self.name} is {what!r}; {tail}")
        return self.presets[what]

    def prove(self, question: Question) -> None:
        """`SelfCheckError` if the key is wrong: options that are alike, or by the proof of the type's own."""
        for part in question.parts:
            if isinstance(part.answer, ChoiceAnswer):
                right = len(part.answer.right)
                if any(one.text == other.text for one, other in combinations(part.answer.options, 2)):
                    raise SelfCheckError(f"Two options of part {part.name} are alike.")
                if not right or (right > 1 and not part.answer.several):
                    raise SelfCheckError(f"Part {part.name} has {right} right options.")
        self._asked(question.content).proof(question)

    def _refuse_idle_settings(self, spec: Spec, stated: Mapping[str, Any]) -> None:
        """`InputError` for a setting that changes nothing here, unless it says what holds anyhow, as a recipe may."""
        usual = replace(spec, settings={}).chosen_settings()
        for name in changed(stated):
            if name not in self.settings and listed(stated[name]) != listed(getattr(usual, name)):
                tail = offered(name, self.settings, "its own are {}" if self.settings else "it has no settings")
                raise InputError(f"The problem type {self.name} has no setting {name!r}; {tail}")

    def option(self, spec: Spec, name: str) -> Any:
        return spec.options.get(name, self.options[name][0])


_DRAWN = {"sizes": "sizes", "given": "numbers"}
_OPTION: Mapping[type, Any] = {int: int, str: str, bool: bool, list: tuple[object, ...]}
