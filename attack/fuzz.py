"""Calls of everything public, with arguments that fit and with junk: what may happen is a result or a sentence.

A case is a batch of `BATCH` calls, drawn from its number. A call may return, or raise ValueError or TypeError (an
optional package that is missing: ImportError, with the extra to install) in a message that can be read. It may warn
only as documented. It takes little time and memory, and leaves its arguments as they were. A fit that failed leaves the
estimator unfitted.
"""

from __future__ import annotations

import inspect
import io
import warnings
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning, NotFittedError, UndefinedMetricWarning
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from attack.limits import GIB, TooLong, memory, seconds
from attack.makers import Scene
from attack.targets import COMMAND_LINE, OPERATORS, Target, targets

CALLS = 50_000
BATCH = 250
LIMIT = 900  # seconds of a batch, on a busy machine
LONGEST_CALL = 20.0  # seconds
MOST_MEMORY = 2.0 * GIB
LONGEST_MESSAGE = 1000  # characters
# Python's own words for a mistake inside, which tell a user nothing of what to do.
ACCIDENTS = (
    "truth value of",
    "not supported between instances",
    "unsupported operand",
    "is not subscriptable",
    "has no len()",
    "object has no attribute",
    "object is not callable",
    "bad operand type",
    "cannot reshape",
    "could not be broadcast",
    "list index out of range",
    "local variable",
    "Maximum allowed dimension exceeded",
)
ALLOWED_WARNINGS = (
    ConvergenceWarning,
    DataConversionWarning,
    RuntimeWarning,
    UndefinedMetricWarning,
)  # and UserWarning
COSTLY = ("fit", "simplify", "path", "certify", "plot_simplification", "discrepancy", "minimal_interpolant", "minimize")


class Outcome(NamedTuple):
    """What became of a call: "returned" or the name of the error; and what is wrong with it, if anything."""

    target: str
    ended: str
    fault: str = ""


