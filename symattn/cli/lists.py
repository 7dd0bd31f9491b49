"""`symattn list`: what there is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from textwrap import wrap

import click

from symattn.cli.listed import catalogues, entries
from symattn.cli.options import Command, completing
from symattn.derivation.settings import ABOUT
from symattn.errors import InputError, offered

WIDTH = 100
"""Of a line, in characters."""


@click.command("list", cls=Command)
@click.argument("what", required=False, metavar="[WHAT]", shell_complete=completing(lambda: list(catalogues())))
@click.argument("names", nargs=-1, metavar="[NAME]...")
def list_(what: str | None, names: tuple[str, ...]) -> None:
    """List what there is: mechanisms, settings, problems, options, misconceptions, policies, notations, formats, …

    \b
    symattn list                           everything
    symattn list mechanisms                one of the lists
    symattn list mechanism layer_norm      its givens, settings and steps, with an example
    symattn list mechanism additive.toml   the same of a mechanism in a file
    symattn list problem masks             the same for a problem type
    symattn list settings                  every setting of every mechanism
    symattn list settings attention        the settings of one mechanism, with its defaults
    symattn list misconceptions T2         one mistake: what is done, how it shows and is recognised
    symattn list options                   the options of every problem type
    symattn list options masks             those of one, with an example
    """
    from symattn.foundation.remembered import remembered

    listed, detailed = catalogues(), details()
    if what not in listed and (plural := f"{what}s") in detailed:  # symattn list misconception T2
        if not names:
            raise InputError(f"symattn list {what} NAME describes one; symattn list {plural} names them all.")
        what = plural
    if what is not None and what not in listed:
        raise InputError(f"There is no list of {what!r}; {offered(what, listed)}")
    if names:
        if what not in detailed:
            raise InputError(f"There is nothing more on {names[0]!r}: symattn list {what} says it all.")
        about = [_lines_about(what, name, detailed[what]) for name in names]
        click.echo("\n\n".join(map("\n".join, about)))
        return
    if what == "settings":
        click.echo("\n".join(remembered("list", "settings", lambda: list(all_settings()))))
        return
    for title in [what] if what else listed:
        rows = entries(title)
        if not what:
            click.secho(title, bold=True)
        longest = max(len(key) for key in rows)
        for key, words in rows.items():
            click.echo(f"  {key.ljust(longest)}  {words}".rstrip())


def _lines_about(what: str, name: str, lines: Callable[[str], Iterator[str]]) -> list[str]:
    """The lines about one entry, kept for the next time unless it stands in a file of the user's."""
    from symattn.foundation.remembered import remembered

    return list(lines(name)) if name.endswith(".toml") else remembered("list", f"{what} {name}", lambda: [*lines(name)])


def details() -> dict[str, Callable[[str], Iterator[str]]]:
    """The lists that say more of a single entry: the lines about the one of that name."""
    return {
        "mechanisms": _mechanism,
        "settings": _settings_of,
        "problems": _problem,
        "options": _problem,
        "misconceptions": _misconception,
    }


def _mechanism(name: str) -> Iterator[str]:
    """Its givens with their shapes, its settings, its steps, and an example to copy."""
    from symattn.derivation.mechanisms import named_mechanism
    from symattn.teaching.description import describe

    yield str(describe(name if name == "custom" else named_mechanism(name))).rstrip()


def _problem(name: str) -> Iterator[str]:
    """The same of a problem type."""
    from symattn.teaching.description import describe
    from symattn.teaching.problems import problem_type

    yield str(describe(problem_type(name).name)).rstrip()


def _settings_of(name: str) -> Iterator[str]:
    """The settings of a mechanism, its own first, with their defaults there."""
    from symattn.derivation.mechanisms import mechanism
    from symattn.derivation.mechanisms.settings import NOT_OF_ALL

    chosen = mechanism(name)
    shared = {setting for setting in ABOUT if setting not in NOT_OF_ALL}
    known = [s for s in ABOUT if s in chosen.uses] + [s for s in ABOUT if s in shared]
    defaults = {s: _default(s, chosen.defaults) for s in known}
    longest = max(len(f"{s} = {defaults[s]}") for s in known)
    yield f"{chosen.name}: {chosen.title}"
    for s in known:
        yield from _described(f"{s} = {defaults[s]}", longest, s)


def _misconception(code: str) -> Iterator[str]:
    """One entry of the catalogue: a misconception (with tokens as rows), a miscount or a slip."""
    from symattn.derivation.misconceptions import misconceptions
    from symattn.derivation.misconceptions.base import COUNTING, Misconception, Miscount
    from symattn.derivation.slips import SLIPS, Slip

    known: Mapping[str, Misconception | Miscount | Slip] = {**misconceptions(), **COUNTING, **SLIPS}
    if code not in known:
        raise InputError(
            f"There is no misconception {code!r}; {offered(code, known, see='symattn list misconceptions')}"
        )
    entry = known[code]
    yield f"{code}: {entry.name}"
    match entry:
        case Slip():
            rows = {"shows in": f"one entry e, written as e': {entry.detect}"}
        case Miscount():
            rows = {"what is done": entry.exactly, "tell-tale": entry.tell, "seen in": entry.source}
        case Misconception():
            core = "; exam variants are drawn so that it shows" if entry.core else ""
            turned = {"for columns": entry.turned_name} if entry.turned_name else {}
            rows = turned | {
                "what is done": entry.exactly,
                "shows first in": entry.at,
                "tell-tale": entry.tell,
                "how common": f"{entry.prior}{core}",
                "seen in": entry.source,
            }
    for label, text in rows.items():
        first, *rest = wrap(text, WIDTH - 18, break_on_hyphens=False)
        yield f"  {label:<14}  {first}"
        yield from (f"{' ' * 18}{line}" for line in rest)


def all_settings() -> Iterator[str]:
    """Every setting, with the mechanisms that have it where not all do."""
    from symattn.derivation.mechanisms import mechanisms
    from symattn.derivation.mechanisms.settings import NOT_OF_ALL

    defaults = {s: _default(s, {}) for s in ABOUT}
    longest = max(len(f"{s} = {default}") for s, default in defaults.items())
    for s, default in defaults.items():
        yield from _described(f"{s} = {default}", longest, s)
        if s in NOT_OF_ALL:
            having = ", ".join(m.name for m in mechanisms().values() if s in m.uses)
            yield from _wrapped(longest, f"Of {having}.")


def _default(setting: str, of_mechanism: Mapping[str, object]) -> str:
    from symattn.derivation.mechanisms.settings import UNSET, Settings

    default = of_mechanism.get(setting, Settings.__dataclass_fields__[setting].default)
    return UNSET[setting] if default in (None, "") else str(default)


def _described(head: str, longest: int, setting: str) -> Iterator[str]:
    yield f"  {head.ljust(longest)}  {ABOUT[setting].about}"
    yield from _wrapped(longest, ABOUT[setting].values)


def _wrapped(indent: int, text: str) -> Iterator[str]:
    space = " " * (indent + 4)
    yield from wrap(text, WIDTH, initial_indent=space, subsequent_indent=space, break_on_hyphens=False)
