"""What may be wanted of a problem type: mechanism, sizes, level, settings, and options of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from math import isqrt
from types import MappingProxyType
from typing import Annotated, Any, Literal

from symattn.derivation.mechanisms import Settings, mechanism
from symattn.derivation.mechanisms.base import layered
from symattn.errors import InputError, offered
from symattn.exact.outside import listed
from symattn.foundation.typed import Between, OneOf, Such
from symattn.page.notation import load_notation
from symattn.teaching.question import Json

NOTHING: Mapping[str, Any] = MappingProxyType({})
LARGEST_SIZE = 10_000
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
    """The names of settings that are stated and say something else than the default; "none" is none by default."""
    default = {f.name: getattr(Settings(), f.name) for f in fields(Settings)}
    said = {name: listed(value) for name, value in settings.items() if name in default and value is not None}
    return [name for name, value in said.items() if value not in (default[name], default[name] or "none")]


def tokens_are_rows(spec: Spec) -> None:
    """`InputError` for a notation that has its tokens as columns: these questions are worded for rows."""
    if spec.chosen_settings().orientation == "columns":
        raise InputError(
            f"The problem type {spec.type} is worded for tokens as rows; the notation {spec.notation} has columns."
        )
