"""The furniture of a page: its head, and a template with ready-made blocks put in, one of ours or of the user's own."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symattn.errors import InputError, offered
from symattn.foundation.installed import templates
from symattn.foundation.remembered import kept

if TYPE_CHECKING:
    from jinja2 import Environment
    from jinja2.runtime import Context

# --- what an institution puts at the head of its papers: a file of LaTeX, and a logo -------------------

LOGOS = (".svg", ".png", ".jpg", ".jpeg", ".pdf")
LARGEST_HEADER, LARGEST_LOGO = 2**17, 2**19  # bytes: they are kept in every exam.json
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True)
class Attachment:
    """A file that goes with pages, by its own name."""

    name: str
    content: bytes

    @property
    def kind(self) -> str:
        """The ending of its name, in small letters, without the point."""
        return Path(self.name).suffix.lower().removeprefix(".")

    def kept(self) -> str:
        """The file as text, which `attachment` reads anywhere."""
        return json.dumps({"name": self.name, "base64": base64.b64encode(self.content).decode()})


@dataclass(frozen=True)
class Masthead:
    """The head of papers: `header` is read by LaTeX above the title, `logo` stands beside it in PDF.

    LaTeX prints a logo itself where there is no header, and finds it by its name where there is one.
    """

    header: Attachment | None = None
    logo: Attachment | None = None

    @property
    def files(self) -> tuple[Attachment, ...]:
        return tuple(one for one in (self.header, self.logo) if one is not None)


NONE = Masthead()


def read_masthead(header: str | Path, logo: str | Path, folder: Path = Path()) -> Masthead:
    """The head of papers from files in a folder, by their names, or from what `Attachment.kept` gave; "" is none.

    `InputError` for a file that is not there, is too large, or is neither TeX nor a picture.
    """
    return Masthead(
        _attachment("header", header, folder, (".tex",), LARGEST_HEADER),
        _attachment("logo", logo, folder, LOGOS, LARGEST_LOGO),
    )


def _attachment(
    what: str, stated: str | Path, folder: Path, endings: tuple[str, ...], largest: int
) -> Attachment | None:
    if not str(stated) or stated == Path():
        return None
    if str(stated).startswith("{"):
        return _thawed(what, str(stated))
    path = folder / stated
    if path.suffix.lower() not in endings or not _NAME.fullmatch(path.name):
        listed = ", ".join(endings)
        raise InputError(
            f"{what} is {path.name!r}; a name of letters, digits, points and hyphens with {listed} was expected."
        )
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{what} is {path}, which cannot be read: {error.strerror}.") from error
    if not content or len(content) > largest:
        raise InputError(f"{what} is {path} with {len(content)} bytes; 1 to {largest} bytes were expected.")
    if what == "header":
        try:
            content.decode()
        except UnicodeDecodeError as error:
            raise InputError(f"{what} is {path}, which is not UTF-8 (byte {error.start}).") from error
    return Attachment(path.name, content)


def _thawed(what: str, text: str) -> Attachment:
    try:
        data = json.loads(text)
        return Attachment(str(data["name"]), base64.b64decode(data["base64"], validate=True))
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{what} is {text[:40]!r}; the name of a file was expected.") from error


# --- templates ----------------------------------------------------------------------------------------

ARTICLE = "article"
MEMORY = 2**30  # bytes that a template of the user's own may fill
LARGEST_POWER = 10_000  # bits

_folder: ContextVar[Path | None] = ContextVar("folder", default=None)
_latex_class: ContextVar[str] = ContextVar("latex_class", default=ARTICLE)
_masthead: ContextVar[Masthead] = ContextVar("masthead", default=NONE)


@contextmanager
def typesetting(
    folder: str | Path | None = None, latex_class: str = ARTICLE, header: str = "", logo: str = ""
) -> Iterator[None]:
    """While this lasts, files of the folder replace our templates of the same name, and LaTeX is for this class.

    `header` and `logo` are files for the head of pages, as `read_masthead` takes them.

    `InputError` if there is no such folder, or nothing in it that would replace anything, or no such class.
    """
    own = None if folder is None else Path(folder)
    ready = {path.name for path in templates().iterdir()}
    if own is not None:
        there = {path.name for path in own.iterdir()} if own.is_dir() else set()
        named = template_of(latex_class)
        if not there & {*ready, named}:
            raise InputError(f"The folder {own} has none of the templates {', '.join(sorted(ready))}.")
        ready |= there
    if template_of(latex_class) not in ready:
        otherwise = (
            f"{{}} are ready, and {template_of(latex_class)} in a folder named with --templates would be another"
        )
        raise InputError(
            f"There is no LaTeX class {latex_class!r}; {offered(latex_class, (ARTICLE, 'exam'), otherwise)}"
        )
    tokens = _folder.set(own), _latex_class.set(latex_class)
    try:
        with headed(read_masthead(header, logo)):
            yield
    finally:
        _folder.reset(tokens[0])
        _latex_class.reset(tokens[1])


@contextmanager
def headed(masthead: Masthead) -> Iterator[None]:
    """While this lasts, pages have this at their head."""
    token = _masthead.set(masthead)
    try:
        yield
    finally:
        _masthead.reset(token)


def masthead() -> Masthead:
    """What stands at the head of pages."""
    return _masthead.get()


def chosen() -> dict[str, str | None]:
    """What `typesetting` was told, by the names of its parameters: another process can be told the same."""
    own, head = _folder.get(), masthead()
    said = {"header": head.header.kept() if head.header else "", "logo": head.logo.kept() if head.logo else ""}
    return {"folder": None if own is None else str(own.resolve()), "latex_class": latex_class(), **said}


def own_templates() -> dict[str, str]:
    """The templates of the user's own that are in use, by name, and a digest of each."""
    own = _folder.get()
    files = [] if own is None else sorted(path for path in own.iterdir() if path.is_file())
    return {path.name: sha256(path.read_bytes()).hexdigest() for path in files}


