"""QTI 2.1: a content package of items and a test that takes one item of each pool."""

from __future__ import annotations

from symattn.teaching.bank.items import Bank
from symattn.teaching.exporters import qti
from symattn.teaching.exporters.qti import Dialect, element, package

LOST = qti.LOST
SUFFIX = ".qti21.zip"


DIALECT = Dialect(
    element,
    namespace="http://www.imsglobal.org/xsd/imsqti_v2p1",
    schema="http://www.imsglobal.org/xsd/qti/qtiv2p1/imsqti_v2p1.xsd",
    packages="http://www.imsglobal.org/xsd/imscp_v1p1",
    package=("QTIv2.1 Package", "1.0.0"),
    kinds="v2p1",
    content=lambda html: html,
)


def write(bank: Bank) -> bytes:
    return package(bank, DIALECT)
