"""What long work says meanwhile, where nobody looks at a terminal."""

from threading import Event

import click
import pytest

from symattn.cli.options import line, lines


@pytest.mark.parametrize(
    ("done", "seconds", "said"),
    [
        (0, 30, "Worksheets: 0 of 40 done."),
        (10, 20, "Worksheets: 10 of 40 done, about 60 s to go."),  # 30 more at 2 s each
        (1, 20, "Worksheets: 1 of 40 done, about 13 min to go."),
        (40, 20, "Worksheets: 40 of 40 done."),
    ],
)
def test_what_a_line_says(done, seconds, said):
    assert line("Worksheets", done, 40, seconds) == said


def test_lines_come_while_nothing_is_done_and_end_with_the_work(monkeypatch):
    said, came = [], Event()

    def say(text, err):
        assert err
        said.append(text)
        came.set()

    monkeypatch.setattr(click, "echo", say)
    with lines(4, "Worksheets", 0.01):
        assert came.wait(60)
    before = len(said)
    came.clear()
    assert not came.wait(0.1)
    assert len(said) == before