def latex_class() -> str:
    """The class that LaTeX files are written for."""
    return _latex_class.get()


def template_of(latex_class: str) -> str:
    """The name of the template of a LaTeX class."""
    return "document.tex.j2" if latex_class == ARTICLE else f"{latex_class}.tex.j2"


def text_of(name: str) -> str:
    """A file that is used as it is: the user's own, else ours."""
    own = _folder.get()
    path = own / name if own is not None and (own / name).is_file() else templates() / name
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"The template {path} cannot be read: {error}.") from error


def filled(template: str, **parts: object) -> str:
    """The template of this name, filled with text that the writer has already made safe.

    `InputError` names the file and the line of what is wrong in a template of the user's own.
    """
    from jinja2 import TemplateError, TemplateSyntaxError

    if (own := _folder.get()) is None:
        return _environment(None).get_template(template).render(parts)
    here = f"The template {template} in the folder {own}"
    try:
        with _limited():
            return _environment(own).get_template(template).render(parts)
    except RecursionError as error:
        raise InputError(f"{here} extends or includes itself, or is nested too deep.") from error
    except MemoryError as error:
        raise InputError(f"{here} is too large.") from error
    except TemplateSyntaxError as error:
        raise InputError(f"In the template {error.filename}, line {error.lineno}: {error.message}") from error
    except (TemplateError, TypeError, ValueError, ArithmeticError, AttributeError, LookupError) as error:
        raise InputError(f"In the template {_place(error, own)}: {error}") from error


@contextmanager
def _limited() -> Iterator[None]:
    """While this lasts, this process may take `MEMORY` more than it has, where the platform can say and limit that."""
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except (ImportError, OSError):
        yield
        return
    before = resource.getrlimit(resource.RLIMIT_AS)
    most = pages * resource.getpagesize() + MEMORY
    if before[0] == resource.RLIM_INFINITY or most < before[0]:
        resource.setrlimit(resource.RLIMIT_AS, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def _place(error: BaseException, own: Path) -> str:
    """The file and the line of a template in which an error was raised; jinja2 puts templates into the traceback."""
    place, trace = str(own), error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if Path(file).parent in (own, templates()):
            place = f"{file}, line {trace.tb_lineno}"
        trace = trace.tb_next
    return place


@cache
def _environment(own: Path | None) -> Environment:
    import jinja2
    from jinja2 import BytecodeCache, FileSystemLoader, StrictUndefined
    from jinja2.bccache import Bucket
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class Templates(ImmutableSandboxedEnvironment):
        """Their arithmetic is that of a page: a power that fills no page is refused before it is worked out."""

        intercepted_binops = frozenset(["**"])

        def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
            if isinstance(left, int) and isinstance(right, int) and left.bit_length() * right > LARGEST_POWER:
                raise OverflowError(f"the power {right} of a number is too large.")
            return super().call_binop(context, operator, left, right)

    class Kept(BytecodeCache):
        """Our own templates, found by their text and the installation of jinja2 among all code that is kept."""

        def load_bytecode(self, bucket: Bucket) -> None:
            if code := codes.get(f"{bucket.key} {bucket.checksum} {installed}"):
                bucket.bytecode_from_string(code)

        def dump_bytecode(self, bucket: Bucket) -> None:
            codes[f"{bucket.key} {bucket.checksum} {installed}"] = bucket.bytecode_to_string()

    installed = Path(jinja2.__file__).stat().st_mtime_ns
    codes = compiled.codes if own is None and (compiled := kept()) else {}
    # The usual braces of Jinja have a meaning in TeX and Typst; these signs have none there.
    environment = Templates(
        loader=FileSystemLoader([folder for folder in (own, templates()) if folder is not None]),
        bytecode_cache=Kept(),
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
        comment_start_string="<#",
        comment_end_string="#>",
    )
    del environment.globals["lipsum"]  # words without sense, and without end
    return environment
