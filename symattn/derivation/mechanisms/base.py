"""What a mechanism is: its givens with their shapes in letters, its settings, and the steps it consists of."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from random import Random

from symattn.derivation.derivation import Derivation, Operand, Step, own_name, symbols, turned
from symattn.derivation.mechanisms.descent import descended
from symattn.derivation.mechanisms.settings import NOT_OF_ALL, Settings, Sizes
from symattn.derivation.sizes import letters_of, share, times
from symattn.errors import InputError, LetterError, ShapeError, offered
from symattn.exact import AnyMatrix, Matrix, Outline, Size, matrix

Shapes = Mapping[str, tuple[str, str]]
"""Matrices with their rows and columns in letters."""


@dataclass(frozen=True)
class Mechanism:
    """One kind of computation: what it starts from and how it goes on.

    `givens` maps each given to its shape in letters (`X` is n × d_model), tokens as rows; a letter may have a factor h
    or g, the heads and the key and value heads (`W_Q` is d_model × h*d_k).  A size may be the sum of those of matrices
    before it, as far as they are given (`B` is n × m_past+m).  A name with {head} or {block} in it stands
    for one given in every head or block: `A_{head}` for A_1, A_2, …  `optional` givens may be left out; those that are
    `usual` come all the same in letters and in random numbers.  `derive` gets givens whose shapes have been checked,
    tokens as rows, and says the steps; no step has values then.  `uses` are the settings it has besides those of all.
     `starts_from` says which of the required and usual givens are so with some settings:
    embeddings E in place of N where a prompt is looked up.

    For random worksheets: `default_sizes` of its letters; `drawn`, settings that make numbers come out, and
    `drawn_exactly`, further ones where arithmetic is stated to be exact; `draw` makes givens that suit it (any of the
    right shapes; what they lead to is judged afterwards); `complaint` says why a derivation is not worth setting;
    `is_attention` that it is nothing but attention, whose numbers are judged as such.

    `other_way` works the output of a derivation out as someone would who does not know this mechanism, ending in a step
    of the same name: for keys, which say that the two agree.
    """

    name: str
    title: str
    givens: Shapes
    derive: Callable[[Derivation, Settings, Sizes], Derivation]
    optional: Shapes = field(default_factory=dict)
    usual: tuple[str, ...] = ()
    defaults: Mapping[str, object] = field(default_factory=dict)
    drawn: Mapping[str, object] = field(default_factory=dict)
    drawn_exactly: Mapping[str, object] = field(default_factory=dict)
    uses: frozenset[str] = frozenset()
    default_sizes: Mapping[str, int] = field(default_factory=dict)
    draw: Callable[[Settings, Sizes, Random], Mapping[str, Matrix]] | None = None
    complaint: Callable[[Derivation], str] = lambda d: ""
    is_attention: bool = False
    other_way: Callable[[Derivation], Derivation] | None = None
    starts_from: Callable[[str, Settings], bool] = lambda name, settings: True

    def shapes(self, settings: Settings) -> Shapes:
        """Every given, required or not, with its shape in letters for this orientation; h*d_k is d_k with one head."""
        listed = numbered({**self.givens, **self.optional}, settings)
        single = [f"{factor}*" for factor, count in head_counts(settings).items() if count == 1]
        plain = {name: tuple(without_factors(spec, single) for spec in shape) for name, shape in listed.items()}
        return {name: (r, c) if settings.orientation == "rows" else (c, r) for name, (r, c) in plain.items()}

    def has_given(self, name: str) -> bool:
        """Whether a given is called so, in whichever head or block."""
        named = (re.escape(one) for one in (*self.givens, *self.optional))
        return any(re.fullmatch(re.sub(r"\\\{\w+\\\}", r"\\d+", one), own_name(name)) for one in named)

    def no_given(self, name: str, settings: Settings) -> InputError:
        """The error for an unknown given."""
        return InputError(f"{self.name} has no given {name!r}; {offered(name, self.shapes(settings), 'it knows {}')}")

    def layout(self, preset: Mapping[str, object]) -> dict[str, object]:
        """Of a notation's way of going about things, what this mechanism has: heads do not go token by token."""
        return {name: value for name, value in preset.items() if name in self.uses or name not in NOT_OF_ALL}

    def expected(self, settings: Settings) -> tuple[str, ...]:
        """The givens that letters and random numbers are made for: the required and the usual ones."""
        usual = {name: self.optional[name] for name in self.usual}
        return tuple(name for name in numbered({**self.givens, **usual}, settings) if self.starts_from(name, settings))

    @property
    def letters(self) -> tuple[str, ...]:
        """The sizes that its givens have: n, d_model, d_k, …"""
        shapes = [*self.givens.values(), *(self.optional[name] for name in self.usual)]
        size_letters = (factored(s)[1] for shape in shapes for s in shape if not s.isdigit())
        return tuple(dict.fromkeys(size_letters))

    def run(self, givens: Mapping[str, object], settings: Settings, *, staged: bool = False) -> Derivation:
        """Check the givens and work everything out.

        `InputError` for a given that is missing or unknown or a setting that this mechanism has not, `ShapeError` for
        shapes that contradict one another.
        """
        default = Settings()
        for name in sorted(NOT_OF_ALL - self.uses):
            if getattr(settings, name) != getattr(default, name):
                tail = offered(name, sorted(self.uses), "its own are {}" if self.uses else "it has those of all alone")
                raise InputError(f"{self.name} has no setting {name!r}; {tail}")
        read = {own_name(name): _given(name, value) for name, value in givens.items()}
        if len(read) < len(givens):
            twice = next(name for name in givens if own_name(name) in givens and own_name(name) != name)
            raise InputError(f"{twice} and {own_name(twice)} are the same matrix, and both are given.")
        sizes = self.sizes(read, settings)
        of_sizes = {letter for size in sizes.values() for letter in letters_of(size)}
        for name, letter in settings.letters:
            if name != "scale" and str(letter) in of_sizes:
                raise InputError(f"{name} has the letter {letter}, which is a size here; another one was expected.")
        d = Derivation(read, (), staged, settings.orientation, settings.arithmetic)
        plan = self._plan(d, settings, sizes)
        return reduce(Derivation.extended, _until(plan, settings.stop_at), replace(d, taken=plan.taken))

    def _plan(self, d: Derivation, settings: Settings, sizes: Sizes) -> Derivation:
        """All steps with their shapes: said for tokens as rows, and turned where they are columns."""
        plan: Derivation = _Plan(d.givens, (), d.staged, d.orientation)
        if columns := settings.orientation == "columns":
            plan, settings = turned(plan), replace(settings, orientation="rows", scores="row")
        plan = self.derive(plan, settings, sizes)
        if settings.learning_rate is not None:
            plan = descended(plan, settings.learning_rate)
        return turned(plan) if columns else plan

    def sizes(self, givens: Mapping[str, AnyMatrix], settings: Settings) -> dict[str, Size]:
        """What n, d_model, d_k, d_v are, as the givens' shapes tell; h and g, if there are heads.

        `InputError` for a given that is missing or unknown, `ShapeError` for shapes that contradict one another.
        """
        shapes = self.shapes(settings)
        required = [name for name in numbered(self.givens, settings) if self.starts_from(name, settings)]
        if required and not givens:
            raise InputError(
                f"{self.name} starts from {', '.join(required)}, and no matrix is given. For letters in place of "
                f"numbers there is --symbolic, in Python symbolic=True; `symattn worksheet {self.name}` draws numbers."
            )
        for name in required:
            if name not in givens:
                raise InputError(f"{self.name} starts from {', '.join(required)}; {name} is missing.")
        for name in givens:
            if name not in shapes:
                raise self.no_given(name, settings)
        read = SizesRead(settings, {"h": settings.heads, "g": settings.groups} if "heads" in self.uses else {})
        for name, letters in shapes.items():
            if name in givens:
                read.shape(name, givens[name].shape, letters)
        return read.sizes

    def given_shapes(self, sizes: Sizes, settings: Settings) -> dict[str, tuple[Size, Size]]:
        """The shapes of the expected givens in numbers, as far as the sizes are numbers."""
        known, shapes = head_counts(settings), self.shapes(settings)
        by_name: dict[str, tuple[Size, Size]] = {}
        for name in self.expected(settings):
            rows, columns = (size_of(spec, sizes, known) for spec in shapes[name])
            by_name[name] = (rows, columns)
        return by_name

    def symbolic(self, sizes: Sizes, settings: Settings) -> dict[str, AnyMatrix]:
        """Givens named entry by entry (x_11, x_12, …); shapes alone where a size is a letter or above 8."""
        shapes = self.given_shapes(sizes, settings)
        written_out = all(isinstance(s, int) and s <= 8 for shape in shapes.values() for s in shape)
        result: dict[str, AnyMatrix] = {}
        for name, (rows, columns) in shapes.items():
            if written_out and isinstance(rows, int) and isinstance(columns, int):
                result[name] = symbols(name, rows, columns)
            else:
                result[name] = Outline((rows, columns))
        return result


