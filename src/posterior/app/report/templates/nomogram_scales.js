// Scales of a nomogram: values of each column, and the points they give one class against others.

const SAMPLES = 60; // of the range of a number
const SMALL = 1e-9; // points that are none

// Numbers that are easily read, about so many.
function roundNumbers(low, high, about) {
  const unit = 10 ** Math.floor(Math.log10((high - low) / about));
  const step = unit * [1, 2, 5, 10].find((m) => (high - low) / (m * unit) <= about);
  const first = Math.ceil(low / step), n = Math.max(0, Math.floor(high / step) - first + 1);
  return Array.from({ length: n }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

// Cells of a column to show, each with where it stands from low (0) to high (1), and whether it has a label.
function shownCells(column) {
  const { kind, low, high, mean, levels } = column;
  if (levels && kind !== "text") {
    return levels.length > LIST ? [] : levels.map((cell, i) => ({ cell, at: i, tick: true }));
  }
  if (!["number", "date"].includes(kind) || !(high > low)) return [];
  const log = kind === "number" && low > 0 && high > 100 * low && (mean ?? low) < (low + high) / 5;
  const scale = log ? Math.log : (x) => x, back = log ? Math.exp : (x) => x;
  const whole = Number.isInteger(low) && Number.isInteger(high) && (kind === "date" || (!log && high - low <= SAMPLES));
  const even = Array.from({ length: SAMPLES + 1 }, (_, i) => back(scale(low) + (i / SAMPLES) * (scale(high) - scale(low))));
  const decades = Array.from({ length: 40 }, (_, i) => Number(`1e${i - 20}`)).filter((x) => x > low && x < high);
  const ticks = new Set([low, ...(log ? decades : roundNumbers(low, high, 6)), high]);
  const numbers = new Set([...even.map((x) => (whole ? Math.round(x) : x)), ...ticks]);
  return [...numbers].filter((x) => x >= low && x <= high).sort((a, b) => a - b).map((x) => ({
    cell: kind === "date" ? dayOf(x) : x, tick: ticks.has(x),
    at: (scale(x) - scale(low)) / (scale(high) - scale(low)),
  }));
}

// What a column says by itself of each class, for each of its cells; the others are as in the row.
function evidenceOf(column, row) {
  const own = (cell) => chosenModel.additive.parts({ ...row, [column.name]: cell }).columns
    .find(({ name }) => name === column.name)?.evidence ?? names.map(() => 0);
  return shownCells(column).flatMap((shown) => {
    try {
      return [{ ...shown, evidence: own(shown.cell) }];
    } catch (error) {
      return []; // a cell that the model refuses
    }
  });
}

// Scales depend on the class that is chosen, and on which cells are missing, but on no other cell.
const remembered = new Map();
function scalesOf(column, row) {
  const missing = read.filter(({ name }) => name !== column.name && row[name] === null).map(({ name }) => name);
  const key = JSON.stringify([column.name, missing]);
  if (remembered.size > 500) remembered.clear();
  if (!remembered.has(key)) remembered.set(key, evidenceOf(column, row));
  return remembered.get(key);
}

// Points of class k: log odds against another, or against the mean of all others.
function pointsOf(k, other) {
  return (evidence) => {
    const rest = other === null ? evidence.filter((_, j) => j !== k) : [evidence[other]];
    const found = evidence[k] - rest.reduce((a, b) => a + b, 0) / rest.length;
    return Number.isNaN(found) ? 0 : found;
  };
}

// The probability of class k, or of k among k and another, where its score is moved by so much.
function probabilityAt(scores, k, other) {
  return (moved) => {
    const log = chosenModel.additive.posterior(scores.map((s, j) => (j === k ? s + moved : s)));
    if (other === null) return Math.exp(log[k]);
    return 1 / (1 + Math.exp(log[other] - log[k]));
  };
}

// By how much the score has to move for a probability; null where it never comes to it.
function movedFor(p, probability) {
  let low = -60, high = 60;
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (probability(middle) < p) low = middle; else high = middle;
  }
  return Math.abs(probability(high) - p) < 1e-6 ? high : null;
}

// The nomogram of a row: lines of columns, of what is the same for all rows and of columns together.
function nomogramOf(row, k, other) {
  const { prior, columns, together } = chosenModel.additive.parts(row);
  const points = pointsOf(k, other);
  const now = new Map(columns.map(({ name, evidence }) => [name, points(evidence)]));
  const lines = read.map((column, j) => ({
    j, column, name: column.name, cell: row[column.name], points: now.get(column.name) ?? 0,
    scale: scalesOf(column, row).map(({ evidence, ...shown }) => ({ ...shown, points: points(evidence) })),
  })).filter((line) => [line, ...line.scale].some((each) => Math.abs(each.points) > SMALL));
  const joint = together.map(({ name, evidence }) => ({ name, points: points(evidence) }))
    .filter((term) => Math.abs(term.points) > SMALL)
    .sort((a, b) => Math.abs(b.points) - Math.abs(a.points));
  const scores = [...columns, ...together].reduce((s, { evidence }) => s.map((v, i) => v + evidence[i]), prior);
  return {
    prior, start: points(prior), lines, joint, total: points(scores),
    probability: probabilityAt(scores, k, other),
  };
}
