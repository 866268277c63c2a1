// Cells of a row as the model reads them: numbers, NaN where missing, and texts, null where missing.

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;
const DAY = 86_400_000; // milliseconds

function isMissing(value) {
  return value === null || value === undefined || value === "" || Number.isNaN(value);
}

function refused(expected, column, value) {
  const shown = typeof value === "number" ? String(value) : JSON.stringify(value);
  const name = JSON.stringify(description.columns[column].name);
  return new RangeError(`Expected ${expected} in column ${name}, got ${shown}.`);
}

// The cell of a column: its own, so that a column may be called "constructor".
function given(row, column) {
  const { name } = description.columns[column];
  return Object.hasOwn(row, name) ? row[name] : undefined;
}

function isMark(text, spec) {
  if (!spec.marks) return false;
  const known = (word) => marks[spec.marks].has(word) || (spec.gaps ?? []).includes(word);
  return known(text) || known(text.trim());
}

// A finite number, or NaN if the cell is missing.
function numberOf(value, spec) {
  if (typeof value === "string") value = numberOfText(value, spec);
  if (isMissing(value)) return NaN;
  if (value instanceof Date) return value.getTime() / DAY;
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value !== "number" || !Number.isFinite(value)) {
    throw refused("a finite number", spec.column, value);
  }
  return value;
}

function numberOfText(text, spec) {
  if (isMark(text, spec)) return NaN;
  if (spec.written) return writtenNumber(text, spec);
  if (spec.form) return writtenDate(text, spec);
  const bare = text.trim();
  if (bare === "" || bare.toLowerCase() === "nan") return NaN;
  if (!NUMBER.test(bare)) throw refused("a number", spec.column, text);
  return Number(bare);
}

// As Python writes it: 3 is "3", 0.00001 is "1e-05".
function digitsOf(number) {
  if (Number.isInteger(number)) return BigInt(number).toString();
  if (Math.abs(number) >= 1e-4) return String(number);
  return number.toExponential().replace(/e-(\d)$/, "e-0$1");
}

function textOf(value, spec) {
  if (typeof value === "string") return isMark(value, spec) ? null : value;
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "number" && Number.isFinite(value)) return digitsOf(value);
  throw refused("a text or a number", spec.column, value);
}

// Where a cell stands among cuts: how many of them are at or below it.
function above(cuts, x) {
  let low = 0, high = cuts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (cuts[middle] <= x) low = middle + 1; else high = middle;
  }
  return low;
}

const CELLS = {
  number: (spec) => ({ row }) => {
    const x = numberOf(given(row, spec.column), spec);
    if (x < spec.least || (spec.above && x === spec.least)) {
      throw refused(spec.above ? "a number above zero" : "no number below zero", spec.column, x);
    }
    if (spec.needed && Number.isNaN(x)) throw refused("a number", spec.column, null);
    return x;
  },
  word: (spec) => ({ row }) => {
    const value = given(row, spec.column);
    const missing = isMissing(value) && !(value === "" && spec.empty);
    const text = missing ? null : textOf(value, spec);
    if (text === null) return spec.missing ?? null;
    return spec.lower ? text.toLowerCase() : text;
  },
  digits: (spec) => (at) => {
    const x = at.cell(spec.of);
    return Number.isNaN(x) ? null : digitsOf(x);
  },
  told: (spec) => (at) => at.told(spec.model)[spec.i],
  // Codes: 0 is missing, then bins or categories, and behind them one never seen.
  bin: (spec) => {
    const cuts = lists[spec.cuts];
    return (at) => {
      const x = at.cell(spec.of);
      if (Number.isNaN(x)) return 0;
      const bin = above(cuts, x);
      return spec.codes ? spec.codes[bin] : bin + 1;
    };
  },
  code: (spec) => {
    const places = placesOf(spec.values);
    return (at) => {
      const text = at.cell(spec.of);
      return text === null ? 0 : (places.get(text) ?? places.size) + 1;
    };
  },
};

// Numbers that a vector is made of, one column after the other.
const NUMBERS = {
  number: (spec) => (at, out) => void out.push(at.cell(spec.cell)),
  scaled: (spec) => (at, out) => {
    const x = (at.cell(spec.cell) - spec.mean) / spec.deviation;
    const gap = Number.isNaN(x);
    out.push(gap && !spec.keep ? 0 : x);
    if (spec.gaps) out.push(gap ? 1 : 0);
  },
  filled: (spec) => (at, out) => {
    const x = at.cell(spec.cell);
    const gap = Number.isNaN(x);
    out.push(gap ? spec.fill : x, gap ? 1 : 0);
  },
  // One where the cell has a level; which number that is, a map says.
  levels: (spec) => {
    const places = placesOf(spec.levels);
    return (at, out) => {
      const text = at.cell(spec.cell), first = out.length;
      const place = text === null ? spec.missing : (spec.places[places.get(text)] ?? spec.never);
      for (let i = 0; i < spec.size; i++) out.push(place === null ? NaN : 0);
      if (place !== null && place >= 0) out[first + place] = 1;
    };
  },
};

const lists = description.lists;
const marks = Object.fromEntries(
  Object.entries(description.marks ?? {}).map(([kind, words]) => [kind, new Set(words)]),
);
const placed = new Map();

// The places of the words of a list.
function placesOf(list) {
  if (!placed.has(list)) placed.set(list, new Map(lists[list].map((word, i) => [word, i])));
  return placed.get(list);
}
