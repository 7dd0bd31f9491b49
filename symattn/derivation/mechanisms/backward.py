"""Backpropagation: the gradients of a loss, worked out by steps that follow those of the forward pass.

Reverse-mode differentiation of a derivation (Goodfellow et al. 2016, section 6.5): every forward step hands the
gradient of its result on to its operands, by the `pull` of its operation; where a matrix is used several times,
what comes from each use is added up.  `dZ` is the gradient of the loss with respect to `Z`, of the same shape.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import reduce
from operator import add

from symattn.derivation.derivation import (
    Derivation,
    HeadLines,
    Lines,
    Op,
    Operand,
    Pull,
    Step,
    StepName,
    Taken,
    Use,
    symbols,
)
from symattn.derivation.mechanisms.descent import GRADIENTS, gradient, is_gradient
from symattn.derivation.mechanisms.masks import mask_keep
from symattn.derivation.mechanisms.settings import Settings
from symattn.derivation.ops.attention import Mask
from symattn.derivation.ops.gradient import Copy, Interleave, Padded, PutTogether, Total
from symattn.derivation.ops.scores import Bias
from symattn.derivation.sizes import times
from symattn.errors import InputError, LetterError, offered
from symattn.exact import AnyMatrix, Matrix, Outline, Size, decide, decimal_text, in_numbers
from symattn.foundation.languages import message


def backward(d: Derivation, of: str, wrt: Sequence[str] = ()) -> Derivation:
    """The derivation with the gradients of a loss L after it, for given dZ = ∂L/∂Z where `of` is Z.

    `wrt` are the givens whose gradients are wanted: all that Z depends on, unless some are named.  `InputError` for an
    operation through which no gradient goes, or whose gradient is not known.
    """
    if d.value(of).shape != d.value(gradient(of)).shape:
        (rows, columns), (given_rows, given_columns) = d.value(of).shape, d.value(gradient(of)).shape
        raise InputError(f"{gradient(of)} is {given_rows}×{given_columns}; like {of} it must be {rows}×{columns}.")
    return _Pass(d, _Way.of(d, of, wrt)).run(of)


def seeded(d: Derivation, of: str) -> Derivation:
    """With dZ among the givens, for Z = `of`: as it is given, else 1 for every entry, so that the loss is their sum.

    In letters it is letters, or its shape alone.
    """
    shape = d[of].result.shape
    if gradient(of) in d.givens:
        return d
    upstream: AnyMatrix = Outline(shape)
    rows, columns = shape
    if isinstance(rows, int) and isinstance(columns, int) and isinstance(d.value(of), Matrix):
        upstream = symbols(gradient(of), rows, columns) if d.staged else Matrix([[1] * columns] * rows)
    return replace(d, givens={**d.givens, gradient(of): upstream})


def _of_matrix(pulled: Pull, operand: Operand) -> Pull:
    """What an operand gets, as a gradient of the matrix of which it is the transpose, a row or a column."""
    op, after, part, operands = pulled.op, pulled.after, pulled.part, pulled.operands
    if operand.transposed:
        operands = tuple(o.flipped for o in operands)
        if op is not None:
            op, operands = op.turn(), operands[::-1] if op.reverses else operands
            after = tuple(one.turn() for one in after)
        if part is not None:
            part = part.turn()
    if operand.row is not None:
        part = Lines(operand.row, 1, of="rows")
    if operand.column is not None:
        part = Lines(operand.column, 1, of="columns")
    return Pull(operands, op, after, part)


# ------------------------------------------------------------------------------------------------ the pass


@dataclass(frozen=True)
class _Way:
    """What lies between givens and a result: its steps, how many use a matrix, how far that is from the givens."""

    steps: Mapping[str, Step]
    uses: Mapping[str, int]
    depth: Mapping[str, int]

    @classmethod
    def of(cls, d: Derivation, result: str, wrt: Sequence[str]) -> _Way:
        """From the givens `wrt`, or from all, to a result; `InputError` where none leads to it."""
        reached = _reached(d, result)
        if unreached := [name for name in wrt if name not in reached or name not in d.givens]:
            known = [name for name in d.givens if name in reached]
            tail = offered(unreached[0], known, "it does on {}")
            raise InputError(f"{result} does not depend on a given {unreached[0]!r}; {tail}")
        leading = set(wrt) or {name for name in d.givens if name in reached}
        depth = dict.fromkeys(d.givens, 0)
        for step in d:
            depth[step.name] = 1 + max((depth[o.name] for o in step.operands), default=0)
            if any(o.name in leading for o in _flowing(step)):
                leading.add(step.name)
        if result not in leading:
            raise InputError(
                f"{result} depends on no given matrix, so there is nothing that its gradient goes back to."
            )
        steps = {step.name: step for step in d if step.name in reached and step.name in leading}
        uses = Counter(o.name for step in steps.values() for o in _flowing(step) if o.name in leading)
        between = (name for name in (*d.givens, *steps) if name != result)
        if taken := [gradient(name) for name in between if name in uses and gradient(name) in d]:
            raise InputError(f"The way back from {result} leads to {taken[0]}, and there is a matrix of that name.")
        return cls(steps, uses, depth)


@dataclass
class _Pass:
    """One pass back: `received` is what the uses of a matrix have handed on to it so far."""

    d: Derivation
    way: _Way
    received: defaultdict[str, list[Pull]] = field(default_factory=lambda: defaultdict(list))
    gradients: dict[str, Operand] = field(default_factory=dict)

    def run(self, result: str) -> Derivation:
        """The steps whose gradients are known, one after the other: a head to its end, and what is latest first."""
        steps, depth = self.way.steps, self.way.depth
        position = {name: i for i, name in enumerate(steps)}
        ready, section = [result], ""
        self.gradients[result] = Operand(gradient(result))

        def priority(name: str) -> tuple[bool, int, int]:
            return steps[name].section == section, depth[name], -position[name]

        while ready:
            name = max(ready, key=priority)
            ready.remove(name)
            section = steps[name].section
            ready += [source for source in self._hand_on(steps[name]) if source in steps]
        return self.d

    def _hand_on(self, step: Step) -> list[str]:
        """What a step's operands get, the least far on first; those that have all of their gradient then."""
        uses, depth = self.way.uses, self.way.depth
        complete = []
        ks = [k for k, o in enumerate(step.operands) if step.op.flows(k) and o.name in uses]

        def nearness(k: int) -> tuple[int, int]:
            return depth[step.operands[k].name], uses[step.operands[k].name]

        for k in sorted(ks, key=nearness):  # weights before the inputs that they share
            name = step.operands[k].name
            self.received[name].append(self._pulled(step, k))
            if len(self.received[name]) == uses[name]:
                self._settle(name, self.way.steps.get(name, step).section)
                complete.append(name)
        return complete

    def _pulled(self, step: Step, k: int) -> Pull:
        """What the k-th operand of a step gets, once the steps that work it out are there."""
        operand = step.operands[k]
        pulled = _of_matrix(step.op.pull(Use(self.d, step, self.gradients[step.name], k)), operand)
        if pulled.op is None:
            return pulled
        whole = self.way.uses[operand.name] == 1 and pulled.part is None
        called = self._called(operand, step, k)
        name = gradient(self._beneath_mask(operand.name)) if whole else self._new(called)
        *ops, last = (pulled.op, *pulled.after)
        operands = pulled.operands
        for op in ops:
            before = self._new(f"{called}_before")
            self._then(before, op, operands, step.section)
            operands = (Operand(before),)
        self._then(name, last, operands, step.section)
        return Pull((Operand(name),), part=pulled.part)

    def _beneath_mask(self, name: str) -> str:
        """What a masked matrix was before: its gradient is the same, and is called so with a mask and without one."""
        step = self.way.steps.get(name)
        if step is None or not isinstance(step.op, Mask | Bias):
            return name
        (source,) = step.operands
        alone = source == Operand(source.name) and source.name in self.way.steps and self.way.uses[source.name] == 1
        return self._beneath_mask(source.name) if alone else name

    def _called(self, operand: Operand, step: Step, k: int) -> str:
        """What the gradient from one use is called: dX_Q for what comes to X from Q, among several."""
        name, used = operand.name, StepName.of(step.name)
        own = StepName.of(name)
        if operand.row is not None or operand.column is not None:
            return f"{gradient(name)}.{1 + (operand.row if operand.row is not None else operand.column or 0)}"
        if used.token is not None and own.token is None:  # one for every position
            return f"{gradient(name)}_{used.token}"
        if used.token is not None:
            return f"{gradient(own.stem)}_next{own.scope}.{own.token}"
        label = used.stem.partition("_")[0]
        several = sum(o.name == name for o in step.operands) > 1
        return f"{gradient(own.stem)}_{label}{k + 1 if several else ''}{used.scope}"

    def _settle(self, name: str, section: str) -> None:
        """The whole gradient of a matrix, from what it got: added up, or put together of parts."""
        got = self.received[name]
        operands = tuple(pulled.operands[0] for pulled in got)
        if any(pulled.part for pulled in got) and not self._put_together(name, got, section):
            operands = tuple(self._padded(name, pulled, section, len(got) == 1) for pulled in got)
        if gradient(name) in self.d:  # as it was put together, or as the only use of the whole gave it
            self.gradients[name] = Operand(gradient(name))
        elif len(got) > 1:
            total = _total(name, operands)
            self._then(total, Total(), operands, section)
            self.gradients[name] = Operand(total)
        elif name in self.way.steps:
            self.gradients[name] = operands[0]
        else:
            self._then(gradient(name), Copy(), operands, section)
            self.gradients[name] = Operand(gradient(name))

    def _put_together(self, name: str, got: Sequence[Pull], section: str) -> bool:
        """The gradients of a matrix's columns or rows side by side, dQ of dQ_1 and dQ_2, if they are all there once."""
        placed = [(pulled.part, pulled.operands[0]) for pulled in got if pulled.part]
        if len(placed) < len(got):
            return False
        size = self.d.value(name).shape[0 if placed[0][0].of == "rows" else 1]
        in_order, interleaved = _in_order(placed), placed[0][0].step > 1
        if not _make_up(size, [part for part, _ in in_order]):
            return False
        of = placed[0][0].of
        op: Op = Interleave(of) if interleaved else PutTogether(of)
        self._then(gradient(name), op, tuple(operand for _, operand in in_order), section)
        return True

    def _padded(self, name: str, pulled: Pull, section: str, alone: bool) -> Operand:
        """What a part of a matrix got, among zeros; what all of it got, as it is."""
        if pulled.part is None:
            return pulled.operands[0]
        size = self.d.value(name).shape[0 if pulled.part.of == "rows" else 1]
        if not isinstance(size, int) or isinstance(pulled.part, HeadLines):
            raise LetterError(f"{name} is used in parts, so that its {pulled.part.of} must be a number, not {size}.")
        padded = gradient(name) if alone else self._new(f"{gradient(name)}_part")
        self._then(padded, Padded(pulled.part, size), pulled.operands, section)
        return Operand(padded)

    def _new(self, name: str) -> str:
        """A name that nothing has yet: dX_Y, dX_Y2, dX_Y3."""
        numbers = (f"{name}{number}" for number in range(2, len(self.d.steps) + 3))
        return next(new for new in (name, *numbers) if new not in self.d)

    def _then(self, name: str, op: Op, operands: tuple[Operand, ...], section: str) -> None:
        where = message("gradients, {section}", section=section) if section else GRADIENTS
        self.d = self.d.then(name, op, *operands, section=where)


