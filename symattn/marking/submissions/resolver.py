"""What the words before an answer mean: a part or a step, by its sign, its number, words for it, or its formula."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from operator import itemgetter
from typing import Literal

from symattn.marking.submissions import stated
from symattn.marking.submissions.entries import undecorated
from symattn.marking.submissions.names import LONGEST_SIGN, Names
from symattn.marking.submissions.places import MARKED, MOST_WORDS
from symattn.marking.submissions.tables import LONGEST_LINE, ONE_ROW


@dataclass
class Resolver:
    """The names of one question as they are said in a text.

    `lettered`: parts stand behind their letters, so that a small letter alone is no sign.  `section` is the head or the
    token that is spoken of, `last` the part that was answered last.
    """

    names: Names
    lettered: bool = False
    section: tuple[Literal["head", "token"], int] | None = None
    last: str = ""

    def called(self, text: str) -> str:
        """The part or the step that words mean; "" if they mean none or more than one."""
        if ONE_ROW.fullmatch(f"{text}:"):
            return ""
        if FUNCTION.match(text):
            return self.names.rule(text)
        if (applied := self.names.function_of(text.strip(AROUND))) is not None:
            return applied
        marked = MARKED.match(text) if len(words_of(text[:LONGEST_LINE])) <= MOST_WORDS + 1 else None
        if marked and (place := self.names.place(marked[1])) in self.names.twins(marked[2]):
            return place  # (b) mask, where (a) asks for a mask, too
        if marked and LETTERS.search(marked[2]) and (name := self.called(marked[2])):
            return name  # (d) Z_1 is no gradient dZ_1
        if product := _OF_SIGNS.search(text[:LONGEST_LINE]):  # signs in a product are its factors, and name nothing
            beside = f"{text[: product.start()]} {text[product.end() :]}"
            return self.names.rule(product[0]) or (self.called(beside) if any(map(str.isalpha, beside)) else "")
        text = _ASIDE.sub(_unless_words, text)
        text = stated.without(undecorated(text.strip(AROUND)).strip(AROUND))
        words = words_of(text)
        if not 0 < len(words) <= MOST_WORDS:
            return ""
        plain = [word for word in words if word.casefold() not in _FILLERS or word == "A"]
        ways = [*filter(None, (text, " ".join(plain), *plain[-1:]))]
        in_section = self.section if not any(map(self.names.is_sign, (text, *plain[-1:]))) else None
        if in_section and (found := next(filter(None, (self.names.within(way, *in_section) for way in ways)), "")):
            return found
        if _LETTER.fullmatch(text) and not self.lettered and (sign := self.find(text, self.names.sign)):
            return sign
        if found := next(filter(None, map(self.find, ways[:2])), "") or self.names.rule(text):
            return found
        if step := PLACE.fullmatch(text):
            return self.names.place(step[1] if step[1] == text else step[1].lower())  # S, and Part S
        if not any(map(str.isalpha, text)):
            return ""
        if factors := self._side_by_side(words):
            return self.names.rule("".join(factors))
        plain = plain[words[0] == "A" :]  # A matrix is no weight
        every = {self.find(word) for word in plain}
        if len(every) == 1:
            return every.pop()
        short = [word for word in plain if len(word) <= LONGEST_SIGN or self.names.is_sign(word)]
        signs = {self.find(word, self.names.sign) for word in short} - {""}
        return signs.pop() if len(signs) == 1 else ""

    def _side_by_side(self, words: Sequence[str]) -> list[str]:
        """The signs of matrices that stand one beside the other: A V, a product; none of "the weights A"."""
        is_sign = [self.names.is_sign(word) or word in self.names.given.values() for word in words]
        start = next((k for k in range(len(words) - 1) if is_sign[k] and is_sign[k + 1]), len(words))
        return [word for word, _ in takewhile(itemgetter(1), list(zip(words, is_sign, strict=True))[start:])]

    def find(self, text: str, find: Callable[[str], str] | None = None) -> str:
        """The part or the step that is called so: of parts with one sign, as [v̂₁; v̂₂; v̂₃] for every token, the next."""
        if twins := self.names.twins(text):
            passed = self.names.parts.index(self.last) if self.last in self.names.parts else -1
            return next((name for name in twins if self.names.parts.index(name) > passed), "")
        return (find or self.names.find)(text)


AROUND = ' \t*_`#:=：."“”'

_FILLERS = frozenset(
    re.findall(
        r"\w+",
        "i the a my our matrix matrices vector vectors is are be was were then so hence thus therefore we get have "
        "obtain gives this that these because rows row equals answer of for in as and which now first next finally "
        "compute computing calculate calculating approximately about roughly "
        "also dann damit ungefähr etwa somit ist sind daraus folgt ergibt sich wir haben ich erhalte der die das "
        "donc alors ainsi environ est sont on obtient trouve nous avons pour le la les "
        "entonces luego aproximadamente por tanto es son se obtiene obtengo tenemos para el los las",
    )
)

_LETTER = re.compile(r"[a-z]")

LETTERS = re.compile(r"[^\W\d_]")

PLACE = re.compile(r"(?i)(?:part|step|task|exercise|no\.?)?\s*(\(?(?:[a-z]|\d{1,2})[).]?)")

FUNCTION = re.compile(r"(?:exp|ln|log|sqrt|sum|√|Σ|\\(?:exp|ln|log|sqrt|sum))\s*[({]|\W*e\s*\^")  # exp(S'), e^S'

_ASIDE = re.compile(r"\s\(([^()]{1,80})\)")  # Weights (each row sums to 1)

_SIGNS = r"(?:\((?=\w+'*\)))?[^\W\d_](?:\w|['′’ᵀ⊤^.{}])*\)?"

_OF_SIGNS = re.compile(rf"(?<![\w^\\]){_SIGNS}(?:\s*(?:[·⋅∙×@]|\\cdot\s|\\times\s|(?<=[\w')])\*(?=[\w(]))\s*{_SIGNS})+")


def _unless_words(found: re.Match[str]) -> str:
    """Nothing of an aside in words; a sign in brackets stays."""
    return "" if " " in found[1].strip() and re.search(r"[^\W\d_]{2}", found[1]) else found[0]


def words_of(text: str) -> list[str]:
    """The words of a text; brackets part them, but for those of an index.

    >>> words_of("Scaled scores S′^(1), (in head 1)")
    ['Scaled', 'scores', 'S′^(1)', 'in', 'head', '1']
    """
    return _WORD.findall(text)


_WORD = re.compile(r"(?:[^\s(),;]|(?<=[\^_])\(\w{1,3}\))+")
