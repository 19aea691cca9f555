"""The page of a model in a real browser: what is shown is what the model says, as text, and nothing leaves it."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest
from tests.export.fits import FRAME, NAMES, fitted, y
from tests.quick import few_kinds, few_starts

from pldc import DCRegressor

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install 'pldc[browser]'")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not on this machine")

EVIL = [
    "<script>document.title='run'</script>",
    "\"quotes\" & 'such'",
    "</script><img src=x onerror=alert(1)>",
    "🐍 \u2028",
]
LEVELS = ["<b>bold</b>", 'a"b', "🌍"]


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as tool:
        found = tool.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Pages of a regression with a simpler model, of classes, and of a table with evil names."""
    folder = tmp_path_factory.mktemp("pages")
    draw = np.random.default_rng(3)
    many = pd.DataFrame(draw.uniform(FRAME.min(), FRAME.max(), (200, 3)), columns=NAMES)
    evil = pd.DataFrame(draw.uniform(0, 1, (90, 3)), columns=EVIL[:3])
    evil[EVIL[3]] = draw.choice(LEVELS, 90)
    evil.iloc[::9, 0] = np.nan
    target = evil[EVIL[0]].fillna(2.0) + (evil[EVIL[3]] == LEVELS[0])
    with few_kinds(), few_starts():
        whole = DCRegressor().fit(FRAME, y)
        few = whole.simplify(FRAME, y, n_pieces=3)
        strange = DCRegressor().fit(evil, target)
    whole.explorer(folder / "whole.html", many, rows=200, simpler=[few])
    fitted("two classes").explorer(folder / "classes.html", many, rows=200)
    strange.explorer(folder / "evil.html", evil, rows=90, title=EVIL[2])
    return {"folder": folder, "many": many, "whole": whole, "few": few, "strange": strange, "evil": evil}


