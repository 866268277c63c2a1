// Scores s_k, log probabilities of the classes, and the terms that scores are the sum of.

function largest(values) {
  let top = -Number.MAX_VALUE;
  for (const value of values) if (value > top) top = value;
  return top;
}

// log Σ exp; -∞ if all are
function logSum(values) {
  const top = largest(values);
  let total = 0;
  for (const value of values) total += Math.exp(value - top);
  return top + Math.log(total);
}

// log p(k | x) of scores; where no class is possible, all are alike.
function logPosterior(scores) {
  const top = largest(scores);
  let total = 0;
  for (const score of scores) total += Math.exp(score - top);
  if (total === 0) return scores.map(() => -Math.log(scores.length));
  const log = Math.log(total);
  return scores.map((score) => score - top - log);
}

// A part is a function of the cells that tells its terms, by name and class; its total is their
// sum, where there is a shorter way to it.
const PARTS = {};
const BY_COLUMN = new Set(["formulas", "linear", "tables", "normal"]); // a term reads its own columns

// A model has log p(k | x), `said`, and tells its terms, `prior_k + Σ` of which is its score, unless
// it is `unexplained`;
// `posterior` is log p(k | x) of such scores.
const MODELS = {
  sum: ({ prior, parts, terms, calibrators }) => {
    const made = parts.map((part) => PARTS[part.kind](part));
    const correct = corrections(calibrators);
    const posterior = (scores) => correct(logPosterior(scores));
    return {
      terms,
      posterior,
      isAdditive: parts.every(({ kind, shape }) => BY_COLUMN.has(kind) && shape !== "student"),
      said(at) {
        const total = [...prior];
        const add = (_, scores) => scores.forEach((score, k) => { total[k] += score; });
        for (const part of made) part.total ? add(null, part.total(at)) : part(at, add);
        return posterior(total);
      },
      told(at, tell) {
        for (const part of made) part(at, tell);
        return prior;
      },
    };
  },
};

function model(spec) {
  return MODELS[spec.kind](spec);
}

function corrections(calibrators) {
  const made = (calibrators ?? []).map((spec) => CALIBRATORS[spec.kind](spec));
  return (log) => made.reduce((before, correct) => correct(before), log);
}
