"""Fuzzed answers: every one is read and decided, none may crash or run anything.

Answers are mutations of right answers, code, and expressions: functions of functions, powers and powers of ten with
exponents of both signs and of every size; `tests/exact/exact_reading.toml` has deep nesting and huge digits.  What
takes longer than `HOPELESS` ends the run and shows where it was.  Each answer is read as one entry and compared with a
true value as marking does it.  An audit hook watches for anything that would open a file, start a process, import,
compile or execute.
"""

import faulthandler
import random
import sys
from collections import Counter
from contextlib import contextmanager, suppress
from functools import cache

from symattn.exact.reading import read
from symattn.marking.marker.answers import in_letters
from symattn.marking.marker.policy import POLICIES
from symattn.marking.marker.trace import Accepts
from symattn.marking.submissions import entry

HOPELESS = 60
"""Seconds of the clock after which one answer has hung."""

RIGHT = (
    "0", "1", "-2", "17", "1/2", "-3/7", "22/7", "0.25", "1000000", "sqrt(2)/2", "-1/sqrt(3)", "sqrt(2)+sqrt(3)",
    "e^2/(1+2e^2)", "e/(1+e+e^2)", "1/(2+e^-2)", "e^(1/2)/(e^(1/2)+e^(-1/2)+1)", "(2e+2e^2)/(1+e+e^2)",
    "(1-e^3)/(1+e^2+e^3)", "e^(sqrt(2)/2)/(1+e^(sqrt(2)/2))", "2^(1/2)/(1+2^(1/2))", "ln(3)", "ln(2)-ln(3)", "-ln(2)/2",
    "(3e^4-2e^2+1)/(e^4+e^2+e+1)", "e^(4/sqrt(3))/(e^(4/sqrt(3))+e^(1/sqrt(3))+2)", "1/(1+e^-10)", "-inf",
    "(e+sqrt(2))/(1+e*sqrt(2))", "7/(1+e)-3", "e^(-1000)",
)  # fmt: skip
LETTERS = ("4d^2", "3 n d^2", "2n^2 d + 4 n d^2", "h n^2", "4d^2 + 4d")

TOKENS = (
    "0", "1", "2", "3", "7", "10", "0.5", ".5", "1/2", "12.75", "e", "e^2", "e^", "exp(", "sqrt(", "ln(", "(", ")", "[",
    "]", "{", "}", "+", "-", "*", "/", "^", "·", "×", "√", "²", "³", "⁻¹", "½", "%", " ", ",", ".", ";", "=", "≈", "∞",
    "−", "–", "$", "\\frac", "\\frac{1}{2}", "\\sqrt{2}", "\\left(", "\\right)", "\\cdot", "\\", "~~", "**", "_", "x",
    "inf", "nan", "e^(1/3)", "2^(1/2)", "(1+e)", "|", "&", "°", "é", "\u200b", "\u00a0", "\x00", "١", "１",
)  # fmt: skip
CODE = (
    "__import__('os').system('touch pwned')", "exec('1')", "eval(1)", "open('pwned','w')", "().__class__.__bases__",
    "lambda: 0", "import os", "{{7*7}}", "${7*7}", "`id`", "$(id)", "'; DROP TABLE marks; --",
    "<script>alert(1)</script>",
    "\\input{/etc/passwd}", "\\write18{id}", "=cmd|' /C calc'!A0", "Symbol('x').evalf()", "Integer(1)/0", "1if 1else 2",
    "%s%s%n", "\\begin{pmatrix}1\\end{pmatrix}", "f'{1}'", "1;2", "\r\n1", "1\x001",
)  # fmt: skip


def mutation(rng, right):
    """A right answer with some characters or pieces put in, left out, exchanged or repeated."""
    characters = list(right)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(characters) + 1)
        match rng.randrange(5):
            case 0:
                characters.insert(at, rng.choice(TOKENS))
            case 1 if characters:
                del characters[min(at, len(characters) - 1)]
            case 2 if characters:
                characters[min(at, len(characters) - 1)] = rng.choice(TOKENS)
            case 3:
                characters[at:at] = characters[at : at + rng.randint(1, 8)] * rng.randint(1, 6)
            case _:
                characters.insert(at, rng.choice("0123456789"))
    return "".join(characters)


def code(rng, right):
    return rng.choice((rng.choice(CODE), f"{right}{rng.choice(CODE)}", f"{rng.choice(CODE)}+{right}"))


