r"""Blocks for LaTeX's class exam: `\question`, `\part[marks]`, `\begin{solution}`, `\printanswers`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from symattn.page.document import Block, Choices, Heading, Solved, Table, Together, Total, all_blocks
from symattn.page.writers.latex_blocks import Blocks, environment, number_of_points, questions_of, words_of
from symattn.page.writers.latex_text import escaped

_IN_A_ROW = 10  # questions in a table of marks


@dataclass(frozen=True)
class ExamBlocks(Blocks):
    """Headings of questions and parts become the class's own, which it counts itself."""

    def body(self, blocks: Sequence[Block]) -> str:
        self.questions.update(questions_of(blocks))
        return "\n\n".join(filter(None, self._pieces(blocks)))

    def heading(self, heading: Heading) -> str:
        """Of what is no question or part of the class."""
        return super().heading(replace(heading, of=""))

    def _table(self, table: Table) -> str:
        """The table of marks is the class's own, in several rows where it was several tables."""
        totals = [words.text.of for words in words_of(table) if isinstance(words.text, Total)]
        if not self.questions or not totals:
            return super()._table(table)
        rows = -(-len(self.questions) // _IN_A_ROW)
        whole = "\\gradetable[h][questions]" if rows == 1 else f"\\multirowgradetable{{{rows}}}[questions]"
        return whole if 0 in totals else ""

    def _pieces(self, blocks: Sequence[Block]) -> Iterator[str]:
        """The blocks one after the other, with the beginnings and ends of the lists in which questions stand."""
        open_lists: list[str] = []
        over = False

        def closed(down_to: int) -> Iterator[str]:
            while len(open_lists) > down_to:
                yield f"\\end{{{open_lists.pop()}}}"

        for position, block in enumerate(blocks):
            heading, rest = _headed(block)
            if isinstance(block, Solved) and not block.worked and block.key:  # what comes after all questions
                over = True
                yield from closed(0)
            kind = _kind(heading) if heading and not over else ""
            if heading is None or not kind:
                if heading and open_lists:
                    over = over or heading.level <= 1
                    yield from closed(0 if over else 1)
                yield self.block(block)
                continue
            depth = 1 if kind == "question" or not open_lists else 2
            yield from closed(depth)
            if len(open_lists) < depth:
                open_lists.append("questions" if depth == 1 else "parts")
                yield f"\\begin{{{open_lists[-1]}}}"
            marks = "" if depth == 1 and _has_parts(blocks[position + 1 :]) else _points(heading)
            yield "\\needroom\n" + self._numbered("question" if depth == 1 else "part", heading, marks)
            yield self.together(Together(rest)) if rest else ""
        yield from closed(0)

    def _numbered(self, command: str, heading: Heading, marks: str) -> str:
        title = self.text(heading.content)
        codes = "" if not heading.marks or heading.marks.startswith("[") else f" \\quad({escaped(heading.marks)})"
        return f"\\{command}{f'[{marks}]' if marks else ''} \\textbf{{{title}}}{codes}\\nopagebreak"

    def together(self, group: Together) -> str:
        """Solutions may be longer than a page and are not held together."""
        if any(isinstance(block, Solved) for block in all_blocks(group.blocks)):
            return self.blocks(group.blocks, together=True)
        return super().together(group)

    def solved(self, solved: Solved) -> str:
        if self.solutions in ("blank", "partly"):
            return self.blocks(solved.shown(self.solutions))
        asked = f"\\ifprintanswers\\else\n{self.blocks(solved.ask)}\n\\fi" if solved.ask else ""
        answered = self.blocks(solved.shown(self.solutions))
        if answered and solved.worked:
            answered = environment("solution", answered)
        elif answered:
            answered = f"\\ifprintanswers\n{answered}\n\\fi"
        return "\n".join(filter(None, (asked, answered)))

    def choices(self, choices: Choices) -> str:
        items = (
            f"  \\{'CorrectChoice' if i in choices.ticked else 'choice'} {self.option(item)}"
            for i, item in enumerate(choices.items)
        )
        return environment("choices", "\n".join(items))


def _headed(block: Block) -> tuple[Heading | None, tuple[Block, ...]]:
    """The heading with which a block begins, and what comes after it."""
    match block:
        case Heading():
            return block, ()
        case Together((Heading() as heading, *rest)):
            return heading, tuple(rest)
        case _:
            return None, ()


def _kind(heading: Heading) -> Literal["", "question", "part"]:
    """What the class has an environment for; a question that is a chapter of something else is none here."""
    match heading.of:
        case "part":
            return "part"
        case "question" if heading.level == 1:
            return "question"
    return ""


def _has_parts(blocks: Sequence[Block]) -> bool:
    """Whether parts with marks of their own come before the next question: they are what the class adds up."""
    for block in blocks:
        heading, _ = _headed(block)
        if heading and _kind(heading) == "question":
            return False
        if heading and _kind(heading) == "part" and heading.marks:
            return True
    return False


def _points(heading: Heading) -> str:
    """[7] and M4 A3 are seven marks; nothing where there are none."""
    return str(number_of_points(heading.marks) or "")
