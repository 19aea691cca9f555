"""The drawing of the rooms is that of the imports."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def test_the_drawing_is_up_to_date():
    pytest.importorskip("grimp")
    spec = importlib.util.spec_from_file_location("draw_rooms", ROOT / "docs" / "draw_rooms.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    drawn = module.drawing()
    assert drawn == (ROOT / "docs" / "rooms.svg").read_text(encoding="utf-8")
    assert "estimators" in drawn and drawn.count("<path d=") > 10
