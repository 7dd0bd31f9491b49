"""What practice pages run on: Pyodide, symattn with what it needs as compiled files, and on that for teachers Typst.

Pyodide (MPL-2.0) and Typst (Apache-2.0) are not part of symattn.  The files of both come from folders, npm's packages
`pyodide` and that of Typst for browsers, those of Pyodide also from its content network; they are used as they are,
whatever they are called on the page, and every one is known by its hash.  The fonts of PDF are those that the Python
package typst has in it, and symattn's own for Chinese.
"""

from __future__ import annotations

import gzip
import importlib.util
import marshal
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import urllib.request
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from importlib import metadata
from io import BytesIO
from pathlib import Path

from symattn.errors import InputError
from symattn.foundation.files import zipped
from symattn.foundation.installed import fonts, templates

VERSION = "314.0.7"
PYTHON = (3, 14)
NETWORK = f"https://cdn.jsdelivr.net/npm/pyodide@{VERSION}/"
SECONDS = 60
"""Without an answer from the content network."""

HASHES: Mapping[str, str] = {
    "pyodide.mjs": "6f1d60f7bf529beb300f0f47983c921d3982363640ba20af0e38efdddbc66109",
    "pyodide.asm.mjs": "f7cdc8ece80678ceb712f8e65ebe6d3a83203a180c399865f49612a051693635",
    "pyodide.asm.wasm": "cc36e3cab04fdfc9a63ff13eb52eae2b911bf46c025cc7b281f394bd3de1d5e6",
    "python_stdlib.zip": "fa1957e5777068fc4f7437f96d860ae2fbe9c19732ba06c84e004ec16dd7dd7a",
}

PACKAGES: Mapping[str, tuple[str, ...]] = {
    "symattn": ("symattn", "polib", "jinja2", "markupsafe"),
    "sympy": ("sympy", "mpmath"),
}
"""Archives, and what is in them.  SymPy is fetched when something imports it."""

MAKING = "making"
"""The archive that the page for teachers has besides: what of symattn makes and marks files, and no student needs."""

TEACHERS: Mapping[str, tuple[str, ...]] = {MAKING: ("anyascii", "markdown_it", "mdurl"), "pypdf": ("pypdf",)}
"""What is in the archives of the page for teachers alone; pypdf is fetched when something imports it."""

CALLED: Mapping[str, str] = {"markdown_it": "markdown-it-py"}
"""What packages are called where they are published, if otherwise than they are imported."""

OF_MAKING: tuple[str, ...] = (
    "practice/exams.py", "practice/teacher.py",
    "page/fonts/symattn-math.woff2", "page/fonts/symattn-han.txt",
    *(f"page/writers/{name}.py" for name in (
        "binding", "compiling", "coverage", "latex", "latex_blocks", "latex_body", "latex_text", "pdf",
        "rows", "typst", "typst_text",
    )),
    "teaching/bank", "teaching/exam", "teaching/description.py", "teaching/explanation/program_in_letters.py",
    *(f"teaching/exporters/{name}.py" for name in (
        "canvas", "moodle", "prairielearn", "qti21", "qti3", "rexams",
    )),
    "derivation/symbolic.py", "derivation/sympy_source.py",
    "marking/trial.py",
    *(f"marking/grading/{name}.py" for name in (
        "by_exception", "entries", "gradebook", "handed_in", "roster", "run", "summary", "unpacking", "worker",
    )),
)  # fmt: skip

LEFT_OUT: Mapping[str, tuple[str, ...]] = {
    "symattn": (
        *OF_MAKING,
        "cli", "testing.py", "api.py", "practice/page", "practice/site.py", "practice/engine.py",
        "practice/choices.py",
        "page/fonts",
        "teaching/stress.py",
        "marking/implementations",
        "derivation/counts.py",
    ),
    "sympy": (
        "physics", "stats", "diffgeom", "crypto", "holonomic", "liealgebras", "categories", "sandbox",
        "parsing/autolev", "parsing/c", "parsing/fortran", "parsing/latex",
    ),
}  # fmt: skip
"""What no practice page imports, by package: command lines, other formats and their fonts, exams, classes, physics."""

NEVER = frozenset(("__pycache__", "tests", "benchmarks"))

