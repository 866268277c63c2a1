// Columns that depend on each other: probabilities from counts of values together.

// (n + m share) / (N + m), of m rows that are spread as the shorter context says, or alike.
function smoothed(count, total, size, shorter, smoothing, level) {
  const rows = smoothing.alpha === undefined ? smoothing.rows[level] : smoothing.alpha * size;
  const share = smoothing.back_off && shorter !== null ? shorter : 1 / size;
  const found = (count + rows * share) / (total + rows);
  return Number.isNaN(found) ? 1 / size : found;
}

// What was seen: counts by own value, and the same behind each value of the next parent.
class Context {
  constructor(k) {
    this.total = new Array(k).fill(0);
    this.counts = new Map();
    this.behind = new Map();
  }

  add(value, counts) {
    const own = this.counts.get(value) ?? counts.map(() => 0);
    this.counts.set(value, own.map((n, k) => n + counts[k]));
    counts.forEach((n, k) => { this.total[k] += n; });
  }
}

function contextsOf({ tuples, counts, parents }) {
  const width = parents.length + 1, k = (counts.length / tuples.length) * width || 0;
  const root = new Context(k);
  for (let i = 0; i * width < tuples.length; i++) {
    const tuple = tuples.slice(i * width, (i + 1) * width), own = counts.slice(i * k, (i + 1) * k);
    let at = root;
    at.add(tuple.at(-1), own);
    for (const parent of tuple.slice(0, -1)) {
      if (parent < 0) break;
      if (!at.behind.has(parent)) at.behind.set(parent, new Context(k));
      at = at.behind.get(parent);
      at.add(tuple.at(-1), own);
    }
  }
  return root;
}

PARTS.network = ({ columns: specs }) => {
  const made = specs.map((spec) => ({ ...spec, root: contextsOf(spec) }));
  return (at, tell) => {
    for (const column of made) {
      const own = at.cell(column.own) - 1;
      if (own < 0) continue;
      const size = column.size + (own >= column.size ? 1 : 0);
      let context = column.root, p = null;
      for (let level = 0; ; level++) {
        const counts = context?.counts.get(own), before = p;
        p = column.root.total.map((_, k) => smoothed(
          counts?.[k] ?? 0, context?.total[k] ?? 0, size, before && before[k], column, level));
        if (level === column.parents.length) break;
        const parent = at.cell(column.parents[level]) - 1;
        if (parent < 0 || parent >= column.parent_sizes[level]) break; // it says no more
        context = context?.behind.get(parent);
      }
      tell(column.name, p.map(Math.log));
    }
  };
};

// Every column in turn the parent of all others: log Σᵢ wᵢ exp(Σⱼ log p(xⱼ | k, xᵢ)) / Σᵢ wᵢ
PARTS.averaged = (spec) => {
  const { cells, names, sizes, pairs, alone, weight, smoothing } = spec;
  const d = cells.length, k = pairs.length, start = [], first = [];
  const width = sizes.reduce((s, n) => s + n, 0);
  sizes.forEach((n, j) => {
    start.push(j ? start[j - 1] + sizes[j - 1] + 1 : 0);
    first.push(j ? first[j - 1] + sizes[j - 1] : 0);
  });
  const count = (g, a, b) => (a <= b
    ? pairs[g][a * width - (a * (a - 1)) / 2 + b - a]
    : count(g, b, a));
  const isSeen = (j, code) => code < sizes[j];
  const sum = (g, i, a, j) => {
    let total = 0;
    for (let b = 0; b < sizes[j]; b++) total += a < 0 ? count(g, first[j] + b, first[j] + b)
      : count(g, first[i] + a, first[j] + b);
    return total;
  };
  const remembered = new Map();

  // log p(b | g, a) of a value a of column i, and b of column j, for each class g
  function given(i, a, j, b) {
    const key = (start[i] + a) * alone.length + start[j] + b;
    if (remembered.has(key)) return remembered.get(key);
    const size = sizes[j] + (isSeen(j, b) ? 0 : 1);
    const found = pairs.map((_, g) => {
      const own = isSeen(j, b) ? count(g, first[j] + b, first[j] + b) : 0;
      const shorter = smoothed(own, sum(g, j, -1, j), size, null, smoothing[j], 0);
      const seen = isSeen(i, a), both = seen && isSeen(j, b) ? count(g, first[i] + a, first[j] + b) : 0;
      return Math.log(smoothed(both, seen ? sum(g, i, a, j) : 0, size, shorter, smoothing[j], 1));
    });
    remembered.set(key, found);
    return found;
  }

  // The cells that are there, the parents among them with their log weights, and their terms.
  function models(at) {
    const known = cells.map((i, j) => [j, at.cell(i) - 1]).filter(([, code]) => code >= 0);
    const parents = known.filter(([i, a]) => weight[start[i] + a] > 0);
    const whole = parents.reduce((s, [i, a]) => s + weight[start[i] + a], 0);
    const terms = parents.map(([i, a]) => known.map(([j, b]) =>
      (i === j ? alone[start[i] + a] : given(i, a, j, b))));
    const logs = parents.map(([i, a]) => Math.log(weight[start[i] + a] / whole));
    const each = terms.map((own, m) => Array.from({ length: k }, (_, g) =>
      own.reduce((s, term) => s + term[g], logs[m])));
    return { known, terms, each };
  }

  const classesOf = (f) => Array.from({ length: k }, (_, g) => f(g));

  function total(at) {
    const { known, each } = models(at);
    if (each.length) return classesOf((g) => logSum(each.map((own) => own[g])));
    return classesOf((g) => known.reduce((s, [j, b]) => s + alone[start[j] + b][g], 0));
  }

  // Terms of the columns averaged by each parent's share, and what is left of the sum.
  function part(at, tell) {
    const { known, terms, each } = models(at);
    if (!each.length) {
      for (const [j, b] of known) tell(names[j], alone[start[j] + b]);
      return;
    }
    const whole = classesOf((g) => logSum(each.map((own) => own[g])));
    const share = each.map((own) => own.map((value, g) => Math.exp(value - whole[g])));
    let rest = whole;
    known.forEach(([j], c) => {
      const mean = classesOf((g) => terms.reduce(
        (s, own, m) => (share[m][g] > 0 ? s + share[m][g] * own[c][g] : s), 0));
      rest = rest.map((value, g) => value - mean[g]);
      tell(names[j], mean);
    });
    tell(names[d], rest);
  }
  part.total = total;
  return part;
};
