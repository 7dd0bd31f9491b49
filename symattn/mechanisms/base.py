"""What mechanisms share: their settings, the shapes of their givens, and the way from Q, K, V to the output."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Literal

from symattn.derivation import Derivation, Op, Operand, column_of, row_of, symbols, transposed
from symattn.errors import InputError, ReadError, ShapeError
from symattn.exact import AnyMatrix, Matrix, Outline, Size, Value, exact, is_symbolic, matrix, sign
from symattn.exact.reading import read
from symattn.ops import Activation, Add, Hadamard, Mask, MatMul, Round, Scale, Softmax, Stack, SumOver
from symattn.ops.attention import Keep, MaskStyle, blocks, causal, padding, window
from symattn.ops.entrywise import RoundingMethod
from symattn.ops.turning import turned

SIZE_NAMES = ("n", "m", "h", "g", "d_model", "d_k", "d_v", "d_ff")


@dataclass(frozen=True)
class Rounding:
    """Rounding of the weights as a step; what follows is worked out from the rounded values."""

    places: int
    method: RoundingMethod = "nearest"
    ties: Literal["even", "up", "down"] = "even"

    def op(self, along: Literal["rows", "columns"]) -> Round:
        return Round(self.places, self.method, self.ties, along)


@dataclass(frozen=True)
class Settings:
    """How a mechanism is to be worked out.  Field by field, what a problem file may say.

    scale         "sqrt(d_k)", "none", "sqrt(d_model)", "d_k", or any number or expression in the sizes
    mask          none, "causal", "padding:2" (two real tokens), "window:2", "window:2:both", "blocks:2,1",
                  or rows of 1 (seen) and 0 (hidden), as lists or as text ("[[1, 0], [1, 1]]")
    mask_style    additive, keep, block, multiplicative
    base          of the softmax: "e", 2, …
    orientation   rows: tokens are rows, Q = X W_Q;  columns: tokens are columns, Q = W_Q X
    by            matrix, or token: one token after the other, values weighted and then summed
    scores        row or column: how one token's scores stand when going token by token
    activation    of the projections: identity, relu, or a name such as f
    order         of the projections
    rounding      of the weights, carried on
    stop_at       the last step worked out

    The others belong to some mechanisms only, which name them in `Mechanism.uses`; the rest refuse them.

    heads, kv_heads       how many heads, and how many key and value heads they share (0: as many; 1: multi-query)
    split                 consecutive: head 1 has the first d_k columns; interleaved: every h-th column from its own
    empty                 a row that sees nothing is undefined, or zero
    weights               how scores become weights: softmax, sum (score over the sum of its row), hardmax
    cap, temperature      scores become cap·tanh(score/cap); scores over the temperature
    bias                  "alibi" or "alibi:1/2,1/4" (a slope for every head), added to the scaled scores
    feature               φ of linear attention: elu+1, relu, square, identity
    position              none, sinusoidal, sinusoidal-halves (added to X), learned (a given P added to X), rotary,
                          rotary-halves
    wavelength, angles    of positions: the base of the angles (10000), or the angles themselves
    first_position        0 or 1
    norm, norm_place      layer or rms or none; post or pre
    epsilon, variance     ε under the root; population (over d) or sample (over d − 1)
    function              of a feed-forward or recurrent network: relu, gelu, gelu_tanh, silu, tanh, sigmoid, identity
    blocks                how many blocks are stacked
    tile                  how many keys a block of the online softmax has
    """

    scale: object = "sqrt(d_k)"
    mask: object = None
    mask_style: MaskStyle = "additive"
    base: Value | Literal["e"] = "e"
    orientation: Literal["rows", "columns"] = "rows"
    by: Literal["matrix", "token"] = "matrix"
    scores: Literal["row", "column"] = "row"
    activation: str = "identity"
    order: str = "QKV"
    rounding: Rounding | None = None
    stop_at: str = ""
    heads: int = 1
    kv_heads: int = 0
    split: Literal["consecutive", "interleaved"] = "consecutive"
    empty: Literal["undefined", "zero"] = "undefined"
    weights: Literal["softmax", "sum", "hardmax"] = "softmax"
    cap: Value | None = None
    temperature: Value | None = None
    bias: str = ""
    feature: Literal["elu+1", "relu", "square", "identity"] = "elu+1"
    position: str = "none"
    wavelength: Value = 10000
    angles: object = None
    first_position: int = 0
    norm: Literal["layer", "rms", "none"] = "layer"
    norm_place: Literal["post", "pre"] = "post"
    epsilon: Value = 0
    variance: Literal["population", "sample"] = "population"
    function: str = ""
    blocks: int = 1
    tile: int = 2

    @property
    def groups(self) -> int:
        """How many heads keys and values have."""
        return self.kv_heads or self.heads

    @classmethod
    def read(cls, given: Mapping[str, object]) -> Settings:
        """Settings from a problem file or from keyword arguments; `InputError` names what is wrong."""
        known = {f.name for f in fields(cls)}
        if unknown := sorted(set(given) - known):
            raise InputError(f"There is no setting {unknown[0]!r}; the settings are {', '.join(sorted(known))}.")
        values = {name: value for name, value in given.items() if value is not None}
        for name, allowed in _CHOICES.items():
            if name in values and values[name] not in allowed:
                raise InputError(f"{name} is {values[name]!r}; one of {', '.join(allowed)} was expected.")
        if isinstance(rounding := values.get("rounding"), Mapping):
            values["rounding"] = _rounding(rounding)
        elif rounding is not None and not isinstance(rounding, Rounding):
            raise InputError(f"rounding is {rounding!r}; a table with places and method was expected.")
        if "base" in values and values["base"] != "e":
            values["base"] = _base(values["base"])
        if "order" in values and sorted(str(values["order"])) != ["K", "Q", "V"]:
            raise InputError(f"order is {values['order']!r}; the letters Q, K, V in some order were expected.")
        for name in ("activation", "stop_at"):
            if name in values and not isinstance(values[name], str):
                raise InputError(f"{name} is {values[name]!r}; a name was expected.")
        function = values.get("activation")
        if isinstance(function, str) and not re.fullmatch(r"[A-Za-zσφ]\w{0,20}", function):
            raise InputError(f"activation is {function!r}; a name such as identity, relu or f was expected.")
        for name, (low, high) in _COUNTS.items():
            number = values.get(name, low)
            if isinstance(number, bool) or not isinstance(number, int) or not low <= number <= high:
                raise InputError(f"{name} is {number!r}; a whole number from {low} to {high} was expected.")
        for name in _NUMBERS:
            if name in values:
                values[name] = _number(name, values[name])
        heads, groups = int(str(values.get("heads", 1))), int(str(values.get("kv_heads", 0)))
        if groups and heads % groups:
            raise InputError(f"{heads} heads cannot share {groups} key and value heads evenly.")
        return cls(**values)  # type: ignore[arg-type]


_CHOICES: dict[str, tuple[str, ...]] = {
    "mask_style": ("additive", "keep", "block", "multiplicative"),
    "orientation": ("rows", "columns"),
    "by": ("matrix", "token"),
    "scores": ("row", "column"),
    "split": ("consecutive", "interleaved"),
    "empty": ("undefined", "zero"),
    "weights": ("softmax", "sum", "hardmax"),
    "feature": ("elu+1", "relu", "square", "identity"),
    "position": ("none", "sinusoidal", "sinusoidal-halves", "learned", "rotary", "rotary-halves"),
    "norm": ("layer", "rms", "none"),
    "norm_place": ("post", "pre"),
    "variance": ("population", "sample"),
    "function": ("", "relu", "gelu", "gelu_tanh", "silu", "tanh", "sigmoid", "identity"),
}
_COUNTS = {"heads": (1, 16), "kv_heads": (0, 16), "first_position": (0, 1), "blocks": (1, 6), "tile": (1, 64)}
_NUMBERS = ("cap", "temperature", "wavelength", "epsilon")

SCORES = frozenset({"empty", "weights", "cap", "temperature", "bias"})
"""What every mechanism with scores may be told."""

ROTARY = frozenset({"position", "wavelength", "angles", "first_position"})
HEADS = frozenset({"heads", "kv_heads", "split"})
NORM = frozenset({"norm", "norm_place", "epsilon", "variance"})
_SOME = SCORES | ROTARY | HEADS | NORM | {"feature", "function", "blocks", "tile"}
"""The settings that not every mechanism has."""


def _rounding(given: Mapping[str, object]) -> Rounding:
    if unknown := sorted(set(given) - {"places", "method", "ties"}):
        raise InputError(f"rounding has {unknown[0]!r}; places, method and ties are known.")
    places, method, ties = given.get("places"), given.get("method", "nearest"), given.get("ties", "even")
    if isinstance(places, bool) or not isinstance(places, int) or not 0 <= places <= 50:
        raise InputError(f"rounding.places is {places!r}; a number of decimal places from 0 to 50 was expected.")
    if method not in ("nearest", "largest-remainder", "truncate"):
        raise InputError(f"rounding.method is {method!r}; nearest, largest-remainder or truncate was expected.")
    if ties not in ("even", "up", "down"):
        raise InputError(f"rounding.ties is {ties!r}; even, up or down was expected.")
    return Rounding(places, method, ties)


def _base(given: object) -> Value:
    base = _number("base", given)
    if not is_symbolic(base) and (sign(base) <= 0 or base == 1):
        raise InputError(f"base is {given!r}; a positive number other than 1 was expected.")
    return base


def _number(setting: str, given: object) -> Value:
    try:
        return exact(given)
    except InputError as error:
        raise InputError(f"The {setting} {given!r} cannot be used: {error}") from error


@dataclass(frozen=True)
class Mechanism:
    """One kind of computation: what it starts from and how it goes on.

    `givens` maps each given to its shape in letters (`X` is n × d_model), tokens as rows; a letter may have a factor h
    or g, the heads and the key and value heads (`W_Q` is d_model × h*d_k).  `optional` givens may be left out, `tokens`
    are those whose rows are tokens (they are transposed where tokens are columns; weights are, too).  `derive` gets
    givens whose shapes have been checked; with `turns` it is written for tokens as rows alone, and is turned for
    columns.  `uses` are the settings it has besides those of all.

    For random worksheets: `sizes` of its own letters, `draw` makes givens that suit it (any that are of the right
    shapes; what they lead to is judged afterwards), `complaint` says why a derivation is not worth setting, `relabels`
    that its axes may be permuted without making it harder.
    """

    name: str
    title: str
    givens: Mapping[str, tuple[str, str]]
    derive: Callable[[Derivation, Settings, Mapping[str, Size]], Derivation]
    optional: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    defaults: Mapping[str, object] = field(default_factory=dict)
    uses: frozenset[str] = frozenset()
    turns: bool = True
    default_sizes: Mapping[str, int] = field(default_factory=dict)
    draw: Callable[[Settings, Mapping[str, Size], random.Random], Mapping[str, Matrix]] | None = None
    complaint: Callable[[Derivation], str] = lambda d: ""
    relabels: bool = False

    def shapes(self, settings: Settings) -> dict[str, tuple[str, str]]:
        """Every given, required or not, with its shape in letters for this orientation."""
        listed = {**self.givens, **self.optional}
        return {name: s if settings.orientation == "rows" else s[::-1] for name, s in listed.items()}

    @property
    def letters(self) -> tuple[str, ...]:
        """The sizes that its givens have: n, d_model, d_k, …"""
        found = (_factored(s)[1] for shape in self.givens.values() for s in shape if not s.isdigit())
        return tuple(dict.fromkeys(found))

    def run(self, givens: Mapping[str, object], settings: Settings, *, staged: bool = False) -> Derivation:
        """Check the givens and work everything out.

        `InputError` for a given that is missing or unknown or a setting that this mechanism has not, `ShapeError` for
        shapes that contradict one another.
        """
        default = Settings()
        for name in sorted(_SOME - self.uses):
            if getattr(settings, name) != getattr(default, name):
                listed = ", ".join(sorted(self.uses)) or "none but those of all"
                raise InputError(f"{self.name} has no setting {name!r}; its own are: {listed}.")
        read = {name: _given(name, value) for name, value in givens.items()}
        sizes = self.sizes(read, settings)
        d = Derivation(read, (), staged, settings.orientation)
        if settings.orientation == "columns" and self.turns:
            if staged:
                raise InputError(f"{self.name} in letters is written with tokens as rows only.")
            upright = self.derive(turned(d), replace(settings, orientation="rows"), sizes)
            derivation = turned(upright)
        else:
            derivation = self.derive(d, settings, sizes)
        return _until(derivation, settings.stop_at) if settings.stop_at else derivation

    def sizes(self, givens: Mapping[str, AnyMatrix], settings: Settings) -> dict[str, Size]:
        """What n, d_model, d_k, d_v are, as the givens' shapes tell; h and g, if there are heads."""
        shapes = self.shapes(settings)
        for name in self.givens:
            if name not in givens:
                raise InputError(f"{self.name} starts from {', '.join(self.givens)}; {name} is missing.")
        for name in givens:
            if name not in shapes:
                raise InputError(f"{self.name} has no given {name!r}; it knows {', '.join(shapes)}.")
        sizes: dict[str, Size] = {"h": settings.heads, "g": settings.groups} if "heads" in self.uses else {}
        source: dict[str, str] = {}
        for name, letters in shapes.items():
            if name not in givens:
                continue
            shape = givens[name].shape
            for spec, whole, axis in zip(letters, shape, ("rows", "columns"), strict=True):
                factor, letter = _factored(spec)
                size = _shared(name, whole, factor, axis, settings)
                if letter.isdigit():
                    if size != int(letter):
                        raise ShapeError(f"{name} is {shape[0]}×{shape[1]}; {letter} of its {axis} was expected.")
                elif sizes.setdefault(letter, size) != size:
                    raise ShapeError(
                        f"{name} is {shape[0]}×{shape[1]}, so {letter} would be {size}; "
                        f"but {letter} is {sizes[letter]} by {source[letter]}."
                    )
                else:
                    source.setdefault(letter, f"{name} ({shape[0]}×{shape[1]})")
        return sizes

    def given_shapes(self, sizes: Mapping[str, Size], settings: Settings) -> dict[str, tuple[Size, Size]]:
        """The shapes of the required givens in numbers, as far as the sizes are numbers."""
        known = {"h": settings.heads, "g": settings.groups}
        found: dict[str, tuple[Size, Size]] = {}
        for name, letters in self.shapes(settings).items():
            if name in self.givens:
                rows, columns = (_whole(spec, sizes, known) for spec in letters)
                found[name] = (rows, columns)
        return found

    def symbolic(self, sizes: Mapping[str, Size], settings: Settings) -> dict[str, AnyMatrix]:
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


