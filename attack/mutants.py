"""Mutants: small changes of the code, each of which a test should see.

Not changed are messages of errors, annotations, defaults of tuning (names in capitals) and tolerances below 1e-6: near
values of these do as well.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

SMALLEST = 1e-6  # numbers below are tolerances
COMPARED: dict[type, type] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
CALCULATED: dict[type, type] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
NAMED = {"maximum": "minimum", "max": "min", "argmax": "argmin", "any": "all", "floor": "ceil", "cumsum": "sort"}
NAMED |= {other: name for name, other in NAMED.items() if other != "sort"}


class Mutant(NamedTuple):
    """A change of one place.

    Attributes
    ----------
    file : str
        Below ``src/pldc``.
    line : int
    text : str
        The line as it is.
    change : str
        What became of what.
    place, kind : int
        Which node of the file, in the order of a walk, and which of its changes.
    """

    file: str
    line: int
    text: str
    change: str
    place: int
    kind: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.change} [{self.place}.{self.kind}]"

    @property
    def key(self) -> tuple[str, str, str]:
        """What does not move when lines above come and go."""
        return self.file, self.text, self.change


def changes(node: ast.AST) -> Iterator[ast.AST]:
    """What a node could be instead."""
    if isinstance(node, ast.Compare):
        for k, operator in enumerate(node.ops):
            if type(operator) in COMPARED:
                other = copy.deepcopy(node)
                other.ops[k] = COMPARED[type(operator)]()
                yield other
    elif isinstance(node, ast.BinOp) and type(node.op) in CALCULATED:
        if not any(isinstance(side, ast.Constant) and isinstance(side.value, str) for side in (node.left, node.right)):
            yield ast.BinOp(node.left, CALCULATED[type(node.op)](), node.right)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not | ast.Invert):
        yield node.operand
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
    elif isinstance(node, ast.If | ast.While | ast.IfExp):
        other = copy.copy(node)
        other.test = ast.UnaryOp(ast.Not(), node.test)
        yield other
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, bool):
            yield ast.Constant(not node.value)
        elif isinstance(node.value, int):
            yield ast.Constant(node.value + 1)
        elif isinstance(node.value, float) and (node.value == 0 or abs(node.value) >= SMALLEST):
            yield ast.Constant(2 * node.value if node.value else 1.0)
    elif isinstance(node, ast.Attribute) and node.attr in NAMED:
        yield ast.Attribute(node.value, NAMED[node.attr], node.ctx)
    elif isinstance(node, ast.Name) and node.id in NAMED and isinstance(node.ctx, ast.Load):
        yield ast.Name(NAMED[node.id], node.ctx)
    elif isinstance(node, ast.AugAssign | ast.Continue | ast.Break | ast.Raise) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    ):
        yield ast.Pass()


def is_left_out(node: ast.AST) -> bool:
    """Whether what is below a node is not changed: messages, annotations, tuning."""
    if isinstance(node, ast.Raise | ast.JoinedStr | ast.arguments | ast.AnnAssign | ast.Assert):
        return True
    return isinstance(node, ast.Assign) and all(
        name.id.isupper() for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name)
    )


def walk(tree: ast.AST) -> Iterator[tuple[ast.AST, ast.AST, str, int | None]]:
    """Every node with its parent and the field that it is in, parents first; what is left out is not entered."""
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for k, node in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(node, ast.AST):
                yield node, tree, name, k
                if not is_left_out(node):
                    yield from walk(node)


def brief(node: ast.AST) -> str:
    """The head of a node's code, in one line."""
    text = " ".join(ast.unparse(ast.fix_missing_locations(node)).split())
    return text if len(text) <= 60 else text[:57] + "…"


def mutants(path: Path, root: Path) -> list[Mutant]:
    """All mutants of a file."""
    source = path.read_text(encoding="utf-8")
    lines, found = source.splitlines(), []
    for place, (node, *_) in enumerate(walk(ast.parse(source))):
        for kind, other in enumerate(changes(node)):
            line = getattr(node, "lineno", 0)
            change = f"{brief(node)} → {brief(other)}"
            found.append(Mutant(str(path.relative_to(root)), line, lines[line - 1].strip(), change, place, kind))
    return found


def mutated(source: str, mutant: Mutant) -> str:
    """The source of a file with one change."""
    tree = ast.parse(source)
    for place, (node, parent, name, k) in enumerate(walk(tree)):
        if place == mutant.place:
            other = list(changes(node))[mutant.kind]
            if k is None:
                setattr(parent, name, other)
            else:
                getattr(parent, name)[k] = other
            return ast.unparse(ast.fix_missing_locations(tree))
    raise ValueError(f"{mutant} is not in this source.")
