"""What an exam cannot ask is said before its variants are drawn, and not after hours."""

import pytest
from sentences import refused_saying

from symattn.foundation.dice import Dice
from symattn.teaching.exam import frozen_exam
from symattn.teaching.exam.deploy import FROZEN, write_exam
from symattn.teaching.exam.frozen_exam import BEGUN, make_exam
from symattn.teaching.exam.spec import read_exam_file

EXAM = """
title = "Midterm"
variants = 5

[[question]]
mechanism = "attention"
level = "starter"

[[question]]
mechanism = "attention"
given = {Q = [[1, 2]], K = [[1]], V = [[1]]}
"""


def test_a_question_that_cannot_be_asked_is_told_after_one_variant_of_those_before_it(tmp_path):
    path = tmp_path / "midterm.toml"
    path.write_text(EXAM, "utf-8")
    drawn = []
    with refused_saying(r"^Question 2: "):
        make_exam(read_exam_file(path), Dice.seeded(1), drawn.append)
    assert len(drawn) == 1


def test_every_variant_is_told_of_once(tmp_path):
    path = tmp_path / "midterm.toml"
    path.write_text(EXAM.replace("K = [[1]]", "K = [[1, 0]]"), "utf-8")
    drawn = []
    exam = make_exam(read_exam_file(path), Dice.seeded(1), drawn.append)
    assert sorted(map(len, exam.pools)) == [1, 5]
    assert sorted(v.id for v in drawn) == sorted(v.id for variants in exam.pools for v in variants)


class StoppedError(Exception):
    pass


@pytest.mark.covering(most=1)
@pytest.mark.parametrize("seed", [3, None])
def test_what_was_frozen_before_a_run_was_broken_off_is_not_made_again(tmp_path, monkeypatch, seed):
    """Without a seed, too; a line that was cut off is made again, and in the end nothing is left but the exam."""
    path, made = tmp_path / "midterm.toml", []
    path.write_text(EXAM.replace("K = [[1]]", "K = [[1, 0]]"), "utf-8")
    spec, dice = read_exam_file(path), Dice.seeded(seed) if seed else None

    def stop(variant):
        if len(made) == 4:
            raise StoppedError

    monkeypatch.setattr(frozen_exam, "prove", lambda question, chosen: made.append(question))
    with pytest.raises(StoppedError):
        write_exam(spec, tmp_path / "out", ["text"], dice, stop)
    begun = tmp_path / "out" / BEGUN
    kept = [line for line in begun.read_text("utf-8").splitlines() if "content" in line]
    begun.write_text(begun.read_text("utf-8")[:-20], "utf-8")
    exam, _ = write_exam(spec, tmp_path / "out", ["text"], dice)
    assert (len(kept), len(made)) == (4, 4 + 3)
    assert (tmp_path / "out" / FROZEN).exists()
    assert not begun.exists()
    ids = [v.id for variants in exam.pools for v in variants]
    assert sum(any(f'"{id}"' in line for line in kept) for id in ids) == 4
    if seed:
        assert ids == [v.id for variants in make_exam(spec, Dice.seeded(seed)).pools for v in variants]


@pytest.mark.slow
def test_another_seed_begins_anew_and_a_refused_exam_leaves_nothing(tmp_path):
    path = tmp_path / "midterm.toml"
    path.write_text(EXAM, "utf-8")
    with refused_saying(r"^Question 2: "):
        write_exam(read_exam_file(path), tmp_path / "out", ["text"], Dice.seeded(1))
    assert not (tmp_path / "out").exists()
    path.write_text(EXAM.replace("K = [[1]]", "K = [[1, 0]]"), "utf-8")
    spec = read_exam_file(path)

    def stop(variant):
        raise StoppedError

    with pytest.raises(StoppedError):
        write_exam(spec, tmp_path / "out", ["text"], Dice.seeded(1), stop)
    exam, _ = write_exam(spec, tmp_path / "out", ["text"], Dice.seeded(2))
    assert exam.pools == make_exam(spec, Dice.seeded(2)).pools


@pytest.mark.slow
def test_what_was_kept_is_taken_only_as_it_was_written(tmp_path):
    """Spaces aside: a line that was changed, and all after it, are made again."""
    path = tmp_path / "midterm.toml"
    path.write_text(EXAM.replace("K = [[1]]", "K = [[1, 0]]").replace("variants = 5", "variants = 3"), "utf-8")
    spec, seen = read_exam_file(path), []

    def stop(variant):
        seen.append(variant)
        if len(seen) == 2:
            raise StoppedError

    with pytest.raises(StoppedError):
        write_exam(spec, tmp_path / "out", ["text"], Dice.seeded(4), stop)
    text = (tmp_path / "out" / BEGUN).read_text("utf-8")
    whole = make_exam(spec, Dice.seeded(4)).pools
    spoilt = [
        text.replace('"features"', '"features" '),
        text.replace("load", "laod"),
        "[]\n" + text,
        "{}",
        "",
        "\xff" + text,
        '{"dice": 7}\n' + text,
    ]
    for k, kept in enumerate(spoilt):
        begun = tmp_path / str(k) / BEGUN
        begun.parent.mkdir()
        begun.write_bytes(kept.encode("latin-1"))
        exam, _ = write_exam(spec, begun.parent, ["text"], Dice.seeded(4))
        assert exam.pools == whole, kept[:20]