def _factored(spec: str) -> tuple[str, str]:
    """h*d_k as h and d_k; n as "" and n."""
    factor, star, letter = spec.partition("*")
    return (factor, letter) if star else ("", spec)


def _shared(name: str, size: Size, factor: str, axis: str, settings: Settings) -> Size:
    """The share of one head in a size."""
    heads = {"h": settings.heads, "g": settings.groups, "": 1}[factor]
    if heads == 1:
        return size
    if not isinstance(size, int):
        raise InputError(f"With {heads} heads, the {axis} of {name} must be a number, not {size}.")
    if size % heads:
        raise ShapeError(f"{name} has {size} {axis}, which {heads} heads cannot share evenly.")
    return size // heads


def _whole(spec: str, sizes: Mapping[str, Size], heads: Mapping[str, int]) -> Size:
    factor, letter = _factored(spec)
    size = int(letter) if letter.isdigit() else sizes.get(letter, letter)
    if not factor or heads[factor] == 1:
        return size
    if not isinstance(size, int):
        raise InputError(f"With {heads[factor]} heads, {letter} must be a number, not {size!r}.")
    return heads[factor] * size


_LAST_ROLES = ("S", "S'", "M", "A", "A_rounded", "weighted", "Z")


def _until(d: Derivation, stop: str) -> Derivation:
    """The derivation without what comes after the role `stop`, also where it goes token by token."""
    if stop not in {step.role for step in d}:
        roles = dict.fromkeys(step.role for step in d)
        raise InputError(f"stop_at is {stop!r}; one of the steps {', '.join(roles)} was expected.")
    if stop not in _LAST_ROLES:
        return d.until(stop)
    later = _LAST_ROLES[_LAST_ROLES.index(stop) + 1 :]
    return replace(d, steps=tuple(step for step in d if step.role not in later))