class _Plan(Derivation):
    """A derivation of which only the shapes are worked out, to see which steps there are."""

    def _result(self, step: Step) -> AnyMatrix:
        return super()._result(step) if step.operands else Outline(step.op.shape())

    def _operand(self, step: Step, operand: Operand) -> AnyMatrix:
        return Outline(super()._operand(step, operand).shape)


_LAST_ROLES = ("S", "S'", "S_T", "S_cap", "S_B", "M", "A", "A_rounded", "weighted", "Z")


def _until(d: Derivation, stop: str) -> tuple[Step, ...]:
    """The steps up to the role `stop`, if one is named, and what is beside them, also where it goes token by token."""
    if not stop:
        return d.steps
    if stop not in {step.role for step in d}:
        roles = dict.fromkeys(step.role for step in d)
        raise InputError(f"stop_at is {stop!r}; {offered(stop, roles, 'one of the steps {} was expected')}")
    if stop in d:
        return d.until(stop).steps
    if stop not in _LAST_ROLES:  # every position has one
        return d.until([step.name for step in d if step.role == stop][-1]).steps
    later, dropped = _LAST_ROLES[_LAST_ROLES.index(stop) + 1 :], set[str]()
    for step in d:
        if step.role in later or any(operand.name in dropped for operand in step.operands):
            dropped.add(step.name)
    return tuple(step for step in d if step.name not in dropped)


