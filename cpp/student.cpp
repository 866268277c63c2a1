#include "student.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "buffer.hpp"
#include "elementary.hpp"

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

// Values of a group that have weight, filled up to whole lanes with some that have none.
struct Weighed {
    Buffer<double> x, w;
    double total = 0;

    Weighed(const double* values, const double* weights, std::size_t n) {
        for (std::size_t i = 0; i < n; ++i) {
            if (weights[i] == 0) continue;  // most values are of one group only
            x.push(values[i]);
            w.push(weights[i]);
            total += weights[i];
        }
        while (x.size() % kLanes != 0) {
            x.push(x[x.size() - 1]);
            w.push(0.0);
        }
    }
};

// What the values say about the degrees of freedom: Σ w log(1 + δ/ν), Σ w f and Σ w f (2ν + δ) / g
// with g = ν(ν + δ) and f = δ / g.
struct Far {
    double log = 0, first = 0, second = 0;
};

// Σ w u, Σ w u z and Σ w u z².
struct Near {
    double zeroth = 0, first = 0, second = 0;
};

POSTERIOR_INLINE double across(const Lanes& v) {
    return ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
}

POSTERIOR_INLINE void add_values(const double* x, const double* w, std::size_t n, double center,
                                 double precision, double nu, Near& near, Far& far) {
    const double per_nu = 1 / nu;
    Lanes s_0 = {}, s_1 = {}, s_2 = {}, log = {}, first = {}, second = {};
    for (std::size_t i = 0; i < n; i += kLanes) {
        Lanes z, weight, logs;
        load(z, x + i);
        load(weight, w + i);
        z -= center;
        const Lanes delta = z * z * precision, inverse = 1.0 / (nu + delta);
        const Lanes u = weight * (nu + 1) * inverse, f = weight * delta * inverse * per_nu;
        logarithm(logs, 1.0 + delta * per_nu);
        s_0 += u;
        s_1 += u * z;
        s_2 += u * z * z;
        log += weight * logs;
        first += f;
        second += f * (2 * nu + delta) * inverse * per_nu;
    }
    near.zeroth += across(s_0);
    near.first += across(s_1);
    near.second += across(s_2);
    far.log += across(log);
    far.first += across(first);
    far.second += across(second);
}

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
    std::vector<Weighed> groups;
    double all = 0;
    for (std::size_t g = 0; g < data.k; ++g) {
        groups.emplace_back(data.x, data.W + g * data.n, data.n);
        all += groups.back().total;
    }
    for (int step = 0; step < stop.steps; ++step) {
        Far far;
        bool still = true;
        for (std::size_t g = 0; g < data.k; ++g) {
            const Weighed& group = groups[g];
            const double center = mean[g], off = data.mean[g] - center;
            Near near{m, m * off, m * (data.square[g] + off * off)};
            simd<add_values>(group.x.data(), group.w.data(), group.x.size(), center, 1 / square[g], nu,
                       near, far);
            const double n = group.total, s_0 = near.zeroth;
            say[g] = s_0;
            if (!(s_0 > 0)) continue;
            const double moved = near.first / s_0;
            const double scatter = near.second - s_0 * moved * moved;
            const double scale = std::max(scatter / (n + m), data.least);
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
