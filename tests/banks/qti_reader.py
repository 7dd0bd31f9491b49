"""Works out the response processing of a QTI item, of version 2 or 3: a witness that shares nothing with the exporter.

What is not answered is NULL, as is a text that is no number where a number is asked for; conditions with NULL are not
true; a response that has no entry in a mapping is worth the default.
"""

import re
from xml.etree import ElementTree
from zipfile import ZipFile

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def called(element):
    """The name of an element as version 2 has it, without its namespace: qti-map-response is mapResponse."""
    name = element.tag.rpartition("}")[2].removeprefix("qti-")
    return re.sub(r"-([a-z])", lambda found: found[1].upper(), name)


def said(element, name):
    """An attribute by its name in version 2."""
    return element.get(name, element.get(re.sub(r"(?<=[a-z])([A-Z])", lambda found: f"-{found[1].lower()}", name)))


def inside(element, name):
    return [child for child in element if called(child) == name]


def everywhere(element, name):
    return [child for child in element.iter() if called(child) == name]


def items(path):
    """The items of a package in the order of its test, by the manifest; its pools; the manifest itself."""
    with ZipFile(path) as archive:
        manifest = ElementTree.fromstring(archive.read("imsmanifest.xml"))
        resources = {r.get("identifier"): r for r in manifest.iter() if called(r) == "resource"}
        assert {f.get("href") for f in manifest.iter() if called(f) == "file"} == {*archive.namelist()} - {
            "imsmanifest.xml"
        }
        test = ElementTree.fromstring(archive.read(resources["test"].get("href")))
        pools = []
        for section in everywhere(test, "assessmentSection"):
            listed = [
                ElementTree.fromstring(archive.read(resources[said(ref, "identifier")].get("href")))
                for ref in inside(section, "assessmentItemRef")
            ]
            pools.append((section, listed))
    return pools, manifest


class Item:
    def __init__(self, root):
        self.root = root
        self.declared = {said(d, "identifier"): d for d in inside(root, "responseDeclaration")}

    def right(self):
        """The responses that are declared to be right, by the place."""
        return {
            name: [value.text for correct in inside(d, "correctResponse") for value in correct]
            for name, d in self.declared.items()
        }

    def worked_out(self, responses):
        """The outcomes of responses: a text each, or a list of texts where there are several."""
        self.responses = {name: self._read(d, responses.get(name)) for name, d in self.declared.items()}
        self.outcomes = {}
        for d in inside(self.root, "outcomeDeclaration"):
            value = [v.text for default in inside(d, "defaultValue") for v in default]
            number = said(d, "baseType") == "float"
            self.outcomes[said(d, "identifier")] = (float(value[0]) if number else value[0]) if value else None
        (processing,) = inside(self.root, "responseProcessing")
        for rule in processing:
            self._do(rule)
        return self.outcomes

    def told(self):
        """What is shown of what may be told."""
        blocks = everywhere(self.root, "feedbackBlock")
        shown = [b for b in blocks if self.outcomes[said(b, "outcomeIdentifier")] == said(b, "identifier")]
        return ["".join(block.itertext()) for block in shown]

    def _read(self, declared, response):
        if not response:
            return None
        if said(declared, "baseType") == "float":
            return float(response) if NUMBER.fullmatch(response) else None
        return response

    def _do(self, rule):
        match called(rule):
            case "responseCondition":
                for branch in rule:
                    condition, *actions = branch
                    if self._value(condition):
                        for action in actions:
                            self._do(action)
                        return
            case "setOutcomeValue":
                self.outcomes[said(rule, "identifier")] = self._value(rule[0])
            case other:
                raise AssertionError(other)

    def _value(self, node):
        match called(node):
            case "variable":
                name = said(node, "identifier")
                return self.responses[name] if name in self.responses else self.outcomes[name]
            case "baseValue":
                return float(node.text) if said(node, "baseType") == "float" else node.text
            case "isNull":
                return self._value(node[0]) is None
            case "not":
                return not self._value(node[0])
            case "and":
                return all(map(self._value, node))
            case "or":
                return any(map(self._value, node))
            case "sum":
                return sum(map(self._value, node))
            case "divide":
                above, below = map(self._value, node)
                return above / below
            case "mapResponse":
                return self._mapped(self.declared[said(node, "identifier")])
            case other:
                a, b = map(self._value, node)
                if a is None or b is None:
                    assert other not in ("gte", "lte"), "some systems take nothing for 0"
                    return False
                return {
                    "match": lambda: a == b,
                    "member": lambda: a in b,
                    "gte": lambda: a >= b,
                    "lte": lambda: a <= b,
                }[other]()

    def _mapped(self, declared):
        (mapping,) = inside(declared, "mapping")
        worth = {said(entry, "mapKey"): float(said(entry, "mappedValue")) for entry in mapping}
        assert len(worth) == len(mapping)
        response = self.responses[said(declared, "identifier")]
        listed = response if isinstance(response, list) else [response]
        whole = sum(worth.get(one, float(said(mapping, "defaultValue"))) for one in listed)
        least, most = said(mapping, "lowerBound"), said(mapping, "upperBound")
        whole = whole if least is None else max(whole, float(least))
        return whole if most is None else min(whole, float(most))


def only(path):
    """The item of a package that has one."""
    (((_, (element,)),), _) = items(path)
    return Item(element)