_COMPILE = """
import { loadPyodide } from %s;
import { readFileSync, writeFileSync } from "node:fs";
const python = await loadPyodide({ indexURL: %s, args: ["-X", "no_debug_ranges"] });
for (const name of process.argv.slice(2)) {
  python.FS.writeFile("/sources.zip", readFileSync(name));
  python.runPython(`
import importlib._bootstrap_external as files, zipfile
with zipfile.ZipFile("/sources.zip") as sources, zipfile.ZipFile("/compiled.zip", "w") as compiled:
    for name in sources.namelist():
        data = sources.read(name)
        if name.endswith(".py"):
            code = compile(data, "/lib/" + name, "exec", dont_inherit=True, optimize=2)
            data, name = bytes(files._code_to_hash_pyc(code, b"0" * 8, False)), name + "c"
        compiled.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED, 9)
`);
  writeFileSync(name, python.FS.readFile("/compiled.zip"));
}
"""


def pyodide(folder: Path | None) -> dict[str, bytes]:
    """Pyodide's files by name; `InputError` where one is missing, or is not that of this version."""
    files = {}
    for name, expected in HASHES.items():
        data = _fetched(name) if folder is None else _from_npm(folder, name, "pyodide", VERSION, "--pyodide")
        files[name] = _verified(data, expected, name, folder or "its content network", f"Pyodide {VERSION}")
    return files


def _verified(data: bytes, digest: str, name: str, where: Path | str, package: str) -> bytes:
    """The data, if it has the digest that the file of that name has in a package."""
    if sha256(data).hexdigest() != digest:
        raise InputError(f"{name} from {where} is not that of {package}, which this symattn goes with.")
    return data


def _from_npm(folder: Path, name: str, package: str, version: str, option: str) -> bytes:
    """A file of the folder of one of npm's packages; `InputError` says where to get it."""
    path = folder / name
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(
            f"{path} cannot be read: {error.strerror}; the folder of npm's package {package} {version} was expected "
            f"(npm install {package}@{version}, then {option} node_modules/{package})."
        ) from error


def _fetched(name: str) -> bytes:
    try:
        with urllib.request.urlopen(NETWORK + name, timeout=SECONDS) as answer:
            data: bytes = answer.read()
            return data
    except OSError as error:
        raise InputError(
            f"{NETWORK}{name} cannot be fetched: {getattr(error, 'reason', error)}. Without a network, give the "
            f"folder of npm's package pyodide {VERSION}: --pyodide node_modules/pyodide."
        ) from error


def packed(data: bytes, kept: bytes = b"") -> bytes:
    """Compressed, the same bytes for the same data; as it was `kept`, if that is the same."""
    with suppress(OSError, EOFError, zlib.error):
        if kept and gzip.decompress(kept) == data:
            return kept
    return gzip.compress(data, 9, mtime=0)


# ------------------------------------------------------------------------------------------------ archives


def archives(
    folder: Path | None, teacher: bool = False, kept: Callable[[str], bytes] = lambda name: b""
) -> tuple[dict[str, bytes], bool]:
    """Every archive by name, with what a `teacher`'s page needs besides, and whether they hold compiled files.

    Files are compiled by the Python that runs them: by Pyodide itself where its folder and Node are there, or by this
    Python, where it is the same version.  Else the page compiles them, each time it is opened.  An archive that was
    `kept` from before is taken again if it was compiled from the same files.
    """
    made = {name: sources(packages) for name, packages in PACKAGES.items()}
    if teacher:
        made |= {name: sources(packages, making=name == MAKING) for name, packages in TEACHERS.items()}
    node = shutil.which("node")
    by_pyodide = folder is not None and node is not None
    if not by_pyodide and (sys.version_info[:2] != PYTHON or sys.implementation.name != "cpython"):
        return made, False
    digests = {name: _digest(data, by_pyodide) for name, data in made.items()}
    before = {name: kept(name) for name in made}
    changed = {name: data for name, data in made.items() if _digest_of(before[name]) != digests[name]}
    if folder is not None and node is not None:
        compiled = _compiled_by_pyodide(changed, folder, node) if changed else {}
    else:
        compiled = {name: compiled_here(archive) for name, archive in changed.items()}
    return before | {name: _with_digest(data, digests[name]) for name, data in compiled.items()}, True


def _digest(archive: bytes, by_pyodide: bool) -> bytes:
    """Of what an archive is compiled from, and by whom."""
    return sha256(archive + f"{VERSION} {by_pyodide} {_COMPILE}".encode()).hexdigest().encode()


def _with_digest(archive: bytes, digest: bytes) -> bytes:
    done = BytesIO(archive)
    with zipfile.ZipFile(done, "a") as file:
        file.comment = digest
    return done.getvalue()


def _digest_of(archive: bytes) -> bytes:
    """The digest that an archive has with it; nothing if it is none."""
    try:
        with zipfile.ZipFile(BytesIO(archive)) as file:
            return file.comment
    except zipfile.BadZipFile:
        return b""


