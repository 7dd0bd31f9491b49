"""One run at a time in a folder, and files whole or not at all: whoever is killed holds nothing and leaves nothing."""

import logging
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from sentences import refused_saying

import symattn
from symattn.foundation import files
from symattn.foundation.files import LOCK, alone_in, put, put_new, staging_in

ROOT = Path(symattn.__file__).parent.parent
HOLDS = """
import sys
from pathlib import Path
from symattn.foundation.files import alone_in
with alone_in(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that is alone in the folder until a line is written to it."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(tmp_path / "out")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])},
    )  # fmt: skip
    with process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_a_run_that_was_killed_holds_no_folder(holder, tmp_path):
    assert (tmp_path / "out" / LOCK).exists()
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    assert (tmp_path / "out" / LOCK).exists()
    with alone_in(tmp_path / "out"):
        (tmp_path / "out" / "page").write_text("whole")
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["page"]


def waited_for(holder, caplog, work):
    """`work` is begun while another process holds the folder, waits and says so, and ends when it is let go."""
    with caplog.at_level(logging.WARNING, "symattn"):
        waiting = threading.Thread(target=work)
        waiting.start()
        while not caplog.records:
            assert waiting.is_alive()
        yield
        holder.stdin.write("\n")
        holder.stdin.flush()
        waiting.join()


def test_another_run_is_waited_for_and_that_is_said(holder, tmp_path, caplog):
    order = []

    def second():
        with alone_in(tmp_path / "out"):
            order.append("second")

    for _ in waited_for(holder, caplog, second):
        order.append("first")
    assert order == ["first", "second"]
    assert [r.getMessage() for r in caplog.records] == [
        f"Another run is writing to {tmp_path / 'out'}; this one waits until it has finished."
    ]


def test_many_at_once_are_alone_each_though_the_folder_comes_and_goes(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "PAUSE", 0.001)
    folder, counter, inside, most = tmp_path / "a" / "b", [0], [0], [0]

    def work():
        for _ in range(20):
            with alone_in(folder):
                inside[0] += 1
                most[0] = max(most[0], inside[0])
                before = counter[0]
                assert folder.is_dir()
                counter[0] = before + 1
                inside[0] -= 1

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (counter[0], most[0]) == (120, 1)
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []


def test_a_folder_that_cannot_be_written_to_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with refused_saying(r"Nothing can be written to the folder .*file/out: Not a directory\."):
        alone_in(tmp_path / "file" / "out").__enter__()


def test_what_an_error_leaves_is_nothing(tmp_path):
    def interrupted(folder):
        with alone_in(folder), staging_in(folder, "unfinished") as staging:
            (staging / "half").write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted(tmp_path / "a" / "b")
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_run_was_making_is_thrown_away_and_it_can_make_no_more_of_it(tmp_path):
    entered = staging_in(tmp_path, "unfinished")
    old = entered.__enter__()
    (old / "half").write_text("half")
    with staging_in(tmp_path, "unfinished") as new:
        assert new != old
        assert not old.exists()
        assert list(new.iterdir()) == []


@pytest.mark.parametrize("links", [True, False])
def test_a_new_file_is_made_once_and_nothing_that_is_written_later_changes_it(links, tmp_path, monkeypatch):
    def refused(*paths):
        raise PermissionError(1, "Operation not permitted")

    if not links:
        monkeypatch.setattr(os, "link", refused)
    with staging_in(tmp_path, "unfinished") as staging:
        put_new(tmp_path / "exam.json", b"first", staging)
        with pytest.raises(FileExistsError):
            put_new(tmp_path / "exam.json", b"second", staging)
        put(tmp_path / "page", b"other", staging)
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == {"exam.json": b"first", "page": b"other"}


def test_a_set_of_worksheets_is_put_in_its_place_in_one_go(holder, tmp_path, caplog):
    """Two sets of one name, with other settings: never the sheets of one and the keys of the other."""
    out = tmp_path / "out"
    for _ in waited_for(holder, caplog, lambda: symattn.worksheet("attention", seed=7, out=out, forms=("text",))):
        assert [p.name for p in out.glob("*") if not p.name.startswith(".")] == []
    assert sorted(p.name for p in out.iterdir()) == ["attention-7-01-key.txt", "attention-7-01.txt", "attention-7.json"]