def _given(name: str, value: object) -> AnyMatrix:
    try:
        return matrix(value)
    except InputError as error:
        raise InputError(f"Given {name}: {error}") from error


# ------------------------------------------------------------------------------------------ shapes in letters


def numbered(named: Shapes, settings: Settings) -> Shapes:
    """Names with {head} or {block} in them once for each: A_1, A_2; W_Q^1, W_Q^2."""
    by_name = dict(named)
    for mark, count in (("{head}", settings.heads), ("{block}", settings.blocks)):
        by_name = {
            name.replace(mark, str(number)): shape
            for name, shape in by_name.items()
            for number in (range(1, count + 1) if mark in name else (0,))
        }
    return by_name


def factored(spec: str) -> tuple[str, str]:
    """h*d_k as h and d_k; n as "" and n."""
    factor, star, letter = spec.partition("*")
    return (factor, letter) if star else ("", spec)


def head_counts(settings: Settings) -> dict[str, int]:
    """What the factors of shapes stand for: all heads, and those of keys and values."""
    return {"h": settings.heads, "g": settings.groups}


def without_factors(spec: str, single: Sequence[str]) -> str:
    """d_k for h*d_k where there is one head."""
    return reduce(lambda text, factor: text.removeprefix(factor), single, spec)


@dataclass
class SizesRead:
    """Sizes by their letters, read off one given after the other; `source` says which one told each first."""

    settings: Settings
    sizes: dict[str, Size]
    source: dict[str, str] = field(default_factory=dict)

    def shape(self, name: str, shape: tuple[Size, Size], letters: tuple[str, str]) -> None:
        """Read the sizes of a given off its shape; `ShapeError` where they are others than those read before."""
        said = f"{name} is {shape[0]}×{shape[1]}"
        for spec, whole, axis in zip(letters, shape, ("rows", "columns"), strict=True):
            terms = {letter: self.sizes[letter] for letter in spec.split("+") if letter in self.sizes}
            if len(terms) > 1:
                _check_total(said, whole, axis, terms)
                continue
            factor, letter = factored(next(iter(terms)) if "+" in spec else spec)
            size = self._share(name, whole, factor, axis)
            if letter.isdigit():
                if size != int(letter):
                    raise ShapeError(f"{said}; {letter} of its {axis} was expected.")
            elif self.sizes.setdefault(letter, size) != size:
                before, source = self.sizes[letter], self.source[letter]
                raise ShapeError(f"{said}, so {letter} would be {size}; but {letter} is {before} by {source}.")
            else:
                self.source.setdefault(letter, f"{name} ({shape[0]}×{shape[1]})")

    def _share(self, name: str, size: Size, factor: str, axis: str) -> Size:
        """The share of one head in a size."""
        heads = {**head_counts(self.settings), "": 1}[factor]
        if heads == 1:
            return size
        one = share(size, heads)
        if one is None and isinstance(size, str):
            raise LetterError(
                f"With {heads} heads, the {axis} of {name} must be a number or as {heads}*{size}, so that a head has "
                f"some of them, not {size}."
            )
        if one is None:
            raise ShapeError(f"{name} has {size} {axis}, which {heads} heads cannot share evenly.")
        return one


def _check_total(said: str, size: Size, axis: str, terms: Sizes) -> None:
    """`ShapeError` where a size is not the sum of others, as far as all are numbers."""
    numbers = [n for n in terms.values() if isinstance(n, int)]
    if isinstance(size, int) and len(numbers) == len(terms) and size != sum(numbers):
        sums = " + ".join(terms), " + ".join(map(str, numbers))
        raise ShapeError(f"{said}; {sum(numbers)} {axis} were expected: {sums[0]} = {sums[1]}.")


def size_of(spec: str, sizes: Sizes, heads: Mapping[str, int]) -> Size:
    factor, letter = factored(spec)
    size = int(letter) if letter.isdigit() else sizes.get(letter, letter)
    return times(heads[factor], size) if factor else size
