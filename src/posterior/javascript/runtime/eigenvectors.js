// Directions of a covariance that has no inverse: those in which rows vary.

// Eigenvalues of a symmetric matrix, and their vectors, by rotations of pairs (Jacobi 1846).
function eigen(matrix) {
  const d = matrix.length, S = matrix.map((line) => [...line]);
  const V = S.map((_, i) => S.map((__, j) => (i === j ? 1 : 0))); // a vector a line
  for (let sweep = 0; sweep < 60; sweep++) {
    let off = 0;
    for (let p = 0; p < d; p++) {
      for (let q = p + 1; q < d; q++) {
        if (S[p][q] === 0) continue;
        off += S[p][q] ** 2;
        const theta = (S[q][q] - S[p][p]) / (2 * S[p][q]);
        const t = (theta < 0 ? -1 : 1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
        const c = 1 / Math.sqrt(t * t + 1), s = t * c;
        for (let i = 0; i < d; i++) [S[i][p], S[i][q]] = [c * S[i][p] - s * S[i][q], s * S[i][p] + c * S[i][q]];
        for (let i = 0; i < d; i++) [S[p][i], S[q][i]] = [c * S[p][i] - s * S[q][i], s * S[p][i] + c * S[q][i]];
        [V[p], V[q]] = [V[p].map((v, i) => c * v - s * V[q][i]), V[p].map((v, i) => s * v + c * V[q][i])];
      }
    }
    if (off < 1e-40) break;
  }
  return V.map((vector, i) => ({ value: S[i][i], vector }));
}

// As `Whitening.of_rank`: directions that deviate by no more than rounding are left out.
function ofRank(R, deviation) {
  const found = eigen(R), varies = ({ value }) => Math.sqrt(Math.max(value, 0)) > 1e-7;
  const kept = found.filter(varies);
  const out = found.filter((each) => !varies(each))
    .map(({ vector }) => vector.map((v, i) => v * deviation[i]));
  const axes = kept.map(({ value, vector }) => vector.map((v, i) => v / deviation[i] / Math.sqrt(value)));
  // |AᵀA|⁻¹ by what is left out (Jacobi's identity)
  const sizes = out.map((a) => Math.sqrt(dot(a, a)));
  const L = cholesky(out.map((a, i) => out.map((b, j) => dot(a, b) / (sizes[i] * sizes[j]))));
  const logs = kept.reduce((s, { value }) => s + Math.log(value), 0);
  const units = deviation.reduce((s, value) => s + Math.log(value), 0);
  const left = out.reduce((s, _, i) => s + Math.log(L[i][i] * sizes[i]), 0);
  return { axes, log_det: logs + 2 * units - 2 * left };
}
