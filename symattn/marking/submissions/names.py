"""What students call the things they were asked for: Q, W^Q, S'', Ŝ, "weights", (b), 3."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import chain, permutations, takewhile
from operator import itemgetter
from typing import Literal

from symattn.derivation.derivation import StepName
from symattn.errors import nearest
from symattn.exact import Matrix
from symattn.foundation.identity import Same
from symattn.foundation.languages import message
from symattn.foundation.languages.words import any_of, whole_word, words_for
from symattn.marking.submissions import labels
from symattn.marking.submissions.alphabet import rewriting
from symattn.marking.submissions.entries import undecorated, visible, without_shape
from symattn.page.document import AnswerGrid, all_blocks
from symattn.page.notation import load_notation
from symattn.page.writers.characters import on_one_line
from symattn.teaching.explanation.wording import Wording
from symattn.teaching.question import PropertyAnswer, Question

_SYNONYMS = {
    "Q": "query, queries",
    "K": "Key, keys",  # with a capital: in small letters it is the key of an exam, Lösung
    "V": "value, values",
    "S": "score, scores, raw scores, attention scores, raw attention scores, unscaled scores, dot products, QKT, S_raw",
    "S'": "scaled, scaled scores, scores scaled, S scaled, scaled S, scaled_QK, scaled attention scores, "
    "scaled dot products",
    "M": "masked, masked scores, masked scaled scores, scores masked, S masked, masked S",
    "A": "weight, weights, attention, attention weights, softmax, probabilities, attn, attn weights, alpha, A_weights, "
    "attention probabilities, attention map, softmax weights, softmax scores, softmax_S",
    "A_rounded": "rounded, rounded weights",
    "Z": "output, outputs, result, context, Y, O, attn output, attention output, Z_output, weighted sum, "
    "weighted values",
    "C": "concat, concatenation, concatenated heads, heads, all heads, concat_Z",
    "O": "output, outputs, result, context, final output, final result",
    "R_Q": "rotated Q, rotated queries",
    "R_K": "rotated K, rotated keys",
    "N_hat": "normalised, normalized, standardised, standardized, x\u0302",
    "N": "LayerNorm, layer norm, LN, output of layer norm",
    "N_gamma": "scaled by gamma, scaled, gamma_N_hat",
    "H": "ReLU, hidden, hidden state, activations",
    "F": "FFN",
    "above": "numerator, numerators",
    "below": "denominator, denominators",
}
WORDS = {stem: tuple(names.split(", ")) for stem, names in _SYNONYMS.items()} | {
    f"N{number}_{statistic}": (f"{ordinal}{word}", f"{word}{primes}", f"{word}s{primes}", f"{statistic}{primes}")
    for number, ordinal, primes in (("", "", ""), ("1", "", ""), ("2", "second ", "'"), ("3", "third ", "''"))
    for statistic, word in (("mean", "mean"), ("var", "variance"), ("ms", "mean square"))
}
"""What each step is called in words, by its stem, besides the notation's own word."""

_ACCENTS = {"\u0302": "hat", "\u0303": "tilde", "\u0304": "bar"}
_ACCENT = re.compile(r"\\(?:wide|over)?(hat|tilde|bar|line)\s*\{?\s*([A-Za-z])\s*\}?")
_COMMAND = re.compile(r"\\(?:math|text|operatorname|bold|bm|left|right|quad|qquad)[A-Za-z]*")
_D = r"(?:∂|\\partial(?![a-z])|(?<![A-Za-z])d)\s*"
_GRADIENT = re.compile(
    rf"{_D}L\s*/\s*{_D}|\\d?frac\s*\{{\s*{_D}L\s*\}}\s*\{{\s*{_D}|∂|∇|\\(?:partial|nabla)(?![a-z])\s*"
    r"|(?i:\bgrad(?:ient)?(?:\s+of)?\s+)"
)
"""∂V, dL/dV, ∂L/∂V, ∇V: what is called dV."""
_PRIME_SIGNS = "'′’‘´ʹ"
_PRIMES = re.compile(rf"\\prime|[{_PRIME_SIGNS}]")
_GREEK = re.compile(r"GREEK (SMALL|CAPITAL) LETTER ([A-Z]+)")
_NOT_OF_A_NAME = re.compile(r"[\W_]+")
_TRANSPOSE = re.compile(r"\^\s*\{?\s*(?:T|t|⊤|\\(?:top|intercal|mathsf\s*\{T\}|mathrm\s*\{T\}))\s*\}?|[ᵀ⊤]|\.T\b")
_TRANSPOSED = re.compile(rf"(?i)\(?{whole_word('transpose|transposed')}\)?(?:\s+{whole_word('of')})?")
_NUMBERED_WORDS = re.compile(r"(.*[^\W\d_]{3})[\s_]*(\d)")
_APPLIED = re.compile(r"([A-Za-z]{2,12})\((.*)\)")
_NO_STEPS = frozenset(("exp", "ln", "log", "sqrt", "sum", "softmax", "relu", "tanh", "sigmoid", "transpose", "mean"))
"""Functions that are never the name of a matrix."""
_MOST_WAYS = 8
LONGEST_SIGN = 3
"""Letters of a sign; what is longer is a word."""
_ARTICLE = re.compile(rf"(?i)^{any_of('the')}\s+")
_CAPITAL = re.compile(r"[A-Z]")
_PART = re.compile(rf"(?i)(?:{labels.PART_WORD}\.?\s*)?\(?([a-z]{{1,2}}|\d{{1,3}})[).]?")


