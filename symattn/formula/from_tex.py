"""Formulas in LaTeX, as teachers type them between dollar signs: \\frac{Q K^\\top}{\\sqrt{d_k}}.

What is read is what pages can show in every format: names with indices, sums, products, fractions, roots, powers,
brackets, matrices, sums with bounds, and relations.  Three small letters in a row, or more, are a word: softmax,
d_{model}.  `ReadError` names what is not known, and where.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from symattn.formula.nodes import (
    GREEK,
    NOTHING,
    Annotated,
    BigSum,
    Bracket,
    Bracketed,
    Call,
    Dots,
    Formula,
    Fraction,
    Infinity,
    ListOf,
    MatrixOf,
    Name,
    Negative,
    Number,
    Power,
    Product,
    Relation,
    Root,
    Row,
    Text,
    Transposed,
)
from symattn.formula.reading import Grammar, Lexeme

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<command>\\(?:[A-Za-z]+\*?|.))
    | (?P<number>\d+(?:\.\d+|\{,\}\d+)?)
    | (?P<word>[a-z]{3,}|\w)
    | (?P<sign>:=|\S)
    )""",
    re.VERBOSE | re.DOTALL,
)

_RELATIONS = {
    "=": "=", "<": "<", ">": ">", "≤": "≤", "≥": "≥", "≠": "≠", "≈": "≈", "→": "→", "∈": "∈", ":=": ":=",
    r"\le": "≤", r"\leq": "≤", r"\leqslant": "≤", r"\ge": "≥", r"\geq": "≥", r"\geqslant": "≥", r"\ne": "≠",
    r"\neq": "≠", r"\approx": "≈", r"\to": "→", r"\rightarrow": "→", r"\in": "∈", r"\lt": "<",
    r"\gt": ">", r"\coloneqq": ":=", r"\equiv": "≡", r"\Rightarrow": "⇒", r"\implies": "⇒",
}  # fmt: skip
_TIMES = {r"\cdot": "·", r"\times": "×", r"\odot": "⊙", "·": "·", "×": "×", "⊙": "⊙", "*": "·"}
_MINUS = ("-", "−")
_TRANSPOSED = ("⊤", "T")
_SPACES = (r"\,", r"\;", r"\:", r"\!", r"\ ", "~", r"\left", r"\right", r"\big", r"\Big", r"\bigl", r"\bigr", r"\Bigl",
           r"\Bigr", r"\displaystyle", r"\limits", r"\nolimits", r"\textstyle")  # fmt: skip
_GAPS = (r"\quad", r"\qquad")
_WORDS = (r"\text", r"\mathrm", r"\operatorname", r"\operatorname*", r"\mathsf", r"\textrm", r"\mbox", r"\mathit",
          r"\textit", r"\texttt", r"\mathtt")  # fmt: skip
_PLAIN = (r"\mathbf", r"\boldsymbol", r"\bm", r"\vec", r"\mathcal")
"""What sets a name in another type, which these pages have not."""
_DOUBLE = {"R": "ℝ", "N": "ℕ", "Z": "ℤ", "Q": "ℚ", "C": "ℂ"}
_FUNCTIONS = ("softmax", "exp", "log", "ln", "max", "min", "argmax", "tanh", "sin", "cos", "tan", "det", "dim", "diag",
              "relu", "ReLU", "LayerNorm", "Attention", "concat", "rank", "tr")  # fmt: skip
_SYMBOLS: dict[str, Formula] = {
    r"\infty": Infinity(), "∞": Infinity(), r"\dots": Dots(), r"\ldots": Dots(), r"\cdots": Dots(), "…": Dots(),
    r"\vdots": Dots("vertical"), r"\ddots": Dots("diagonal"), r"\partial": Name("∂"), r"\nabla": Name("∇"),
    r"\%": Text("%"), r"\top": Name("⊤"), r"\intercal": Name("⊤"), "⊤": Name("⊤"),
    **{f"\\{name}": Name(letter) for name, letter in GREEK.items()},
}  # fmt: skip
_OPENING: dict[str, tuple[str, Bracket]] = {
    "(": (")", "("), "[": ("]", "["), r"\langle": (r"\rangle", "⟨"), "⟨": ("⟩", "⟨"), r"\lvert": (r"\rvert", "|"),
    r"\lbrack": (r"\rbrack", "["), "|": ("|", "|"),
}  # fmt: skip
_GRIDS: dict[str, Bracket] = {"bmatrix": "[", "pmatrix": "(", "vmatrix": "|", "matrix": "", "smallmatrix": ""}


