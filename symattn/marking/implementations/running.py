"""Somebody's program run apart from the process that judges it: numbers go in, and numbers come back.

A function runs in a forked child, a file or a module in a process of its own that has never held an answer; both have
limits of time, memory and written files.  What comes back is JSON that is read as arrays, so that whatever a program
patches, ends or fills up is its own copy.  A forked child begins as a copy of this process and can read what that held.

Arrays of NumPy, PyTorch, JAX … and nested lists are read as rows of floats, with how many digits they were worked out;
none of these libraries is imported before a program needs it.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import json
import math
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import reduce
from pathlib import Path
from types import FrameType
from typing import IO, TYPE_CHECKING, Any, Literal, get_args

from symattn.errors import InputError, offered
from symattn.exact import NEGATIVE_INFINITY, Matrix
from symattn.exact.rounding import FORMATS, Format, approximate
from symattn.foundation.confined import limit, limited, memory_held, patience

if TYPE_CHECKING:  # what runs a program apart has no derivation
    from symattn.derivation.derivation import Derivation


MOST_RECORDED = 2000
"""Arrays that are kept."""


class Recorder:
    """Calls a function and keeps every matrix of one of the `shapes` that comes up in Python code.

    Variables are looked at after every line, so that one that is written over is seen as well; what stands only inside
    an expression is not.  Stacks of such matrices are kept as stacks.
    """

    def __init__(self, shapes: Iterable[Sequence[int]]) -> None:
        self._shapes = set(map(tuple, shapes))
        self._seen: dict[tuple[object, ...], Array] = {}

    @property
    def arrays(self) -> tuple[Array, ...]:
        """Everything that was seen, each once, in the order in which it came up."""
        return tuple(self._seen.values())

    def call(self, function: Callable[[], Any]) -> Any:
        """What the function returns; a tracer that was there before, a debugger's, is put back."""
        before = sys.gettrace()
        sys.settrace(self._enter)
        try:
            result = function()
        finally:
            sys.settrace(before)
        self._keep(result)
        return result

    def _enter(self, frame: FrameType, event: str, argument: object) -> Any:
        return self._look if "importlib" not in frame.f_code.co_filename else None

    def _look(self, frame: FrameType, event: str, argument: object) -> Any:
        if event in ("line", "return"):
            for value in list(frame.f_locals.values()):
                self._keep(value)
        if event == "return":
            self._keep(argument)
        return self._look

    def _keep(self, value: object) -> None:
        for one in value if isinstance(value, tuple) else (value,):
            if (
                len(self._seen) < MOST_RECORDED
                and _last_two(one) in self._shapes
                and (array := read_array(one)) is not None
            ):
                self._seen.setdefault((array.shape, repr(array.nested)), array)


def _last_two(value: object) -> object:
    """The last two dimensions of an array, or of nested lists; None for anything else."""
    if isinstance(value, list):
        found = read_array(value)
        return found.shape[-2:] if found else None
    try:
        shape = getattr(value, "shape", None)
    except Exception:  # a property of somebody else's that fails, as a finished iterator's of NumPy
        return None
    return tuple(shape[-2:]) if isinstance(shape, tuple) else None


Program = Callable[..., Any] | str | Path
"""A function, or where one is: "student.py:attention", "package.module:attention"."""

How = Literal["raised", "exited", "recursion", "memory", "stopped", "ended"]

FORKS = hasattr(os, "fork") and sys.platform not in ("emscripten", "wasi")
SECONDS = 10.0
MEMORY = 4 * 2**30
"""Bytes that a program may take besides those that its process has when it begins."""
MOST_ANSWERED = 2**27
"""Bytes of an answer that are read."""
LONGEST_SAID = 300
GRACE = 5
"""Seconds by the clock after which a process is killed that has not ended itself at its limit."""


@dataclass(frozen=True)
class Call:
    """One call: what is given by name, in this order, as nested lists, and how results are to be read.

    `formats` are those of what is not of the `dtype`, and `dimensions` those that a result has; matrices of one of the
    `shapes` are kept as they come up on the way.
    """

    given: Mapping[str, Any]
    last: str
    library: str = "numpy"
    dtype: str = "float64"
    formats: Mapping[str, str] = field(default_factory=dict)
    dimensions: int = 2
    shapes: Sequence[tuple[int, int]] = ()


