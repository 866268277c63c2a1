// The row: a control for each column, sliders for numbers and choices for words; any may be unknown.

import { make } from "./dom.js";

const FEW = 60; // values that fit a list to choose from
const DAY = 86400e3;

const iso = (days) => new Date(days * DAY).toISOString().slice(0, 10);

function step(column) {
  if (column.whole) return 1;
  const span = column.high - column.low;
  return span > 0 ? 10 ** Math.floor(Math.log10(span / 100)) : "any";
}

function rounded(column, value) {
  if (column.whole) return Math.round(value);
  const unit = step(column);
  return unit === "any" ? value : Number((Math.round(value / unit) * unit).toPrecision(12));
}

// A control is {node, get, set}; get and set speak in cells, null where unknown.
function numberControl(column, id, changed) {
  const ranged = column.low !== null && column.high !== null && column.high > column.low;
  const box = make("input", { type: "number", id, step: "any" });
  const unknown = make("input", { type: "checkbox" });
  const slider = ranged ? make("input", {
    type: "range", min: column.low, max: column.high, step: step(column),
    "aria-label": `${column.name}, slider`,
  }) : null;
  const node = make("div", { className: "field" },
    make("label", { htmlFor: id }, column.name),
    make("div", { className: ranged ? "range" : "plain" }, slider, box,
      make("label", { className: "unknown-box" }, unknown, "unknown")));
  const get = () => (box.value === "" ? null : Number(box.value));
  const show = () => {
    unknown.checked = box.value === "";
    node.classList.toggle("unknown", unknown.checked);
  };
  const set = (cell) => {
    box.value = cell === null ? "" : cell;
    if (slider && cell !== null) slider.value = cell;
    show();
  };
  let last = column.typical ?? 0;
  box.addEventListener("input", () => { if (slider && box.value !== "") slider.value = box.value; show(); changed(); });
  slider?.addEventListener("input", () => { box.value = rounded(column, Number(slider.value)); show(); changed(); });
  unknown.addEventListener("change", () => {
    if (unknown.checked) last = get() ?? last;
    set(unknown.checked ? null : rounded(column, last));
    changed();
  });
  return { node, get, set };
}

function wordControl(column, id, changed) {
  const few = column.values.length > 0 && column.values.length <= FEW;
  const list = `${id}-values`;
  const input = few
    ? make("select", { id }, make("option", { value: "" }, "unknown"),
        column.values.map((value, i) => make("option", { value: String(i) }, value)))
    : make("input", { type: "text", id, list, placeholder: "unknown" });
  const more = few ? null
    : make("datalist", { id: list }, column.values.map((value) => make("option", { value })));
  input.addEventListener(few ? "change" : "input", changed);
  const get = () => (input.value === "" ? null : few ? column.values[Number(input.value)] : input.value);
  const set = (cell) => {
    const place = few && cell !== null ? column.values.indexOf(String(cell)) : -1;
    input.value = cell === null ? "" : few ? (place < 0 ? "" : String(place)) : cell;
  };
  return { node: make("div", { className: "field" }, make("label", { htmlFor: id }, column.name), input, more), get, set };
}

function dateControl(column, id, changed) {
  const input = make("input", { type: "date", id });
  if (column.low !== null) Object.assign(input, { min: iso(column.low - 3650), max: iso(column.high + 3650) });
  input.addEventListener("input", changed);
  const set = (cell) => { input.value = cell === null ? "" : typeof cell === "number" ? iso(cell) : String(cell).slice(0, 10); };
  return {
    node: make("div", { className: "field" }, make("label", { htmlFor: id }, `${column.name} (empty: unknown)`), input),
    get: () => input.value || null, set,
  };
}

function textControl(column, id, changed) {
  const input = make("textarea", { id, className: "document", placeholder: "Type or paste a text" });
  input.addEventListener("input", changed);
  return {
    node: make("div", { className: "field" }, make("label", { htmlFor: id }, column.name), input),
    get: () => input.value || null,
    set: (cell) => { input.value = cell ?? ""; },
  };
}

const CONTROLS = { number: numberControl, category: wordControl, date: dateControl, text: textControl };

// Cells of one line of CSV or of a spreadsheet; quotes may hold the delimiter.
function cells(line, delimiter) {
  const found = [];
  let cell = "", quoted = false;
  for (let i = 0; i < line.length; i += 1) {
    const letter = line[i];
    if (letter === '"' && quoted && line[i + 1] === '"') { cell += '"'; i += 1; }
    else if (letter === '"') quoted = !quoted;
    else if (letter === delimiter && !quoted) { found.push(cell); cell = ""; }
    else cell += letter;
  }
  return [...found, cell].map((text) => text.trim());
}

// A row from JSON, from a header and a line, or from a line in the order of the columns.
export function parsed(text, columns) {
  const names = columns.map((column) => column.name);
  const trimmed = text.trim();
  if (trimmed.startsWith("{")) return JSON.parse(trimmed);
  const lines = trimmed.split(/\r?\n/).filter((line) => line.trim() !== "");
  if (lines.length === 0) throw new Error("Expected a row, got nothing.");
  const delimiter = ["\t", ";", ","].find((sign) => lines[0].includes(sign)) ?? ",";
  const [first, second] = lines.map((line) => cells(line, delimiter));
  const head = second && first.some((name) => names.includes(name)) ? first : names;
  const row = head === first ? second : first;
  if (row.length !== head.length)
    throw new Error(`Expected ${head.length} cells, got ${row.length}. Paste a header with the row, or JSON.`);
  const missing = ["", "?", "NA", "N/A", "NaN", "nan", "NULL", "null"];
  return Object.fromEntries(head.map((name, j) => [name, missing.includes(row[j]) ? null : row[j]]));
}

// The form of a model's columns.
export function rowForm(columns, changed) {
  const controls = columns.map((column, j) => CONTROLS[column.kind](column, `cell-${j}`, changed));
  const get = () => Object.fromEntries(columns.map((column, j) => [column.name, controls[j].get()]));
  const set = (row) => columns.forEach((column, j) => {
    const cell = row[column.name] ?? null;
    controls[j].set(column.kind === "number" && cell !== null ? Number(cell) : cell);
  });
  const typical = () => set(Object.fromEntries(columns.map((column) => [
    column.name,
    column.kind === "number" && column.typical !== null ? rounded(column, column.typical) : column.typical,
  ])));
  typical();
  const fields = make("div", {}, controls.map((control) => control.node));
  return { node: fields, get, set, typical };
}

