"""The operations on scores that settings ask for: scale, temperature, cap, bias, mask, and the way to weights."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from symattn.derivation.algebra import size_in_sympy
from symattn.derivation.derivation import Derivation, Op
from symattn.derivation.mechanisms.masks import masks
from symattn.derivation.mechanisms.sections import Scope
from symattn.derivation.mechanisms.settings import SIZE, Settings, parameter, read_number, read_parameter
from symattn.derivation.ops.attention import Mask, Softmax
from symattn.derivation.ops.linear import Add, Scale
from symattn.derivation.sizes import letters_of
from symattn.errors import InputError, ReadError
from symattn.exact import Size, Value, has_symbols, is_symbolic, sign
from symattn.exact.reading import read
from symattn.foundation.typed import Place

if TYPE_CHECKING:
    from symattn.derivation.ops.scores import Bias


SIZE_NAMES = ("n", "m", "h", "g", "d_model", "d_k", "d_v", "d_ff")
_SIZES = re.compile(rf"\b(?:{'|'.join(SIZE_NAMES)})\b")


def scale_op(spec: object, sizes: Mapping[str, Size]) -> Scale | None:
    """The scaling step that `spec` asks for: none, √d_k, a number, an expression in the sizes."""
    if spec is None or (isinstance(spec, str) and spec.strip().lower() in ("", "none")):
        return None
    if not isinstance(spec, str):
        return Scale(_divisor(read_number(spec, Place().at("scale")), spec))
    of = re.sub(r"\bd_x\b", "d_model", spec.strip())
    used = [name for name in SIZE_NAMES if name in _SIZES.findall(of)]
    if missing := [name for name in used if name not in sizes]:
        raise InputError(f"The scale is {spec!r}, but {missing[0]} is not known here; {', '.join(sizes)} are.")
    free = (letter for letter in "abcdfghjklmnopqrstuvwxyz" if not re.search(rf"\b{letter}\b", of))
    short = {name: next(free) for name in used if isinstance(sizes[name], str)}  # d_k is no name that can be read
    filled = _SIZES.sub(lambda name: short.get(name[0], f"({sizes[name[0]]})"), of)
    try:
        divisor = _formula_of_sizes(filled)
    except ReadError as error:
        raise InputError(f"The scale {spec!r} cannot be read: {error}") from error
    if has_symbols(divisor):
        meant = {letter: size_in_sympy(sizes[name]) for name, letter in short.items()}
        meant |= {x.name: _letter_of(x.name, spec, sizes) for x in divisor.free_symbols if x.name not in meant}
        divisor = divisor.xreplace({x: meant[x.name] for x in divisor.free_symbols})
    return Scale(_divisor(divisor, spec), _SIZES.sub(lambda name: _own_letter(name[0], sizes), of) if used else "")


def _letter_of(letter: str, scale: str, sizes: Mapping[str, Size]) -> Any:
    """What a letter of a scale that names no size stands for: what a size is called here, or a number of its own."""
    if any(letter in letters_of(size) for size in sizes.values()):
        return size_in_sympy(letter)
    if SIZE.fullmatch(letter):
        raise InputError(f"The scale is {scale!r}, but {letter} is not known here; {', '.join(sizes)} are.")
    return parameter(letter)


def _own_letter(name: str, sizes: Mapping[str, Size]) -> str:
    """The letter that a size has here: p for d_k where d_k is p; its name where it is a number."""
    size = sizes[name]
    if not isinstance(size, str):
        return name
    return size if size.isidentifier() else f"({size})"


@lru_cache(maxsize=64)
def _formula_of_sizes(text: str) -> Value:
    """The same for all variants of a pool."""
    return read(text, symbols=True).value


def _divisor(divisor: Value, spec: object) -> Value:
    if not is_symbolic(divisor) and divisor == 0:
        raise InputError(f"The scale is {spec!r}, which is 0; scores cannot be divided by 0.")
    return divisor


def mask_op(settings: Settings, rows: Size, columns: Size) -> Mask | Bias | None:
    """The masking step: what is hidden becomes −∞; finite values are added; none for no mask."""
    mask = masks(settings.mask)
    if mask is None:
        return None
    if not isinstance(rows, int) or not isinstance(columns, int):
        return Mask((), settings.mask_style, mask.kind, mask.patterns(rows, columns))
    keep = mask.keep(rows, columns)
    if added := mask.added(keep):
        from symattn.derivation.ops.scores import Bias

        return Bias(added)
    return Mask(keep, settings.mask_style, mask.kind, mask.rules(columns))


def score_changes(
    d: Derivation, settings: Settings, scope: Scope, shape: tuple[Size, Size]
) -> Iterator[tuple[str, Op, *tuple[str, ...]]]:
    """The steps between scale and mask: S_T over the temperature, S_cap capped, S_B with a bias."""
    own = f"B_{scope.head or 1}"
    biases = [name for name in dict.fromkeys(("B", own)) if name in d.givens]
    if settings.bias and biases:
        raise InputError(f"A bias is given as {biases[0]} and as {settings.bias!r}; only one can be added.")
    if len(biases) > 1:
        raise InputError(f"A bias is given as B for all heads and as {own}; only one can be added.")
    if scope.head and not biases and any(re.fullmatch(r"B_\d+", name) for name in d.givens):
        raise InputError(f"A bias is given for some heads, and {own} is missing; all heads have one, or none.")
    if settings.temperature is not None:
        from symattn.derivation.ops.scores import Temperature

        temperature = Temperature(require_positive("temperature", settings.temperature))
        yield "S_T", replace(temperature, of="") if has_symbols(settings.temperature) else temperature
    if settings.cap is not None:
        from symattn.derivation.ops.scores import SoftCap

        yield "S_cap", SoftCap(require_positive("cap", settings.cap))
    if settings.bias:
        yield "S_B", _alibi(settings.bias, scope, shape)
    if biases:
        yield "S_B", Add(), biases[0]


def require_positive(setting: str, number: Value) -> Value:
    if not is_symbolic(number) and sign(number) <= 0:
        raise InputError(f"The {setting} is {number}; a positive number was expected.")
    return number


def _alibi(bias: str, scope: Scope, shape: tuple[Size, Size]) -> Op:
    """A head's bias, with ALiBi's own slope or the one that is stated for it."""
    from symattn.derivation.ops.scores import alibi, alibi_slope

    rows, columns = shape
    kind, colon, listed = bias.partition(":")
    if kind != "alibi":
        raise InputError(f"bias is {bias!r}; alibi, or alibi:1/2,1/4 (a slope for every head), was expected.")
    head = scope.head or 1
    if not colon:
        return alibi(alibi_slope(head, scope.of), rows, columns)
    slopes = listed.split(",")
    if len(slopes) != scope.of:
        raise InputError(f"bias is {bias!r}; a slope for every head, and so {scope.of} of them, were expected.")
    return alibi(read_parameter(slopes[head - 1], Place().at("bias")), rows, columns)


def weights_op(settings: Settings) -> Op:
    """How a row of scores becomes a row of weights."""
    if settings.weights != "softmax" and settings.base != "e":
        raise InputError(f"The base is {settings.base}, but the weights are {settings.weights}, without any powers.")
    if settings.weights == "softmax":
        return Softmax(base=settings.base, empty=settings.empty)
    from symattn.derivation.ops.scores import Hardmax, OverSum

    return (OverSum if settings.weights == "sum" else Hardmax)(empty=settings.empty)
