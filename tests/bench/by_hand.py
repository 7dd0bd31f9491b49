"""A worksheet and its key as somebody would program them alone: fractions and a template, nothing chosen or proved."""

import random
from fractions import Fraction
from math import exp

import jinja2

PAGE = r"""# Self-attention

{% for name, m in given.items() %}
$${{ name }} = {{ m | matrix }}$$
{% endfor %}
{% for step in steps %}
## {{ step.title }} ${{ step.name }} = {{ step.rule }}$

{% if key %}
{% for line in step.working %}
$${{ line }}$$
{% endfor %}
$${{ step.name }} = {{ step.value | matrix }}$$
{% else %}
| |{% for _ in step.value[0] %} {{ loop.index }} |{% endfor %}

|---|{% for _ in step.value[0] %}---|{% endfor %}

{% for row in step.value %}
| {{ loop.index }} |{% for _ in row %}   |{% endfor %}

{% endfor %}
{% endif %}
{% endfor %}
"""


def shown(x):
    if isinstance(x, float):
        return f"{x:.4f}"
    return str(x) if x.denominator == 1 else rf"\frac{{{x.numerator}}}{{{x.denominator}}}"


def matrix(m):
    rows = r" \\ ".join(" & ".join(map(shown, row)) for row in m)
    return rf"\begin{{bmatrix}}{rows}\end{{bmatrix}}"


ENVIRONMENT = jinja2.Environment(trim_blocks=True)
ENVIRONMENT.filters["matrix"] = matrix
TEMPLATE = ENVIRONMENT.from_string(PAGE)


def times(name, left, right):
    """A product, and how each of its entries is worked out."""
    value, working = [], []
    for i, row in enumerate(left, 1):
        value.append([sum(a * b for a, b in zip(row, column, strict=True)) for column in zip(*right, strict=True)])
        for j, column in enumerate(zip(*right, strict=True), 1):
            terms = " + ".join(rf"{shown(a)} \cdot {shown(b)}" for a, b in zip(row, column, strict=True))
            working.append(rf"{name}_{{{i}{j}}} = {terms} = {shown(value[-1][j - 1])}")
    return value, working


def softmax(scores):
    value, working = [], []
    for i, row in enumerate(scores, 1):
        powers = [exp(s) for s in row]
        value.append([p / sum(powers) for p in powers])
        below = " + ".join(f"e^{{{shown(s)}}}" for s in row)
        for j, s in enumerate(row, 1):
            working.append(rf"A_{{{i}{j}}} = \frac{{e^{{{shown(s)}}}}}{{{below}}} = {shown(value[-1][j - 1])}")
    return value, working


def worksheet(rng, n=3, d_model=5, d=4):
    """Worksheet and key of self-attention, in Markdown."""
    shapes = {"X": (n, d_model), "W^Q": (d_model, d), "W^K": (d_model, d), "W^V": (d_model, 2)}
    given = {name: [[rng.randint(-1, 1) for _ in range(j)] for _ in range(i)] for name, (i, j) in shapes.items()}
    x = given["X"]
    steps = []

    def add(title, name, rule, value, working):
        steps.append({"title": title, "name": name, "rule": rule, "value": value, "working": working})
        return value

    q, k, v = (add(title, name, f"X W^{name}", *times(name, x, given[f"W^{name}"]))
               for title, name in (("Queries", "Q"), ("Keys", "K"), ("Values", "V")))  # fmt: skip
    s = add("Scores", "S", r"Q K^\top", *times("S", q, [*zip(*k, strict=True)]))
    scaled = [[Fraction(x, 2) for x in row] for row in s]
    add("Scaled scores", "S'", r"\frac{S}{\sqrt{d_k}}", scaled, [])
    a = add("Weights", "A", r"\operatorname{softmax}(S')", *softmax(scaled))
    add("Output", "Z", "A V", *times("Z", a, v))
    return [TEMPLATE.render(given=given, steps=steps, key=key) for key in (False, True)]


if __name__ == "__main__":
    print("\n".join(worksheet(random.Random(1))))