@dataclass(frozen=True)
class Failure:
    """Why a program returned nothing: what it `said` with which kind of error, and in which line, where it raised one.

    `how`: it raised an error; ended itself by SystemExit; called itself without end; took too much memory; was stopped
    after its time; or its process ended, with a `code`.
    """

    how: How
    error: str = ""
    line: int = 0
    function: str = ""
    code: int = 0
    seconds: float = 0


@dataclass(frozen=True)
class Outcome:
    """What came of a call: results by the steps that they are said to be, what was returned `beside` the result, and
    matrices that came up on the way; what was given, as it was `after` the call; or a failure.

    `no_arrays` says, by step, why what was returned is no array; `nothing`, that the function returned None; `refused`,
    why it could not be called.
    """

    results: Mapping[str, Array] = field(default_factory=dict)
    no_arrays: Mapping[str, str] = field(default_factory=dict)
    nothing: bool = False
    beside: Sequence[Array] = ()
    recorded: Sequence[Array] = ()
    after: Mapping[str, Array] = field(default_factory=dict)
    failure: Failure | None = None
    refused: str = ""

    def unless_refused(self) -> Outcome:
        """This; `InputError` where the function takes other things."""
        if self.refused:
            raise InputError(self.refused)
        return self


Runner = Callable[[Call], Outcome]


@contextmanager
def running(program: Program, more: Mapping[str, object], trusted: bool, seconds: float) -> Iterator[Runner]:
    """What calls a program, apart from this process unless it is `trusted`; it is ended when this is left.

    `InputError` where there is no such program, or where it cannot be run apart.
    """
    function = None if isinstance(program, str | Path) else program
    if function is not None and not callable(function):
        raise InputError(f'function is {program!r}; a function of the givens, or "student.py:attention", was expected.')
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not seconds > 0:
        raise InputError(f"time_limit is {seconds!r}; a number of seconds above 0 was expected.")
    if trusted:
        target = loaded(str(program)) if function is None else function

        def called(call: Call) -> Outcome:
            own = deepcopy(call)  # the function may write into what it is given
            return _performed(target, own, more, Recorder(own.shapes)).unless_refused()

        yield called
        return
    if function is not None and not FORKS:
        raise InputError(
            "On this system a function would run in the process that judges it, where it can change symattn, end the "
            'process or never come back; name its file ("student.py:attention"), or say trusted=True.'
        )
    child = _started(str(program), more, seconds) if function is None else _forked(function, more, seconds)
    try:
        yield child.call
    finally:
        child.end()


# ------------------------------------------------------------------------------------------------ who asks


