"""What `symattn list` lists, and Tab completes: every entry of every catalogue with a line on it.

That of symattn's own entries is kept in listed.json, so that none of them is loaded; `make reference` makes it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence

from symattn.derivation.settings import ABOUT
from symattn.foundation.additions import VARIABLE
from symattn.foundation.installed import PACKAGE

KEPT = PACKAGE / "cli" / "listed.json"


def entries(what: str) -> Mapping[str, str]:
    """The entries of a list by name, with a line on each; worked out where folders of the user's are read as well."""
    if os.environ.get(VARIABLE):
        return catalogues()[what]()
    found: Mapping[str, str] = json.loads(KEPT.read_text("utf-8"))[what]
    return found


def catalogues() -> dict[str, Callable[[], Mapping[str, str]]]:
    """The lists by their name: each entry with a line on it."""

    def mechanisms() -> Mapping[str, str]:
        from symattn.derivation.mechanisms import mechanisms as catalogue

        return {m.name: m.title for m in catalogue().values()}

    def settings() -> Mapping[str, str]:
        return {name: setting.about for name, setting in ABOUT.items()}

    def problems() -> Mapping[str, str]:
        from symattn.teaching.problems import problem_types

        return {p.name: p.title for p in problem_types().values()}

    def options() -> Mapping[str, str]:
        from symattn.teaching.problems import problem_types
        from symattn.teaching.recipe import option_text

        return {
            f"{t.name}: {name}={option_text(default)}": word
            for t in problem_types().values()
            for name, (default, word, *_) in t.options.items()
        }

    def misconceptions() -> Mapping[str, str]:
        from symattn.derivation.misconceptions import misconceptions as catalogue
        from symattn.derivation.misconceptions.base import COUNTING, Misconception, Miscount
        from symattn.derivation.slips import SLIPS, Slip

        known: list[Misconception | Miscount | Slip] = [*catalogue().values(), *COUNTING.values(), *SLIPS.values()]
        return {entry.id: entry.name for entry in known}

    def policies() -> Mapping[str, str]:
        from symattn.marking.marker.policy import POLICIES

        return {policy.name: policy.title.partition(": ")[2] for policy in POLICIES.values()}

    def notations() -> Mapping[str, str]:
        from symattn.page.notation import notation_title
        from symattn.page.notation import notations as catalogue

        return {name: notation_title(name) for name in catalogue()}

    def examples() -> Mapping[str, str]:
        from symattn.teaching.problem import examples as catalogue
        from symattn.teaching.problem import load_example

        return {name: load_example(name).title for name in catalogue()}

    def formats() -> Mapping[str, str]:
        from symattn.page.writers import FORMATS
        from symattn.teaching.exporters import EXPORTERS
        from symattn.teaching.rendering import formats as catalogue

        through = {"pdf": "PDF/A-2a and PDF/UA-1, without TeX.", "latex-pdf": "PDF through TeX."}
        pages = {form: through.get(form) or _about(FORMATS[form]) for form in catalogue()}
        return pages | {form: _about(exporter) for form, exporter in EXPORTERS.items()}

    def languages() -> Mapping[str, str]:
        from symattn.foundation.languages import about
        from symattn.foundation.languages import languages as catalogue

        return {code: about(code) for code in catalogue()}

    def diagrams() -> Mapping[str, str]:
        from symattn.teaching.explanation.diagrams import DIAGRAMS

        return {kind: _about(make) for kind, make in DIAGRAMS.items()}

    def ops() -> Mapping[str, str]:
        from symattn.derivation.mechanisms.custom import parameters_of
        from symattn.derivation.ops import operations

        return {name: _with_parameters(_about(op), parameters_of(name)) for name, op in operations().items()}

    return {
        "mechanisms": mechanisms,
        "settings": settings,
        "problems": problems,
        "options": options,
        "misconceptions": misconceptions,
        "policies": policies,
        "notations": notations,
        "examples": examples,
        "formats": formats,
        "languages": languages,
        "diagrams": diagrams,
        "ops": ops,
    }


def _with_parameters(about: str, parameters: Sequence[str]) -> str:
    """What an operation does, and what a step may say of it."""
    return f"{about}  [{', '.join(parameters)}]" if parameters else about


def _about(thing: object) -> str:
    """The first line of its docstring."""
    return (thing.__doc__ or "").strip().split("\n")[0]