def read_tex(source: str) -> Formula:
    """A formula as it is typed in LaTeX, without the dollar signs; `ReadError` where it is none that can be shown.

    >>> read_tex(r"\\sqrt{2} < 3") == Relation((Root(Number("2")), Number("3")), ("<",))
    True
    """
    return _Reader(source).whole()


class _Reader(Grammar):
    relations, products, minus = _RELATIONS, _TIMES, _MINUS

    def __init__(self, source: str) -> None:
        matches = (m for m in _TOKEN.finditer(source) if m.lastgroup)
        tokens = (Lexeme(str(m.lastgroup), m[str(m.lastgroup)], m.start(str(m.lastgroup))) for m in matches)
        super().__init__(source, f"${source.strip()}$", (token for token in tokens if token.text not in _SPACES))

    def row(self) -> Formula:
        """Formulas with gaps or commas between."""
        self.depth = self.deeper(self.depth)
        rows = [self.enumeration()]
        while self.accept(*_GAPS):
            rows.append(self.enumeration())
        self.depth -= 1
        return rows[0] if len(rows) == 1 else Row(tuple(rows))

    def enumeration(self) -> Formula:
        items = self.items()
        return items[0] if len(items) == 1 else ListOf(tuple(items), "", ",")

    def items(self) -> list[Formula]:
        items = [self.relation()]
        while self.accept(","):
            items.append(self.relation())
        return items

    def starts_factor(self) -> bool:
        kind, text = self.token.kind, self.token.text
        if kind == "command":
            closing = {closing for closing, _ in _OPENING.values()}
            return text not in {*_RELATIONS, *_TIMES, *_GAPS, *closing, r"\\", r"\end", r"\}"}
        return kind in ("number", "word") or text in ("(", "[", "{", "⟨", "∞", "…", "⊤")

    def factor(self) -> Formula:
        """An atom with primes, indices and exponents."""
        formula = self.atom()
        while True:
            if self.accept("'", "′", r"\prime"):
                formula = self.primed(formula)
            elif self.accept("_"):
                formula = _indexed(formula, self.script())
            elif self.accept("^"):
                formula = self.raised(formula)
            else:
                return formula

    def primed(self, formula: Formula) -> Formula:
        if not isinstance(formula, Name):
            raise self.error("a name before a prime was expected")
        return replace(formula, primes=formula.primes + 1)

    def raised(self, formula: Formula) -> Formula:
        if self.accept(r"\prime"):
            return self.primed(formula)
        exponent = self.script()
        match formula, exponent:
            case _, Name(base, (), "", 0, False) if base in _TRANSPOSED and not isinstance(formula, Number):
                return Transposed(formula)
            case Name(base, sup=""), Name(label, (), "", 0, False) if base[:1].isupper():
                return replace(formula, sup=label)
            case Name(sup=""), Text(label):
                return replace(formula, sup=label)
        return Power(formula, exponent)

    def script(self) -> Formula:
        """An index or an exponent: what stands in braces, or one sign."""
        if self.peek("{"):
            return self.group()
        return Negative(self.atom()) if self.accept(*_MINUS) else self.atom(alone=True)

    def group(self) -> Formula:
        self.expect("{")
        if self.accept("}"):
            return NOTHING
        inside = self.row()
        self.expect("}")
        return inside

    def atom(self, alone: bool = False) -> Formula:
        """What holds together by itself; `alone` of a script without braces, whose number is one digit."""
        token = self.token
        if token.text in _SYMBOLS:
            self.take()
            return _SYMBOLS[token.text]
        if token.text in _OPENING:
            return self.bracketed()
        match token.kind:
            case "number":
                self.take()
                if alone and len(token.text) > 1:
                    raise self.error("braces round an index or exponent of several digits were expected", token)
                return Number(token.text.replace("{,}", ","))
            case "word":
                self.take()
                name = Name(token.text)
                return self.called(name) if len(token.text) > 1 else name
            case "command":
                return self.command()
        if token.text == "{":
            return self.group()
        raise self.error("a number, a name or a bracket was expected")

    def bracketed(self) -> Formula:
        closing, bracket = _OPENING[self.take().text]
        if self.accept(closing):
            return ListOf((), bracket, ",")
        items = self.items()
        self.expect(closing)
        if len(items) > 1 or bracket in ("[", "⟨"):
            return ListOf(tuple(items), bracket, ",")
        return Bracketed(items[0], bracket)

    def called(self, function: Name) -> Formula:
        """A word and what it is of, if brackets follow."""
        named: Formula = function
        while sign := self.accept("_", "'"):
            named = _indexed(named, self.script()) if sign == "_" else self.primed(named)
        if not isinstance(named, Name) or not self.accept("("):
            return named
        arguments = self.items()
        self.expect(")")
        return Call(named, tuple(arguments))

    def command(self) -> Formula:
        token = self.take()
        name = token.text
        if name in _WORDS:
            words = self.words()
            if not words.isalpha():
                return Text(words)
            is_function = words in _FUNCTIONS or name.startswith(r"\operatorname")
            return self.called(Name(words)) if is_function else Name(words)
        if name[1:] in _FUNCTIONS:
            return self.called(Name(name[1:]))
        if (read := _COMMANDS.get(name)) is not None:
            return read(self)
        if name in _PLAIN:
            return self.group() if self.peek("{") else self.atom()
        raise self.error("a formula that can be shown in every format was expected", token)

    def words(self) -> str:
        """What stands in braces, as it stands."""
        start = self.token
        if start.text != "{":
            raise self.error("{ was expected")
        depth = 0
        while depth or self.token is start:
            token = self.take()
            if token.kind == "end":
                raise self.error("} was expected", token)
            depth += (token.text == "{") - (token.text == "}")
        return re.sub(r"[{}]", "", self.text[start.start : token.start])

    # -- what commands stand for

    def fraction(self) -> Formula:
        return Fraction(self.argument(), self.argument())

    def argument(self) -> Formula:
        """What a command is given: what stands in braces, or the next sign, which is one digit of \\frac12."""
        if self.peek("{"):
            return self.group()
        kind, digits, start = self.token.kind, self.token.text, self.token.start
        if kind == "number" and digits[1:].isdigit():
            self.tokens[self.at : self.at + 1] = [Lexeme(kind, digits[0], start), Lexeme(kind, digits[1:], start + 1)]
        return self.atom()

    def root(self) -> Formula:
        if self.peek("["):
            raise self.error("a square root was expected")
        return Root(self.argument())

    def hat(self) -> Formula:
        body = self.argument()
        if not isinstance(body, Name):
            raise self.error("a name under the hat was expected")
        return replace(body, hat=True)

    def double(self) -> Formula:
        letter = self.words()
        return Name(_DOUBLE.get(letter, letter))

    def big_sum(self) -> Formula:
        index: Formula = NOTHING
        lower: Formula = NOTHING
        upper: Formula = NOTHING
        while sign := self.accept("_", "^"):
            bound = self.script()
            match sign, bound:
                case "^", _:
                    upper = bound
                case _, Relation((left, right), ("=",)):
                    index, lower = left, right
                case _:
                    index = bound
        return BigSum(index, lower, upper, self.product())

    def environment(self) -> Formula:
        start = self.token
        kind = self.words()
        if kind not in _GRIDS:
            raise self.error(f"one of {', '.join(_GRIDS)} was expected after \\begin", start)
        rows: list[list[Formula]] = [[self.cell()]]
        while True:
            if self.accept("&"):
                rows[-1].append(self.cell())
            elif self.accept(r"\\"):
                if not self.peek(r"\end"):
                    rows.append([self.cell()])
            else:
                break
        self.expect(r"\end")
        if self.words() != kind:
            raise self.error(f"\\end{{{kind}}} was expected")
        if len({*map(len, rows)}) > 1:
            raise self.error("a matrix whose rows are equally long was expected", start)
        return MatrixOf(tuple(map(tuple, rows)), _GRIDS[kind])

    def cell(self) -> Formula:
        return NOTHING if self.peek("&", r"\\", r"\end") else self.row()


def _indexed(formula: Formula, index: Formula) -> Formula:
    match index:
        case ListOf(items, ""):
            pass
        case Product(items, "") if all(isinstance(item, Name | Number) for item in items):
            pass  # ij is i and j
        case _:
            items = (index,)
    if isinstance(formula, Name):
        return replace(formula, sub=(*formula.sub, *items))
    return Annotated(formula, index, "index")


_COMMANDS: dict[str, Callable[[_Reader], Formula]] = {
    r"\frac": _Reader.fraction,
    r"\dfrac": _Reader.fraction,
    r"\tfrac": _Reader.fraction,
    r"\sqrt": _Reader.root,
    r"\hat": _Reader.hat,
    r"\widehat": _Reader.hat,
    r"\mathbb": _Reader.double,
    r"\sum": _Reader.big_sum,
    r"\begin": _Reader.environment,
}