def _given(name: str, value: object) -> AnyMatrix:
    try:
        return matrix(value)
    except InputError as error:
        raise InputError(f"Given {name}: {error}") from error


# ---------------------------------------------------------------------------------------------- the common way


def project(d: Derivation, role: str, settings: Settings, source: str = "X", place: str = "") -> Derivation:
    """Q = X W_Q (tokens as rows) or Q = W_Q X (as columns), with a bias and an activation where there are any.

    `source` is what is projected, in place of X; `place` says in which layer: Q^self = X W_Q^self.
    """
    at = f"^{place}" if place else ""
    weight, bias, activated = f"W_{role}{at}", f"b_{role}{at}", settings.activation != "identity"
    factors = (source, weight) if settings.orientation == "rows" else (weight, source)
    names = [f"{role}{at}"]
    if activated:
        names.insert(0, f"{role}_linear{at}")
    if bias in d.givens:
        names.insert(0, f"{role}_product{at}")
    d = d.then(names[0], MatMul(), *factors, section=place)
    if bias in d.givens:
        d = d.then(names[1], Add(), names[0], bias, section=place)
    if activated:
        d = d.then(names[-1], Activation(settings.activation), names[-2], section=place)
    return d


@dataclass(frozen=True, slots=True)
class Scope:
    """Where an attention stands: which of how many heads, in which layer.  It puts that into names: S_1^self."""

    head: int | None = None
    place: str = ""
    of: int = 1

    def __call__(self, stem: str) -> str:
        return stem + (f"_{self.head}" if self.head else "") + (f"^{self.place}" if self.place else "")

    @property
    def section(self) -> str:
        words = [f"head {self.head}" if self.head else "", self.place]
        return ", ".join(filter(None, words))


