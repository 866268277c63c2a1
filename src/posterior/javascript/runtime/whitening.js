// A with Aᵀ Σ A = I: axes along which a covariance is one.

// L of a correlation matrix, L Lᵀ = R; null if it has no inverse to rounding.
function cholesky(R) {
  const d = R.length, L = R.map(() => new Float64Array(d));
  for (let i = 0; i < d; i++) {
    for (let j = 0; j <= i; j++) {
      let rest = R[i][j];
      for (let l = 0; l < j; l++) rest -= L[i][l] * L[j][l];
      if (i !== j) L[i][j] = rest / L[j][j];
      else if (rest > 4 * d * Number.EPSILON) L[i][i] = Math.sqrt(rest);
      else return null;
    }
  }
  return L;
}

// Rows of A as axes, and log |Σ|, of some columns of a covariance that is given by its lower half.
function whitened(half, columns) {
  const cell = (a, b) => half[a >= b ? (a * (a + 1)) / 2 + b : (b * (b + 1)) / 2 + a];
  const deviation = columns.map((c) => Math.sqrt(Math.max(cell(c, c), 0)) || 1);
  const R = columns.map((a, i) => columns.map((b, j) => cell(a, b) / (deviation[i] * deviation[j])));
  const L = cholesky(R);
  if (L === null) return ofRank(R, deviation);
  const axes = columns.map(() => new Float64Array(columns.length));
  for (let j = 0; j < columns.length; j++) {
    for (let i = j; i < columns.length; i++) {
      let rest = i === j ? 1 : 0;
      for (let l = j; l < i; l++) rest -= L[i][l] * axes[l][j];
      axes[i][j] = rest / L[i][i];
    }
  }
  for (const axis of axes) axis.forEach((value, j) => { axis[j] = value / deviation[j]; });
  const logs = deviation.map((s, i) => Math.log(L[i][i] * s));
  return { axes, log_det: 2 * logs.reduce((a, b) => a + b, 0) };
}

function dot(a, b) {
  let total = 0;
  for (let i = 0; i < a.length; i++) total += a[i] * b[i];
  return total;
}
