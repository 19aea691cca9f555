"""The blocks of the pages on exports run as they stand."""

import re
from pathlib import Path

import pytest
from tests.quick import few_kinds, few_starts

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("page", ["deploy", "model_files", "explorer"])
def test_blocks_of_python_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (DOCS / f"{page}.rst").read_text(encoding="utf-8")
    blocks = re.findall(r"\.\. code-block:: python\n\n((?:   .*\n|\n)+)", text)
    space = {}
    for block in blocks:
        source = "\n".join(line[3:] for line in block.splitlines())
        if "import torch" in source:
            pytest.importorskip("torch", reason="PyTorch is not installed")
        with few_kinds(), few_starts():
            exec(source, space)
    assert len(blocks) >= {"deploy": 7, "model_files": 2, "explorer": 1}[page]
