"""QTI 3.0: a content package of items and a test that takes one item of each pool."""

from __future__ import annotations

from symattn.teaching.bank.items import Bank
from symattn.teaching.exporters import qti21
from symattn.teaching.exporters.qti21 import Dialect, hyphened, package

LOST = qti21.LOST
SUFFIX = ".qti3.zip"


DIALECT = Dialect(
    hyphened,
    namespace="http://www.imsglobal.org/xsd/imsqtiasi_v3p0",
    schema="https://purl.imsglobal.org/spec/qti/v3p0/schema/xsd/imsqti_asiv3p0_v1p0.xsd",
    packages="http://www.imsglobal.org/xsd/qti/qtiv3p0/imscp_v1p1",
    package=("QTI Package", "3.0.0"),
    kinds="v3p0",
    content=lambda html: hyphened("contentBody", html),
)


def write(bank: Bank) -> bytes:
    return package(bank, DIALECT)
