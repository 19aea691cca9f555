"""The gallery: enough examples, each with a title, a picture and its own data."""

import ast
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("plot_*.py"))


def lacks(source):
    """Return what an example lacks."""
    tree, found = ast.parse(source), []
    title = (ast.get_docstring(tree) or "").splitlines()
    if len(title) < 4 or set(title[1]) != {"="} or len(title[1]) < len(title[0]):
        found.append("a title and what is seen")
    names = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    if not names & {"subplots", "figure"}:
        found.append("a picture")
    if {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} & {"urlopen", "urlretrieve"} or any(
        isinstance(node, ast.alias) and node.name.startswith(("fetch_", "urllib", "requests"))
        for node in ast.walk(tree)
    ):
        found.append("its own data")
    return found


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_whole(path):
    assert lacks(path.read_text(encoding="utf-8")) == []


def test_there_are_enough():
    assert len(EXAMPLES) >= 12


def test_what_is_missing_is_seen():
    assert len(lacks("from sklearn.datasets import fetch_openml\n")) == 3