Part = Lines | HeadLines


def _in_order(placed: Sequence[tuple[Part, Operand]]) -> list[tuple[Part, Operand]]:
    return sorted(placed, key=lambda pair: pair[0].head if isinstance(pair[0], HeadLines) else pair[0].start)


def _make_up(size: Size, parts: Sequence[Part]) -> bool:
    """Whether columns or rows, in order, are all of `size`, each once, one after the other or in turn."""
    heads = [part for part in parts if isinstance(part, HeadLines)]
    if heads:
        whole = [replace(heads[0], head=k + 1) for k in range(heads[0].heads)]
        return list(parts) == whole and size == times(heads[0].heads, heads[0].width)
    lines = [part for part in parts if isinstance(part, Lines)]
    step = lines[0].step
    alike = {(part.of, part.step, part.count if step > 1 else 0) for part in lines}
    taken = sorted(i for part in lines for i in part.indices)
    return len(alike) == 1 and step in (1, len(lines)) and isinstance(size, int) and taken == list(range(size))


def _total(name: str, operands: Sequence[Operand]) -> str:
    """What the sum of a matrix's gradients is called: with a row of dH in it, which is dh_2, that of H.2 is a total."""
    name_parts = StepName.of(name)
    whole = gradient(name_parts.stem) + name_parts.scope
    if name_parts.token is not None and any(operand.name == whole for operand in operands):
        return f"{gradient(name_parts.stem)}_total{name_parts.scope}.{name_parts.token}"
    return gradient(name)


