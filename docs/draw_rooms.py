"""Draw who imports whom: `python docs/draw_rooms.py` writes docs/rooms.svg from the imports of the package.

The rooms stand in the order of the layers in pyproject.toml; an arrow says that a room imports another. A test compares
the committed drawing with a fresh one.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[1]
WIDTH, HEIGHT, GAP, STEP, MARGIN = 110, 34, 150, 86, 20  # pixels


def layers() -> list[list[str]]:
    """Return the rooms, layer by layer, from the top."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract = settings["tool"]["importlinter"]["contracts"][0]
    return [[room.strip().removeprefix("pldc.") for room in layer.split("|")] for layer in contract["layers"]]


def imports(rooms: list[str]) -> set[tuple[str, str]]:
    """Return the pairs (room, room it imports)."""
    graph = grimp.build_graph("pldc")
    out = set()
    for module in graph.modules:
        for other in graph.find_modules_directly_imported_by(module):
            a, b = (name.split(".")[1] if "." in name else "" for name in (module, other))
            if a != b and a in rooms and b in rooms:
                out.add((a, b))
    return out


def drawing() -> str:
    """Return the picture."""
    rows = layers()
    place = {}
    for k, row in enumerate(rows):
        for i, room in enumerate(row):
            shift = (i - (len(row) - 1) / 2) * GAP
            place[room] = (MARGIN + 1.5 * GAP + shift, MARGIN + k * STEP)
    lines = []
    for a, b in sorted(imports(list(place))):
        (xa, ya), (xb, yb) = place[a], place[b]
        y1, y2 = ya + HEIGHT, yb
        bend = 0.0 if abs(xa - xb) > 1 or y2 - y1 < STEP else 70.0 + (y2 - y1) / 6  # around the rooms between
        path = f"M {xa + WIDTH / 2:.0f} {y1:.0f} Q {(xa + xb + WIDTH) / 2 + bend:.0f} {(y1 + y2) / 2:.0f}"
        lines.append(f'<path d="{path} {xb + WIDTH / 2:.0f} {y2 - 2:.0f}" marker-end="url(#arrow)"/>')
    boxes = []
    for room, (x, y) in place.items():
        boxes.append(f'<rect x="{x:.0f}" y="{y:.0f}" width="{WIDTH}" height="{HEIGHT}" rx="6"/>')
        boxes.append(f'<text x="{x + WIDTH / 2:.0f}" y="{y + HEIGHT / 2 + 5:.0f}">{room}</text>')
    size = f'width="{MARGIN * 2 + 4 * GAP:.0f}" height="{MARGIN * 2 + (len(rows) - 1) * STEP + HEIGHT}"'
    style = (
        "path{fill:none;stroke:#8896a8;stroke-width:1.3}rect{fill:#eaf0f8;stroke:#3b5a82}"
        "text{font:14px sans-serif;text-anchor:middle;fill:#1d2c40}"
    )
    head = '<marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    marker = f'<defs>{head}<path d="M0 0L8 4L0 8z" style="fill:#8896a8;stroke:none"/></marker></defs>'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" {size}>', f"<style>{style}</style>", marker, *lines, *boxes]
    return "\n".join([*parts, "</svg>", ""])


if __name__ == "__main__":
    (Path(__file__).parent / "rooms.svg").write_text(drawing(), encoding="utf-8")