class _Fork:
    """A child of this process alone, waited for and killed as `subprocess.Popen` does it."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._code: int | None = None

    def wait(self, timeout: float = math.inf) -> int:
        last = time.monotonic() + timeout
        while self._code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self._code = os.waitstatus_to_exitcode(status)
            elif time.monotonic() > last:
                raise subprocess.TimeoutExpired("", timeout)
            else:
                time.sleep(0.001)
        return self._code

    def kill(self) -> None:
        if self._code is None:  # else another process may have its number by now
            os.kill(self.pid, signal.SIGKILL)


@dataclass
class _Child:
    """A process that answers one call after another, a line of JSON each."""

    process: _Fork | subprocess.Popen[bytes]
    requests: IO[bytes]
    answers: IO[bytes]
    seconds: float

    def call(self, call: Call) -> Outcome:
        """What comes of a call; a process that gives no answer, and why, is a failure."""
        lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        threading.Thread(target=self._ask, args=(text_of(call), lines), daemon=True).start()
        try:
            line = lines.get(timeout=patience() * self.seconds + GRACE)
        except queue.Empty:
            return Outcome(failure=Failure("stopped", seconds=self.seconds))
        if not line.endswith(b"\n"):
            code = self._wait()
            if -code in (getattr(signal, "SIGXCPU", 0), getattr(signal, "SIGALRM", 0)) and code:
                return Outcome(failure=Failure("stopped", seconds=self.seconds))
            return Outcome(failure=Failure("ended", code=code))
        try:
            outcome = _read(json.loads(line))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):  # it wrote that itself
            return Outcome(failure=Failure("ended"))
        return outcome.unless_refused()

    def _ask(self, request: bytes, lines: queue.SimpleQueue[bytes]) -> None:
        line = b""
        with suppress(OSError, ValueError):  # it has ended: there is no answer
            self.requests.write(request)
            self.requests.flush()
            line = self.answers.readline(MOST_ANSWERED)
        lines.put(line)

    def _wait(self) -> int:
        """Wait for the end of the process, which is killed if that does not come by itself; the code of its end."""
        try:
            return self.process.wait(GRACE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()

    def end(self) -> None:
        """End the process, and those of its group that it has started."""
        if hasattr(os, "killpg"):
            with suppress(OSError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()
        for stream in (self.requests, self.answers):
            with suppress(OSError, ValueError):
                stream.close()


def _forked(function: Callable[..., Any], more: Mapping[str, object], seconds: float) -> _Child:
    """A child that has the function already."""
    asked, ask = os.pipe()
    answer, answered = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of threads, which the child does not have: it does this and ends
        pid = os.fork()
    if pid == 0:
        _child(function, more, seconds, asked, answered)
    os.close(asked)
    os.close(answered)
    with suppress(OSError):  # the child does so as well, whoever comes first
        os.setpgid(pid, pid)
    return _Child(_Fork(pid), os.fdopen(ask, "wb"), os.fdopen(answer, "rb"), seconds)


def _started(program: str, more: Mapping[str, object], seconds: float) -> _Child:
    """A process that knows nothing but where the function is."""
    _parts(program)
    try:
        given = json.dumps(dict(more), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"To a file only numbers, texts and lists can be given ({error}); import a function, or set it there."
        ) from None
    path = os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path)
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", f"from {__name__} import main; main()", program, given, str(seconds)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": path, "PYTHONUTF8": "1"}, start_new_session=True,
    )  # fmt: skip
    assert process.stdin
    assert process.stdout
    return _Child(process, process.stdin, process.stdout, seconds)


def _read(answer: Mapping[str, Any]) -> Outcome:
    """An answer, which may be made up, as an outcome."""
    failure = Failure(**answer["failure"]) if answer["failure"] else None
    if failure is not None:
        said = "".join(c if c.isprintable() else " " for c in str(failure.error)[:LONGEST_SAID])
        failure = replace(failure, error=said, function=str(failure.function)[:LONGEST_SAID], line=int(failure.line))
    return Outcome(
        {str(name): _array(one) for name, one in answer["results"].items()},
        {str(name): str(why)[:LONGEST_SAID] for name, why in answer["no_arrays"].items()},
        answer["nothing"] is True,
        [_array(one) for one in answer["beside"]],
        [_array(one) for one in answer["recorded"]],
        {str(name): _array(one) for name, one in answer["after"].items()},
        failure,
        str(answer["refused"])[:LONGEST_SAID],
    )


def _array(one: Mapping[str, Any]) -> Array:
    found, format = read_array(one["nested"]), one["format"]
    if found is None or format not in (*FORMATS, PYTHON):
        raise ValueError("no array")
    return Array(found.shape, found.nested, format)


# ------------------------------------------------------------------------------------------------ who answers


def text_of(message: Call | Outcome) -> bytes:
    """A line of JSON, with everything in it by its name."""
    return json.dumps(message, default=vars).encode() + b"\n"


def _child(
    function: Callable[..., Any], more: Mapping[str, object], seconds: float, requests: int, answers: int
) -> None:
    """What a forked child does; it never returns, and nothing that was to be done at the end of its parent is done."""
    try:
        os.setpgid(0, 0)
        nowhere = os.open(os.devnull, os.O_RDWR)
        opened = {int(one.name) for one in Path("/dev/fd").iterdir()}
        for one in {0, 1, 2, *opened} - {requests, answers, nowhere}:
            os.dup2(nowhere, one)  # files and sockets of the parent, which are not the program's to read and to write
        sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115, PTH123
        _serve(lambda: function, more, seconds, os.fdopen(requests, "rb"), os.fdopen(answers, "wb"))
    finally:
        os._exit(0)


def main() -> None:
    """Answer calls of a file's function from standard input until that ends."""
    program, more, seconds = sys.argv[1:]
    sys.argv[:] = [""]
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what anything prints must not be taken for an answer
    _serve(lambda: loaded(program), json.loads(more), float(seconds), sys.stdin.buffer, answers)
    os._exit(0)


