#include "student.hpp"

#include <algorithm>
#include <cmath>

namespace posterior {

namespace {

constexpr double kBoldest = 0.7;  // a step of the logarithm of the degrees of freedom

// ψ(x) and ψ'(x) for x > 0: by their recurrences up to 8, and from there by Stirling's series.
void digammas(double x, double& first, double& second) {
    first = second = 0.0;
    for (; x < 8; ++x) {
        first -= 1 / x;
        second += 1 / (x * x);
    }
    const double y = 1 / (x * x);
    first += std::log(x) - 0.5 / x -
             y * (1. / 12 - y * (1. / 120 - y * (1. / 252 - y * (1. / 240 - y / 132))));
    second += 1 / x + y / 2 +
              y / x * (1. / 6 - y * (1. / 30 - y * (1. / 42 - y * (1. / 30 - y * 5 / 66))));
}

// What the values say about the degrees of freedom: Σ w log(1 + δ/ν), Σ w f and Σ w f (2ν + δ) / g
// with g = ν(ν + δ) and f = δ / g.
struct Far {
    double log = 0, first = 0, second = 0;
};

// A step of Newton for log ν.
//   ℓ' = ½ Σ w [ψ((ν + 1) / 2) - ψ(ν / 2) - 1/ν - log(1 + δ/ν) + (ν + 1) f]
double stepped(double nu, double n, const Far& far, const StudentStop& stop) {
    if (!(n > 0)) return nu;
    double above, above_2, below, below_2;
    digammas((nu + 1) / 2, above, above_2);
    digammas(nu / 2, below, below_2);
    const double slope = n * (above - below - 1 / nu) - far.log + (nu + 1) * far.first;
    const double bend = n * (0.5 * (above_2 - below_2) + 1 / (nu * nu)) + 2 * far.first -
                        (nu + 1) * far.second;
    const double curve = nu * bend + slope;  // of log ν
    const double step = curve < 0 ? -slope / curve : std::copysign(kBoldest, slope);
    return std::clamp(nu * std::exp(std::clamp(step, -kBoldest, kBoldest)), stop.heaviest,
                      stop.lightest);
}

}  // namespace

// With z = x - μ, δ = z² / σ², u = (ν + 1) / (ν + δ) and m pseudo-rows at μ₀ of variance σ₀²
//   μ ← μ + (Σ w u z + m (μ₀ - μ)) / (Σ w u + m)
//   σ² ← (Σ w u z² + m (σ₀² + (μ₀ - μ)²)) / (n + m)       around the new μ
// Twin: posterior.kernels.reference.student.student_fit.
double student_fit(const Pulled& data, const StudentStop& stop, double* mean, double* square,
                   double* say, double nu) {
    const double m = data.rows;
    for (int step = 0; step < stop.steps; ++step) {
        Far far;
        double all = 0;
        bool still = true;
        for (std::size_t g = 0; g < data.k; ++g) {
            const double* W = data.W + g * data.n;
            const double center = mean[g], precision = 1 / square[g];
            double n = 0, s_0 = m, s_1 = m * (data.mean[g] - center);
            double s_2 = m * (data.square[g] + (data.mean[g] - center) * (data.mean[g] - center));
            for (std::size_t i = 0; i < data.n; ++i) {
                const double w = W[i];
                if (w == 0) continue;  // most values are of one group only
                const double z = data.x[i] - center, delta = z * z * precision;
                const double near = 1 / (nu + delta), u = w * (nu + 1) * near;
                const double f = w * delta * near / nu;
                n += w;
                s_0 += u;
                s_1 += u * z;
                s_2 += u * z * z;
                far.log += w * std::log1p(delta / nu);
                far.first += f;
                far.second += f * (2 * nu + delta) * near / nu;
            }
            all += n;
            say[g] = s_0;
            if (!(s_0 > 0)) continue;
            const double moved = s_1 / s_0;
            const double scale = std::max((s_2 - s_0 * moved * moved) / (n + m), data.least);
            still &= std::abs(scale - square[g]) <= stop.tolerance * square[g];
            mean[g] = center + moved;
            square[g] = scale;
        }
        const double before = nu;
        nu = stepped(nu, all, far, stop);
        if (still && std::abs(nu - before) <= stop.tolerance * before) break;
    }
    return nu;
}

}  // namespace posterior
