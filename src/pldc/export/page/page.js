// The page: fields for every column, and what the model says of the row that they make.

const MOST_FIELDS = 12, STEPS = 200, LONGEST_WAIT = 40;

// Round steps, and ends and a start that lie on them; dates without a time begin with a day.
function tidy(column) {
  if (column.kind === "date" && column.whole && column.typical !== null) return { ...column, typical: Math.round(column.typical) };
  if (column.kind !== "number") return column;
  const width = column.high - column.low || Math.abs(column.low) || 1, power = 10 ** Math.floor(Math.log10(width / STEPS));
  const step = column.whole ? 1 : [1, 2, 5, 10].map((m) => m * power).find((s) => s >= width / STEPS);
  const digits = Math.min(Math.max(0, -Math.floor(Math.log10(step) + 1e-9)), 100);
  const neat = (v, way) => (v === null ? null : Number((way(v / step) * step).toFixed(digits)));
  const low = neat(column.low, Math.floor), high = neat(column.high, Math.ceil);
  return { ...column, step, low, high: high > low ? high : low + step, typical: neat(column.typical, Math.round) };
}

model.columns = model.columns.map(tidy);
state.cells = model.columns.map((c) => c.typical);

function field(k) {
  const column = model.columns[k], id = "column" + k, cell = state.cells[k];
  const zone = column.zone ? ` (${column.zone})` : "";
  const row = element("div", { class: "field" }, element("label", { for: id }, column.name + zone));
  const set = (value) => { state.cells[k] = value; show("truth"); update(); };
  if (column.kind === "category") {
    const choose = element("select", { id, onchange: () => set(choose.value === "" ? null : column.levels[Number(choose.value)]) },
      element("option", { value: "" }, "(missing)"), ...column.levels.map((level, i) => element("option", { value: i }, level)));
    choose.value = cell === null ? "" : String(column.levels.indexOf(cell));
    row.append(choose);
    return row;
  }
  const dates = column.kind === "date", days = dates && column.whole, step = dates ? 1 : column.step;
  const read = (text) => (text === "" ? null : dates ? fromDate(text) : Number(text));
  const write = (value) => (value === null ? "" : dates ? toDate(value).slice(0, days ? 10 : 16) : String(value));
  const box = element("input", { id, type: days ? "date" : dates ? "datetime-local" : "number", step: days ? 1 : dates ? 60 : "any", value: write(cell), placeholder: "missing" });
  const slider = element("input", { type: "range", id: "slider" + k, min: column.low, max: column.high, step, value: cell ?? column.typical, "aria-label": column.name + ", slider" });
  if (dates) row.classList.add(days ? "day" : "date");
  box.addEventListener("input", () => {
    const value = read(box.value);
    if (value !== null) slider.value = value;
    set(value);
  });
  slider.addEventListener("input", () => { box.value = write(Number(slider.value)); set(Number(slider.value)); });
  row.append(slider, box);
  return row;
}

// All fields; of many columns those that matter most, and the others folded away.
function fields() {
  const all = model.columns.map((c, k) => k);
  const first = all.length <= MOST_FIELDS ? all : byImportance().slice(0, MOST_FIELDS), rest = all.filter((k) => !first.includes(k));
  show("fields", ...first.map(field));
  if (rest.length) {
    document.getElementById("fields").append(element("details", {}, element("summary", {}, `${rest.length} more columns`), ...rest.map(field)));
  }
}

function take(cells) {
  state.cells = cells.slice();
  fields();
  update();
}

function on(id, event, run) { document.getElementById(id).addEventListener(event, run); }
function hide(id, hidden) { document.getElementById(id).hidden = hidden; }
function choices(id, pairs, chosen) {
  const choose = document.getElementById(id);
  choose.replaceChildren(...pairs.map(([value, text]) => element("option", { value }, text)));
  choose.value = String(chosen);
}

function build() {
  document.title = model.title;
  show("title", model.title);
  show("about", ...model.about.map((line) => element("p", {}, line)));
  fields();
  const slider = document.getElementById("pieces");
  slider.max = model.variants.length - 1;
  slider.value = state.variant;
  on("pieces", "input", () => { state.variant = Number(slider.value); update(); });
  hide("simplify", model.variants.length < 2);
  hide("why", Boolean(model.levels));
  hide("different", Boolean(model.levels));
  state.map = byImportance().filter((k) => model.columns[k].kind === "number").slice(0, 2);
  hide("plane", state.map.length < 2);
  for (const [place, id] of [[0, "across"], [1, "up"]]) {
    choices(id, model.columns.map((c, k) => [k, c.name]).filter(([k]) => model.columns[k].kind === "number"), state.map[place]);
    on(id, "change", () => { state.map[place] = Number(document.getElementById(id).value); update(); });
  }
  hide("choice", !model.classes);
  choices("class", [["", "that is predicted"], ...(model.classes || []).map((c, k) => [k, c])], "");
  on("class", "change", (event) => { state.shown = event.target.value === "" ? null : Number(event.target.value); update(); });
  hide("more", model.columns.length <= CURVES);
  const label = () => show("more", state.all ? "Fewer columns" : `All ${model.columns.length} columns`);
  on("more", "click", () => { state.all = !state.all; label(); update(); });
  label();
  hide("wish", Boolean(model.classes));
  if (!model.classes && !model.levels) {
    const [low, high] = model.target, here = predict(model, variant(), state.cells).value;
    const aim = here + 0.1 * (low === null || high === null ? Math.abs(here) : high - low);
    state.wanted = Number.isFinite(aim) ? Number(aim.toPrecision(3)) : null;
    document.getElementById("wanted").value = state.wanted ?? "";
  }
  on("wanted", "input", (event) => { state.wanted = event.target.value === "" ? null : Number(event.target.value); change(); });
  on("reset", "click", () => { show("truth"); document.getElementById("row").value = ""; take(model.columns.map((c) => c.typical)); });
  hide("rows", !model.rows);
  if (model.rows) {
    document.getElementById("row").max = model.rows.cells.length - 1;
    on("row", "input", (event) => {
      const at = Number(event.target.value), row = event.target.value === "" ? null : model.rows.cells[at];
      if (!row) return;
      take(row);
      if (model.rows.targets) show("truth", "its target: " + said(model.rows.targets[at]));
    });
  }
  update();
}

// The prediction at once, the pictures when there is time: a slider that is dragged must not wait for them.
let asked = false, later = null;
function update() {
  state.waiting = true;
  if (asked) return;
  asked = true;
  requestAnimationFrame(() => {
    asked = false;
    answer();
    clearTimeout(later);
    later = setTimeout(() => { pictures(); state.waiting = false; }, LONGEST_WAIT);
  });
}

build();