def _serve(
    load: Callable[[], Callable[..., Any]],
    more: Mapping[str, object],
    seconds: float,
    requests: IO[bytes],
    answers: IO[bytes],
) -> None:
    for name in ("SIGALRM", "SIGXCPU", "SIGINT"):  # the parent's handlers would go on with its work here
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
    function: Callable[..., Any] | None = None
    for line in requests:
        call = Call(**json.loads(line))
        recorder = Recorder(call.shapes)
        try:
            with limited(seconds):
                if function is None:
                    _confine(call.library)
                    function = load()
                answer = text_of(_performed(function, call, more, recorder))
        except BaseException as error:
            if function is None and isinstance(error, InputError):  # it has no such function
                answer = text_of(Outcome(refused=error.args[0]))
            else:
                answer = text_of(Outcome(recorded=recorder.arrays, failure=_failure(error, function)))
        answers.write(answer)
        answers.flush()


def _confine(library: str) -> None:
    """Limit this process to what it has, some more memory, and no files; the library may take what it wants before."""
    if library != "python":
        with suppress(ImportError):
            importlib.import_module(library)
    if "torch" in sys.modules:  # of a pool of threads a fork has locks alone, which nobody opens
        sys.modules["torch"].set_num_threads(1)
    limit("RLIMIT_CORE", 0)
    limit("RLIMIT_FSIZE", 0, for_good=True)
    if held := memory_held():
        limit("RLIMIT_AS", held + MEMORY, for_good=True)


def _performed(function: Callable[..., Any], call: Call, more: Mapping[str, object], recorder: Recorder) -> Outcome:
    """A call, and what came of it; what the function raises is not caught."""
    try:
        given = {name: made(one, call.library, call.formats.get(name, call.dtype)) for name, one in call.given.items()}
        by_place, by_key = placed(function, given, more)
    except InputError as error:
        return Outcome(refused=error.args[0])
    returned = recorder.call(lambda: function(*by_place, **by_key))
    results: dict[str, Array] = {}
    no_arrays: dict[str, str] = {}
    for name, one in by_name(returned, call.last, call.dimensions).items():
        try:
            results[name] = array(one)
        except InputError as error:
            no_arrays[name] = error.args[0]
    beside = map(read_array, returned[1:] if isinstance(returned, tuple | list) else ())
    after = {name: array(one) for name, one in given.items()}
    return Outcome(results, no_arrays, returned is None, [*filter(None, beside)], recorder.arrays, after)


def by_name(returned: object, last: str, dimensions: int = 2) -> Mapping[str, object]:
    """What a function returns, by step: a dict by its names; of several things in a tuple or a list the first is the
    result, where each is one of so many dimensions and not a row of it."""
    if isinstance(returned, Mapping):
        return {str(name): one for name, one in returned.items()}
    if isinstance(returned, tuple | list) and returned:
        whole, first = read_array(returned), read_array(returned[0])
        if whole is None or (first is not None and len(first.shape) >= dimensions):
            return {last: returned[0]}
    return {last: returned}


def _failure(error: BaseException, function: object) -> Failure:
    ends: Mapping[type, How] = {SystemExit: "exited", RecursionError: "recursion", MemoryError: "memory"}
    for kind, how in ends.items():
        if isinstance(error, kind):
            return Failure(how)
    line, name = _place(error, function)
    try:
        said = " ".join(str(error).split())
    except BaseException:  # it is somebody's own error
        said = ""
    return Failure("raised", ": ".join(filter(None, (type(error).__name__, said)))[:LONGEST_SAID], line, name)


def _place(error: BaseException, function: object) -> tuple[int, str]:
    """The line and the function that raised an error: the innermost that stands in the program's own file."""
    frames = traceback.extract_tb(error.__traceback__)
    code = getattr(inspect.unwrap(function), "__code__", None) if callable(function) else None
    if function is None:  # while a file was read
        own = [frame for frame in frames if frame.filename != __file__ and not frame.filename.startswith("<")]
    else:
        own = [frame for frame in frames if code is not None and frame.filename == code.co_filename]
    return (own[-1].lineno or 0, own[-1].name) if own else (0, "")


