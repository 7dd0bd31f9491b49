"""What stands in docs/sentences.md: every sentence that can stand on a page, by `make sentences`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from messages import Template, extracted

FILE = Path(__file__).parent.parent / "docs" / "sentences.md"


def sentences() -> str:
    """The whole page."""
    return "\n".join(lines()).rstrip() + "\n"


def lines() -> Iterator[str]:
    said: dict[str, list[str]] = defaultdict(list)
    seen: set[str] = set()
    for template, where in extracted().items():
        text = whole(template)
        if text not in seen:
            seen.add(text)
            said[where].append(text)
    yield from (
        "# Sentences",
        "",
        "Made by `make sentences`: everything that can stand on a page, once each, where it is",
    )
    yield "said first. Names in braces are replaced by values, and formulas stand between dollar signs; where two forms"
    yield from (
        "are separated by a stroke, the first is the singular. The translations are in `symattn/foundation/languages`.",
        "",
    )
    yield f"{len(seen):,} sentences and labels.".replace(",", " ")
    storeys = list(dict.fromkeys(map(storey, said)))
    yield ""
    yield from (f"- [{name}](#{name})" for name in storeys)
    for name in storeys:
        yield from ("", f"## {name}")
        for where, texts in said.items():
            if storey(where) == name:
                yield from ("", f"### {where}", "", "```text", *texts, "```")


def storey(where: str) -> str:
    return where.partition("/")[0]


def whole(template: Template) -> str:
    one, other = (" ".join(text.split()) for text in (template.one, template.other))
    return f"{one} | {other}" if other else one


if __name__ == "__main__":
    FILE.write_text(sentences(), encoding="utf-8")