def normal(name: str) -> str:
    """A name as its letters and digits, accents in words, primes last: what different ways of writing it share.

    >>> normal("$W^{Q}$"), normal("S''_1"), normal("Ŝ₁"), normal("\\\\hat{S}_1"), normal("∂L/∂V"), normal("σ'²")
    ('WQ', "S1''", 'Shat1', 'Shat1', 'dV', "sigma2'")
    """
    return _known(name) if len(name) <= _LONGEST_KNOWN else _normal(name)


def _normal(name: str) -> str:
    name = _GRADIENT.sub("d", visible(name))
    name = _ACCENT.sub(lambda found: found[2] + found[1], name.replace('"', "''").replace("″", "''"))
    name, primes = _PRIMES.subn("", _COMMAND.sub("", name))
    if not name.isascii():
        name = "".join(_ACCENTS.get(c, c) for c in unicodedata.normalize("NFD", name))
        name = "".join(map(_spelt, unicodedata.normalize("NFKC", name)))
    return _NOT_OF_A_NAME.sub("", name) + primes * "'"


_known = lru_cache(maxsize=2**12)(_normal)
_LONGEST_KNOWN = 60
"""Names of a question are the same for every script and are remembered; long texts of a script are not."""


@lru_cache(maxsize=2**12)
def meaning(name: str) -> str:
    """The roots of the words of a name in any order and language, short or written together; "" of signs, and of what
    is too long for a name.

    >>> meaning("attnWeights"), meaning("pesos de atención"), meaning("Q_mat"), meaning("A matrix")
    ('attention weight', 'attention weight', 'q', '')
    """
    if len(name) > _LONGEST_KNOWN:
        return ""
    name = _BETWEEN_WORDS.sub(" ", name).strip()
    words = _WORD_OF_NAME.findall(name)
    has_signs = _NO_WORDS.search(name) or (" " in name and any(len(word) == 1 and word.isalpha() for word in words))
    return "" if has_signs else " ".join(sorted(filter(None, map(_root, words))))


@lru_cache(maxsize=2**12)
def _root(word: str) -> str:
    """A word as all of its forms have it, in English if it is a word for a step there; "" for one of no meaning."""
    stem = _stem(word)
    return "" if stem in _NO_MEANING else _in_english().get(stem, stem)


def _stem(word: str) -> str:
    """A word without endings, and without accents if it is no sign: queries and query, escalados and escalada."""
    folded = word.casefold()
    word = _IS_MATRIX.sub("", folded) or folded
    if len(word) < SHORTEST_STEM:
        return word
    plain = "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))
    return _ENDING.sub("", plain)


@cache
def _in_english() -> Mapping[str, str]:
    """The stems of short forms and of words of other languages, with what they stand for."""
    known = {word for words in WORDS.values() for word in words if len(word) >= SHORTEST_STEM and " " not in word}
    translated = labels.in_every_language({word: word for word in sorted(known)})
    return {_stem(way): _stem(ALIKE.get(word, word)) for way, word in (*translated.items(), *ALIKE.items())}


SHORTEST_STEM = 4
ALIKE = {
    **dict.fromkeys(("attn", "att"), "attention"),
    **dict.fromkeys(("prob", "probs"), "probability"),
    **dict.fromkeys(("logit", "energy", "similarity"), "score"),
    **dict.fromkeys(("average", "avg"), "mean"),
    **dict.fromkeys(words_for("raw"), "raw"),
    **dict.fromkeys(("concatenation", "concatenated", "cat"), "concat"),
    "out": "output",
    "ctx": "context",
    "var": "variance",
}
"""Short forms and other words in the names of steps, with what they mean."""

_IS_MATRIX = re.compile(any_of("matrix|matrices|vector|vectors") + "$")

_ENDING = re.compile(r"(?:ies|y|e[nrs]?|[ao]s?|s)$")

_NO_MEANING = frozenset(
    map(_stem, (*words_for("matrix|matrices|vector|vectors"), *words_for("mat|vec"), *words_for("row|rows")))
)

_WORD_OF_NAME = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![^\W\d_A-Z])|\d+")

_NO_WORDS = re.compile(r"[^\w\s-]")

_BETWEEN_WORDS = re.compile(rf"(?i){whole_word('of|in|for|the|from')}|\b[dl]['’]")


