"""What the pages point to exists: pages, labels, pictures, tables, files, modules, names of the package."""

import importlib
import re
from pathlib import Path
from urllib.parse import urlparse

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.rst"))
TEXTS = [
    *PAGES,
    ROOT / "examples" / "README.rst",
    *(ROOT / f"{n}.md" for n in ("README", "CONTRIBUTING", "SECURITY", "RELEASING")),
]
MADE = ("docs/_build", "demo-output", ".pytest_cache")  # written by commands


def target(words):
    """Return what a role points to: "text <target>" or "~target"."""
    inside = re.search(r"<(.+)>$", words)
    return (inside[1] if inside else words).lstrip("~")


def known(dotted):
    """Whether a name of the package can be reached."""
    parts = dotted.split(".")
    for k in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:k]))
        except ImportError:
            continue
        try:
            for part in parts[k:]:
                found = getattr(found, part)
        except AttributeError:
            return hasattr(found, "__dataclass_fields__") and part in found.__dataclass_fields__
        return True
    return False


def exists(path):
    """Whether a path in prose is there, seen from the root, the package or the pages."""
    return any((folder / path).exists() for folder in (ROOT, ROOT / "src", ROOT / "src" / "pldc", DOCS))


def decisions(path):
    """Whether a shortened path of a decision, `docs/decisions/0016`, is there."""
    return re.fullmatch(r"docs/decisions/\d{4}", path) and list(ROOT.glob(f"{path}*"))


def dead(text):
    """Return what a page points to that is not there."""
    found = []
    for page in re.findall(r":doc:`([^`]+)`", text):
        name = target(page)
        if name != "auto_examples/index" and not (DOCS / f"{name}.rst").exists():
            found.append(f":doc: {name}")
    labels = {label for page in PAGES for label in re.findall(r"^\.\. _([^:]+):", page.read_text("utf-8"), re.M)}
    for name in map(target, re.findall(r":ref:`([^`]+)`", text)):
        example = re.fullmatch(r"sphx_glr_auto_examples_(plot_\w+\.py)", name)
        if not (ROOT / "examples" / example[1]).exists() if example else name not in labels:
            found.append(f":ref: {name}")
    for path in re.findall(r"^ *\.\. (?:image|figure|include|literalinclude):: (\S+)", text, re.M):
        if not (DOCS / path).exists():
            found.append(f"file {path}")
    for path in re.findall(r"!?\[[^\]]*\]\((?!http)([\w/-]+\.\w+)\)", text):
        if not (ROOT / path).exists():
            found.append(f"file {path}")
    for path in re.findall(r"(?<!:)`([\w.-]+/[\w./-]*)`", text):
        if not (exists(path) or decisions(path) or path.startswith(MADE)):
            found.append(f"path {path}")
    for name in re.findall(r"`([A-Z]\w+\.(?:md|cff|toml))`", text):
        if not (ROOT / name).exists():
            found.append(f"path {name}")
    for module in re.findall(r"python -m ((?:benchmarks|experiments|attack)[\w.]*)", text):
        if not any((ROOT / f"{module.replace('.', '/')}{end}").exists() for end in (".py", "/__main__.py")):
            found.append(f"module {module}")
    for name in map(target, re.findall(r":(?:class|func|meth|mod|attr):`([^`]+)`", text)):
        if not known(name):
            found.append(f"name {name}")
    for link in re.findall(r"https?:[^\s`>)\"]*", text):
        parts = urlparse(link)
        if not link.startswith(("http://", "https://")) or "." not in parts.netloc:
            found.append(f"link {link}")
    return found


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: page.name)
def test_nothing_is_dead(page):
    assert dead(page.read_text(encoding="utf-8")) == []


def test_every_page_is_in_the_navigation():
    listed = re.findall(r"^   (\w+)$", (DOCS / "index.rst").read_text(encoding="utf-8"), re.M)
    assert sorted(listed) == sorted(page.stem for page in PAGES if page.stem != "index")


@pytest.mark.parametrize(
    "text",
    [
        ":doc:`nowhere`",
        ":doc:`the page <nowhere>`",
        ":ref:`sphx_glr_auto_examples_plot_nothing.py`",
        ":ref:`no-label`",
        ".. image:: nothing.png",
        ".. include:: ../benchmarks/results/nothing.rst",
        "![picture](docs/nothing.png)",
        "see `docs/nothing.rst`",
        "see ``problem/nothing.py``",
        "`NOTHING.md`",
        "``python -m benchmarks.nothing``",
        ":class:`~pldc.Nothing`",
        ":meth:`pldc.PLDC.nothing`",
        "https://nowhere",
        "http:example.org",
    ],
)
def test_a_dead_link_is_seen(text):
    assert len(dead(text)) == 1


def test_live_ones_are_not():
    roles = ":doc:`the start <start>` :class:`~pldc.PLDC` :meth:`~pldc.PLDC.minimize`"
    paths = "``problem/losses/base.py`` `docs/start.rst` ``python -m benchmarks.compact`` ``python -m attack``"
    assert dead(f"{roles} {paths} https://example.org/x") == []
