"""Files of TOML with something wrong in them: every key gets every kind of value that it should not have."""

import datetime as dt
import json
import math
import re
from collections.abc import Mapping
from copy import deepcopy

DAY = dt.date(1979, 5, 27)
WRONG = (
    DAY, dt.datetime(1979, 5, 27, 7, 32), dt.time(7, 32), [], [[]], [1], ["a"], [[1, "a"]], [[1], [1, 2]], [DAY], {},
    {"a": 1}, [{"a": 1}], [[{"a": 1}]], {"a": {"b": [1]}}, True, False, 0, -1, 7, 10**30, -(10**18), 1.5, -0.0,
    math.nan, math.inf, -math.inf, "", " ", "x", "x" * 5000, "a\nb", "\U0001f642", "1/0", "((((", "sqrt(-1)",
    "\\frac{1}", "[[1,0]]", "none", "{n}", "$", "@values(", "é'\"", "0", "-3",
)  # fmt: skip
"""Every kind of value that TOML has, and texts that are no name of anything."""


def without_caret(output):
    """The lines of an error without a text that could not be read and the caret below it."""
    lines = output.removesuffix("\n").split("\n")
    return lines[:-2] if re.fullmatch(r" +\^", lines[-1]) else lines


Path = tuple[str | int, ...]


def dumps(data):
    """A table as TOML, everything below the first keys inline."""
    return "".join(f"{json.dumps(key, ensure_ascii=False)} = {_value(value)}\n" for key, value in data.items())


def _value(value):
    match value:
        case bool():
            return str(value).lower()
        case int() | float():
            return repr(value)
        case str():
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case dt.date() | dt.time():
            return value.isoformat()
        case list():
            return f"[{', '.join(map(_value, value))}]"
    return f"{{{', '.join(f'{json.dumps(key, ensure_ascii=False)} = {_value(x)}' for key, x in value.items())}}}"


def places(data, at=()):
    """Every key of a table and every item of a list, at any depth."""
    inside = data.items() if isinstance(data, Mapping) else enumerate(data) if isinstance(data, list) else ()
    for key, value in inside:
        yield (*at, key)
        yield from places(value, (*at, key))


def spoilt(data, at, value):
    """The table with another value at one place."""
    copied = deepcopy(dict(data))
    inside = copied
    for key in at[:-1]:
        inside = inside[key]
    inside[at[-1]] = deepcopy(value)
    return copied


def without(data, at):
    copied = deepcopy(dict(data))
    inside = copied
    for key in at[:-1]:
        inside = inside[key]
    del inside[at[-1]]
    return copied