def transposed(name: str) -> str:
    """A name without the signs of transposes in it.

    >>> transposed("K^T"), transposed("Vᵀ"), transposed("K"), transposed("Scores (transposed)")
    ('K', 'V', 'K', 'Scores ')
    """
    return _TRANSPOSED.sub("", _TRANSPOSE.sub("", name))


def place_in(name: str) -> tuple[str, tuple[int, ...]] | None:
    """A sign with a row behind it, or a row and a column: the sign and their numbers; None for any other name.

    >>> [place_in(name) for name in ("S_{1,2}", "S'[1][2]", "s11", "Score(1→2)", "S_1[1, 2]")]
    [('S', (1, 2)), ("S'", (1, 2)), ('s', (1, 1)), ('Score', (1, 2)), ('S_1', (1, 2))]
    >>> place_in("S_1_{1,2}")
    ('S_1', (1, 2))
    >>> [place_in(name) for name in ("Z row 2", "z_2", "Z[3]", "S_1[3, :]", "weights", "12")]
    [('Z', (2,)), ('z', (2,)), ('Z', (3,)), ('S_1', (3,)), None, None]
    """
    name = _PRIMES_BEHIND_PLACE.sub(r"\1\3\2", name)
    found = next(filter(None, (place.fullmatch(name) for place in _PLACES)), None)
    return (found[1].rstrip(" \t,:("), tuple(map(int, found.groups()[1:]))) if found else None


_PRIMES_BEHIND_PLACE = re.compile(r"([^\W\d_])(_?\{?\d[\d,\s]*\}?)('+)")  # s_1', as s'_1
BETWEEN_PLACES = r"(?:[,;→]|[-=]>|\]\s?\[)"
"""What parts the row from the column."""

_PLACES = tuple(
    map(
        re.compile,
        (
            rf"(.*?[^\s_])\s*_?[\[({{]\s*(\d{{1,2}})\s*{BETWEEN_PLACES}\s*(\d{{1,2}})\s*[\])}}]",
            rf"(.*?[^\d\s_\[({{,])\s*(?:[_\[({{]\s*)+(\d)\s*{BETWEEN_PLACES}?\s*(\d)\s*[\])}}]*",
            r"([^\W\d_]{1,6}'*)(\d)(\d)",
            rf"(.*?(?:[^\d\s,][\s,:(]*|\d[\s,:(]+))(?i:{labels.ROW})\s*(\d)\)?",
            r"([^\W\d_]{1,6}'*)[_\[({]{0,2}(\d{1,2})[\])}]{0,2}",
            r"(.*?\S)\s*(?:\[(?=[^,]*\])|[\[(](?=[^,]*,))\s*(\d{1,2})\s*(?:,[\s:]*)?[\])]",
        ),
    )
)


def _as_rule(formula: str) -> str:
    """A formula by its signs: no transposes, no signs of products, and of a fraction only what is divided.

    >>> [_as_rule(one) for one in ("Q K^T", r"\\frac{QK^\\top}{\\sqrt{d_k}}", "softmax(S' / 2)", "(A) · V", "X + O")]
    ['QK', 'QK/', "softmax(S'/)", 'AV', 'X+O']
    """
    if len(formula) > _LONGEST_RULE:
        return ""
    return _its_signs(unicodedata.normalize("NFKC", _without_tex(visible(formula))))


_LONGEST_RULE = 120
_without_tex = rewriting(
    (r"(?<![\w}])\(([^\W\d_]\w*['′’]*)\)", r"\1"),
    (r"\\[dt]?frac\s*\{((?:[^{}]|\{[^{}]*\})*)\}\s*\{((?:[^{}]|\{[^{}]*\})*)\}", r"\1/\2"),
    (_TRANSPOSE.pattern, ""),
    (r"\\(?:cdot|times|q?quad|left|right|mathrm|mathsf|mathbf|text|operatorname|bm|[,;:! ])", ""),
    (r"/(?:[^()/]|\([^()]*\))*", "/"),
)
_its_signs = rewriting((_PRIMES.pattern, "'"), (r"[^\w/()'+]|_", ""))


def _spelt(character: str) -> str:
    """A Greek letter by its name, as it is typed: mu, Sigma."""
    called = "" if character.isascii() else unicodedata.name(character, "")
    if found := _GREEK.fullmatch(called):
        return found[2].lower() if found[1] == "SMALL" else found[2].title()
    return character


