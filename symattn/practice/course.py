"""A course: topics in their order, each a recipe for sheets, as a teacher writes it in TOML.

title = "Week 3"
pass = 80                    # percent of the marks with which a topic counts as done

[[topic]]
title = "Attention"
recipe = "attention"         # what follows `symattn worksheet`, without a seed
levels = ["starter", "standard"]
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal

from symattn.foundation.files import read_toml, toml
from symattn.foundation.typed import Between, Key, NotEmpty, Place, read
from symattn.practice.session import recipe_of
from symattn.teaching.sheets import sheets

Level = Literal["starter", "standard", "long"]


@dataclass(frozen=True)
class Topic:
    """A recipe, and the levels between which a student may choose; without any, the recipe's own."""

    title: Annotated[str, NotEmpty("a title")]
    recipe: str
    levels: tuple[Level, ...] = ()

    def recipes(self) -> list[str]:
        """The recipe on every level."""
        return [f"{self.recipe} --level {level}" for level in self.levels] or [self.recipe]


@dataclass(frozen=True)
class Course:
    """Topics in their order, and the percentage of marks with which one is done."""

    topics: Annotated[tuple[Topic, ...], Key("topic"), NotEmpty("[[topic]]")]
    title: str = "Attention by hand"
    passed: Annotated[int, Key("pass"), Between(1, 100)] = 80


def read_course(path: Path | None = None) -> Course:
    """The course of a file, or the one that comes with symattn; `InputError` says what is wrong with it, and where."""
    if path is None:
        where, text = "course.toml", (resources.files(__package__) / "course.toml").read_text(encoding="utf-8")
        data: dict[str, Any] = toml(text, where)
    else:
        where, data = path.name, read_toml(path)
    course = read(Course, data, where)
    seen: set[str] = set()
    for number, topic in enumerate(course.topics, 1):
        place = Place(where).at("topic", number, "recipe")
        with place.here():
            _check(topic, place, drawn=path is not None)
        if seen.intersection(topic.recipes()):
            raise place.says("It is that of another topic.")
        seen.update(topic.recipes())
    return course


def _check(topic: Topic, place: Place, drawn: bool) -> None:
    """A recipe on every level; somebody's own is `drawn`, so that no student meets one of which there is no sheet."""
    if topic.levels and re.search(r"(?<!\S)--level\b", topic.recipe):
        raise place.says('leave out --level: levels = ["starter", …] says it.')
    firsts: dict[str, str] = {}
    for recipe in topic.recipes():
        read = recipe_of(recipe, 1)
        if not drawn:
            continue
        content = repr(next(sheets(read, 1)).question.content)
        if (other := firsts.setdefault(content, recipe)) != recipe:
            levels = " and ".join(one.rpartition(" ")[2] for one in (other, recipe))
            raise place.says(f"The levels {levels} give the same sheets; leave out one of them.")
