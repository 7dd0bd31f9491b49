"""What an institution puts at the head of its papers: a file of LaTeX, and a logo."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import dataclass
from pathlib import Path

from symattn.errors import InputError

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