class Names:
    """The names by which the parts of one question, and the steps behind it, are found."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.parts = [part.name for part in question.parts]
        problem = question.problem
        self.steps = problem.derivation.steps if problem else ()
        self.wording = Wording(problem.derivation, problem.notation) if problem else None
        stems = Counter(StepName.of(role).stem for role in dict.fromkeys(step.role for step in self.steps))
        self._several = frozenset(normal(stem) for stem, count in stems.items() if count > 1)
        self._words = [(normal(word), target) for word, target in self._in_words()]
        self._own = [(normal(sign), target) for sign, target in self._signs()]
        self._known = _first_of((*self._own, *self._words))
        self._folded = _first_of((name.casefold(), target) for name, target in self._known.items())

    def find(self, name: str) -> str:
        """The part, the step or the given matrix that is meant: its own name; "" if nothing is called so here.

        Signs in their own case come first, then letters and numbers of parts, then words and signs in any case.
        """
        if name in self.parts:
            return name
        if (applied := self.function_of(name)) is not None:
            return applied
        sign = normal(name)
        if sign in self._known or sign in self._several:
            return self._known.get(sign, "")
        ways = [*dict.fromkeys((name, _BETWEEN_WORDS.sub(" ", name)))]
        if self._several and (of_head := _NUMBERED_WORDS.fullmatch(name.strip())):  # attention_weights_1
            ways.append(f"{of_head[1]} head {of_head[2]}")
        if self._several and (of_head := _of_head().fullmatch(name.strip())):  # S_head1
            ways.append(self.within(of_head[1], "head", int(of_head[2])))
        found = (self._folded.get(normal(way).casefold(), "") for way in ways)
        known = (self.place(name), *found, self.given.get(sign.casefold()))
        return next(filter(None, known), "") or next(filter(None, map(self._by_meaning.get, map(meaning, ways))), "")

    @cached_property
    def _by_meaning(self) -> Mapping[str, str]:
        """The parts and steps by the meaning of their names, where it is that of one alone."""
        meant: dict[str, set[str]] = {}
        for name, target in (*self._signs(), *self._in_words(languages=())):
            meant.setdefault(meaning(name), set()).add(target)
        meant.pop(meaning("heads"), None)  # one of them is not all of them
        last = [step.name for step in self.steps[-1:] if step.name in ("Z", "N", "F")]  # of a layer alone
        outputs = {meaning(word): name for name in last for word in ("output", "final output")}
        return outputs | {words: target for words, targets in meant.items() if words and (target := _only(targets))}

    @cached_property
    def given(self) -> Mapping[str, str]:
        """The names of the given matrices by their signs, in small letters."""
        if self.wording is None:
            return {}
        givens = [name for name, value in self.wording.derivation.givens.items() if isinstance(value, Matrix)]
        signs = ((sign, name) for name in givens for sign in (name, self._sign_of(name)))
        return {normal(sign).casefold(): name for sign, name in signs}

    def sign(self, name: str) -> str:
        """The part or the step that has this sign or word in any case, and never a letter's or a number's part."""
        plain = normal(name)
        if plain in self._several - self._own_signs:  # Q is no head's queries, but may be those of all heads
            return name if name in self.parts else ""
        return self._known.get(plain) or self._folded.get(plain.casefold(), "")

    def variable(self, name: str) -> str:
        """The part or the step that a program calls so, which never is a letter's or a number's."""
        return self.sign(name) or self._by_meaning.get(meaning(name), "") or self.whole(name)

    def step_in_words(self, name: str) -> str:
        """The step that is called so in words: A for "the softmax"; "" for signs, and for words that name none."""
        word = normal(_ARTICLE.sub("", name.strip(" .")))
        found = self._folded.get(word.casefold(), "") if len(word) > LONGEST_SIGN else ""
        return found if found in {step.name for step in self.steps} and normal(found) != word else ""

    def twins(self, name: str) -> tuple[str, ...]:
        """The parts, in their order, that are called so, all of them by their sign or in words; none if only one is."""
        sign = normal(name)
        return self._twins.get(sign) or self._twins.get(sign.casefold(), ())

    @cached_property
    def _twins(self) -> dict[str, tuple[str, ...]]:
        signs = {sign.casefold() for sign, _ in self._own}
        words = [(word.casefold(), target) for word, target in self._words]
        meant: dict[str, set[str]] = {}
        for name, target in (*self._own, *(one for one in words if one[0] not in signs)):
            meant.setdefault(name, set()).add(target)
        asked = {name: tuple(part for part in self.parts if part in them) for name, them in meant.items()}
        return {name: them for name, them in asked.items() if len(them) > 1}

    def is_sign(self, name: str) -> bool:
        """Whether it is the sign of a part or a step, and no word for one."""
        return normal(name) in self._own_signs

    @cached_property
    def _own_signs(self) -> frozenset[str]:
        return frozenset(sign for sign, _ in self._own)

    def within(self, name: str, kind: Literal["head", "token"], number: int) -> str:
        """The part or the step that a name means in what is said of one head or of one token alone; "" if none."""
        for way in (f"{name} head {number}", f"{name}{number}", f"{name} {number}"):
            found = self.sign(way)
            if found and getattr(StepName.of(found), kind) == number:
                return found
        return ""

    def is_of_each(self, name: str) -> bool:
        """Whether only steps of one head or of one token are called so."""
        return not self.find(name) and bool(self.within(name, "head", 1) or self.within(name, "token", 1))

    def rule(self, formula: str) -> str:
        """The step that a formula works out, QK^T, S/√d_k or softmax(S/2); "" if none does, or more than one.

        What something is divided by is not looked at.
        """
        return self._rules.get(_as_rule(formula).casefold(), "")

    def function_of(self, formula: str) -> str | None:
        """The step that is a function of another: A for softmax(S), even where S is scaled first; "" if none is it.

        None for what is no function of a step: a name, Scores (S), a formula of another kind.
        """
        found = _APPLIED.fullmatch(_as_rule(formula)) if "(" in formula else None
        argument = (self.sign(found[2]) or self._rules.get(found[2].casefold(), "")) if found else ""
        if found is None or not argument or self.sign(found[1]) == argument:
            return None
        if step := self.rule(formula):
            return step
        named = found[1].casefold()
        steps = [name for name, functions in self._functions.items() if named in functions]
        meant = [name for name in steps if argument in self._led_to_by(name)]
        return meant[0] if len(meant) == 1 else "" if steps or named in _NO_STEPS else None

    def of_numbers(self, formula: str, section: tuple[Literal["head", "token"], int] | None) -> str | None:
        """The one step that is this function of numbers, of the head or the token that is spoken of: A for
        softmax([0, 1]); None for any other text.
        """
        found = _OF_NUMBERS.match(formula)
        if found is None:
            return None
        steps = (name for name, functions in self._functions.items() if found[1].casefold() in functions)
        kind, number = section or ("token", None)
        return _only({name for name in steps if not section or getattr(StepName.of(name), kind) == number})

    @cached_property
    def _functions(self) -> dict[str, set[str]]:
        """By step, the functions that its rule begins with, in the sheet's notation and the standard one."""
        found: dict[str, set[str]] = {}
        for ways in self._ways:
            for name, formulas in ways.items():
                functions = (_APPLIED.fullmatch(formula) for formula in formulas)
                found.setdefault(name, set()).update(one[1].casefold() for one in functions if one)
        return found

    def _led_to_by(self, name: str) -> set[str]:
        """The operands of a step, theirs, and those of these: scores are scaled and masked before their softmax."""
        found = {name}
        for _ in range(3):
            found |= {operand.name for step in self.steps if step.name in found for operand in step.operands}
        return found - {name}

    @cached_property
    def _rules(self) -> dict[str, str]:
        """Every step by its rule, where one alone has it."""
        found: dict[str, str] = {}
        for ways in self._ways:
            called = [(way.casefold(), name) for name, formulas in ways.items() for way in dict.fromkeys(formulas)]
            times = Counter(way for way, _ in called)
            for way, name in called:
                if times[way] == 1:
                    found.setdefault(way, name)
        return found

    @cached_property
    def _ways(self) -> list[dict[str, list[str]]]:
        """In each notation, the rules of every step, also with that of one operand in the place of its sign:
        softmax(QKᵀ/√d_k).
        """
        if self.wording is None:
            return []
        notations = dict.fromkeys((self.wording.notation, load_notation("standard")))
        return [self._ways_in(Wording(self.wording.derivation, notation)) for notation in notations]

    def _ways_in(self, wording: Wording) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for step in wording.derivation:
            ways = [_as_rule(on_one_line(wording.rule(step)))]
            if StepName.of(step.name).stem == "Z":
                ways.append("Attention(QKV)")
            for operand in step.operands:
                sign = _as_rule(on_one_line(wording.name(operand.name)))
                ways += [ways[0].replace(sign, way, 1) for way in found.get(operand.name, ()) if sign in ways[0]]
            found[step.name] = [way for way in ways if way not in self._known][:_MOST_WAYS]
        return found

    def scores(self, query: str, key: str) -> str:
        """The step whose entries are products of tokens of two others: S for q₁·k₂; "" if there is none."""
        name = self.rule(query.upper() + key.upper())
        if not name or self.wording is None:
            return ""
        derivation = self.wording.derivation
        of_tokens = [False, True] if derivation.orientation == "rows" else [True, False]
        return name if [operand.transposed for operand in derivation[name].operands] == of_tokens else ""

    def shown(self, name: str) -> str:
        """A part or a step by the sign that stands for it on the sheet: N̂ for N_hat."""
        return self._shown.get(name, name)

    @cached_property
    def _shown(self) -> dict[str, str]:
        return _first_of((target, sign) for sign, target in self._signs() if sign != target)

    def nearest(self, name: str) -> str:
        """The part or the step that somebody may have meant; "" if none is near, or several are."""
        near = {self._folded[one] for one in nearest(name, self._folded)}
        return near.pop() if len(near) == 1 else ""

    def whole(self, name: str) -> str:
        """The step that is asked token by token or head by head, and called so where all of it is written: A; "" if
        none is.
        """
        sign, words = normal(name), meaning(name)
        known = sign in self._known or words in self._by_meaning or sign.casefold() in self.given
        return "" if known else self._whole_called(name)

    def _whole_called(self, name: str) -> str:
        return self._wholes.get(normal(name).casefold()) or self._wholes.get(meaning(name), "")

    def pieces(self, name: str) -> tuple[str, ...]:
        """Such a step in its pieces: the lines of all tokens, or the matrices of all heads."""
        return self.all_pieces.get(self.whole(name), ())

    def heads_called(self, name: str) -> tuple[str, ...]:
        """The steps of all heads that a name may mean, though another one is called so first: output, as O is."""
        pieces = self.all_pieces.get(self._whole_called(name), ())
        return tuple(piece for piece in pieces if StepName.of(piece).head is not None)

    @cached_property
    def all_pieces(self) -> Mapping[str, tuple[str, ...]]:
        pieces: dict[str, tuple[str, ...]] = {}
        for step in self.steps:
            called, whole = StepName.of(step.name), ""
            if step.token is not None and 1 in step.result.shape:
                whole = step.role
            elif step.token is None and called.head is not None:
                whole = f"{called.stem}^{called.place}" if called.place else called.stem
            if whole:
                pieces[whole] = (*pieces.get(whole, ()), step.name)
        return pieces

    @cached_property
    def _wholes(self) -> Mapping[str, str]:
        """The steps that are asked in pieces, by their names and the meaning of these."""
        words = ((role, self._usual_words(StepName.of(role).stem)) for role in self.all_pieces)
        names = ((role, [role, self._sign_of(role), *own, *labels.in_others(own)]) for role, own in words)
        known = ((key, role) for role, own in names for name in own for key in (normal(name), meaning(name)) if key)
        return {key.casefold(): role for key, role in known}

    def place(self, name: str) -> str:
        """The part of a letter or a number as it stands before the heading, (b) or 2; "" if there is none.

        A capital letter alone is a matrix where there are any, whether or not it has this sign here.
        """
        found = _PART.fullmatch(name.strip())
        letter = found[1] if found else ""
        if not letter or (self.question.problem is not None and _CAPITAL.fullmatch(name.strip())):
            return ""
        position = int(letter) - 1 if letter.isdecimal() else _position(letter)
        return self.parts[position] if 0 <= position < len(self.parts) else ""

    def _signs(self) -> Iterator[tuple[str, str]]:
        """Names in signs with what they belong to; the first of equal ones counts."""
        yield from ((name, name) for name in self.parts)
        for part in self.question.parts:
            for grid in all_blocks(part.ask):
                if isinstance(grid, AnswerGrid):
                    yield on_one_line(grid.name), part.name
            if isinstance(part.answer, PropertyAnswer):
                yield from ((name, part.name) for name in part.answer.model)
        for step in self.steps:
            yield self._sign_of(step.name), step.name
            yield step.name, step.name

    def _sign_of(self, name: str) -> str:
        assert self.wording is not None
        return on_one_line(self.wording.name(name))

    def _usual_words(self, stem: str) -> list[str]:
        """The words for a step that are not the title of another one here, as weighted values are in note 002."""
        return [word for word in WORDS.get(stem, ()) if self._titles.get(normal(word).casefold(), stem) == stem]

    @cached_property
    def _titles(self) -> dict[str, str]:
        assert self.wording is not None
        words = ((self.wording.word(step), StepName.of(step.name).stem) for step in self.steps)
        return {normal(word).casefold(): stem for word, stem in words if word}

    def _in_words(self, languages: Sequence[str] = labels.OTHERS) -> Iterator[tuple[str, str]]:
        """Names in words with what they belong to, in English and these languages."""
        if self.wording is None:
            return
        for step in self.steps:
            called = StepName.of(step.name)
            token = f" {step.token}" if step.token is not None else ""
            own = [*filter(None, (self.wording.word(step), *self._usual_words(called.stem)))]
            if number := _NUMBERED_STEP.match(called.stem):  # mu2, the second norm's mean
                own += [f"{word.rstrip(_PRIME_SIGNS)} {number[1]}" for word in (*own, self._sign_of(step.name))]
            others = labels.in_others(own, languages)
            for word in (*own, *others):
                yield from ((said, step.name) for said in _in_any_order(word + token, called))
                if normal(called.stem) not in self._several:
                    yield word + token, step.name
            if called.stem == "Z" and called.head is not None and not called.place:
                yield f"head {called.head}", step.name  # as Vaswani et al. (2017) call it
            for sign in (self._sign_of(step.name), step.name):
                yield from ((way, step.name) for way in _in_programs(normal(sign)))


