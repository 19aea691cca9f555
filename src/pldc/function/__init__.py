"""What was learned: piecewise-linear functions as sums of differences of max-affine functions."""

from pldc.function.class_regions import ClassRegions, class_regions
from pldc.function.contributions import Contributions
from pldc.function.counterfactual import Counterfactual
from pldc.function.curve import Curve, LevelMeans
from pldc.function.explain import Explanation, explain
from pldc.function.explain_classes import ClassExplanation, explain_classes
from pldc.function.hinges import Hinges
from pldc.function.max_affine import MaxAffine
from pldc.function.pldc import PLDC
from pldc.function.swaps import Interactions
from pldc.function.term import LocalModel, Term

from_dict = PLDC.from_dict

__all__ = [
    "PLDC",
    "ClassExplanation",
    "ClassRegions",
    "Contributions",
    "Counterfactual",
    "Curve",
    "Explanation",
    "Hinges",
    "Interactions",
    "LevelMeans",
    "LocalModel",
    "MaxAffine",
    "Term",
    "class_regions",
    "explain",
    "explain_classes",
    "from_dict",
]