def _flowing(step: Step) -> list[Operand]:
    return [operand for k, operand in enumerate(step.operands) if step.op.flows(k)]


def _reached(d: Derivation, of: str) -> frozenset[str]:
    """The matrices on which `of` depends."""
    reached = {of}
    for step in reversed(d.steps):
        if step.name in reached:
            reached.update(operand.name for operand in _flowing(step))
    return frozenset(reached)


# ------------------------------------------------------------------------------------------------ weights given


def with_given(d: Derivation, known: Collection[str], run: Callable[[Derivation], Derivation]) -> Derivation:
    """What `run` makes of `d` where the results of some of its steps are given: weights A of the forward pass.

    Those steps are left out, and whatever leads to them alone; so are results of the forward pass on which no gradient
    rests.  Only shapes are followed to find out which these are.  What is given is compared with what the forward pass
    makes of the other givens, so that the page makes no false claim.
    """
    planned = run(replace(d, givens={name: Outline(m.shape) for name, m in d.givens.items() if name not in known}))
    dropped = set(known)
    for step in reversed(planned.steps):
        users = [later.name for later in planned if any(o.name == step.name for o in later.operands)]
        if dropped.issuperset(users) and (users or not is_gradient(step)):
            dropped.add(step.name)
    d = replace(d, taken=(*d.taken, *_compared(d, planned, known)))
    for step in planned:
        if step.name not in dropped:
            d = d.extended(step)
    return d


