"""Reads R/exams exercises as the package documents them, and refuses everything else.

Source: vignette("exams2", package = "exams"), Table 2, and ?read_exercise: sections by underlined headings, a list of
answers with an item for every alternative and one for each other field, and meta-information a line each.
"""

import re
from zipfile import ZipFile

KNOWN = {"exname", "extitle", "exsection", "extype", "exclozetype", "exsolution", "extol", "expoints", "exshuffle"}
SECTIONS = re.compile(r"^(Question|Solution|Meta-information)\n=+\n", re.MULTILINE)
FIELD = re.compile(r"\\#\\#ANSWER(\d+)\\#\\#")


class Exercise:
    def __init__(self, name, source):
        assert not re.search(r"```\s*\{r|`r ", source), "R would be run"
        start, question, *rest = SECTIONS.split(source)[1:]
        assert [start, rest[0], rest[2]] == ["Question", "Solution", "Meta-information"]
        self.solution = rest[1]
        self.text, _, listed = question.partition("\nAnswerlist\n----------\n")
        lines = [line for line in listed.splitlines() if line.strip()]
        assert all(re.match(r"\*( |$)", line) for line in lines)
        self.answers = [line[1:].strip() for line in lines]
        pairs = [line.split(": ", 1) for line in rest[3].splitlines() if line.strip()]
        self.meta = dict(pairs)
        assert len(pairs) == len(self.meta)
        assert self.meta.keys() <= KNOWN
        assert self.meta["exname"] == name
        assert self.meta["exshuffle"] == "FALSE"
        self.type = self.meta["extype"]
        fields = [int(k) for k in FIELD.findall(self.text)]
        if self.type == "cloze":
            self.kinds = self.meta["exclozetype"].split("|")
            assert fields == list(range(1, len(self.kinds) + 1))
        else:
            self.kinds = [self.type]
            assert not fields
        self.solutions = self.meta["exsolution"].split("|")
        self.points = [float(x) for x in self.meta["expoints"].split("|")]
        self.tolerances = [float(x) for x in self.meta.get("extol", "0").split("|")]
        assert len(self.kinds) == len(self.solutions) == len(self.points)
        left = len(self.answers)
        for kind, solution in zip(self.kinds, self.solutions, strict=True):
            match kind:
                case "num":
                    float(solution)
                    left -= self.type == "cloze"
                case "string":
                    assert solution.strip()
                    left -= 1
                case "schoice" | "mchoice":
                    assert set(solution) <= {"0", "1"}
                    assert kind == "mchoice" or solution.count("1") == 1
                    left -= len(solution)
                case _:
                    raise AssertionError(kind)
        assert left == 0

    def earned(self, responses):
        """What responses are worth, one for each field."""
        fields = zip(self.kinds, self.solutions, self.tolerances, self.points, responses, strict=True)
        return sum(points * is_right(kind, solution, off, said) for kind, solution, off, points, said in fields)


def is_right(kind, solution, tolerance, said):
    if kind != "num":
        return said == solution
    try:
        return abs(float(said) - float(solution)) <= tolerance + 1e-12
    except ValueError:
        return False


def read(path):
    """The script, and the exercises by name."""
    with ZipFile(path) as archive:
        script, *names = archive.namelist()
        assert script == "bank.R"
        listed = re.findall(r'"([^"]+\.Rmd)"', archive.read(script).decode())
        assert [f"exercises/{name}" for name in listed] == names
        read = {name: archive.read(f"exercises/{name}").decode() for name in listed}
    return [Exercise(name.removesuffix(".Rmd"), source) for name, source in read.items()]
