"""What feedback says beyond the entries: where to practise, and what in the file could not be used."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

import symattn
from symattn.cli import main
from symattn.page.document import Code, Paragraph, all_blocks, spans

D = symattn.derive("attention", Q=[[1, 0], [0, 2]], K=[[1, 0], [1, 1]], V=[[1], [2]], scale=2)
RIGHT = {"S": [[1, 1], [0, 2]], "S'": [["1/2", "1/2"], [0, 1]], "A": [["1/2", "1/2"], ["1/(1+e)", "e/(1+e)"]]}


def commands(answers: dict[str, object], reader: str = "student") -> list[str]:
    document = symattn.check(D, answers).document(reader)  # type: ignore[arg-type]
    blocks = (block for block in all_blocks(document.blocks) if isinstance(block, Paragraph))
    return [part.text for block in blocks for part in spans(block.content) if isinstance(part, Code)]


@pytest.mark.parametrize(
    ("part", "wrong", "step"),
    [("S", [[1, 1], [0, 7]], "scores"), ("A", [["1/2", "1/2"], ["1/3", "2/3"]], "softmax")],
)
def test_a_student_is_told_how_to_practise_the_step_that_went_wrong(part: str, wrong: object, step: str) -> None:
    [command] = commands({**RIGHT, part: wrong})
    assert command == f"symattn worksheet --problem drills --option step={step}"
    assert not [told for told in commands({**RIGHT, part: wrong}, "teacher") if "worksheet" in told]


def test_the_command_works(tmp_path) -> None:
    [command] = commands({**RIGHT, "S": [[1, 1], [0, 7]]})
    arguments = [*command.split()[1:], "--seed", "1", "--format", "text", "--out", str(tmp_path)]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    assert len(list(tmp_path.glob("*.txt"))) == 2


def test_who_makes_no_mistake_is_sent_nowhere() -> None:
    assert commands(RIGHT) == []


def test_what_belongs_to_no_question_is_on_the_page() -> None:
    marking = symattn.check(D, 'name = "Ada"\nanswers = 3\n')
    remarks = marking.submission.remarks
    assert remarks
    for reader in ("student", "teacher"):
        text = " ".join(marking.text("text", reader).split())  # type: ignore[arg-type]
        for remark in remarks:
            assert remark.says in text
