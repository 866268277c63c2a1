// A field for each column that the model reads. A field is { node, get, set }; cells are null where missing.

const LIST = 200; // levels that fit a list to choose from
const ALL_DAYS = /^\d{4}-\d\d-\d\d$/;
const dayOf = (days) => new Date(days * 86400e3).toISOString().slice(0, 10);

// How far an arrow key goes: about a hundredth of the range.
function stepOf({ low, high }) {
  const span = high - low;
  const whole = Number.isInteger(low) && Number.isInteger(high);
  const unit = span > 0 ? 10 ** Math.floor(Math.log10(span / 50)) : 1;
  return whole ? Math.max(1, unit) : unit;
}

// A number as short as the range of its column lets it be: four digits of the range, or all if these are few.
function brief(x, { low, high }) {
  const all = String(x), span = high - low;
  if (all.length <= 8 || !(span > 0)) return all;
  const digits = Math.min(Math.max(3 - Math.floor(Math.log10(span)), 0), 100);
  const rounded = Number(x.toFixed(digits));
  return String(rounded === 0 ? Number(x.toPrecision(3)) : rounded);
}

function labeled(column, id, input, hint) {
  return make("div", { className: "field" },
    make("label", { htmlFor: id }, column.name), input,
    hint ? make("small", { id: `${id}-hint` }, hint) : null);
}

function numberField(column, id, changed) {
  const ranged = Number.isFinite(column.low) && Number.isFinite(column.high);
  const input = make("input", { type: "number", step: "any", id, placeholder: "(missing)" });
  const hint = ranged ? `${plain(column.low)} to ${plain(column.high)} in the data` : "";
  if (hint) input.setAttribute("aria-describedby", `${id}-hint`);
  const node = labeled(column, id, input, hint);
  const shown = () => {
    const x = now();
    const outside = ranged && input.value !== "" && (x < column.low || x > column.high);
    node.classList.toggle("outside", outside);
    if (hint) node.lastChild.textContent = outside ? `outside the data: ${hint.replace(" in the data", "")}` : hint;
  };
  const step = ranged ? stepOf(column) : 1;
  let exact = null; // the number behind a shorter text, until somebody types
  const now = () => exact ?? Number(input.value);
  input.addEventListener("keydown", (event) => {
    const up = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (!up) return;
    event.preventDefault();
    set(Number(((input.value === "" ? (column.mean ?? 0) : now()) + up * step).toPrecision(12)));
    changed();
  });
  input.addEventListener("input", () => { exact = null; input.title = ""; shown(); changed(); });

  function set(cell) {
    const text = cell === null ? "" : brief(cell, column);
    exact = cell === null || Number(text) === cell ? null : cell;
    input.value = text;
    input.title = exact === null ? "" : String(exact);
    shown();
  }

  return {
    node,
    get() {
      if (input.validity.badInput) throw new RangeError(`Expected a number in ${column.name}.`);
      return input.value === "" ? null : now();
    },
    set,
  };
}

function choiceField(column, id, changed) {
  const { levels } = column;
  let never = "another value"; // than those the model has seen
  while (levels.includes(never)) never += "'";
  let other = never;
  const input = make("select", { id },
    make("option", { value: "missing" }, "(missing)"),
    levels.map((level, i) => make("option", { value: String(i) }, level === "" ? "(empty)" : level)),
    make("option", { value: "other" }, "another value"));
  input.addEventListener("change", changed);
  return {
    node: labeled(column, id, input),
    get() {
      if (input.value === "missing") return null;
      return input.value === "other" ? other : levels[Number(input.value)];
    },
    set(cell) {
      const text = typeof cell === "boolean" ? String(cell) : cell;
      const place = levels.indexOf(String(text));
      other = cell === null || place >= 0 ? never : cell;
      input.value = cell === null ? "missing" : place >= 0 ? String(place) : "other";
    },
  };
}

function wordField(column, id, changed) {
  const list = make("datalist", { id: `${id}-levels` }, (column.levels ?? []).map((value) => make("option", { value })));
  const input = make("input", { type: "text", id, list: list.id, placeholder: "(missing)" });
  input.addEventListener("input", changed);
  const node = labeled(column, id, input);
  node.append(list);
  return { node, get: () => input.value || null, set(cell) { input.value = cell ?? ""; } };
}

function dateField(column, id, changed) {
  const input = make("input", { type: "date", id });
  if (Number.isFinite(column.low)) Object.assign(input, { min: dayOf(column.low), max: dayOf(column.high) });
  input.addEventListener("input", changed);
  return { node: labeled(column, id, input), get: () => input.value || null, set(cell) { input.value = cell ?? ""; } };
}

function textField(column, id, changed) {
  const input = make("textarea", { id, rows: 4, placeholder: "(missing)" });
  input.addEventListener("input", changed);
  const node = labeled(column, id, input);
  node.classList.add("wide");
  return { node, get: () => input.value || null, set(cell) { input.value = cell ?? ""; } };
}

// Which field suits a column, given the cells of the rows to start from.
function fieldOf(column, cells) {
  const given = cells.filter((cell) => cell !== null && cell !== undefined);
  const every = (is) => given.every(is);
  if (column.kind === "number") return every((cell) => typeof cell === "number") ? numberField : wordField;
  if (column.kind === "date") return every((cell) => ALL_DAYS.test(cell)) ? dateField : wordField;
  if (column.kind === "text") return textField;
  return (column.levels ?? []).length <= LIST ? choiceField : wordField;
}