def attend(
    d: Derivation,
    settings: Settings,
    sizes: Mapping[str, Size],
    scope: Scope = Scope(),
    operands: tuple[str, str, str] | None = None,
) -> Derivation:
    """softmax(Q Kᵀ / √d_k + mask) V (Vaswani et al. 2017, section 3.2.1, equation 1).

    `operands` are the names of Q, K and V where they are not those of the scope (heads that share keys).  Scores may be
    changed on the way: divided by a temperature, capped, biased; the order is that of scale, temperature, cap, bias,
    mask.
    """
    n, m = sizes["n"], sizes.get("m", sizes["n"])
    q, k, v = operands or (scope("Q"), scope("K"), scope("V"))
    at = scope.section
    scale = scale_op(settings.scale, sizes)
    keep = mask_keep(settings.mask, n, m)
    if settings.by == "token":
        if not isinstance(n, int):
            raise InputError("Token by token, the number of tokens must be a number.")
        changed = [name for name in ("temperature", "cap", "bias") if getattr(settings, name)]
        if changed or scope != Scope() or settings.weights != "softmax" or "B" in d.givens:
            raise InputError("Token by token, there is one head, and scores are scaled and masked alone.")
        return _attend_by_token(d, settings, n, scale, keep)
    if settings.orientation == "rows":
        d = d.then(scope("S"), MatMul(), q, transposed(k), section=at)  # n × m, row i: query i against every key
    else:
        d = d.then(scope("S"), MatMul(), transposed(k), q, section=at)  # m × n, column i: query i against every key
        keep = tuple(zip(*keep, strict=True)) if keep else keep
    if scale:
        d = d.then(scope("S'"), scale, scope("S"), section=at)
    d = change_scores(d, settings, scope)
    if keep is not None:
        mask = Mask(keep, settings.mask_style, mask_kind(settings.mask))
        d = d.then(scope("M"), mask, d.last.name, section=at)
    d = d.then(scope("A"), weights_op(settings), d.last.name, section=at)
    return mix(d, settings, scope, v)


