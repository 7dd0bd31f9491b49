"""Shapes of givens in letters (n × h*d_k), and the sizes that their numbers tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce

from symattn.derivation.mechanisms.settings import Settings
from symattn.derivation.sizes import share, times
from symattn.errors import LetterError, ShapeError
from symattn.exact import Size


def numbered(named: Mapping[str, tuple[str, str]], settings: Settings) -> dict[str, tuple[str, str]]:
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


def _check_total(said: str, size: Size, axis: str, terms: Mapping[str, Size]) -> None:
    """`ShapeError` where a size is not the sum of others, as far as all are numbers."""
    numbers = [n for n in terms.values() if isinstance(n, int)]
    if isinstance(size, int) and len(numbers) == len(terms) and size != sum(numbers):
        sums = " + ".join(terms), " + ".join(map(str, numbers))
        raise ShapeError(f"{said}; {sum(numbers)} {axis} were expected: {sums[0]} = {sums[1]}.")


def size_of(spec: str, sizes: Mapping[str, Size], heads: Mapping[str, int]) -> Size:
    factor, letter = factored(spec)
    size = int(letter) if letter.isdigit() else sizes.get(letter, letter)
    return times(heads[factor], size) if factor else size