MOST_PLACES = 6
"""Of a rounded result of the forward pass."""


def _compared(d: Derivation, planned: Derivation, known: Collection[str]) -> Iterator[tuple[str, Taken]]:
    """What each given result is beside that of the forward pass; with letters in it, it stands for that."""
    if not all(map(in_numbers, d.givens.values())):
        yield from ((name, "result") for name in known)
        return
    forward = _forward(d, planned, known)
    for name in known:
        yield name, _beside(d.givens[name], forward.value(name) if forward and name in forward else None)


def _forward(d: Derivation, planned: Derivation, known: Collection[str]) -> Derivation | None:
    """The steps of the forward pass that lead to given results; empty if they cannot be computed."""
    needed = set(known)
    for step in reversed(planned.steps):
        if step.name in needed:
            needed.update(operand.name for operand in step.operands)
    result = Derivation({name: m for name, m in d.givens.items() if name not in known}, arithmetic=d.arithmetic)
    try:
        for step in planned:
            if step.name in needed:
                result = result.extended(step)
    except InputError:
        return None
    return result


def _beside(given: AnyMatrix, result: AnyMatrix | None) -> Taken:
    if not isinstance(given, Matrix) or not isinstance(result, Matrix) or given.shape != result.shape:
        return "other"
    if all(decide(x, y).equal for x, y in zip(given, result, strict=True)):
        return "result"
    rational = [Fraction(x) for x in given if isinstance(x, int | Fraction)]
    places = next((k for k in range(1, MOST_PLACES + 1) if all(10**k % x.denominator == 0 for x in rational)), 0)
    if not places or len(rational) < given.shape[0] * given.shape[1]:
        return "other"
    rounded = (Fraction(decimal_text(y, places)) for y in result)
    return places if all(x == y for x, y in zip(rational, rounded, strict=True)) else "other"


def from_weights(d: Derivation, settings: Settings, run: Callable[[Derivation], Derivation]) -> Derivation:
    """What `run` makes of `d`, back from the weights of every head that are given, if they are.

    `InputError` if they are given for some heads only, if their rows do not sum to 1, or where the mask hides one that
    is not 0.
    """
    names = ["A"] if settings.heads == 1 else [f"A_{head}" for head in range(1, settings.heads + 1)]
    given = [name for name in names if name in d.givens]
    if not given:
        return run(d)
    if len(given) < len(names):
        raise InputError(f"Weights are given for {', '.join(given)} only; give them for all heads or for none.")
    for name in names:
        _check_weights(name, d.givens[name], settings)
    return with_given(d, names, run)


def _check_weights(name: str, weights: AnyMatrix, settings: Settings) -> None:
    keep = mask_keep(settings.mask, *weights.shape)
    if not in_numbers(weights):
        return
    for i, row in enumerate(weights.rows, 1):
        total = reduce(add, row)
        if total != 1 and not (settings.empty == "zero" and total == 0):
            raise InputError(f"Row {i} of the weights {name} sums to {total}; 1 was expected.")
        if keep and any(x != 0 and not seen for x, seen in zip(row, keep[i - 1], strict=True)):
            raise InputError(f"Row {i} of {name} has a weight other than 0 where the mask hides a key.")