def sources(packages: tuple[str, ...], making: bool = False) -> bytes:
    """The files of installed packages that a page needs, in one archive; with those of symattn for `making` files."""
    chosen = (
        (name, path)
        for package in packages
        for name, path in _files(package)
        if not _is_among(name, package, LEFT_OUT.get(package, ()))
    )
    own = (file for file in _files("symattn") if _is_among(file[0], "symattn", OF_MAKING)) if making else ()
    return zipped(((name, path.read_bytes()) for name, path in (*chosen, *own)), level=6)


def _is_among(name: str, package: str, listed: tuple[str, ...]) -> bool:
    return any(Path(name).is_relative_to(f"{package}/{one}") for one in listed)


def _files(package: str) -> Iterator[tuple[str, Path]]:
    """The files of an installed package, by their names in an archive."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise InputError(f"The package {package} is not installed; symattn needs it.")
    origin = Path(spec.origin)
    if origin.name != "__init__.py":
        yield origin.name, origin
        return
    for name, path in sorted(_installed(package, origin.parent).items()):
        if (
            path.is_file()
            and not NEVER.intersection(name.parts)
            and path.suffix not in (".pyc", ".pyi", ".typed", ".so")
        ):
            yield f"{package}/{name.as_posix()}", path


def _installed(package: str, folder: Path) -> dict[Path, Path]:
    """Everything in a package by its place there, with symattn's templates, wherever they lie, in their place."""
    paths = {path.relative_to(folder): path for path in folder.rglob("*")}
    if package == "symattn":
        paths |= {Path("templates", path.name): path for path in templates(folder).iterdir()}
    return paths


def compiled_here(archive: bytes) -> bytes:
    """The archive with its modules compiled by this Python."""
    with zipfile.ZipFile(BytesIO(archive)) as sources:
        return zipped(_compiled(name, sources.read(name)) for name in sources.namelist())


def _compiled(name: str, data: bytes) -> tuple[str, bytes]:
    if not name.endswith(".py"):
        return name, data
    code = compile(data, f"/lib/{name}", "exec", dont_inherit=True, optimize=2)
    unchecked = (1).to_bytes(4, "little") + b"0" * 8  # its source is not looked at
    return f"{name}c", importlib.util.MAGIC_NUMBER + unchecked + marshal.dumps(code)


def _compiled_by_pyodide(made: dict[str, bytes], folder: Path, node: str) -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        for archive, data in made.items():
            (work / archive).write_bytes(data)
        at = folder.resolve()
        script = _COMPILE % (repr((at / "pyodide.mjs").as_uri()), repr(f"{at}/"))
        (work / "compile.mjs").write_text(script, encoding="utf-8")
        command = [node, str(work / "compile.mjs"), *(str(work / archive) for archive in made)]
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode:
            said = (run.stderr.strip().splitlines() or ["it says nothing"])[-1]
            raise InputError(f"Pyodide in {folder} could not compile symattn: {said}")
        return {archive: (work / archive).read_bytes() for archive in made}


def licences(teacher: bool = False, more: Iterable[str] = ()) -> str:
    """The licences of everything on a page, or on that for the `teacher` as well, that is not symattn's own; `more` are
    those of what else is there.
    """
    parts = [
        f"Pyodide {VERSION}: Mozilla Public License 2.0 (https://www.mozilla.org/MPL/2.0/).  Its source is at "
        f"https://github.com/pyodide/pyodide/tree/{VERSION}; its files are used unchanged, under other names, and "
        "pyodide.bin is pyodide.asm.wasm in gzip's format.  It holds CPython (PSF-2.0, https://docs.python.org/3/license.html).",
        "Symattn Math, the font of formulas: part of Latin Modern Math by the GUST e-foundry, under the GUST Font "
        "License (https://www.gust.org.pl/projects/e-foundry/licenses).",
    ]
    parts += more
    besides = [package for packages in TEACHERS.values() for package in packages] if teacher else []
    for package in (*PACKAGES["symattn"][1:], *PACKAGES["sympy"], *besides):
        installed = metadata.distribution(CALLED.get(package, package))
        texts = [
            file.locate().read_text(encoding="utf-8")  # type: ignore[attr-defined]
            for file in installed.files or ()
            if file.name.upper().startswith(("LICENSE", "LICENCE", "COPYING")) and "dist-info" in str(file)
        ]
        said = texts or [f"License: {installed.metadata['License'] or installed.metadata['License-Expression']}"]
        parts.append(f"{package} {installed.version}\n\n" + "\n".join(said).strip())
    return ("\n\n" + "-" * 78 + "\n\n").join(parts) + "\n"


# ------------------------------------------------------------------------------------------------ PDF

