// Normal classes, or Student's t: A with Aᵀ Σ A = I measures a row. Cells that are missing are
// integrated out: A is then that of the covariance of the others.

const LOG_2PI = Math.log(2 * Math.PI);

function middleOf(means) {
  return means[0].map((_, j) => means.reduce((s, m) => s + m[j], 0) / means.length);
}

PARTS.normal = (spec) => {
  const { shape, names, beyond } = spec, d = names.length;
  const every = names.map((_, j) => j), k = spec.mean.length;
  const remembered = new Map();

  // Means and axes of the columns that are there.
  function marginal(columns) {
    if (columns.length === d) return { mean: spec.mean, whitening: spec.whitening };
    const key = columns.join();
    if (!remembered.has(key)) {
      if (remembered.size > 1000) remembered.clear();
      const mean = spec.mean.map((m) => columns.map((j) => m[j]));
      remembered.set(key, { mean, whitening: spec.covariance.map((half) => whitened(half, columns)) });
    }
    return remembered.get(key);
  }

  const of = (list, g) => list[list.length === 1 ? 0 : g];
  const read = (at) => {
    const x = at.vector(spec.x), columns = every.filter((j) => !Number.isNaN(x[j]));
    return { columns, x: columns.map((j) => x[j]) };
  };

  // log p(x | k), up to what all classes share.
  function total(at) {
    const { columns, x } = read(at);
    if (columns.length === 0) return new Array(k).fill(0);
    if (shape === "shared" && columns.length === d) {
      const middle = middleOf(spec.mean);
      return spec.weight.map((w, g) => w.reduce(
        (s, slope, j) => s + slope * (x[j] - 0.5 * (spec.mean[g][j] + middle[j])), 0));
    }
    const { mean, whitening } = marginal(columns);
    return mean.map((m, g) => {
      const { axes, log_det } = of(whitening, g);
      const apart = x.map((value, j) => value - m[j]);
      const distance = axes.reduce((s, axis) => s + dot(axis, apart) ** 2, 0);
      if (shape !== "student") return -0.5 * (axes.length * LOG_2PI + log_det + distance);
      const tail = 0.5 * (spec.freedom[g] + axes.length) * Math.log1p(distance / spec.spread[g]);
      return spec.heights[g][axes.length] - 0.5 * log_det - tail;
    });
  }

  function precision({ axes }) {
    const along = (i, j) => axes.reduce((s, axis) => s + axis[i] * axis[j], 0);
    return Array.from(axes[0], (_, i) => Array.from(axes[0], (__, j) => along(i, j)));
  }

  // Classes of one covariance: slope · (x - halfway to the middle)
  function linear(columns, x, tell) {
    const { mean, whitening } = marginal(columns);
    const middle = middleOf(mean);
    const P = columns.length === d ? null : precision(whitening[0]);
    const slope = P
      ? mean.map((m) => P.map((line) => line.reduce((s, p, j) => s + p * (m[j] - middle[j]), 0)))
      : spec.weight;
    columns.forEach((column, j) => tell(
      names[column], mean.map((m, g) => slope[g][j] * (x[j] - 0.5 * (m[j] + middle[j])))));
  }

  // Of columns, pairs and the rest: u (P m) - ½ P u², -P u v, and what no cell changes.
  function quadratic(columns, x, tell) {
    const { mean, whitening } = marginal(columns), middle = middleOf(mean);
    const P = mean.map((_, g) => precision(of(whitening, g)));
    const u = x.map((value, j) => value - middle[j]);
    const m = mean.map((own) => own.map((value, j) => value - middle[j]));
    const Pm = P.map((own, g) => own.map((line) => dot(line, m[g])));
    columns.forEach((column, j) => tell(
      names[column], P.map((own, g) => u[j] * Pm[g][j] - 0.5 * own[j][j] * u[j] * u[j])));
    columns.forEach((a, i) => columns.forEach((b, j) => {
      if (i < j) tell(beyond[pairOf(a, b)], P.map((own) => -own[i][j] * u[i] * u[j]));
    }));
    tell(beyond.at(-1), P.map((_, g) => {
      const { axes, log_det } = of(whitening, g);
      return -0.5 * (axes.length * LOG_2PI + log_det + dot(m[g], Pm[g]));
    }));
  }

  const pairOf = (a, b) => a * d - (a * (a + 1)) / 2 + b - a - 1;

  function part(at, tell) {
    const { columns, x } = read(at);
    if (columns.length === 0) return;
    if (shape === "student") tell(beyond.at(-1), total(at));
    else if (shape === "shared") linear(columns, x, tell);
    else if (shape === "own") quadratic(columns, x, tell);
    else {
      columns.forEach((column, j) => tell(names[column], spec.mean.map((m, g) => {
        const axis = of(spec.whitening, g).axes[column][column];
        return Math.log(Math.abs(axis)) - 0.5 * (LOG_2PI + (axis * (x[j] - m[column])) ** 2);
      })));
    }
  }
  part.total = total;
  return part;
};