NUMBERS = (
    "0", "1", "2", "3", "7", "10", "1/2", "0.25", "e", "√2", "1e-5", "2.5E3", "1e-400", "1e400", "3e-7", "9" * 60,
)  # fmt: skip
SIZES = (1, 2, 3, 7, 12, 20, 30, 99, 199, 200, 201, 400, 1000, 10**12)


def expression(rng, right, depth=None):
    """Functions of functions, and powers with exponents of both signs and of every size."""
    if depth is None:
        depth = rng.choice((1, 2, 2, 3, 3, 4, 5, 6, 9))
    if depth <= 0:
        return rng.choice((*NUMBERS, right))

    def inner():
        return expression(rng, right, depth - rng.choice((1, 1, 1, 2, 3)))

    sign, size = rng.choice(("", "-")), rng.choice(SIZES)
    match rng.randrange(14):
        case 0:
            return f"{rng.choice(('exp', 'ln', 'sqrt', 'sin', 'cos', 'log'))}({sign}{inner()})"
        case 1 | 2:
            return f"{rng.choice(('exp', 'ln', 'sqrt', 'sin', 'cos'))}({inner()})"
        case 3:
            return f"e^({sign}{inner()})"
        case 4:
            return f"e^({sign}10^{rng.choice(('', '-'))}{size})"
        case 5:
            return f"({inner()})^({sign}{size})"
        case 6:
            return f"({inner()})^({sign}{size}/{rng.choice(SIZES)})"
        case 7:
            return f"({inner()})/({inner()})"
        case 8:
            return f"({inner()})*({inner()})"
        case 9:
            return f"({inner()})+({inner()})"
        case 10:
            same = inner()
            return f"({same})-({same})" if rng.random() < 0.3 else f"({same})-({inner()})"
        case 11:
            return f"{rng.choice((1, 2, 9.5))}e{sign}{size}"
        case 12:
            return f"\\frac{{{inner()}}}{{{inner()}}}"
        case _:
            return f"{rng.choice(('1+', '1-', '-', '10^-200*', '10^200*'))}{inner()}"


KINDS = (mutation, code, expression)


WATCHED = frozenset({"exec", "compile", "open", "import", "os.system", "os.exec", "os.posix_spawn", "subprocess.Popen",
                     "socket.connect", "ctypes.dlopen", "os.remove", "shutil.rmtree"})  # fmt: skip
watching = []
"""Where it is counted, while anything is watched."""


def hook(event, arguments):
    if watching and event in WATCHED:
        watching[0][f"{event} {str(arguments[0])[:60] if arguments else ''}"] += 1


@cache
def hooked():
    """Once a process has the hook it keeps it, and everything that it does takes longer."""
    sys.addaudithook(hook)


@contextmanager
def watched(events):
    hooked()
    watching[:] = [events]
    try:
        yield
    finally:
        watching.clear()


ACCEPTS = Accepts(POLICIES["ecf"], exact=True, places=4)


def judge(text, truth, symbols, mark):
    """One answer read and decided, as marking does it; how that went in a word."""
    said = entry(text, mark, symbols=symbols)
    if said.blank:
        return "blank"
    if not said.readable:
        return "complaint"
    accepted, proof, _ = (*in_letters(said, truth), ()) if symbols else ACCEPTS(said, truth)
    return f"{'accepted' if accepted else 'refused'}: {proof.split(' to ')[0] or 'no proof'}"


def warm_up():
    """The true values; everything that is imported when it is first needed has been, after this."""
    import sympy.assumptions.wrapper  # noqa: F401  (SymPy imports it only for some expressions)

    truths = [(text, read(text).value, False) for text in RIGHT]
    truths += [(text, read(text, symbols=True).value, True) for text in LETTERS]
    rng = random.Random(0)
    for text, truth, symbols in truths:
        for kind in KINDS:
            for _ in range(3):
                with suppress(Exception):  # found again and counted in the run itself
                    judge(kind(rng, text), truth, symbols, ".")
    return truths


def fuzz(count, seed):
    """What came of so many answers, what crashed, and what was opened or run; the same seed gives the same ones."""
    truths, rng, outcomes, crashes, events = warm_up(), random.Random(seed), Counter(), [], Counter()
    for _ in range(count):
        text, truth, symbols = rng.choice(truths)
        answer, mark = rng.choice(KINDS)(rng, text), rng.choice((".", ".", ",", "auto"))
        faulthandler.dump_traceback_later(HOPELESS, exit=True)
        try:
            with watched(events):
                outcomes[judge(answer, truth, symbols, mark)] += 1
        except Exception as error:  # any is a defect, and is what this looks for
            crashes.append((repr(error)[:200], answer[:400]))
        faulthandler.cancel_dump_traceback_later()
    return outcomes, crashes, events