TYPST, TYPST_VERSION = "@myriaddreamin/typst-ts-web-compiler", "0.7.0"
SCRIPT, WASM = "pkg/typst_ts_web_compiler.mjs", "pkg/typst_ts_web_compiler_bg.wasm"
TYPST_HASHES: Mapping[str, str] = {
    SCRIPT: "96735c6da3dd220255ba368e34c695227fc67e0b4104e7a8e039dd9bc2fc5312",
    WASM: "1fc968438a672366dfec39c96c842c26ed29caff4eb1bcaab19a6c60867de5fd",
}
FAMILIES = ("Libertinus Serif", "NewComputerModern10", "NewComputerModernMath", "DejaVu Sans Mono")
"""What `templates/document.typ.j2` prints with, by the beginnings of the names of fonts."""

TYPST_LICENCES = (
    f"Typst for browsers, npm's package {TYPST} {TYPST_VERSION}: Apache License 2.0 "
    "(https://www.apache.org/licenses/LICENSE-2.0).  Its source is at https://github.com/Myriad-Dreamin/typst.ts; its "
    "files are used unchanged, under other names.",
    "The fonts of PDF: New Computer Modern (GUST Font License, https://www.gust.org.pl/projects/e-foundry/licenses), "
    "Libertinus Serif (SIL Open Font License, https://openfontlicense.org), DejaVu Sans Mono "
    "(https://dejavu-fonts.github.io/License.html), and Symattn Han, part of Source Han Serif (SIL Open Font License).",
)


def typst(folder: Path, kept: bytes = b"") -> dict[str, bytes]:
    """The files of the page by name; `InputError` where one is missing, or is not of this version.

    `kept` is the compiler as it was packed before.
    """
    files = {}
    for name, expected in TYPST_HASHES.items():
        data = _from_npm(folder, name, TYPST, TYPST_VERSION, "--typst")
        files[name] = _verified(data, expected, name, folder, f"{TYPST} {TYPST_VERSION}")
    return {
        "teacher-typst.js": files[SCRIPT],
        "teacher-typst.bin": packed(files[WASM], kept),
        "teacher-fonts.bin": zipped(
            (*embedded_fonts().items(), *((p.name, p.read_bytes()) for p in fonts().glob("*.otf")))
        ),
    }


# ------------------------------------------------------------------------------------------------ fonts


def embedded_fonts() -> dict[str, bytes]:
    """The fonts inside the installed package typst, by their file names; `InputError` if they are not found."""
    package = importlib.util.find_spec("typst")
    binaries = Path(package.origin).parent.glob("_typst*") if package and package.origin else ()
    named = {name: font for path in binaries for name, font in _fonts_in(path.read_bytes())}
    chosen = {f"{name.replace(' ', '-')}.otf": font for name, font in named.items() if name.startswith(FAMILIES)}
    if missing := [family for family in FAMILIES if not any(name.startswith(family) for name in named)]:
        raise InputError(f"The package typst that is installed has no font {missing[0]}, with which PDF is printed.")
    return dict(sorted(chosen.items()))


_BEGINNING = re.compile(rb"OTTO|\x00\x01\x00\x00")
_TAG = re.compile(rb"[!-~]{2,4} *")
_FULL_NAME, _UNICODE = 4, (0, 3)
_MOST_TABLES, _LARGEST = 40, 2**23


def _fonts_in(binary: bytes) -> Iterator[tuple[str, bytes]]:
    """Fonts in OpenType's format, found by their tables of contents (OpenType 1.9, "Table directory")."""
    for beginning in _BEGINNING.finditer(binary):
        start = beginning.start()
        (count,) = struct.unpack_from(">H", binary, start + 4)
        if not 5 <= count <= _MOST_TABLES:
            continue
        tables = [struct.unpack_from(">4s4xII", binary, start + 12 + 16 * k) for k in range(count)]
        tags = [tag for tag, _, _ in tables]
        end = max(offset + length for _, offset, length in tables)
        if tags == sorted(tags) and b"name" in tags and all(map(_TAG.fullmatch, tags)) and end <= _LARGEST:
            font = binary[start : start + end]
            offset = next(offset for tag, offset, _ in tables if tag == b"name")
            yield _full_name(font[offset:]), font


def _full_name(table: bytes) -> str:
    """The name of a font as its table of names has it (OpenType 1.9, "name")."""
    count, storage = struct.unpack_from(">2xHH", table)
    for k in range(count):
        platform, kind, length, offset = struct.unpack_from(">H4xHHH", table, 6 + 12 * k)
        if kind == _FULL_NAME:
            text = table[storage + offset : storage + offset + length]
            return text.decode("utf-16-be" if platform in _UNICODE else "latin-1")
    return ""
