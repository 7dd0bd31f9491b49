"""The practice page as a package for a learning platform: SCORM 1.2 and SCORM 2004 (4th edition)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Literal, get_args

from symattn.foundation.files import zipped

Edition = Literal["1.2", "2004"]
EDITIONS: tuple[Edition, ...] = get_args(Edition)

_MANIFEST: Mapping[Edition, str] = {
    "1.2": """<?xml version="1.0" encoding="UTF-8"?>
<manifest identifier="symattn-practice" version="1.0" xmlns="http://www.imsproject.org/xsd/imscp_rootv1p1p2"
  xmlns:adlcp="http://www.adlnet.org/xsd/adlcp_rootv1p2">
<metadata><schema>ADL SCORM</schema><schemaversion>1.2</schemaversion></metadata>
<organizations default="course"><organization identifier="course"><title>{title}</title>
<item identifier="practice" identifierref="page"><title>{title}</title></item>
</organization></organizations>
<resources><resource identifier="page" type="webcontent" adlcp:scormtype="sco" href="index.html">
{files}
</resource></resources>
</manifest>
""",
    "2004": """<?xml version="1.0" encoding="UTF-8"?>
<manifest identifier="symattn-practice" version="1.0" xmlns="http://www.imsglobal.org/xsd/imscp_v1p1"
  xmlns:adlcp="http://www.adlnet.org/xsd/adlcp_v1p3" xmlns:imsss="http://www.imsglobal.org/xsd/imsss">
<metadata><schema>ADL SCORM</schema><schemaversion>2004 4th Edition</schemaversion></metadata>
<organizations default="course"><organization identifier="course"><title>{title}</title>
<item identifier="practice" identifierref="page"><title>{title}</title>
<imsss:sequencing>
<imsss:deliveryControls completionSetByContent="true" objectiveSetByContent="true"/>
</imsss:sequencing>
</item></organization></organizations>
<resources><resource identifier="page" type="webcontent" adlcp:scormType="sco" href="index.html">
{files}
</resource></resources>
</manifest>
""",
}


def package(files: Mapping[str, bytes], title: str, edition: Edition) -> bytes:
    """The files of a page as a package, with its manifest; the same bytes for the same files."""
    manifest = _MANIFEST[edition].format(title=escape(title), files=_listed(files))
    return zipped({"imsmanifest.xml": manifest.encode(), **files}.items(), level=6)


def _listed(names: Iterable[str]) -> str:
    return "\n".join(f'<file href="{escape(name)}"/>' for name in names)
