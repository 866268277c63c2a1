// log Γ(x) for x > 0, by the steps of Cephes (Moshier 1989), which SciPy takes; and differences of it.

const STIRLING = [
  8.11614167470508450300e-4, -5.95061904284301438324e-4, 7.93650340457716943945e-4,
  -2.77777777730099687205e-3, 8.33333333333331927722e-2,
];
const ABOVE = [
  -1.37825152569120859100e3, -3.88016315134637840924e4, -3.31612992738871184744e5,
  -1.16237097492762307383e6, -1.72173700820839662146e6, -8.53555664245765465627e5,
];
const BELOW = [
  1, -3.51815701436523470549e2, -1.70642106651881159223e4, -2.20528590553854454839e5,
  -1.13933444367982507207e6, -2.53252307177582951285e6, -2.01889141433532773231e6,
];
const HALF_LOG_2PI = 0.91893853320467274178;

function polynomial(coefficients, x) {
  return coefficients.reduce((sum, coefficient) => sum * x + coefficient, 0);
}

function logGamma(x) {
  if (Number.isNaN(x)) return NaN;
  if (x === 0) return Infinity;
  if (x < 13) {
    let z = 1, p = 0, u = x;
    while (u >= 3) { p -= 1; u = x + p; z *= u; }
    while (u < 2) { z /= u; p += 1; u = x + p; }
    if (u === 2) return Math.log(z);
    const rest = x + p - 2;
    return Math.log(z) + (rest * polynomial(ABOVE, rest)) / polynomial(BELOW, rest);
  }
  const first = (x - 0.5) * Math.log(x) - x + HALF_LOG_2PI;
  if (x > 1e8) return first;
  const p = 1 / (x * x);
  if (x < 1000) return first + polynomial(STIRLING, p) / x;
  return first + ((7.9365079365079365079e-4 * p - 2.7777777777777777778e-3) * p + 1 / 12) / x;
}

// log Γ(a + n) / Γ(a): by Stirling's series of both where two log Γ would cancel.
const SERIES = [-691 / 360360, 1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12];

function logRising(a, n) {
  if (a < 13) return logGamma(a + n) - logGamma(a);
  const rest = (x) => polynomial(SERIES, 1 / (x * x)) / x;
  return (a - 0.5) * Math.log1p(n / a) + n * (Math.log(a + n) - 1) + rest(a + n) - rest(a);
}
