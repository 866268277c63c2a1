// Corrected probabilities, of log p(k | x).

const CALIBRATORS = {
  temperature: ({ temperature, uniform }) => (log) => {
    const scaled = logPosterior(log.map((value) => value / temperature));
    if (uniform === 0) return scaled;
    return scaled.map((value) => Math.log((1 - uniform) * Math.exp(value) + uniform / log.length));
  },
  beta: ({ base, intercept, low, high }) => ofOdds(base, (x) => intercept + low * x[1] - high * x[0]),
  quadratic: ({ base, intercept, slope, curvature }) => ofOdds(base, (x) => {
    const z = x[1] - x[0];
    return intercept + (slope + curvature * z) * z;
  }),
  vector: ({ base, intercept, slope }) => scaling(base, (x) =>
    x.map((value, k) => value + slope[k] * value + intercept[k])),
  matrix: ({ base, intercept, matrix }) => scaling(base, (x) =>
    x.map((value, k) => value + matrix[k].reduce((s, d, j) => s + d * x[j], 0) + intercept[k])),
  isotonic: ({ steps, least }) => (log) => {
    const raised = log.map((value, k) => Math.max(onLine(steps[k], Math.exp(value)), least));
    const total = raised.reduce((a, b) => a + b, 0);
    return raised.map((value) => Math.log(value / total));
  },
};

function ofOdds(base, oddsOf) {
  const tempered = CALIBRATORS.temperature(base);
  return (log) => {
    const odds = oddsOf(tempered(log));
    return [odds, -odds].map((z) => -(z > 0 ? z + Math.log1p(Math.exp(-z)) : Math.log1p(Math.exp(z))));
  };
}

function scaling(base, scoresOf) {
  const tempered = CALIBRATORS.temperature(base);
  return (log) => logPosterior(scoresOf(tempered(log)));
}

// The line through points, level beyond them.
function onLine({ x, y }, at) {
  const i = above(x, at);
  if (i === 0) return y[0];
  if (i === x.length) return y[i - 1];
  return y[i - 1] + ((y[i] - y[i - 1]) / (x[i] - x[i - 1])) * (at - x[i - 1]);
}
