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
  const share = (some) => some.reduce((s, { weight }) => s + weight, 0);
  const said = ({ member, places }, at) => bounded(aligned(member.said(at), places, labels.length), limit);

  // Terms of the members, and what is left of what each says, which is one more.
  function taken(at, tell, termsOf) {
    const prior = [...intercept];
    for (const each of made) {
      const { name, weight } = each;
      let rest = said(each, at);
      const { told, own } = termsOf(each, at, rest);
      for (const [term, scores] of told) {
        tell(term, scores.map((score) => weight * score));
        rest = rest.map((value, k) => value - scores[k]);
      }
      rest = rest.map((value, k) => value - own[k]);
      own.forEach((value, k) => { prior[k] += weight * value; });
      const mean = rest.reduce((a, b) => a + b, 0) / rest.length;
      rest = rest.map((value) => value - mean);
      if (rest.some((value) => Math.abs(value) > EXACT)) {
        tell(name, rest.map((value) => weight * value), true);
      }
    }
    return prior;
  }

  const silent = { told: [], own: labels.map(() => 0) };

  function termsOf({ member }, at) {
    if (!member.told) return silent;
    const told = [], own = member.told(at, (term, scores) => told.push([term, scores]));
    return { told, own };
  }

  return {
    terms,
    posterior: logPosterior,
    isAdditive: 2 * share(made.filter(({ member }) => member.isAdditive)) >= share(made),
    said(at) {
      const total = [...intercept];
      for (const each of made) {
        said(each, at).forEach((value, k) => { total[k] += each.weight * value; });
      }
      return logPosterior(total);
    },
    told: (at, tell) => taken(at, tell, (each, row, heard) => {
      const { told, own } = termsOf(each, row);
      return { told: shortened(told, own, heard, limit), own };
    }),
    // Members whose columns depend on each other are one term each.
    parted: (at, tell) => taken(at, tell, (each, row) => (each.member.isAdditive
      ? termsOf(each, row) : silent)),
  };
};
