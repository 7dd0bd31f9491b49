"""Reads the QTI 1.2 that Canvas imports and scores blanks as Canvas does: each that has a listed text is one share."""

from xml.etree import ElementTree
from zipfile import ZipFile

SPACE = "{http://www.imsglobal.org/xsd/ims_qtiasiv1p2}"


class Item:
    def __init__(self, element):
        self.element, self.title = element, element.get("title")
        names = [field.text for field in element.iter(f"{SPACE}fieldentry")]
        self.kind, self.possible = names[0], float(names[1])
        self.text = element.find(f"{SPACE}presentation/{SPACE}material/{SPACE}mattext").text
        self.blanks = {
            blank.get("ident").removeprefix("response_"): {
                label.get("ident"): label.find(f".//{SPACE}mattext").text
                for label in blank.iter(f"{SPACE}response_label")
            }
            for blank in element.iter(f"{SPACE}response_lid")
        }

    def points(self, responses):
        """What texts are worth, a blank each; without regard to capitals and to spaces at the ends."""
        known = [{text.casefold() for text in listed.values()} for listed in self.blanks.values()]
        right = sum(r.strip().casefold() in listed for r, listed in zip(responses, known, strict=True))
        return right * self.possible / len(known)


def read(path):
    """The question groups of a package, each with how many of it are taken, and its items."""
    with ZipFile(path) as archive:
        assert archive.namelist() == ["imsmanifest.xml", "bank/bank.xml"]
        manifest = ElementTree.fromstring(archive.read("imsmanifest.xml"))
        (resource,) = manifest.iter("{http://www.imsglobal.org/xsd/imsccv1p1/imscp_v1p1}resource")
        assert resource.get("type") == "imsqti_xmlv1p2"
        root = ElementTree.fromstring(archive.read(resource[0].get("href")))
    groups = root.findall(f"{SPACE}assessment/{SPACE}section/{SPACE}section")
    return [
        (group.find(f".//{SPACE}selection_number").text, [Item(item) for item in group.iter(f"{SPACE}item")])
        for group in groups
    ]


def only(path):
    """The item of a package that has one."""
    ((_, (item,)),) = read(path)
    return item
