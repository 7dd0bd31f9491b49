"""Reading a number that a person typed: generous in notation, strict in everything else.

A tokenizer and a precedence parser build a tree; nothing is evaluated, executed or looked up on the way, and
every size is bounded before anything is computed.  What can be read in two ways is refused with both readings
(1/2e), and whatever is accepted can be echoed in unambiguous form before it is marked.

1.2e-3, 2E3 and 1e-5 are powers of ten.  So is 2e-3, unless e stands elsewhere in the text as a number of its own;
2e+1 is 2·e + 1, for nobody needs that sign in a power of ten.  Where the other reading is one that somebody may have
meant, it is kept among the `alternatives`.

    sum      = [sign] product { sign product }
    product  = signed { ("·" | "/") signed | power }        a product without a sign may not follow a "/"
    signed   = sign signed | power
    power    = atom { superscript } [ "^" exponent ]        right-associative; -e^2 is -(e^2)
    atom     = number [ number "/" number ] ["%"] | number "e" integer | e | name bracket | "√" atom | bracket
             | \\frac{}{} | \\sqrt{}
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Literal, NamedTuple, NoReturn

from symattn.errors import InputError, ReadError, UndecidedError, UndefinedError
from symattn.exact.decide import Decision, decide, decide_tree
from symattn.exact.intervals import is_defined
from symattn.exact.tree import (
    Apply,
    Budget,
    EvaluationError,
    ExactRing,
    MinusInfinity,
    Node,
    Number,
    Opposite,
    OutsideTheClass,
    Over,
    OverBudget,
    Power,
    Product,
    Symbol,
    Total,
    tree_of,
)
from symattn.exact.upward import upward
from symattn.exact.values import Rational, Value, has_symbols, is_symbolic, tidy
from symattn.foundation.languages import message

LONGEST_TEXT, MOST_TOKENS, MOST_DIGITS, DEEPEST, LARGEST_EXPONENT = 4000, 1500, 200, 60, 200
LARGEST_POWER_OF_TEN = 400  # any that a float can have
BUDGET = 15_000

Kind = Literal["exact", "decimal", "percent"]
TokenKind = Literal["number", "scientific", "name", "superscript", "vulgar", "sign", "end"]


@dataclass(frozen=True)
class Reading:
    """A text, and how it was read: as one number, or honestly as another one of the `alternatives`."""

    text: str
    tree: Node
    kind: Kind
    places: int | None  # of a decimal: the digits after the mark; of a percentage: those of the number it means
    alternatives: tuple[Reading, ...] = ()

    @cached_property
    def value(self) -> Value:
        """The exact value; a ReadError if it has none, or if it is too large to be multiplied out."""
        try:
            return self.evaluate()
        except OverBudget as error:
            raise ReadError(
                message("This number is too large to evaluate: it would have to be multiplied out."), self.text, 0
            ) from error

    def evaluate(self) -> Value:
        """As `value`, but a number that is too large raises `OverBudget`."""
        if isinstance(self._evaluated, Exception):
            raise self._evaluated
        return self._evaluated

    @cached_property
    def _evaluated(self) -> Value | ReadError | OverBudget:
        """The value, or why there is none: marking asks again and again."""
        try:
            value = ExactRing(Budget(BUDGET))(self.tree)
            if is_symbolic(value) and not has_symbols(value) and not is_defined(value):
                return OverBudget()  # a number or none: that would take too many digits to see
        except OverBudget as error:
            return self._undefined() or error
        except EvaluationError as error:
            return ReadError(error.said, self.text, error.at)
        except (InputError, UndecidedError) as error:
            return ReadError(error.said, self.text, 0)
        return value

    def _undefined(self) -> ReadError | None:
        """Why a number that is too large to be multiplied out is none at all, as far as intervals can tell."""
        try:
            is_defined(self.tree)
        except EvaluationError as error:
            return ReadError(error.said, self.text, error.at)
        except OutsideTheClass:  # a letter
            pass
        return None

    def echo(self) -> str:
        """The reading in plain text that can be read in one way only.

        >>> read("2e^2 - 1 1/2").echo()
        '2·e^2 - (1 + 1/2)'
        """
        return _echo(self.tree, 0)


def read(text: str, decimal_mark: str = ".", *, symbols: bool = False) -> Reading:
    """Read one number: 1/2, 0.5, 50 %, 1 1/2, 2√3, e^2/(1+2e^2), \\frac{1}{2}, −∞ …

    With `symbols`, single letters other than e stand for symbols: 2a + x_1.

    >>> read("1 1/2").value, read("-.50").places, read(r"\\frac{1}{\\sqrt{2}}").value
    (Fraction(3, 2), 2, 1/2·√2)
    >>> read("1.2e-3").echo(), read("2e-3").echo(), [other.echo() for other in read("2e-3").alternatives]
    ('1.2·10^(-3)', '2·10^(-3)', ['2·e - 3'])
    """
    if not isinstance(text, str):
        raise InputError(f"Only text can be read; this is of type {type(text).__name__}.")
    if decimal_mark not in (".", ","):
        raise InputError(f"The decimal mark {decimal_mark!r} is not known; expected '.' or ','.")
    if len(text) > LONGEST_TEXT:
        raise ReadError(
            message(
                "The text has {length} characters; at most {most} can be read as one number.",
                length=len(text),
                most=LONGEST_TEXT,
            ),
            text,
            LONGEST_TEXT,
        )
    with_powers = _Parser(text, decimal_mark, symbols, powers=True)
    if not with_powers.doubtful:
        return with_powers.reading()
    return _of_two(with_powers, _Parser(text, decimal_mark, symbols, powers=False))


upward.read = read


def _of_two(with_powers: _Parser, with_products: _Parser) -> Reading:
    """The reading of a text with 2e-3 in it: with powers of ten, or with products with e; the other as an alternative.

    The power of ten comes first, unless e is in the text beside it, or only forms such as 2e+1 are.
    """
    forms, beside_e = with_powers.doubtful, any(token.text in ("e", "exp") for token in with_powers.tokens)
    only_sums = all(form.sum_with_e for form in forms)
    parsers = (with_products, with_powers) if beside_e or only_sums else (with_powers, with_products)
    first, second = (_attempted(parser) for parser in parsers)
    if isinstance(first, ReadError):
        if isinstance(second, ReadError):
            raise first
        return second
    if isinstance(second, ReadError):
        return first
    doubted = not only_sums if beside_e else any(form.product_with_e for form in forms)
    return replace(first, alternatives=(second,)) if doubted else first


def _attempted(parser: _Parser) -> Reading | ReadError:
    try:
        return parser.reading()
    except ReadError as error:
        return error


def decide_reading(reading: Reading, truth: Value) -> Decision:
    """Whether what was typed equals the truth in any of its readings, even if it is too large to be multiplied out.

    Such a number may turn out not to be defined, and then it equals nothing.
    """
    first = _decided(reading, truth)
    for other in () if first.equal else reading.alternatives:
        with suppress(ReadError):  # which has no value, and equals nothing
            second = _decided(other, truth)
            if second.equal:
                return second
    return first


def _decided(reading: Reading, truth: Value) -> Decision:
    try:
        try:
            return decide(reading.evaluate(), truth)
        except OverBudget:
            return decide_tree(reading.tree, truth)
    except UndefinedError:  # as is seen with more digits only: √(sin(10^199))
        return Decision(False, "exact")


def typed(value: Value) -> str:
    """A value as it may be typed; `read(typed(value))` gives it back.

    >>> typed(Fraction(-1, 2)), read(typed(read("√2·e^2/3").value)).value == read("√2·e^2/3").value
    ('-1/2', True)
    """
    if is_symbolic(value):
        return _echo(tree_of(value), 0)
    return str(value)


# ------------------------------------------------------------------------------------ tokens


class _Token(NamedTuple):
    kind: TokenKind
    text: str
    at: int
    spaced: bool  # whether white space comes before it

    @property
    def whole(self) -> bool:
        return self.kind == "number" and self.text.isdigit()


class _Scientific(NamedTuple):
    """2e-3: a number, the letter, a sign and digits, without spaces."""

    mantissa: str
    letter: str
    sign: str
    digits: str

    @property
    def product_with_e(self) -> bool:
        """Whether 2·e − 3 may have been meant: with 1 there would be no number before e."""
        return self.mantissa != "1" and self.mantissa.isdigit() and not self.digits.startswith("0")

    @property
    def sum_with_e(self) -> bool:
        """Whether 2·e + 1 is what it must mean at first sight."""
        return self.product_with_e and self.sign == "+"


SIGNS = {
    "−": "-", "–": "-", "×": "*", "·": "*", "⋅": "*", "∙": "*", "÷": "/", "⁄": "/", "∕": "/", "**": "^",
    **{sign: sign for sign in "+-*/^()[]{}√∞%$"},
}  # fmt: skip
COMMANDS = {
    "cdot": "*", "times": "*", "div": "/", "infty": "∞", "%": "%", "{": "{", "}": "}",
    **{name: "\\" + name for name in ("frac", "sqrt", "left", "right")},
    "dfrac": "\\frac", "tfrac": "\\frac",
}  # fmt: skip
SPACES = " \t\n\r\u00a0\u2009\u200a\u202f~"
SPACE_COMMANDS = frozenset([*",;:! ", "quad", "displaystyle"])
SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")
VULGAR = dict(
    zip(
        "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞",
        ["1/2", "1/3", "2/3", "1/4", "3/4", "1/5", "2/5", "3/5", "4/5", "1/6", "5/6", "1/8", "3/8", "5/8", "7/8"],
        strict=True,
    )
)
FUNCTIONS = {"exp": "exp", "sqrt": "sqrt", "ln": "ln", "log": "ln", "sin": "sin", "cos": "cos"}
INFINITIES = frozenset(["∞", "inf", "infinity", "oo"])
CLOSING = {"(": ")", "[": "]", "{": "}"}
TOKEN = re.compile(
    r"(?P<number>[0-9]+(?:[.,][0-9]+)?|[.,][0-9]+)"
    r"|(?P<name>[A-Za-zΑ-ΡΣ-Ωα-ω]+(?:_(?:[0-9]+|[a-z](?![A-Za-z0-9_])|\{(?:[0-9]+|[a-z])\}))?)"
    r"|(?P<superscript>[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)"
    rf"|(?P<vulgar>[{''.join(VULGAR)}])"
    r"|\\(?P<command>[A-Za-z]+|.)"
    rf"|(?P<space>[{SPACES}]+)"
    r"|(?P<sign>\*\*|.)",
    re.DOTALL,
)
SCIENTIFIC = re.compile("([eE])([+−–-]?)([0-9]+)")
GOES_ON = re.compile(r"\s*(?:[\^A-Za-z(\[{√⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞]|\*\*|\\[dt]?frac|\\sqrt|\\left)|[.,][0-9]")


class _Parser:
    def __init__(self, text: str, decimal_mark: str, symbols: bool, powers: bool) -> None:
        """With `powers`, 2e-3 is a power of ten, else 2·e − 3; these are the `doubtful` places."""
        self.text, self.mark, self.symbols, self.powers = text, decimal_mark, symbols, powers
        self.doubtful: list[_Scientific] = []
        self.depth = 0
        self.index = 0
        self.tokens = self._without_dollars(self._tokens())

    def refusal(self, template: str, at: int, **values: object) -> ReadError:
        """What is wrong with the character at `at`."""
        return ReadError(message(template, place=at + 1, **values), self.text, at)

    def unexpected(self, token: _Token, expected: str) -> ReadError:
        if token.kind == "end":
            return self.refusal("The text ends where {expected} was expected.", token.at, expected=expected)
        found = "Found {text} at character {place}, where {expected} was expected."
        return self.refusal(found, token.at, text=_quoted(token.text), expected=expected)

    def unsigned(self, token: _Token) -> ReadError:
        return self.refusal(
            "The number {number} at character {place} follows another number or a factor without a sign between "
            "them; write ·, or + if that is meant.",
            token.at,
            number=_shortened(token.text),
        )

    # -------------------------------------------------------------------------------- tokenizer

    def _tokens(self) -> list[_Token]:
        tokens: list[_Token] = []
        at, spaced = 0, False
        while match := TOKEN.match(self.text, at):
            token, at = self._token(match, spaced)
            if token is not None:
                tokens.append(token)
            spaced = token is None
            if len(tokens) > MOST_TOKENS:
                says = "The text has more than {most} numbers and signs; that is too long."
                raise self.refusal(says, at - 1, most=MOST_TOKENS)
        tokens.append(_Token("end", "", at, spaced))
        return tokens

    def _token(self, match: re.Match[str], spaced: bool) -> tuple[_Token | None, int]:
        """What stands here, none for a space, and where it ends."""
        at, end, kind = match.start(), match.end(), match.lastgroup
        word = match[kind or 0]
        if kind == "number":
            return self._number(word, at, spaced)
        if kind == "space" or (kind == "command" and word in SPACE_COMMANDS):
            return None, end
        if kind == "name" or (kind == "command" and word in FUNCTIONS and word != "sqrt"):
            return _Token("name", word, at, spaced), end
        if kind == "superscript":
            return _Token("superscript", word.translate(SUPERSCRIPTS), at, spaced), end
        if kind == "vulgar":
            return _Token("vulgar", VULGAR[word], at, spaced), end
        sign = (COMMANDS if kind == "command" else SIGNS).get(word)
        if sign is None:
            raise self._meaningless(match)
        return _Token("sign", sign, at, spaced), end

    def _meaningless(self, match: re.Match[str]) -> ReadError:
        at, found = match.start(), _quoted(match[0])
        if match["command"]:
            return self.refusal(
                "The command {command} at character {place} is not known; \\frac, \\sqrt, \\exp, \\ln, "
                "\\cdot, \\times, \\left and \\right are.",
                at,
                command=found,
            )
        if match[0] in ".,":
            return self.refusal(
                "Found {text} at character {place} without digits after it; write numbers as {example}.",
                at,
                text=found,
                example=f"0{self.mark}5",
            )
        return self.refusal(
            "{text} at character {place} has no meaning here; use digits, + - * / ^ √, brackets, e, exp, sqrt and ln.",
            at,
            text=found,
        )

    def _number(self, digits: str, at: int, spaced: bool) -> tuple[_Token, int]:
        end = at + len(digits)
        wrong_mark = "," if self.mark == "." else "."
        if wrong_mark in digits:
            raise self.refusal(
                "Found {text} at character {place}; decimals are written here as {example}.",
                at + digits.index(wrong_mark),
                text=repr(wrong_mark),
                example=f"0{self.mark}5",
            )
        if len(digits) > MOST_DIGITS + 1:
            raise self.refusal("The number at character {place} has more than {most} digits.", at, most=MOST_DIGITS)
        if (following := self.text[end : end + 1]) in (".", ","):
            raise self.refusal(
                "{text} at character {place} cannot follow the number {number}.",
                end,
                text=repr(following),
                number=_shortened(digits),
            )
        token = _Token("number", digits.replace(",", "."), at, spaced)
        scientific = SCIENTIFIC.match(self.text, end)
        return (token, end) if scientific is None else self._scientific(token, end, scientific)

    def _scientific(self, number: _Token, end: int, match: re.Match[str]) -> tuple[_Token, int]:
        """The number with the power of ten behind it, or alone if what is behind it is e and a number."""
        form = _Scientific(number.text, *match.groups())
        goes_on = GOES_ON.match(self.text, match.end())
        if form.sign and (form.letter == "e" or self.symbols):
            if goes_on:  # 2e-3e^2
                return number, end
            self.doubtful.append(form)
            if not self.powers:
                return number, end
        typed = _quoted(self.text[number.at : match.end()])
        if goes_on:
            raise self.refusal(
                "{text} at character {place} could be a power of ten or a product with e; write 2*10^3, or 2*e*3, "
                "or 2e^3.",
                number.at,
                text=typed,
            )
        power = form.digits.lstrip("0") or "0"
        if len(power) > 3 or int(power) > LARGEST_POWER_OF_TEN:
            raise self.refusal(
                "The power of ten in {text} at character {place} is too large; its exponent may be {most} at most.",
                number.at,
                text=typed,
                most=LARGEST_POWER_OF_TEN,
            )
        sign = "-" if form.sign in ("-", "−", "–") else ""
        return number._replace(kind="scientific", text=f"{number.text}e{sign}{power}"), match.end()

    def _without_dollars(self, tokens: list[_Token]) -> list[_Token]:
        """$…$ and $$…$$ around the whole are dropped."""
        for _ in range(2):
            if len(tokens) > 2 and tokens[0].text == "$" == tokens[-2].text:
                tokens = [*tokens[1:-2], tokens[-1]]
        return tokens

    # -------------------------------------------------------------------------------- parser

    @property
    def token(self) -> _Token:
        return self.tokens[self.index]

    def next(self) -> _Token:
        token = self.tokens[self.index]
        self.index = min(self.index + 1, len(self.tokens) - 1)
        return token

    def accept(self, *signs: str) -> _Token | None:
        return self.next() if self.token.kind == "sign" and self.token.text in signs else None

    def within(self, at: int, part: Callable[[], Node]) -> Node:
        """A part that stands inside of something."""
        self.depth += 1
        if self.depth > DEEPEST:
            says = "The brackets, powers and signs at character {place} are nested more than {most} deep."
            raise self.refusal(says, at, most=DEEPEST)
        node = part()
        self.depth -= 1
        return node

    def after_sign(self, rest: Callable[[], Node]) -> Node | None:
        """A sign and the rest, if one stands here."""
        at = self.token.at
        if (sign := self.accept("+", "-")) is None:
            return None
        body = self.within(at, rest)
        return body if sign.text == "+" else Opposite(body, at=at)

    def reading(self) -> Reading:
        if len(self.tokens) == 1:
            raise self.refusal("The text is empty where a number was expected.", 0)
        infinity = self._minus_infinity()
        if infinity is not None:
            return Reading(self.text, infinity, "exact", None)
        tree = self.sum()
        if self.token.kind != "end":
            raise self.unexpected(self.token, message("a sign or the end"))
        kind, places = self._kind(tree)
        return Reading(self.text, tree, kind, places)

    def _minus_infinity(self) -> Node | None:
        words = [token.text for token in self.tokens[:-1]]
        return MinusInfinity() if len(words) == 2 and words[0] == "-" and words[1] in INFINITIES else None

    def _kind(self, tree: Node) -> tuple[Kind, int | None]:
        """One plain decimal, or one plain percentage, is more than the number: it says how exact it is."""
        tokens = self.tokens[1 if self.tokens[0].text in ("+", "-") else 0 : -1]
        if tokens[0].kind == "number" and "".join(token.text for token in tokens[1:]) in ("", "%"):
            places = len(tokens[0].text.partition(".")[2])
            if len(tokens) == 2:
                return "percent", places + 2
            if places:
                return "decimal", places
        if tokens[0].kind == "scientific" and len(tokens) == 1:
            mantissa, _, power = tokens[0].text.partition("e")
            places = len(mantissa.partition(".")[2]) - int(power)
        else:
            places = _decimal_places(tree.body if isinstance(tree, Opposite) else tree)
        return ("decimal", places) if places > 0 else ("exact", None)

    def sum(self) -> Node:
        at = self.token.at
        terms = [self.product()]
        while sign := self.accept("+", "-"):
            term = self.product()
            terms.append(term if sign.text == "+" else Opposite(term, at=sign.at))
        return terms[0] if len(terms) == 1 else Total(tuple(terms), at=at)

    def product(self) -> Node:
        if node := self.after_sign(self.product):  # -2·3 is -(2·3)
            return node
        at, above, below = self.token.at, [self.power()], list[Node]()
        divided = False
        while True:
            if sign := self.accept("*", "/"):
                divided = sign.text == "/"
                (below if divided else above).append(self.signed())
            elif self._starts_factor():
                if divided:
                    raise self.refusal(
                        "It is not clear what {text} at character {place} belongs to: 1/2e can mean (1/2)·e or "
                        "1/(2·e). Use brackets.",
                        self.token.at,
                        text=_quoted(self.token.text),
                    )
                above.append(self.power())
            else:
                break
        return _over(above, below, at)

    def signed(self) -> Node:
        if node := self.after_sign(self.signed):
            return node
        at, node = self.token.at, self.power()
        if self.tokens[self.index - 1].text == "%" and self.tokens[self.index - 3].text == "/":
            raise self.refusal("A percentage below a fraction bar is not clear; use brackets.", at)
        return node

    def _starts_factor(self) -> bool:
        """Whether a factor follows without a sign."""
        token = self.token
        if token.kind in ("number", "scientific", "vulgar"):
            raise self.unsigned(token)
        return token.kind == "name" or (
            token.kind == "sign" and token.text in ("(", "[", "{", "√", "\\frac", "\\sqrt", "\\left", "∞")
        )

    def power(self) -> Node:
        start = self.token
        base = self.atom()
        while self.token.kind == "superscript":
            token = self.next()
            if self.token.kind == "superscript" or (self.token.kind == "sign" and self.token.text == "^"):
                raise self.unexpected(self.token, message("no second exponent"))
            base = self._power(base, _signed_integer(token), start, token.at)
        if caret := self.accept("^"):
            base = self._power(base, self.within(caret.at, self._exponent), start, caret.at + 1)
        return base

    def _exponent(self) -> Node:
        return self.after_sign(self._exponent) or self.power()

    def _power(self, base: Node, exponent: Node, start: _Token, at: int) -> Node:
        if base != Apply("e", ()):
            largest = LARGEST_POWER_OF_TEN if base == Number(10) else LARGEST_EXPONENT
            if _small_constant(exponent, largest) is None:
                raise self.refusal(
                    "The exponent at character {place} must be a whole number or fraction of at most {largest}; "
                    "only e may have any other exponent.",
                    at,
                    largest=largest,
                )
        return Power(base, exponent, at=start.at)

    def atom(self) -> Node:
        token = self.next()
        at = token.at
        match token.kind, token.text:
            case "number", _:
                return self._number_atom(token)
            case "scientific", _:
                return self._percentage(_power_of_ten(token), at)
            case "vulgar", text:
                return _fraction(text, at)
            case "name", _:
                return self._name(token)
            case "sign", "(" | "[" | "{" | "\\left":
                return self._bracketed(token)
            case "sign", "√":
                return Apply("sqrt", (self.within(at, self.atom),), at=at)
            case "sign", "\\sqrt":
                return Apply("sqrt", (self._argument("\\sqrt{…}"),), at=at)
            case "sign", "\\frac":
                return self._latex_fraction(at)
            case "sign", "∞":
                raise self.refusal("∞ at character {place} can only stand alone, as −∞.", at)
        raise self.unexpected(token, message("a number"))

    def _number_atom(self, token: _Token) -> Node:
        node: Node = Number(tidy(Fraction(token.text)), at=token.at, digits=token.text)
        following = self.token
        if token.whole and following.kind == "vulgar":
            return Total((node, _fraction(self.next().text, following.at)), at=token.at)
        if token.whole and following.whole and following.spaced:
            return self._mixed(node, token)
        if token.whole and following.text == "\\frac":
            place = self.index
            self.next()
            part = self._latex_fraction(following.at)
            if isinstance(part, Over) and isinstance(part.numerator, Number) and isinstance(part.denominator, Number):
                raise self.refusal(
                    "{number} before a fraction at character {place} could be a mixed number or a product; write + "
                    "or \\cdot between them.",
                    token.at,
                    number=_shortened(token.text),
                )
            self.index = place
        return self._percentage(node, token.at)

    def _percentage(self, node: Node, at: int) -> Node:
        return Over(node, _whole("100", at), at=at) if self.accept("%") else node

    def _mixed(self, whole: Node, token: _Token) -> Node:
        """1 1/2: an integer, a space, and a fraction of two positive integers."""
        above, bar, below = (self.tokens[min(self.index + i, len(self.tokens) - 1)] for i in range(3))
        if bar.text != "/" or not below.whole or not above.text.strip("0") or not below.text.strip("0"):
            raise self.unsigned(above)
        self.index += 3
        if self.token.text in ("/", "^", "%") or self.token.kind in ("superscript", "name"):
            raise self.unexpected(self.token, message("a sign or the end after a mixed number (use brackets)"))
        return Total((whole, Over(_whole(above.text, above.at), _whole(below.text, below.at))), at=token.at)

    def _name(self, token: _Token) -> Node:
        name, at = token.text, token.at
        if name == "e":
            return Apply("e", (), at=at)
        if name in FUNCTIONS:
            opening = self.next()
            if opening.kind != "sign" or opening.text not in ("(", "[", "{", "\\left"):
                raise self.unexpected(opening, message("a bracket after {name}", name=name))
            body = self._bracketed(opening)
            if name == "exp":
                return Power(Apply("e", (), at=at), body, at=at)
            return Apply(FUNCTIONS[name], (body,), at=at)
        if name in INFINITIES:
            raise self.refusal("{name} at character {place} can only stand alone, as -{name}.", at, name=name)
        if self.symbols and (len(name) == 1 or name[1] == "_") and name[0] != "e":
            return Symbol(name.replace("{", "").replace("}", ""), at=at)
        only = "{name} at character {place} is not a number; the only names are e, exp, sqrt and ln."
        letters = "{name} at character {place} is not a number; the only names are single letters, e, exp, sqrt and ln."
        raise self.refusal(letters if self.symbols else only, at, name=_quoted(_shortened(name)))

    def _bracketed(self, opening: _Token) -> Node:
        left = opening.text == "\\left"
        if left:
            opening = self.next()
            if opening.kind != "sign" or opening.text not in CLOSING:
                raise self.unexpected(opening, message("a bracket after {name}", name="\\left"))
        body, closing = self.within(opening.at, self.sum), CLOSING[opening.text]
        if left and not self.accept("\\right"):
            raise self.unexpected(self.token, f"\\right{closing}")
        if not self.accept(closing):
            expected = message(
                "{closing} for the {opening} at character {place}",
                closing=_quoted(closing),
                opening=_quoted(opening.text),
                place=opening.at + 1,
            )
            raise self.unexpected(self.token, expected)
        return body

    def _argument(self, form: str) -> Node:
        """An argument of a LaTeX command: in braces, or a single digit."""
        token = self.next()
        if token.text == "{":
            return self._bracketed(token)
        if token.whole and len(token.text) == 1:
            return _whole(token.text, token.at)
        raise self.unexpected(token, message("a brace, as in {form},", form=form))

    def _latex_fraction(self, at: int) -> Node:
        token = self.token
        if token.whole and len(token.text) == 2:  # \frac12
            self.next()
            return Over(_whole(token.text[0], token.at), _whole(token.text[1], token.at), at=at)
        form = "\\frac{…}{…}"
        numerator = self.within(at, lambda: self._argument(form))
        return Over(numerator, self.within(at, lambda: self._argument(form)), at=at)


# ------------------------------------------------------------------------------------ inside


def _over(above: list[Node], below: list[Node], at: int) -> Node:
    """a·b/c·d/e as (a·b·d)/(c·e), however long: one division in another would be as deep as it is long."""
    if len(above) > 1 and isinstance(above[0], Number) and above[0].digits == "1":
        above = above[1:]
    numerator = above[0] if len(above) == 1 else Product(tuple(above), at=at)
    if not below:
        return numerator
    return Over(numerator, below[0] if len(below) == 1 else Product(tuple(below), at=at), at=at)


def _fraction(text: str, at: int) -> Node:
    above, below = text.split("/")
    return Over(_whole(above, at), _whole(below, at), at=at)


def _whole(digits: str, at: int) -> Number:
    return Number(int(digits), at=at, digits=digits)


def _signed_integer(token: _Token) -> Node:
    number = _whole(token.text.lstrip("+-")[: MOST_DIGITS + 1], token.at)
    return Opposite(number, at=token.at) if token.text[0] == "-" else number


def _power_of_ten(token: _Token) -> Node:
    """1.2e-3 as 1.2·10^(-3), 1e-3 as 10^(-3)."""
    mantissa, _, power = token.text.partition("e")
    exponent = _signed_integer(token._replace(text=power))
    ten = Power(_whole("10", token.at), exponent, at=token.at)
    if mantissa == "1":
        return ten
    return Product((Number(tidy(Fraction(mantissa)), at=token.at, digits=mantissa), ten), at=token.at)


def _decimal_places(tree: Node) -> int:
    """The decimal places of 6.11·10^(-1), which are 3, and of 611/1000; 0 of anything else, and of 3/10."""
    match tree:
        case Over(Number(int()), Number(int(), digits=below)) if below.rstrip("0") == "1" and len(below) > 2:
            return len(below) - 1
        case Product((Number(digits=mantissa), Power(Number(10), exponent))):
            match exponent:
                case Number(int(power)):
                    return len(mantissa.partition(".")[2]) - power
                case Opposite(Number(int(power))):
                    return len(mantissa.partition(".")[2]) + power
    return 0


def _small_constant(node: Node, largest: int = LARGEST_EXPONENT) -> Rational | None:
    """The value of an exponent made of small numbers only, None of any other."""

    def value(node: Node) -> Fraction:
        match node:
            case Number(q):
                result = Fraction(q)
            case Opposite(body):
                result = -value(body)
            case Total(terms):
                result = sum(map(value, terms), Fraction(0))
            case Product(factors):
                result = Fraction(1)
                for factor in factors:
                    result *= value(factor)
            case Over(numerator, denominator):
                result = value(numerator) / value(denominator)
            case Power(base, exponent) if base != Apply("e", ()):
                x = value(exponent)
                result = value(base) ** (x.numerator if x.denominator == 1 else _not_small())
            case _:
                _not_small()
        if max(abs(result.numerator), result.denominator) > largest:
            _not_small()
        return result

    try:
        return tidy(value(node))
    except ArithmeticError:
        return None


def _not_small() -> NoReturn:
    raise ArithmeticError


def _quoted(text: str) -> str:
    """What was found, so that it can be shown: a character without a glyph by its code."""
    if len(text) == 1 and not (text.isascii() and text.isprintable()):
        code = f"U+{ord(text):04X}"
        return f"'{text}' ({code})" if text.isprintable() else code
    return "'" + "".join(c if c.isprintable() else "�" for c in _shortened(text)) + "'"


def _shortened(text: str) -> str:
    return text if len(text) <= 30 else text[:27] + "..."


def _tight(shown: str, tightness: int) -> str:
    return f"({shown})" if tightness > 4 else shown


def _echo(node: Node, tightness: int) -> str:
    """A node in brackets if it binds less tightly: 0 sum, 1 term, 2 factor, 3 operand of a power or a bar."""
    match node:
        case Number(value, digits=digits):
            if digits or (value.denominator == 1 and value >= 0):
                return digits or str(value)
            shown, level = str(value), 0 if value < 0 else 1  # as SymPy has them: one number, two signs
        case MinusInfinity():
            return "-∞"
        case Symbol(name):
            return name
        case Apply("e", ()):
            return "e"
        case Apply("sqrt", (Number() as body,)):
            return _tight(f"√{_echo(body, 3)}", tightness)
        case Apply("sqrt", (body,)):
            return _tight(f"√({_echo(body, 0)})", tightness)
        case Apply(function, arguments):
            return f"{function}({', '.join(_echo(x, 0) for x in arguments)})"
        case Opposite(body):
            shown, level = f"-{_echo(body, 1)}", 0
        case Total((first, *rest)):
            signed = [f" - {_echo(t.body, 1)}" if isinstance(t, Opposite) else f" + {_echo(t, 1)}" for t in rest]
            shown, level = _echo(first, 0 if isinstance(first, Opposite) else 1) + "".join(signed), 0
        case Product(factors):
            shown, level = "·".join(_echo(x, 2) for x in factors), 1
        case Over(numerator, denominator):
            above = _echo(numerator, 4 if isinstance(denominator, Number) else 3)  # (e^1)/2, lest it be read e^(1/2)
            shown, level = f"{above}/{_echo(denominator, 3)}", 1
        case Power(base, exponent):
            tight = isinstance(base, Number | Symbol) or base == Apply("e", ())
            shown, level = f"{_echo(base, 4 if tight else 5)}^{_echo(exponent, 4)}", 3
    return f"({shown})" if level < tightness else shown
