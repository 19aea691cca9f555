"""What the fuzzer calls: everything public, found by looking. A new public name comes in by itself."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import operator
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

MODULES = ("pldc", "pldc.view", "pldc.export")  # all that they offer is public
DOCUMENTED = Path(__file__).parents[1] / "docs" / "api.rst"  # and so is what this page lists
COMMAND_LINE = "pldc.cli.main"
# Plain records: what they are made of is not checked. Their methods are called on those that the package made.
RECORDS = {
    "Bound",
    "Certificate",
    "ClassExplanation",
    "ClassRegions",
    "ClassSimplification",
    "Comparison",
    "Contributions",
    "Counterfactual",
    "Curve",
    "Discrepancy",
    "Encoding",
    "Explanation",
    "GurobiPredictor",
    "Interactions",
    "Interpolability",
    "LocalModel",
    "Milp",
    "MinimalInterpolant",
    "Model",
    "Optimum",
    "Path",
    "Problem",
    "Regions",
    "Rule",
    "Simplification",
    "Solution",
}
# Interfaces between rooms, for those who write a loss or a solver: their methods get arrays that were checked.
INNER = {
    "Auto",
    "Column",
    "Feature",
    "GurobiPredictor",
    "Hinges",
    "Loss",
    "Penalty",
    "Problem",
    "Solution",
    "Solver",
    "Term",
}
INNER_FUNCTIONS = {"pldc.problem.certify", "pldc.solve.reference.reference_solution"}
OPERATORS: dict[str, Callable] = {
    "__call__": lambda f, X: f(X),
    "__add__": lambda f, other: f + other,
    "__radd__": lambda f, other: other + f,
    "__sub__": lambda f, other: f - other,
    "__rsub__": lambda f, other: other - f,
    "__mul__": lambda f, other: f * other,
    "__rmul__": lambda f, other: other * f,
    "__truediv__": lambda f, other: f / other,
    "__neg__": lambda f: -f,
    "__abs__": lambda f: abs(f),
    "__eq__": lambda f, other: f == other,
    "__hash__": lambda f: hash(f),
    "__str__": lambda f: (str(f), repr(f)),
}


class Target(NamedTuple):
    """Something to call.

    Attributes
    ----------
    name : str
        For the report.
    call : callable
        Takes the instance first, if there is an owner.
    owner : type or None
        Whose instance is needed.
    reads : bool
        It only reads a property, which may say with an AttributeError that it is not there.
    """

    name: str
    call: Callable[..., Any]
    owner: type | None = None
    reads: bool = False

    @property
    def parameters(self) -> list[inspect.Parameter]:
        """What it takes beyond the instance."""
        if self.reads:
            return []
        try:
            found = list(inspect.signature(self.call).parameters.values())
        except ValueError:  # of a type written in C
            return []
        return found[1:] if self.owner is not None else found


def public() -> list[str]:
    """Full names of everything public; modules that are not there are left out."""
    names = re.findall(r"^ +(pldc(?:\.\w+)+)$", DOCUMENTED.read_text(encoding="utf-8"), re.MULTILINE)
    for path in MODULES:
        if importlib.util.find_spec(path) is not None:
            names += [f"{path}.{name}" for name in importlib.import_module(path).__all__]
    return sorted({*names, COMMAND_LINE} - INNER_FUNCTIONS)


def targets() -> list[Target]:
    """Everything public that can be called, in a fixed order; what has two names comes once."""
    found: dict[Any, Target] = {}
    for whole in sorted(public(), key=lambda name: (name.count("."), name)):
        path, name = whole.rsplit(".", 1)
        value = getattr(importlib.import_module(path), name)
        if inspect.isclass(value):
            for target in of_class(value, whole):
                found.setdefault((value, target.name.rsplit(".", 1)[1]), target)
        elif callable(value):
            found.setdefault((value.__module__, value.__qualname__), Target(whole, value))
    return list(found.values())


def of_class(cls: type, name: str) -> list[Target]:
    """The constructor, and what instances can be asked."""
    found = [] if {cls.__name__} & RECORDS or inspect.isabstract(cls) else [Target(name, cls)]
    if any(base.__name__ in INNER for base in cls.__mro__) or hasattr(cls, "solve"):
        return [] if {"Column", "Feature"} & {base.__name__ for base in cls.__mro__} else found
    for attribute in dir(cls):
        value = inspect.getattr_static(cls, attribute)
        of_parent = next(base for base in cls.__mro__ if attribute in vars(base))
        ours = of_parent.__module__.startswith("pldc")
        whole = f"{name}.{attribute}"
        if attribute in OPERATORS and ours:
            found.append(Target(whole, OPERATORS[attribute], cls))
        elif attribute.startswith("_") or not ours:
            continue
        elif isinstance(value, property):
            found.append(Target(whole, operator.attrgetter(attribute), cls, reads=True))
        elif isinstance(value, classmethod | staticmethod):
            found.append(Target(whole, getattr(cls, attribute)))
        elif callable(value):
            found.append(Target(whole, value, cls))
    return found
