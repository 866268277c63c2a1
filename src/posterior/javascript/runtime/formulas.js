// Formulas of cells: trees such as ["+", 1, ["*", 2, ["x", 0]]] become functions.

const FORMULAS = {
  x: (i) => (at) => at.cell(i),
  "+": (a, b) => { const f = formula(a), g = formula(b); return (at) => f(at) + g(at); },
  "*": (a, b) => { const f = formula(a), g = formula(b); return (at) => f(at) * g(at); },
  log: (a) => { const f = formula(a); return (at) => Math.log(f(at)); },
  rising: (start, n) => { const f = formula(n); return (at) => logRising(start, f(at)); },
  abs: (a) => { const f = formula(a); return (at) => Math.abs(f(at)); },
  known: (i, a) => {
    const f = formula(a);
    return (at) => (Number.isNaN(at.cell(i)) ? 0 : f(at));
  },
  within: (i, low, high, inside, outside) => {
    const f = formula(inside), g = formula(outside);
    return (at) => {
      const x = at.cell(i);
      return Number.isNaN(x) ? NaN : x >= low && x <= high ? f(at) : g(at);
    };
  },
  // values[0] up to the first cut, values[i] above the i-th
  steps: (i, list, values) => {
    const cuts = lists[list];
    return (at) => {
      const x = at.cell(i);
      if (Number.isNaN(x)) return 0;
      let low = 0, high = cuts.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (cuts[middle] < x) low = middle + 1; else high = middle;
      }
      return values[low];
    };
  },
  level: (i, list, values, otherwise) => {
    const places = placesOf(list);
    return (at) => {
      const text = at.cell(i);
      return text === null ? 0 : values[places.get(text)] ?? otherwise;
    };
  },
  place: (i, values, otherwise) => (at) => {
    const x = at.cell(i);
    return Number.isNaN(x) ? 0 : values[Math.trunc(x)] ?? otherwise;
  },
  // log Σ exp(wᵢ - ½ ((x - vᵢ) / h)²) - height
  kernels: (i, values, weights, width, height) => (at) => {
    const x = at.cell(i);
    if (Number.isNaN(x)) return 0;
    const terms = values.map((v, j) => {
      const z = (x - v) / width;
      return weights[j] - 0.5 * z * z;
    });
    return logSum(terms) - height;
  },
};

function formula(tree) {
  if (typeof tree === "number") return () => tree;
  const [kind, ...parts] = tree;
  return FORMULAS[kind](...parts);
}

PARTS.formulas = ({ terms }) => {
  const made = terms.map(({ name, scores }) => [name, scores.map(formula)]);
  return (at, tell) => {
    for (const [name, scores] of made) tell(name, scores.map((score) => score(at)));
  };
};