def change_scores(d: Derivation, settings: Settings, scope: Scope) -> Derivation:
    """The steps between scale and mask: S_T over the temperature, S_cap capped, S_B with a bias."""
    if settings.temperature is not None:
        op = Scale(_divisor(settings.temperature, settings.temperature))
        d = d.then(scope("S_T"), op, d.last.name, section=scope.section)
    if "B" in d.givens:
        d = d.then(scope("S_B"), Add(), d.last.name, "B", section=scope.section)
    return d


def weights_op(settings: Settings) -> Op:
    """How a row of scores becomes a row of weights."""
    return Softmax(settings.orientation, settings.base, settings.empty)


def mix(d: Derivation, settings: Settings, scope: Scope = Scope(), values: str = "V") -> Derivation:
    """From the weights A to the output Z: the values weighted and summed, with the weights rounded first if asked."""
    weights = scope("A")
    if settings.rounding:
        op = settings.rounding.op(settings.orientation)
        d, weights = d.then(scope("A_rounded"), op, weights, section=scope.section), scope("A_rounded")
    if settings.orientation == "rows":
        return d.then(scope("Z"), MatMul(), weights, values, section=scope.section)  # n × d_v
    return d.then(scope("Z"), MatMul(), values, weights, section=scope.section)  # d_v × n


