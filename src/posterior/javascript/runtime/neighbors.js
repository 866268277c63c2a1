// Nearest neighbors: rows that were learned vote, and those of smallest distance are asked.

function listed({ values, codes }) {
  return Float64Array.from(codes ? codes.map((code) => values[code]) : values);
}

// Σ (aⱼ - bⱼ)² over the columns that both rows have, D / |S| times that where some are missing.
function apart(a, b, gaps) {
  let total = 0, shared = 0;
  for (let j = 0; j < a.length; j++) {
    const difference = a[j] - b[j];
    if (Number.isNaN(difference)) continue;
    total += difference * difference;
    shared += 1;
  }
  if (!gaps || shared === a.length) return Math.sqrt(total);
  return shared ? Math.sqrt((total / shared) * a.length) : Infinity;
}

// Distances of a row from all that were learned, and what they are multiplied by once the nearest
// are known: equals stay equal.
const NEAR = {
  euclidean: ({ x, columns, center, axes, covariance }) => {
    const cells = columns.map(listed);
    const learned = Array.from(cells[0], (_, i) => cells.map((column) => column[i]));
    const along = (lines, row) => (typeof lines[0] === "number"
      ? row.map((value, j) => value * lines[j]) : Array.from(lines, (line) => dot(line, row)));
    const place = (row) => (axes ? along(axes, row.map((value, j) => value - center[j])) : row);
    const gaps = learned.some((row) => row.some(Number.isNaN));
    const placed = learned.map(place);

    // By the columns that the row has: Σ of these alone says how far apart two rows are.
    function within(row, there) {
      const own = whitened(covariance, there).axes;
      const some = (each) => along(own, there.map((j) => each[j] - center[j]));
      const here = some(row), scale = Math.sqrt(row.length / there.length);
      return { far: learned.map((each) => apart(here, some(each), false)), scale };
    }

    return (at) => {
      const row = at.vector(x);
      const there = row.flatMap((value, j) => (Number.isNaN(value) ? [] : [j]));
      const missing = there.length < row.length;
      if (covariance && missing && there.length) return within(row, there);
      const here = place(row);
      return { far: placed.map((each) => apart(here, each, gaps || missing)), scale: 1 };
    };
  },

  mixed: ({ columns }) => {
    const made = columns.map(({ cell, words, range, weight, ...own }) => ({
      cell, range, weight, places: words === undefined ? null : placesOf(words), rows: listed(own),
    }));
    return (at) => {
      const n = made[0].rows.length, total = new Float64Array(n), shared = new Float64Array(n);
      for (const { cell, range, weight, places, rows } of made) {
        const value = at.cell(cell);
        if (value === null || Number.isNaN(value)) continue;
        const here = places ? places.get(value) : value;
        for (let i = 0; i < n; i++) {
          if (places ? rows[i] < 0 : Number.isNaN(rows[i])) continue;
          const far = places ? Number(rows[i] !== here) : Math.min(Math.abs(here - rows[i]) / range, 1);
          total[i] += weight * far;
          shared[i] += weight;
        }
      }
      return { far: Array.from(total, (sum, i) => (shared[i] ? sum / shared[i] : 1)), scale: 1 };
    };
  },
};

// The nearest rows, equals in their order, and the part of each, until k are together.
function nearest({ far, scale }, k, weight) {
  const order = far.map((_, i) => i).sort((a, b) => far[a] - far[b] || a - b);
  const found = [];
  let counted = 0;
  for (const i of order) {
    if (counted >= k) break;
    const part = Math.min(weight ? weight[i] : 1, k - counted);
    found.push({ i, part, distance: scale * far[i] });
    counted += part;
  }
  return { found, counted };
}

const VOTES = {
  uniform: (found) => found.map(() => 1),
  distance: (found) => {
    const [{ distance: least }] = found;
    if (least === Infinity) return found.map(() => 1);
    if (least === 0) return found.map(({ distance }) => Number(distance === 0));
    return found.map(({ distance }) => least / distance);
  },
  // exp(-½ (d / h)²), where h is half the distance of the last neighbor
  gaussian: (found) => {
    const known = found.filter(({ distance }) => distance < Infinity);
    if (!known.length) return found.map(() => 1);
    const last = Math.max(...known.map(({ distance }) => distance));
    return found.map(({ distance }) => {
      if (distance === Infinity) return 0;
      return last ? Math.exp(-2 * (distance / last) ** 2) : 1;
    });
  },
};

MODELS.neighbors = ({ near, k, rule, labels, prior, smoothing, weight, calibrators }) => {
  const distances = NEAR[near.kind](near), correct = corrections(calibrators);
  return {
    terms: [],
    unexplained: "neighbors, which vote as whole rows",
    said(at) {
      const { found, counted } = nearest(distances(at), k, weight);
      const votes = prior.map(() => 0), own = VOTES[rule](found);
      found.forEach(({ i, part }, j) => { votes[labels[i]] += part * own[j]; });
      const total = votes.reduce((a, b) => a + b, 0);
      return correct(votes.map((vote, c) => Math.log(
        (vote * (counted / total) + smoothing * prior[c]) / (counted + smoothing))));
    },
  };
};
