"""The furniture of a page: a template with ready-made blocks put in."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from symattn.resources import templates

if TYPE_CHECKING:
    from jinja2 import Environment


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    # The usual braces of Jinja have a meaning in TeX and Typst; these signs have none there.
    return Environment(
        loader=FileSystemLoader(templates()),
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
        comment_start_string="<#",
        comment_end_string="#>",
    )


def filled(template: str, **parts: object) -> str:
    """The template of this name, filled with text that the writer has already made safe."""
    return _environment().get_template(template).render(parts)