# ------------------------------------------------------------------------------------------------ files and modules


def _parts(program: str) -> tuple[str, str]:
    """The file or module, and the name of the function; `InputError` where one is missing."""
    where, colon, name = program.rpartition(":")
    if not colon or not name.isidentifier():
        raise InputError(f'{program} came; a file or module and a function, "student.py:attention", was expected.')
    if where.endswith(".py") and not Path(where).is_file():
        raise InputError(f"There is no file {where}.")
    return where, name


def loaded(program: str) -> Callable[..., Any]:
    """The function in a file or a module, which is run; `InputError` if it has none of that name."""
    where, name = _parts(program)
    if where.endswith(".py"):
        path = Path(where).resolve()
        sys.path.insert(0, str(path.parent))  # a program may have several files
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = module
        spec.loader.exec_module(module)
    else:
        module = importlib.import_module(where)
    function = getattr(module, name, None)
    if not callable(function):
        raise InputError(f"{where} has no function {name}.")
    return function  # type: ignore[no-any-return]


# ------------------------------------------------------------------------------------------------ arrays

Rows = tuple[tuple[float, ...], ...]

PYTHON = "float64"
"""What numbers are in that have no format of their own: Python's, and integers."""


@dataclass(frozen=True)
class Array:
    """Numbers of some shape, nested as deep as it has dimensions, in a precision of `PRECISIONS`."""

    shape: tuple[int, ...]
    nested: Any
    format: str = PYTHON

    @property
    def squeezed(self) -> Array:
        """Without the leading dimensions that are 1: a batch of one sequence is that sequence."""
        array = self
        while len(array.shape) > 2 and array.shape[0] == 1:
            array = array[0]
        return array

    def __getitem__(self, index: int) -> Array:
        """One slice along the first dimension."""
        return Array(self.shape[1:], self.nested[index], self.format)

    @property
    def rows(self) -> Rows:
        """The rows of two dimensions; a vector is one row, a number a single entry."""
        if not self.shape:
            return ((float(self.nested),),)
        nested = [self.nested] if len(self.shape) == 1 else self.nested
        return tuple(tuple(map(float, row)) for row in nested)


def array(given: object, format: str | None = None) -> Array:
    """An array, a tensor, nested lists or a number; `InputError` where there is none.

    `format` is how it was worked out, if that is not what it is kept in.
    """
    name = _dtype(given)
    if _TOO_SHORT.match(name):
        raise InputError(f"{name} came; float16, bfloat16, float32 or float64 was expected.")
    found = read_array(given)
    if found is None:
        raise InputError(f"{type(given).__name__} came; an array, a tensor or nested lists of numbers were expected.")
    return found if format is None else Array(found.shape, found.nested, coarser(found.format, checked(format)))


def read_array(given: object) -> Array | None:
    """The same; None for what is no array of real numbers."""
    format = PYTHON
    if isinstance(given, Matrix):
        given = tuple(tuple(-math.inf if x is NEGATIVE_INFINITY else approximate(x) for x in row) for row in given.rows)
    elif callable(tolist := getattr(given, "tolist", None)):
        format = name if (name := _dtype(given)) in FORMATS else PYTHON
        try:
            given = tolist()
        except (RuntimeError, TypeError, ValueError):  # a tensor without numbers in it
            return None
    elif isinstance(given, list | tuple) and any(hasattr(one, "tolist") for one in given):  # arrays, one a row
        inner = [one for one in map(read_array, given) if one is not None]
        if len(inner) < len(given):
            return None
        given, format = [one.nested for one in inner], reduce(coarser, (one.format for one in inner))
    shape = _shape(given)
    return None if shape is None else Array(shape, given, format)


_TOO_SHORT = re.compile("float[1-9](?![0-9])")  # float8_e4m3fn


def _dtype(given: object) -> str:
    return str(getattr(given, "dtype", "")).rpartition(".")[2]  # torch.float32


def _shape(nested: Any) -> tuple[int, ...] | None:
    if isinstance(nested, int | float):
        return ()
    if not isinstance(nested, list | tuple) or not nested:
        return None
    inner = _shape(nested[0])
    if inner is None or any(_shape(x) != inner for x in nested[1:]):
        return None
    return (len(nested), *inner)


