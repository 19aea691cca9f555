"""Draw the picture of the page for the docs: ``python docs/draw_explorer.py``. Needs playwright and Chromium."""

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import sync_playwright
from sklearn.datasets import load_diabetes

from pldc import DCRegressor

WIDTH, HEIGHT = 1180, 1440


def draw(goal: Path) -> None:
    """Fit the diabetes data, write its page, and photograph it with four pieces in each part."""
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    model = DCRegressor().fit(X, y)
    with TemporaryDirectory() as folder, sync_playwright() as tool:
        page = Path(folder) / "page.html"
        model.explorer(page, X, y, simpler=[4], title="Diabetes: how far it goes in a year", target="progression")
        browser = tool.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        tab.goto(page.as_uri())
        tab.focus("#pieces")
        tab.keyboard.press("ArrowLeft")
        tab.focus("body")
        tab.wait_for_timeout(500)
        tab.screenshot(path=goal)
        browser.close()


if __name__ == "__main__":
    draw(Path(__file__).parent / "explorer.png")
