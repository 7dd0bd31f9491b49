"""Options as they are typed, read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from symattn.errors import InputError, offered

if TYPE_CHECKING:
    from symattn.page.document import Look
    from symattn.teaching.explanation import WhichEntries


def read_look(settings: dict[str, Any], language: str | None = None) -> Look:
    """The look that was asked for, in a `language` unless another was; its options are taken out of `settings`."""
    from symattn.page.presentation import make_look

    chosen = chosen_look(settings)
    return make_look(**{**chosen, "language": chosen["language"] or language})


def chosen_look(settings: dict[str, Any]) -> dict[str, Any]:
    """The choices of a look, taken out of `settings`."""
    names = ("text_size", "paper", "spacing", "decimal_sign", "brackets", "transpose", "language")
    chosen = {name: settings.pop(name) for name in names}
    if settings.pop("fillable", False):
        chosen["fillable"] = True
    return chosen | ({"text_size": int(chosen["text_size"])} if chosen["text_size"] else {})


def read_list(text: str) -> list[str]:
    """latex, pdf → ["latex", "pdf"]."""
    return [part.strip() for part in text.split(",") if part.strip()]


def read_options(problem: str, stated: tuple[str, ...]) -> dict[str, object]:
    """NAME=VALUE as the problem type wants it: a number, true or false, a text, a list with commas."""
    from symattn.teaching.problems import problem_type

    known, options = problem_type(problem).options, dict[str, object]()
    for text in stated:
        name, sign, value = text.partition("=")
        if not sign:
            raise InputError(f"--option is {text!r}; NAME=VALUE was expected.")
        kind = type(known[name][0]) if name in known else str
        if kind is bool and value in ("true", "false"):
            options[name] = value == "true"
        elif kind is int and value.removeprefix("-").isdecimal() and len(value) < 10:
            options[name] = int(value)
        elif kind is list:
            options[name] = _listed(value)
        else:
            options[name] = value
    return options


def _listed(value: str) -> list[str]:
    """A list with commas; also as footers print it, ["a", "b"]."""
    return [part for piece in value.strip("[]").split(",") if (part := piece.strip().strip('"'))]


def read_settings(given: dict[str, Any]) -> dict[str, Any]:
    """The settings that were named on the command line."""
    by_token, by_matrix, rounding = (given.pop(key) for key in ("by_token", "by_matrix", "rounding"))
    settings = {key: value for key, value in given.items() if value is not None}
    if by_token and by_matrix:
        raise InputError("--by-token and --by-matrix exclude each other.")
    if by_token or by_matrix:
        settings["by"] = "token" if by_token else "matrix"
    if rounding is not None:
        parts = rounding.split(":")
        places, method, ties = (*parts, "", "")[:3]
        if not places.isdecimal() or len(places) > 3 or len(parts) > 3:
            raise InputError(f"--round is {rounding!r}; places such as 2, or 1:largest-remainder, were expected.")
        settings["rounding"] = {"places": int(places), "method": method or "nearest", "ties": ties or "even"}
    return settings


def read_sizes(text: str | None) -> dict[str, int | str] | None:
    """n=3,d_k=d → {"n": 3, "d_k": "d"}."""
    if text is None:
        return None
    from symattn.derivation.mechanisms import mechanisms

    known = dict.fromkeys(letter for chosen in mechanisms().values() for letter in chosen.letters)
    own = dict.fromkeys(("h", *known))  # heads, which the problem type counts has among its sizes
    sizes: dict[str, int | str] = {}
    for part in text.split(","):
        name, sign, size = (p.strip() for p in part.partition("="))
        if sign and size and name not in own:
            raise InputError(f"There is no size {name!r}; {offered(name, known, 'the sizes are {}')}")
        if not sign or not size:
            raise InputError(
                f"--size has {part!r}; something like n=3,d_model=5,d_k=4,d_v=2 was expected, the sizes being "
                f"{', '.join(known)}."
            )
        if size.isdecimal():
            if len(size) > 9 or not 1 <= int(size) <= 10_000:
                raise InputError(f"--size has {part!r}; a size is from 1 to 10000.")
            sizes[name] = int(size)
        elif size.isidentifier() and len(size) <= 12:
            sizes[name] = size
        else:
            raise InputError(f"--size has {part!r}; a size is a number from 1 or a letter.")
    return sizes


def read_marks(text: str) -> dict[str, int]:
    """S=5,A=4 → {"S": 5, "A": 4}."""
    marks: dict[str, int] = {}
    for part in read_list(text):
        name, sign, number = (p.strip() for p in part.partition("="))
        if not (sign and name and number.isdecimal() and len(number) <= 4 and 1 <= int(number) <= 1000):
            raise InputError(f"--marks has {part!r}; something like S=5,A=4 was expected, each from 1 to 1000.")
        marks[name] = int(number)
    return marks


def read_entries(text: str) -> WhichEntries:
    """auto, all, first-row, none, or 1,1;2,3 → ((0, 0), (1, 2))."""
    if text in ("auto", "all", "first-row", "none"):
        return cast("WhichEntries", text)
    chosen = []
    for part in text.split(";"):
        i, _, j = part.partition(",")
        if not all(x.strip().isdecimal() and len(x) < 9 and int(x) > 0 for x in (i, j)):
            raise InputError(
                f"--entries is {text!r}; all, first-row, none, auto or pairs such as 1,1;2,3 were expected."
            )
        chosen.append((int(i) - 1, int(j) - 1))
    return tuple(chosen)