def _attend_by_token(d: Derivation, settings: Settings, n: int, scale: Scale | None, keep: Keep | None) -> Derivation:
    """The same, one token after the other: its scores, its weights, the values times the weights, their sum."""
    columns = settings.orientation == "columns"
    upright = columns or settings.scores == "column"  # the token's scores stand as a column
    for t in range(n):
        section = f"token {t + 1}"
        if columns:
            d = d.then(f"S.{t + 1}", MatMul(), transposed("K"), column_of("Q", t), section=section)
        elif upright:
            d = d.then(f"S.{t + 1}", MatMul(), "K", transposed("Q", t), section=section)
        else:
            d = d.then(f"S.{t + 1}", MatMul(), row_of("Q", t), transposed("K"), section=section)
        scores = f"S.{t + 1}"
        if scale:
            d, scores = d.then(f"S'.{t + 1}", scale, scores, section=section), f"S'.{t + 1}"
        if keep is not None:
            seen = () if not keep else tuple((x,) for x in keep[t]) if upright else (keep[t],)
            mask = Mask(seen, settings.mask_style, mask_kind(settings.mask))
            d, scores = d.then(f"M.{t + 1}", mask, scores, section=section), f"M.{t + 1}"
        along: Literal["rows", "columns"] = "columns" if upright else "rows"
        d = d.then(f"A.{t + 1}", Softmax(along, settings.base), scores, section=section)
        d = mix_token(d, settings, t, Operand(f"A.{t + 1}"), upright)
    return gather(d, settings, n)


def mix_token(d: Derivation, settings: Settings, t: int, weights: Operand, upright: bool) -> Derivation:
    """One token's output: every value times its weight, then the sum."""
    section = f"token {t + 1}"
    if settings.rounding:
        op = settings.rounding.op("columns" if upright else "rows")
        d = d.then(f"A_rounded.{t + 1}", op, weights, section=section)
        weights = Operand(f"A_rounded.{t + 1}")
    if settings.orientation == "columns":
        turned = replace(weights, transposed=not weights.transposed)
        d = d.then(f"weighted.{t + 1}", Hadamard(), turned, "V", section=section)
        return d.then(f"Z.{t + 1}", SumOver("columns"), f"weighted.{t + 1}", section=section)
    turned = weights if upright else replace(weights, transposed=not weights.transposed)
    d = d.then(f"weighted.{t + 1}", Hadamard(), turned, "V", section=section)  # n × d_v
    return d.then(f"Z.{t + 1}", SumOver("rows"), f"weighted.{t + 1}", section=section)  # 1 × d_v


def gather(d: Derivation, settings: Settings, n: int) -> Derivation:
    """The tokens' outputs put together: Z."""
    return d.then("Z", Stack(settings.orientation), *(f"Z.{t + 1}" for t in range(n)))


# ---------------------------------------------------------------------------------------------- scale and mask