def cases() -> list[str]:
    """Names of the batches."""
    return [f"batch {k}" for k in range(CALLS // BATCH)]


def check(case: str) -> int:
    """Make the calls of a batch; return how many."""
    found = batch(int(case.split()[1]))
    faults = [f"{each.target}: {each.fault}" for each in found if each.fault]
    assert not faults, f"{len(faults)} of {len(found)} calls:\n" + "\n".join(faults)
    return len(found)


def batch(number: int, calls: int = BATCH) -> list[Outcome]:
    """The outcomes of the calls of a batch."""
    rng, (known, share) = np.random.default_rng([7, number]), drawn_from()
    with threadpool_limits(1), ExitStack() as quiet:
        for redirect in (redirect_stdout, redirect_stderr):
            quiet.enter_context(redirect(io.StringIO()))
        return [
            attempt(known[at], np.random.default_rng([7, number, k]))
            for k, at in enumerate(rng.choice(len(known), calls, p=share))
        ]


@cache
def drawn_from() -> tuple[list[Target], np.ndarray]:
    """All targets, and how often each is drawn: what takes long is drawn less, what has no arguments too."""
    known = targets()
    weight = np.array([0.5 if t.name.endswith(COSTLY) else 1.0 if t.parameters else 0.3 for t in known])
    return known, weight / weight.sum()


def attempt(target: Target, rng: np.random.Generator) -> Outcome:
    """Make one call and judge it."""
    scene, junk = Scene(rng), float(rng.choice([0.0, 0.0, 0.15, 0.6]))
    scene.target = target.name
    scene.labels = target.name.startswith("pldc.DCClassifier")
    fits = target.name.endswith(".fit")
    try:
        instance = (
            scene.estimator(target.owner, junk) if fits else scene.instance(target.owner) if target.owner else None
        )
        words, named = arguments(target, scene, junk)
    except NotImplementedError as error:  # nothing of the kind can be made
        return Outcome(target.name, "left out", str(error))
    before = [fingerprint(value) for value in (*words, *named.values())]
    ended, fault = judged(target, [instance, *words] if target.owner else words, named)
    if not fault and [fingerprint(value) for value in (*words, *named.values())] != before:
        fault = "changed an argument"
    if not fault and fits:
        fault = fault_of_state(instance, ended == "returned", scene)
    return Outcome(target.name, ended, fault and f"{fault} in {described(words, named, instance if fits else None)}")


def arguments(target: Target, scene: Scene, junk: float) -> tuple[list[Any], dict[str, Any]]:
    """Arguments by place and by name; those with a default are often left out."""
    words, named = [], {}
    for each in target.parameters:
        optional = each.default is not inspect.Parameter.empty
        if each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD) or (optional and scene.rng.random() < 0.5):
            continue
        value = scene.value(each.name, junk)
        if each.kind == each.KEYWORD_ONLY or optional:
            named[each.name] = value
        else:
            words.append(value)
    return words, named


def judged(target: Target, words: list[Any], named: dict[str, Any]) -> tuple[str, str]:
    """Make the call; return how it ended, and what is wrong with that."""
    error: BaseException | None = None
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            with memory(MOST_MEMORY), seconds(LONGEST_CALL):
                target.call(*words, **named)
        except (Exception, TooLong, SystemExit, KeyboardInterrupt) as raised:
            error = raised
    ended = "returned" if error is None else type(error).__name__
    fault = "" if error is None else fault_of(error, target)
    for each in warned:
        documented = each.category is UserWarning or issubclass(each.category, ALLOWED_WARNINGS)
        careless = " encountered in " in str(each.message) or issubclass(each.category, np.exceptions.ComplexWarning)
        if not documented or careless:  # in NumPy's words
            fault = fault or f"{each.category.__name__}: {each.message!s:.200}"
    return ended, fault


def fault_of(error: BaseException, target: Target) -> str:
    """What is wrong with an error, if anything."""
    allowed: tuple[type[BaseException], ...] = (ValueError, TypeError)
    if target.reads:
        allowed += (AttributeError,)
    if target.name == COMMAND_LINE:
        allowed += (SystemExit,)
    if any(each.name == "path" for each in target.parameters):  # of a file, which may not be there
        allowed += (OSError,)
    text = str(error)
    shown = f"{type(error).__name__}: {text:.200}"
    if isinstance(error, ImportError):
        return "" if "pip install" in text else shown
    if not isinstance(error, allowed):
        return shown
    if len(text) > LONGEST_MESSAGE and not isinstance(error, OSError):  # whose words are the system's
        return f"a message of {len(text)} characters: {shown}"
    if target.call in OPERATORS.values():  # Python says in its own words that two kinds cannot be added
        return ""
    return shown if any(words in text for words in ACCIDENTS) else ""


def fault_of_state(model: Any, returned: bool, scene: Scene) -> str:
    """What is wrong with an estimator after a fit: half of one, settings that changed, predictions that are none."""
    try:
        check_is_fitted(model, "model_")
        fitted = True
    except NotFittedError:
        fitted = False
    if fitted != returned:
        return "fitted by a fit that raised" if fitted else "not fitted by a fit that returned"
    if returned:
        again = clone(model)
        if vars(again).keys() - {"_folds"} != again.get_params().keys():
            return "a clone that is fitted"
        if len(scene.X) and model.n_features_in_ == scene.d and len(np.unique(model.predict(scene.X[:1]))) != 1:
            return "a prediction that is none"
    return ""


def fingerprint(value: Any) -> bytes | None:
    """What an array holds; None for anything else."""
    return value.tobytes() if isinstance(value, np.ndarray) and value.dtype != object else None


def described(words: list[Any], named: dict[str, Any], model: Any) -> str:
    """The arguments of a call, shortened."""
    parts = [brief(value) for value in words] + [f"{name}={brief(value)}" for name, value in named.items()]
    if model is not None:
        parts.append("of " + ", ".join(f"{k}={brief(v)}" for k, v in model.get_params(deep=False).items()))
    return "(" + ", ".join(parts) + ")"


def brief(value: Any) -> str:
    """A value in at most 60 characters."""
    try:
        return " ".join(repr(value).split())[:60]
    except Exception:
        return f"<{type(value).__name__}>"