@pytest.fixture
def opened(browser, files):
    """Open a page; at the end nothing may have been asked for, said on the console, or shown in a dialog."""
    contexts, noise = [], []

    def open_page(name, width=1280, scheme="light"):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        page = context.new_page()
        goal = (files["folder"] / f"{name}.html").as_uri()
        page.on("console", lambda message: noise.append(message.text))
        page.on("pageerror", lambda error: noise.append(str(error)))
        page.on("dialog", lambda dialog: (noise.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: noise.append(request.url) if request.url != goal else None)
        page.goto(goal)
        settle(page)
        contexts.append(context)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert noise == []


SETTLED = """() => new Promise((done) => {
  const look = () => (state.waiting ? setTimeout(look, 10) : done());
  look();
})"""


def settle(page):
    """Wait until all is said and drawn."""
    page.evaluate(SETTLED)


STEP = """(count) => new Promise((done) => {
  const out = [], box = document.getElementById("row");
  const next = () => {
    if (out.length === count) { done(out); return; }
    box.value = out.length;
    box.dispatchEvent(new Event("input"));
    requestAnimationFrame(() => { out.push({ ...document.getElementById("value").dataset }); next(); });
  };
  next();
})"""


def test_two_hundred_rows_are_predicted_as_the_model_does(opened, files):
    told, model, many = opened("whole").evaluate(STEP, 200), files["whole"], files["many"]
    low, high = model.predict_interval(many)
    for name, wanted in (("value", model.predict(many)), ("low", low), ("high", high)):
        found = np.array([float(each[name]) for each in told])
        assert len(np.unique(found)) > 20 and np.abs(found - wanted).max() <= 1e-9 * np.abs(wanted).max()
    told, model = opened("classes").evaluate(STEP, 200), fitted("two classes")
    found = np.array([json.loads(each["sizes"]) for each in told])
    assert np.abs(found - model.predict_proba(many)).max() <= 1e-9
    assert [each["label"] for each in told] == model.predict(many).tolist()


def value(page):
    return float(page.get_attribute("#value", "data-value"))


def row_of(page):
    return pd.DataFrame([page.evaluate("state.cells")], columns=NAMES, dtype=float)


def test_sliders_keys_and_boxes_move_the_prediction(opened, files):
    page, model = opened("whole"), files["whole"]
    before, bars, seen = value(page), page.inner_text("#contributions"), []
    page.focus("#slider0")
    for key in ("End", "PageDown", "ArrowLeft", "Home"):
        page.keyboard.press(key)
        settle(page)
        seen.append(value(page))
        assert np.isclose(seen[-1], model.predict(row_of(page))[0], rtol=1e-9, atol=1e-9)
        assert page.input_value("#slider0") == page.input_value("#column0")
    assert len({before, *seen}) >= 4 and page.inner_text("#contributions") != bars
    page.fill("#column1", "104.25")
    settle(page)
    assert row_of(page).iloc[0, 1] == 104.25 and np.isclose(value(page), model.predict(row_of(page))[0], rtol=1e-9)
    page.fill("#column1", "")  # missing: as the model takes it
    settle(page)
    gap = row_of(page)
    assert gap.isna().iloc[0, 1] and np.isclose(value(page), model.predict(gap)[0], rtol=1e-9)
    page.click("#reset")
    settle(page)
    assert value(page) == before


def test_simplify_slider_switches_to_few_pieces(opened, files):
    page, few = opened("whole"), files["few"]
    assert "Too many pieces" in page.inner_text("#table") and page.locator("#map path").count() == 0
    page.focus("#pieces")
    page.keyboard.press("ArrowLeft")
    settle(page)
    assert np.isclose(value(page), few.predict(row_of(page))[0], rtol=1e-9)
    assert page.locator("#table tbody tr").count() == sum(few.function_.n_pieces)
    (active,) = few.function_.terms[0].plus.active(row_of(page).to_numpy())
    assert page.locator("#table tr.active td:first-child").first.inner_text() == f"+{active + 1} ◀"
    assert page.locator("#map path").count() >= 2 and "fidelity" in page.inner_text("#cost")


CHANGES = '() => [...document.querySelectorAll("#changes li")].map((each) => ({ ...each.dataset }))'


def test_what_would_change_it_does(opened, files):
    page, model = opened("whole"), files["few"]
    page.focus("#pieces")
    page.keyboard.press("ArrowLeft")
    settle(page)
    wanted = round(value(page) + 0.5, 3)
    page.fill("#wanted", str(wanted))
    found = page.evaluate(CHANGES)
    assert len(found) >= 1
    for each in found:
        row = row_of(page)
        row.iloc[0, int(each["column"])] = float(each["cell"])
        assert np.isclose(model.predict(row)[0], wanted, rtol=1e-9, atol=1e-9)


def test_class_changes_where_the_page_says(opened):
    page, model = opened("classes"), fitted("two classes")
    found, here = page.evaluate(CHANGES)[0], page.get_attribute("#value", "data-label")
    column, cell = int(found["column"]), float(found["cell"])
    labels = []
    for way in (-1e-6, 1e-6):
        row = row_of(page)
        row.iloc[0, column] = cell + way * abs(cell)
        labels += model.predict(row).tolist()
    assert here in labels and len(set(labels)) == 2
    assert page.locator("#prediction .bar").count() == 2 and "%" in page.inner_text("#prediction")


PARTINGS = """() => {
  const lines = [...document.querySelectorAll("#map line.border")], size = GRID * CELL, [a, b] = state.map;
  return lines.map((line) => ["1", "2"].map((end) => {
    const [x, y] = ["x", "y"].map((way) => line.getAttribute(way + end) / size), cells = state.cells.slice();
    [cells[a], cells[b]] = [between(model, a, x), between(model, b, 1 - y)];
    return cells;
  })).flat();
}"""


def test_lines_of_the_map_part_the_classes(opened):
    page, model = opened("classes"), fitted("two classes")
    at = pd.DataFrame(page.evaluate(PARTINGS), columns=NAMES)
    assert len(at) > 10 and np.abs(model.predict_proba(at)[:, 0] - 0.5).max() < 0.05


def test_evil_names_are_text(opened, files):
    page = opened("evil")
    assert page.inner_text("h1") == EVIL[2] == page.title()
    labels = page.locator("#fields label").all_inner_texts()
    assert [" ".join(each.split()) for each in labels] == [" ".join(each.split()) for each in EVIL]
    options = page.locator("#column3 option").all_inner_texts()
    assert set(options) == {"(missing)", *LEVELS}
    assert page.locator("body b, body img").count() == page.locator("#changes b").count()
    page.select_option("#column3", label=LEVELS[0])
    settle(page)
    wanted = pd.DataFrame([page.evaluate("state.cells")], columns=EVIL)
    assert np.isclose(value(page), files["strange"].predict(wanted)[0], rtol=1e-9, atol=1e-9)


NAMELESS = """() => [...document.querySelectorAll("input, select, button, svg")].filter((each) => each.checkVisibility()
  && !(each.labels && each.labels.length) && !each.getAttribute("aria-label")
  && !each.textContent.trim()).map((each) => each.outerHTML)"""
TWICE = """() => {
  const all = [...document.querySelectorAll("[id]")].map((each) => each.id);
  return all.length - new Set(all).size;
}"""


@pytest.mark.parametrize("name", ["whole", "classes", "evil"])
def test_phone_dark_and_names_for_screen_readers(opened, name):
    page = opened(name, width=390, scheme="dark")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    back = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert max(map(int, back[4:-1].split(","))) < 60
    assert page.evaluate(NAMELESS) == [] and page.evaluate(TWICE) == 0


PICTURE = """() => [...document.querySelectorAll("#curves svg")].flatMap((svg) => {
  const frame = svg.getBoundingClientRect();
  return [...svg.querySelectorAll("text")].map((t) => [t.textContent, t.getBoundingClientRect()])
    .filter(([, b]) => b.right > frame.right + 0.5 || b.left < frame.left - 0.5).map(([text]) => text);
})"""
FREE = """() => [...document.querySelectorAll("#contributions .bar")].map((bar) => {
  const words = document.createRange();
  words.selectNodeContents(bar.querySelector(".name"));
  return bar.querySelector(".track").getBoundingClientRect().left - words.getBoundingClientRect().right;
})"""


@pytest.mark.parametrize("width", [1280, 390])
def test_a_page_of_flats_reads_well(opened, files, width):
    draw, n = np.random.default_rng(0), 200
    flats = pd.DataFrame({"city": draw.choice(["Basel", "Genf", "Winterthur"], n), "area": draw.integers(30, 200, n)})
    flats["condition"] = draw.choice(["fair", "good", "to renovate"], n)
    flats["sold"] = pd.Timestamp("2019-01-01") + pd.to_timedelta(
        2 * draw.integers(0, 700, n) + (np.arange(n) > 99), "D"
    )  # the median is at noon
    flats["seen"] = pd.Timestamp("2019-01-01 08:30") + pd.to_timedelta(draw.integers(0, 30000, n), "h")
    assert flats["sold"].median().hour == 12
    price = (1e4 * flats["area"] + 3e5 * (flats["city"] == "Genf") + 1e4).rename("price")
    with few_kinds():
        model = DCRegressor().fit(flats, price)
    model.explorer(files["folder"] / "flats.html", flats, price, simpler=())
    page = opened("flats", width=width)
    assert page.title() == "price from city, area, condition …"
    card = page.inner_text("#value").replace("\n", " ")
    assert card.startswith("price: ") and float(card[7:].replace(",", "")) == float(f"{value(page):.5g}")
    assert card[7:] == f"{float(f'{value(page):.5g}'):,.0f}"
    assert page.evaluate(PICTURE) == [] and max(page.evaluate(FREE)) < 20
    sold, seen = page.locator("#column3"), page.locator("#column4")
    assert [each.get_attribute("type") for each in (sold, seen)] == ["date", "datetime-local"]
    assert float(page.evaluate("state.cells[3]")).is_integer()
    sold.fill("2020-02-03")
    settle(page)
    row = flats[:1].assign(**{c: v for c, v in zip(flats, page.evaluate("state.cells"), strict=True) if c != "seen"})
    row["sold"] = pd.Timestamp("2020-02-03")
    row["seen"] = pd.Timestamp("1970-01-01") + pd.Timedelta(page.evaluate("state.cells[4]"), "D")
    assert page.evaluate("state.cells[3]") == (row["sold"][0] - pd.Timestamp("1970-01-01")).days
    assert np.isclose(value(page), model.predict(row)[0], rtol=1e-9)
    captions = page.locator("figcaption").all_inner_texts()
    assert "sold (dates go in as a trend and yearly, weekly waves)" in captions and "area" in captions
    assert "pldc." not in page.inner_text("body") and page.evaluate("document.documentElement.scrollWidth") <= width