_NUMBERED_STEP = re.compile(r"[A-Z](\d)")


@cache
def _of_head() -> re.Pattern[str]:
    """S_head1, S (Kopf 1)."""
    heads = (re.escape(way.replace("7", "").strip()) for way in labels.said(message("Head {head}", head=7)))
    return re.compile(rf"(?i)(\S{{1,20}}?)[\s_(]*(?:{'|'.join(heads)}|_h)[\s_]*(\d)\)?")


def names_of(question: Question) -> Names:
    """The names of a question, which are the same for all scripts."""
    return _known_names(Same(question))


@lru_cache(32)
def _known_names(same: Same[Question]) -> Names:
    return Names(same.thing)


def _first_of(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """What each name stands for: the first of equal ones counts."""
    found: dict[str, str] = {}
    for name, target in pairs:
        found.setdefault(name, target)
    return found


def _only(names: Collection[str]) -> str:
    return next(iter(names)) if len(names) == 1 else ""


def _in_programs(sign: str) -> Iterator[str]:
    """A sign with primes as programs have it, where a prime is no letter.

    >>> list(_in_programs("S'")), list(_in_programs("s1''"))
    (['Sprime', 'Sp'], ['s1primeprime', 'sprimeprime1', 's1pp', 'spp1'])
    """
    name = sign.rstrip("'")
    letters, primes = name.rstrip("0123456789"), len(sign) - len(name)
    for prime in ("prime", "p") if primes else ():
        yield from dict.fromkeys((name + primes * prime, letters + primes * prime + name[len(letters) :]))


def _in_any_order(word: str, called: StepName) -> Iterator[str]:
    """Scores head 1, head 1 scores, Scores Kopf 1; with a layer or a block besides, that in every place as well."""
    if called.head is None:
        yield from _with_place(word, called)
    for head in labels.said(message("Head {head}", head=called.head)) if called.head is not None else ():
        yield from _with_place(word, called, head)


def _with_place(word: str, called: StepName, *head: str) -> Iterator[str]:
    kinds = ("block {}", "layer {}") if called.place.isdigit() else ("{}", "{} attention")
    for kind in kinds if called.place else ("",):
        place = filter(None, (kind.format(called.place),))
        yield from map(" ".join, permutations((word, *head, *place)))


def _position(letter: str) -> int:
    """(a) is 0, (z) 25, (aa) 26."""
    position = 0
    for character in letter.lower():
        position = 26 * position + ord(character) - ord("a") + 1
    return position - 1


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
        if (step := self.names.of_numbers(text, self.section)) is not None:
            return step
        if (applied := self.names.function_of(_without_fillers(text.strip(AROUND)))) is not None:
            return applied
        marked = MARKED.match(text.lstrip("#* ")) if len(words_of(text[:LONGEST_LINE])) <= MOST_WORDS + 1 else None
        if marked and (place := self.names.place(marked[1])) in self.names.twins(marked[2]):
            return place  # (b) mask, where (a) asks for a mask, too
        if marked and (name := self.called(marked[2])):
            return name  # (d) Z_1 is no gradient dZ_1
        if product := _OF_SIGNS.search(text[:LONGEST_LINE]):  # signs in a product are its factors, and name nothing
            beside = f"{text[: product.start()]} {text[product.end() :]}"
            return self.names.rule(product[0]) or (self.called(beside) if any(map(str.isalpha, beside)) else "")
        text = _ASIDE.sub(_unless_words, text)
        text = without_shape(undecorated(text.strip(AROUND)).strip(AROUND))
        words = words_of(text) if len(text) <= LONGEST_NAME else []
        if not 0 < len(words) <= MOST_WORDS:
            return ""
        wholes = (_only({*map(self.names.whole, some)} - {""}) for some in ([_FILLERS_ROUND.sub("", text)], words))
        twice = self._meant_by_parts(text)
        ways = chain([_only(twice)], self._meanings(text, words), wholes, [_only(twice - {""})])
        return next(filter(None, ways), "")

    def _meant_by_parts(self, text: str) -> set[str]:
        """What a title and the sign behind it mean, "" for nothing: Scores (head 1). S_1, or Scaled scores is S'."""
        parts = [part for part in _BETWEEN_NAMES.split(text) if any(map(str.isalpha, part))]
        return {*map(self.called, parts)} if len(parts) > 1 else set()

    def _meanings(self, text: str, words: Sequence[str]) -> Iterator[str]:
        """What a name may mean, "" for nothing: the first that it means counts."""
        plain = [word for word in words if word.casefold() not in _FILLING or word == "A"]
        ways = [*filter(None, (text, _FILLERS_ROUND.sub("", text), " ".join(plain), *plain[-1:]))]
        if self.section and not any(map(self.names.is_sign, (text, *plain[-1:]))):
            yield self.names.within(text, *self.section)
            yield self.names.sign(text)  # the final output, below Head 2
            yield from (self.names.within(way, *self.section) for way in ways[1:])
        if _LETTER.fullmatch(text) and not self.lettered:
            yield self.find(text, self.names.sign)
        yield from map(self.find, ways[:3])
        yield self.names.rule(text)
        if factors := self._side_by_side(words):
            yield self.names.rule("".join(factors))
        elif any(map(str.isalpha, "".join(plain))):  # (2, 2) is not part 2
            plain = plain[words[0] == "A" :]  # A matrix is no weight
            yield from (self.find(word, self.names.sign) for word in words[-1:] if set("^_") & set(word))
            yield _only({self.find(word) for word in plain})
            short = [word for word in plain if len(word) <= LONGEST_SIGN or self.names.is_sign(word)]
            yield from (self.find(word, self.names.sign) for word in text.split()[-1:] if word not in words)  # (σ)²
            yield _only({self.find(word, self.names.sign) for word in short} - {""})

    def _side_by_side(self, words: Sequence[str]) -> list[str]:
        """The signs of matrices that stand one beside the other: A V, a product; none of "the weights A"."""
        short = [len(word) <= LONGEST_SIGN or not word.strip(AROUND).isalpha() for word in words]  # loss is a word
        known = [self.names.is_sign(word) or word in self.names.given.values() for word in words]
        is_sign = [sign and is_short for sign, is_short in zip(known, short, strict=True)]
        start = next((k for k in range(len(words) - 1) if is_sign[k] and is_sign[k + 1]), len(words))
        return [word for word, _ in takewhile(itemgetter(1), list(zip(words, is_sign, strict=True))[start:])]

    def find(self, text: str, find: Callable[[str], str] | None = None) -> str:
        """The part or the step that is called so: of parts with one sign, as [v̂₁; v̂₂; v̂₃] for every token, the next."""
        if twins := self.names.twins(text):
            passed = self.names.parts.index(self.last) if self.last in self.names.parts else -1
            return next((name for name in twins if self.names.parts.index(name) > passed), "")
        return (find or self.names.find)(text)


_BETWEEN_NAMES = re.compile(rf"[.:]\S{{0,2}}\s+|\s{labels.IS}\s|\s(?=\S*[\^_'′]\S*\W*$)")

MOST_WORDS = 8
"""Of a name, or of a title."""

LONGEST_NAME, LONGEST_LINE = 200, 2000

MARKED = re.compile(
    rf"(?i)^\s*((?:{labels.PART_WORD}\s+|q(?=\d{{1,2}}[.)]\s+[*_]*[^\W\d_]{{3}}))?\(?(?:[a-z]|\d{{1,2}})[).](?=\s|$))\s*(.*)$"
)

ROW_NUMBER = rf"\s*{labels.ROW}\s*(\d{{1,2}})(?:\s*[:=.)]|\s{labels.IS}\b)\s*"

ONE_ROW = re.compile(f"(?i)^{ROW_NUMBER}")

AROUND = ' \t*_`#:=：."“”'

_FILLING = frozenset(
    words_for(
        "i|the|a|my|our|matrix|matrices|vector|vectors|is|are|be|was|were|then|so|hence|thus|therefore|we|get|has|have"
        "|obtain|gives|this|that|these|because|rows|row|equals|answer|of|for|in|as|and|which|now|first|next|finally"
        "|compute|computing|calculate|calculating|approximately|about|roughly"
    )
)

_ANY_FILLER = "|".join(sorted(_FILLING - {"a"}, key=len, reverse=True))
_FILLERS_ROUND = re.compile(rf"(?i)^(?:(?:{_ANY_FILLER})\s+)+|(?:\s+(?:{_ANY_FILLER}))+$")

_LETTER = re.compile(r"[a-z]")

LETTERS = re.compile(r"[^\W\d_]")

PLACE = re.compile(rf"(?i)(?:{labels.PART_WORD}\.?)?\s*(\(?(?:[a-z]|\d{{1,2}})[).]?)")

FUNCTION = re.compile(r"(?:exp|ln|log|sqrt|sum|√|Σ|\\(?:exp|ln|log|sqrt|sum))\s*[({]|\W*e\s*\^")  # exp(S'), e^S'

_OF_NUMBERS = re.compile(r"([^\W\d_]{3,})\s?\(\s*\[?\s*[-+−]?\d[^)=]*\)$")
_ASIDE = re.compile(r"\s\(([^()]{1,80})\)")  # Weights (each row sums to 1)

_SIGNS = r"(?:\((?=\w+'*\)))?[^\W\d_](?:\w|['′’ᵀ⊤^.{}])*\)?"

_OF_SIGNS = re.compile(rf"(?<![\w^\\]){_SIGNS}(?:\s*(?:[·⋅∙×@]|\\cdot\s|\\times\s|(?<=[\w')])\*(?=[\w(]))\s*{_SIGNS})+")


def _without_fillers(text: str) -> str:
    """A function of a step without words before and behind it: so softmax(S) is, the softmax(S)."""
    return _FILLERS_ROUND.sub("", text) if "(" in text else text


def _unless_words(found: re.Match[str]) -> str:
    """Nothing of an aside in words; a sign in brackets stays, and so does the head or the token that is meant."""
    in_words = " " in found[1].strip() and re.search(r"[^\W\d_]{2}", found[1])
    return "" if in_words and not labels.of_one().fullmatch(found[1].strip()) else found[0]


def words_of(text: str) -> list[str]:
    """The words of a text; brackets part them, but for those of an index.

    >>> words_of("Scaled scores S′^(1), (in head 1)")
    ['Scaled', 'scores', 'S′^(1)', 'in', 'head', '1']
    """
    return _WORD.findall(text)


_WORD = re.compile(r"(?:[^\s(),;]|(?<=[\^_])\(\w{1,3}\))+")