def scale_op(spec: object, sizes: Mapping[str, Size]) -> Scale | None:
    """The scaling step that `spec` asks for: none, √d_k, a number, an expression in the sizes."""
    if spec is None or (isinstance(spec, str) and spec.strip().lower() in ("", "none")):
        return None
    if not isinstance(spec, str):
        return Scale(_divisor(_number("scale", spec), spec))
    of = re.sub(r"\bd_x\b", "d_model", spec.strip())
    used = [name for name in SIZE_NAMES if re.search(rf"\b{name}\b", of)]
    if missing := [name for name in used if name not in sizes]:
        raise InputError(f"The scale is {spec!r}, but {missing[0]} is not known here; {', '.join(sizes)} are.")
    letters = dict(zip("abcdf", (name for name in used if isinstance(sizes[name], str)), strict=False))
    filled = of
    for name in used:
        letter = next((short for short, long in letters.items() if long == name), "")
        filled = re.sub(rf"\b{name}\b", letter or f"({sizes[name]})", filled)
    try:
        divisor = read(filled, symbols=bool(letters)).value
    except ReadError as error:
        raise InputError(f"The scale {spec!r} cannot be read: {error}") from error
    if is_symbolic(divisor):
        import sympy

        full = {short: sympy.Symbol(long, positive=True) for short, long in letters.items()}
        divisor = divisor.xreplace({s: full[s.name] for s in divisor.free_symbols})
    return Scale(_divisor(divisor, spec), of if used else "")


def _divisor(divisor: Value, spec: object) -> Value:
    if not is_symbolic(divisor) and divisor == 0:
        raise InputError(f"The scale is {spec!r}, which is 0; scores cannot be divided by 0.")
    return divisor


def mask_kind(spec: object) -> str:
    return spec.partition(":")[0] if isinstance(spec, str) and not spec.lstrip().startswith("[") else "custom"


def mask_keep(spec: object, rows: Size, columns: Size) -> Keep | None:
    """Which keys each query may see; none for no mask, () where the sizes are letters."""
    if spec is None or spec is False or (isinstance(spec, str) and spec.strip().lower() in ("", "none")):
        return None
    if not isinstance(rows, int) or not isinstance(columns, int):
        return ()
    if isinstance(spec, str) and spec.lstrip().startswith("["):
        spec = _written_mask(spec)  # rows on the command line: "[[1, 0], [1, 1]]"
    if not isinstance(spec, str):
        return _custom_mask(spec, rows, columns)
    kind, *numbers = (part.strip() for part in spec.split(":"))
    try:
        match kind, numbers:
            case "causal", []:
                return causal(rows, columns)
            case "padding", [real]:
                return padding(rows, columns, _within(int(real), 1, columns))
            case "window", [width]:
                return window(rows, columns, _within(int(width), 1, columns))
            case "window", [width, "both"]:
                return window(rows, columns, _within(int(width), 1, columns), looking_ahead=True)
            case "blocks", [sizes]:
                listed = [int(size) for size in sizes.split(",")]
                if sum(listed) == rows == columns and min(listed) > 0:
                    return blocks(listed)
                raise ValueError
    except ValueError:
        pass
    raise InputError(
        f"The mask {spec!r} does not fit {rows} queries and {columns} keys; causal, padding:2, window:2, "
        "window:2:both, blocks:2,1 or rows of 1 (seen) and 0 (hidden) were expected."
    )


def _within(number: int, low: int, high: int) -> int:
    if not low <= number <= high:
        raise ValueError(number)
    return number


def _written_mask(text: str) -> object:
    if not re.fullmatch(r"\s*\[\s*\[[01,\s]*\](\s*,\s*\[[01,\s]*\])*\s*\]\s*", text):
        raise InputError(f"The mask {text[:60]!r} is not written as rows of 1 and 0, such as [[1, 0], [1, 1]].")
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"The mask {text[:60]!r} cannot be read at character {error.pos + 1}.") from error


def _custom_mask(spec: object, rows: int, columns: int) -> Keep:
    listed = spec.rows if isinstance(spec, Matrix) else spec
    if not isinstance(listed, Sequence) or not all(isinstance(row, Sequence) for row in listed):
        raise InputError(f"The mask {spec!r} is neither a name such as causal nor rows of 1 (seen) and 0 (hidden).")
    keep = tuple(tuple(row) for row in listed)
    if len(keep) != rows or any(len(row) != columns for row in keep):
        raise ShapeError(
            f"The mask has {len(keep)} rows of {'/'.join(sorted({str(len(r)) for r in keep}))} entries; "
            f"the scores are {rows}×{columns}."
        )
    if any(x not in (0, 1) for row in keep for x in row):
        raise InputError("A mask given by rows has only the entries 1 (seen) and 0 (hidden).")
    return tuple(tuple(bool(x) for x in row) for row in keep)
