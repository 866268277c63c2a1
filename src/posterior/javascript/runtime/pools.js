// Pools: s_c = b_c + Σ_m w_m z_m,  z_m = max(log p_m(c | x) - max_k log p_m(k | x), -limit)

function bounded(log, limit) {
  const top = largest(log);
  return log.map((value) => Math.max(value - top, -limit));
}

// Log probabilities of some classes as those of all.
function aligned(log, places, n) {
  const out = new Array(n).fill(-Infinity);
  log.forEach((value, k) => { out[places[k]] = value; });
  return out;
}

// Evidence against a class, in proportion, where the pool hears no more than the limit.
function shortened(terms, prior, said, limit) {
  const top = said.indexOf(Math.max(...said));
  const share = said.map((value, k) => {
    const due = value - (prior[k] - prior[top]);
    const total = terms.reduce((s, [, scores]) => s + (scores[k] - scores[top]), 0);
    return value <= -limit && total < due && due < 0 ? due / total : 1;
  });
  if (share.every((r) => r === 1)) return terms;
  return terms.map(([name, scores]) =>
    [name, scores.map((score, k) => scores[top] + share[k] * (score - scores[top]))]);
}

const EXACT = 1e-10; // nats by which terms may miss what is said

MODELS.pool = ({ members, intercept, limit, terms, classes: labels }) => {
  const made = members.map(({ name, weight, model: spec }) => ({
    name, weight, member: model(spec), places: spec.classes.map((label) => labels.indexOf(label)),
  }));
  const said = ({ member, places }, at) => bounded(aligned(member.said(at), places, labels.length), limit);
  return {
    terms,
    said(at) {
      const total = [...intercept];
      for (const each of made) {
        said(each, at).forEach((value, k) => { total[k] += each.weight * value; });
      }
      return logPosterior(total);
    },
    told(at, tell) {
      const prior = [...intercept];
      for (const each of made) {
        const { name, weight, member } = each;
        let rest = said(each, at);
        const told = [], own = member.told(at, (term, scores) => told.push([term, scores]));
        for (const [term, scores] of shortened(told, own, rest, limit)) {
          tell(term, scores.map((score) => weight * score));
          rest = rest.map((value, k) => value - scores[k]);
        }
        rest = rest.map((value, k) => value - own[k]);
        own.forEach((value, k) => { prior[k] += weight * value; });
        const mean = rest.reduce((a, b) => a + b, 0) / rest.length;
        rest = rest.map((value) => value - mean);
        if (rest.some((value) => Math.abs(value) > EXACT)) {
          tell(name, rest.map((value) => weight * value));
        }
      }
      return prior;
    },
  };
};
