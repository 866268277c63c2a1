// Models of single columns: what a value, its words or its letters say of the classes.

// log p(k | v), by counts of the classes among rows of a value
const VALUES = {
  values: ({ cell, values, counts, prior }) => {
    const places = placesOf(values);
    return (at) => {
      const own = counts[places.get(at.cell(cell))];
      const found = prior.map((rows, k) => (own ? own[k] : 0) + rows);
      const total = found.reduce((a, b) => a + b, 0);
      return found.map((rows) => Math.log(rows / total));
    };
  },
  said: ({ model: spec, places, size, least }) => {
    const words = model(spec);
    return (at) => {
      const shares = aligned(words.said(at), places, size).map((log) => Math.max(Math.exp(log), least));
      const total = shares.reduce((a, b) => a + b, 0);
      return shares.map((share) => Math.log(share / total));
    };
  },
};

// The numbers that other models are given: evidence for each class against the first.
function columnModel({ models, weights, intercept, limit, least, log_prior: prior }) {
  const made = models.map((spec) => VALUES[spec.kind]({ ...spec, size: prior.length, least }));
  return (at) => {
    const total = [...intercept];
    made.forEach((said, m) => bounded(said(at), limit).forEach((value, k) => {
      total[k] += weights[m] * value;
    }));
    const told = logPosterior(total).map((value, k) => value - prior[k]);
    return told.slice(1).map((value) => value - told[0]);
  };
}
