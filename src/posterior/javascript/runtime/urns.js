// Words from urns that are themselves uncertain: log Γ(A) / Γ(A + N) Πⱼ Γ(aⱼ + xⱼ) / Γ(aⱼ), whose
// first part is shared out by count.

PARTS.urn = ({ cells, names, concentration }) => {
  const urns = concentration.map((a) => a.reduce((s, value) => s + value, 0));
  return (at, tell) => {
    const x = cells.map((i) => at.cell(i)), words = x.reduce((s, n) => s + n, 0);
    const shared = urns.map((A) => -logRising(A, words));
    x.forEach((n, j) => tell(names[j], concentration.map((a, k) =>
      logRising(a[j], n) + (words > 0 ? n / words : 0) * shared[k])));
  };
};
