"""Whatever is typed, only the errors that are promised come of it, and none of it takes long."""

import time
from fractions import Fraction
from random import Random

import fuzz_answers
import pytest

from symattn.errors import InputError, ReadError, UndecidedError
from symattn.exact import compare, decide, decimal_text, rounded, sign, significant_text, to_sympy
from symattn.exact.reading import decide_reading, read, typed
from symattn.exact.tree import OverBudget
from symattn.exact.values import has_symbols, text
from symattn.formula import number

LIMIT = 1.0
"""Seconds of processor time, several times of what the bench allows."""

NUMBERS = {
    "decide": (lambda v: decide(v, Fraction(1, 3)), ()),
    "text": (text, ()),
    "formula": (number, (InputError,)),  # thousands of digits
    "SymPy": (to_sympy, ()),
    "typed": (lambda v: read(typed(v)), (ReadError,)),  # longer than what is read
    "compare": (lambda v: compare(v, Fraction(1, 3)), (UndecidedError,)),
    "sign": (sign, (UndecidedError,)),
    "decimals": (lambda v: decimal_text(v, 4), (InputError, UndecidedError)),
    "digits": (lambda v: significant_text(v, 4), (InputError, UndecidedError)),
    "rounded": (lambda v: rounded(v, 1), (InputError, UndecidedError)),
}
"""What is done with a value, and how it may fail."""


def values_of(reading):
    found = []
    for one in (reading, *reading.alternatives):
        try:
            found.append(one.evaluate())
        except (ReadError, OverBudget):
            continue
    return found


@pytest.mark.slow
def test_only_promised_errors_leave_what_is_typed():
    rng = Random(5)
    evaluated, said = 0, []
    for k in range(150):
        answer = fuzz_answers.expression(rng, rng.choice(fuzz_answers.RIGHT), depth=rng.randint(1, 4))
        started = time.process_time()
        try:
            reading = read(answer)
        except ReadError as error:
            said.append(str(error))
            continue
        reading.echo()
        try:
            decide_reading(reading, Fraction(1, 3))
        except ReadError as error:  # it is no number
            said.append(str(error))
        for value in values_of(reading):
            if value is read("-inf").value or has_symbols(value):
                continue
            evaluated += 1
            for function, allowed in NUMBERS.values():
                try:
                    function(value)
                except allowed as error:
                    said.append(str(error))
        assert k < 5 or time.process_time() - started < LIMIT, answer  # the first ones import what is needed
    assert evaluated > 50
    assert [text for text in said if not text.endswith(".")] == []


@pytest.mark.covering(product=False)
@pytest.mark.parametrize("exponent", [12, 20, 400])
@pytest.mark.parametrize("sign_of_it", ["", "-"])
@pytest.mark.parametrize("form", ["{}", "cos({})", "sin({})", "ln({})", "ln(1+{})", "e^{}", "√(1-cos({}))", "1/({})"])
def test_exponents_of_both_signs_in_every_function(form, sign_of_it, exponent):
    started = time.process_time()
    reading = read(form.format(f"(e^({sign_of_it}10^{exponent}))"))
    try:
        decision = decide_reading(reading, Fraction(1, 3))
    except ReadError:
        return
    assert decision.equal is not True
    assert time.process_time() - started < LIMIT