PRECISIONS: Mapping[str, Format] = {**FORMATS, "tf32": Format("tf32", 10, -126, 127)}
"""How a program may work: in a format, or in TF32, in which graphics cards multiply numbers that are float32.  Of each
factor eleven digits are left, the others cut off: that is as far off as it would be rounded to ten."""


def checked(format: str) -> str:
    """A format by its name; `InputError` if there is none."""
    if format not in list(PRECISIONS):  # it may be anything
        raise InputError(f"precision is {format!r}; {offered(format, PRECISIONS, 'one of {} was expected')}")
    return format


def dtype_of(precision: str) -> str:
    """The format of the arrays with which a program works in some precision: in TF32 only products are short."""
    return "float32" if precision == "tf32" else precision


def coarser(a: str, b: str) -> str:
    """That of two formats that has fewer digits."""
    return min(a, b, key=lambda name: PRECISIONS[name].digits)


def turned(rows: Rows) -> Rows:
    """The transpose."""
    return tuple(zip(*rows, strict=True))


def side_by_side(parts: Sequence[Rows]) -> Rows:
    """Matrices next to one another, as heads are concatenated."""
    return tuple(tuple(x for row in rows for x in row) for rows in zip(*parts, strict=True))


Library = Literal["numpy", "torch", "python"]

ALIASES = {
    "query": "q", "queries": "q", "key": "k", "keys": "k", "value": "v", "values": "v", "inputs": "x",
    "attnmask": "mask", "attentionmask": "mask",
}  # fmt: skip


def numbers(d: Derivation, library: str) -> dict[str, list[list[float]]]:
    """The givens of a derivation as nested lists, for arrays of a library; `InputError` if there is no such library."""
    if library not in get_args(Library):
        raise InputError(f"library is {library!r}; {offered(library, get_args(Library), 'one of {} was expected')}")
    return {name: [list(row) for row in array(m).rows] for name, m in d.givens.items() if isinstance(m, Matrix)}


def placed(
    function: Callable[..., Any], given: Mapping[str, object], more: Mapping[str, object]
) -> tuple[list[object], dict[str, object]]:
    """What is given to a function by place and by name: all by their names, if its parameters have these; else in their
    order, but for what it can do without and has a name for."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # written in C
        return list(given.values()), dict(more)
    parameters, called = signature.parameters, {_plain_name(name): name for name in given}
    taken = {name: p for name, p in parameters.items() if name not in more and p.kind is not p.POSITIONAL_ONLY}
    named = {name: called[_plain_name(name)] for name in taken if _plain_name(name) in called}
    optional = {name: one for name, one in named.items() if parameters[name].default is not inspect.Parameter.empty}
    for chosen in (named, optional) if len(named) >= len(given) else (optional,):
        by_place = [one for name, one in given.items() if name not in chosen.values()]
        by_key = {name: given[one] for name, one in chosen.items()}
        try:
            signature.bind(*by_place, **by_key, **{name: one for name, one in more.items() if name in parameters})
        except TypeError:
            continue
        return by_place, {**by_key, **more}
    needed = [
        p for p in parameters.values() if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]
    raise InputError(
        f"The function takes {', '.join(p.name for p in needed if p.name not in more) or 'nothing'}; what is given is "
        f"{', '.join(given)}. Name its other arguments as well, or wrap it in a lambda."
    )


def _plain_name(name: str) -> str:
    short = re.sub(r"[_^]", "", name).lower()
    return ALIASES.get(short, short)


def made(nested: list[Any], library: str, format: str) -> Any:
    """Nested lists of numbers, or of True and False with the format bool, as an array of a library."""
    if library == "python":
        return nested
    module = _imported(library)
    if not hasattr(module, format):
        raise InputError(f'NumPy has no {format}; float16, float32 or float64 was expected, or library="torch".')
    make = module.tensor if library == "torch" else module.array
    return make(nested, dtype=getattr(module, format))


def _imported(library: str) -> Any:
    try:
        return importlib.import_module(library)
    except ImportError as error:
        raise InputError(f'{library} is not installed here; install it, or say library="python".') from error
