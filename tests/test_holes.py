"""Faults that were planted and that no other fast test found."""

import sys

import pytest

from symattn.foundation.dice import Dice
from symattn.foundation.workers import Hands, Limits, LostError, answer_of, text_of
from symattn.marking.submissions import labels


@pytest.mark.parametrize("label", ["Question 2", "question_2", "Question-2", "Aufgabe~2", "Question **2", "Question2"])
def test_whatever_stands_between_question_and_its_number(label):
    """With a space alone, answers below Question_2 or Question~2 were nobody's."""
    assert labels.number_in(labels.question().fullmatch(label)) == 2


def test_two_secrets_are_two_keys(tmp_path):
    """With one key for all secrets, anybody could make tomorrow's paper."""
    for name in ("one", "other"):
        (tmp_path / name).write_text(f"the secret of {name} teacher")
    assert Dice.secret(tmp_path / "one").key != Dice.secret(tmp_path / "other").key


def hungry(settings):
    """Takes memory that any machine promises and no limit allows."""
    return lambda size: len(bytearray(size))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory of a process is limited on Linux only")
def test_a_job_that_takes_more_memory_than_it_may_is_ended():
    """Memory that no machine has (`odd_jobs.told`, "grow") is refused without any limit, too."""
    hands = Hands()
    try:
        with pytest.raises(LostError, match=r"takes more than 0\.5 GiB of memory"):
            answer_of(hands.do(f"{__name__}:hungry", "null", text_of(2**30), Limits(60, 2**29)))
        assert answer_of(hands.do(f"{__name__}:hungry", "null", text_of(10), Limits(60, 2**29))) == 10
    finally:
        hands.close()
