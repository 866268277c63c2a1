// Answers of the model: what is exported.

const cellReaders = description.cells.map((spec) => CELLS[spec.kind](spec));
const vectorReaders = description.vectors.map((parts) => parts.map((spec) => NUMBERS[spec.kind](spec)));
const columnModels = description.models.map((spec) => columnModel(spec));
const whole = model(description.model);

// A row, whose cells and numbers are read once, when they are asked for.
class Reading {
  constructor(row) {
    if (row === null || typeof row !== "object") {
      throw new TypeError("Expected a row as an object of cells by column.");
    }
    this.row = row;
    this.cells = new Array(cellReaders.length);
    this.vectors = new Array(vectorReaders.length);
    this.numbers = new Array(columnModels.length);
  }

  cell(i) {
    if (this.cells[i] === undefined) this.cells[i] = cellReaders[i](this);
    return this.cells[i];
  }

  vector(i) {
    if (this.vectors[i] === undefined) {
      const out = [];
      for (const read of vectorReaders[i]) read(this, out);
      this.vectors[i] = out;
    }
    return this.vectors[i];
  }

  told(i) {
    this.numbers[i] ??= columnModels[i](this);
    return this.numbers[i];
  }
}

const { classes, columns } = description;

// The name of a term: of one column, or of several together.
function nameOf(name) {
  if (typeof name === "string") return name; // a word of a text
  const told = description.names[name];
  return typeof told === "string" ? told : told.map(nameOf).join(description.together);
}

/** log p(k | x) of each class, in the order of `classes`. */
function scores(row) {
  return whole.said(new Reading(row));
}

/** The most probable class, and p(k | x) of each, in the order of `classes`. */
function predict(row) {
  const log = scores(row);
  const best = log.indexOf(Math.max(...log));
  return { prediction: classes[best], probabilities: log.map(Math.exp) };
}

/**
 * What each column says for each class: `prior` and the evidence of all terms add up to the log
 * odds between classes, before probabilities are calibrated.
 */
function explain(row) {
  if (!whole.told) {
    throw new TypeError(
      `Expected a model whose scores are sums over columns to explain, got ${whole.unexplained}.`,
    );
  }
  const found = new Map(whole.terms.map((name) => [nameOf(name), classes.map(() => 0)]));
  const prior = whole.told(new Reading(row), (name, scores) => {
    const key = nameOf(name), before = found.get(key);
    found.set(key, before ? before.map((value, k) => value + scores[k]) : [...scores]);
  });
  const terms = Array.from(found, ([name, evidence]) => ({ name, evidence }));
  return { prior: [...prior], terms };
}

/**
 * Where scores are sums over columns: `parts(row)` has what each column says for each class by
 * itself, whatever the others are, and what several say `together`; with the prior they add up to
 * scores whose `posterior` is log p(k | x). Null where columns depend on each other.
 */
const additive = !whole.isAdditive ? null : {
  posterior: (total) => whole.posterior(total),
  parts(row) {
    const known = new Set(columns.map(({ name }) => name)), own = new Map(), together = new Map();
    const prior = (whole.parted ?? whole.told)(new Reading(row), (name, scores, joint = false) => {
      const key = nameOf(name);
      const found = !joint && typeof description.names[name] === "string" && known.has(key) ? own : together;
      found.set(key, found.get(key)?.map((value, k) => value + scores[k]) ?? [...scores]);
    });
    const listed = (found) => Array.from(found, ([name, evidence]) => ({ name, evidence }));
    return { prior: [...prior], columns: listed(own), together: listed(together) };
  },
};
