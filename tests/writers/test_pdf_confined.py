"""The process that compiles: it answers, is limited, is replaced, and never outlives whom it works for."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from commands import started
from waiting import until

from symattn.errors import InputError
from symattn.page.writers import compiling, pdf
from symattn.page.writers.compiling import Compiler, LostError, RefusedError

ENDLESS = b"#for i in range(60000) { for j in range(60000) { let x = calc.sin(i * j) } }"
GREEDY = b"#let a = ()\n#for i in range(100000000) { a.push(str(i)) }"
PAGE = b'#set document(title: "x")\n'


@pytest.fixture
def compiler():
    made = Compiler()
    yield made
    made.end()


def number(compiler):
    assert compiler.pid
    return compiler.pid


def runs(pid):
    """Whether there is a process of that number that is not only waiting to be collected."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_one_process_compiles_many_documents(compiler):
    made = [compiler.compile(PAGE + f"text {k}".encode()) for k in range(5)]
    first = number(compiler)
    assert len(set(made)) == 5
    assert compiler.compile(PAGE + b"text 0") == made[0]
    assert number(compiler) == first


def test_a_process_is_replaced_before_what_it_keeps_adds_up(compiler, monkeypatch):
    monkeypatch.setattr(compiling, "SOURCES", 3 * len(PAGE))
    processes = []
    for _ in range(7):
        compiler.compile(PAGE)
        processes.append(number(compiler))
    assert [processes.count(one) for one in dict.fromkeys(processes)] == [3, 3, 1]


def test_what_typst_refuses_is_a_sentence_and_the_process_goes_on(compiler):
    compiler.compile(PAGE)
    first = number(compiler)
    with pytest.raises(RefusedError, match=r"could not make a PDF of this document: unknown variable: nonsense\."):
        compiler.compile(b"#nonsense")
    assert number(compiler) == first
    assert compiler.compile(PAGE).startswith(b"%PDF")


@pytest.mark.parametrize(
    "source",
    [
        '#read("/etc/passwd")',
        '#read("../../../../../etc/passwd")',
        f'#read("{Path(compiling.__file__).name}")',
        '#image("/etc/hostname")',
        '#import "@preview/cetz:0.2.0"',
        '#plugin("x.wasm")',
    ],
)
def test_source_reads_no_file_and_reaches_no_network(compiler, source):
    with pytest.raises(RefusedError):
        compiler.compile(PAGE + source.encode())


@pytest.mark.slow
def test_what_never_ends_is_stopped():
    compiler = Compiler(seconds=1)
    with pytest.raises(LostError, match="stopped after 1 seconds"):
        compiler.compile(ENDLESS)
    assert compiler.compile(PAGE).startswith(b"%PDF")
    compiler.end()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory of a process is limited on Linux only")
def test_what_takes_all_memory_ends_only_itself():
    compiler = Compiler(memory=2**29)
    with pytest.raises(LostError, match=r"0\.5 GiB of memory"):
        compiler.compile(GREEDY)
    assert compiler.compile(PAGE).startswith(b"%PDF")
    compiler.end()


@pytest.mark.skipif(os.name != "posix", reason="signals are a matter of POSIX")
def test_a_process_that_was_killed_is_replaced(compiler):
    compiler.compile(PAGE)
    first = number(compiler)
    os.kill(first, signal.SIGKILL)
    os.waitid(os.P_PID, first, os.WEXITED | os.WNOWAIT)
    assert compiler.compile(PAGE).startswith(b"%PDF")
    assert number(compiler) != first


@pytest.mark.skipif(os.name != "posix", reason="signals are a matter of POSIX")
def test_a_process_that_is_killed_at_work_is_told_of_and_replaced(compiler):
    compiler.compile(PAGE)
    killer = threading.Timer(0.3, os.kill, [number(compiler), signal.SIGKILL])
    killer.start()
    with pytest.raises(LostError, match="ended its process with code -9"):
        compiler.compile(ENDLESS)
    killer.join()
    assert compiler.compile(PAGE).startswith(b"%PDF")


def test_threads_get_their_own_documents(compiler):
    sources = [PAGE + f"text {k}".encode() for k in range(12)]
    alone = [compiler.compile(source) for source in sources]
    found = {}
    threads = [threading.Thread(target=lambda k=k: found.update({k: compiler.compile(sources[k])})) for k in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[k] for k in range(12)] == alone


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform does not fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_fork_has_a_process_of_its_own():
    made = compiling.COMPILER.compile(PAGE + b"fork")
    before = number(compiling.COMPILER)
    child = os.fork()
    if child == 0:  # pragma: no cover
        same = compiling.COMPILER.compile(PAGE + b"fork") == made
        other = number(compiling.COMPILER) != before
        compiling.COMPILER.end()
        os._exit(0 if same and other else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert compiling.COMPILER.compile(PAGE + b"fork") == made
    assert number(compiling.COMPILER) == before


PRINTS_ITS_CHILD = """
from symattn.page.writers.compiling import COMPILER
COMPILER.compile(b'#set document(title: "x")')
print(COMPILER._process.pid, flush=True)
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc to look at processes")
@pytest.mark.parametrize("killed", [False, True])
def test_the_process_ends_with_whoever_started_it(killed):
    program = PRINTS_ITS_CHILD + ("import signal; signal.pause()" if killed else "")
    with started("-c", program, stdout=subprocess.PIPE, text=True) as process:
        child = int(process.stdout.readline())
        if killed:
            process.kill()
        until(lambda: process.poll() is not None)
    until(lambda: not runs(child))


# --- TeX ---------------------------------------------------------------------------------------------------

DOCUMENT = "\\documentclass{article}\\begin{document}%s\\end{document}"


@pytest.mark.usefixtures("tex")
@pytest.mark.skipif(os.name != "posix", reason="files are limited on POSIX only")
def test_tex_writes_no_file_without_end(monkeypatch):
    monkeypatch.setattr(pdf, "LARGEST_LATEX_FILE", 2**20)
    endless = r"\newwrite\x\immediate\openout\x=x.txt \loop\iftrue\immediate\write\x{%s}\repeat" % ("x" * 1000)
    with pytest.raises(InputError, match="LaTeX"):
        pdf.latex_pdf(DOCUMENT % endless)


@pytest.mark.slow
@pytest.mark.usefixtures("tex")
def test_tex_that_never_ends_is_stopped(monkeypatch):
    monkeypatch.setattr(pdf, "LATEX_SECONDS", 1)
    with pytest.raises(InputError, match="LaTeX was stopped after 1 seconds"):
        pdf.latex_pdf(DOCUMENT % r"\loop\iftrue\repeat")
