#include <algorithm>
#include <cmath>
#include <vector>

#include "products.hpp"
#include "soft.hpp"
#include "soft_panel.hpp"

namespace posterior {

// A panel of rows; `seen` is one where a cell is there and zero where it is missing, or null.
struct MomentPanel {
    std::size_t rows, width, groups;
    const double *x, *seen, *R;
};

// Some groups in one vector of columns; their sums stay in registers.
template <std::size_t Groups, bool Missing>
POSTERIOR_INLINE void add_vector(const MomentPanel& p, std::size_t k, std::size_t j,
                                 const double* origin, double* w, double* s, double* q) {
    Lanes o[Groups], sum[Groups] = {}, square[Groups] = {}, weight[Groups] = {}, x, seen, before;
    for (std::size_t g = 0; g < Groups; ++g) load(o[g], origin + (k + g) * p.width + j);
    for (std::size_t i = 0; i < p.rows; ++i) {
        load(x, p.x + i * p.width + j);
        if constexpr (Missing) load(seen, p.seen + i * p.width + j);
        const double* r = p.R + i * p.groups + k;
        for (std::size_t g = 0; g < Groups; ++g) {
            Lanes u = x - o[g];
            if constexpr (Missing) {
                u *= seen;
                weight[g] += seen * r[g];
            }
            const Lanes part = u * r[g];
            sum[g] += part;
            square[g] += part * u;
        }
    }
    for (std::size_t g = 0; g < Groups; ++g) {
        const std::size_t at = (k + g) * p.width + j;
        load(before, s + at);
        store(s + at, before + sum[g]);
        load(before, q + at);
        store(q + at, before + square[g]);
        if constexpr (Missing) {
            load(before, w + at);
            store(w + at, before + weight[g]);
        }
    }
}

template <bool Missing>
POSTERIOR_INLINE void add_panel(const MomentPanel& p, const double* origin, double* w, double* s,
                                double* q) {
    for (std::size_t j = 0; j < p.width; j += kLanes) {
        std::size_t k = 0;
        for (; k + 2 <= p.groups; k += 2) add_vector<2, Missing>(p, k, j, origin, w, s, q);
        if (k < p.groups) add_vector<1, Missing>(p, k, j, origin, w, s, q);
    }
}

template <typename T>
void moments_of(Matrix<T> X, Shares shares, const double* origin, double* w, double* s,
                double* q) {
    const std::size_t width = whole_lanes(X.columns), groups = shares.groups;
    const std::vector<double> o = padded(origin, groups, X.columns);
    std::vector<double> weight(groups), low(width), high(width);
    Lines lines(kSharedRows * width), gaps(kSharedRows * width);
    double *x = lines.data(), *seen = gaps.data();
    for (std::size_t first = 0; first < X.rows; first += kSharedRows) {
        const std::size_t rows = std::min(kSharedRows, X.rows - first);
        copy_rows(X, first, rows, width, x);
        const MomentPanel p{rows, width, groups, x, seen, shares.R + first * groups};
        if (widen(x, rows, width, low.data(), high.data())) {
            add_shares(p.R, rows, groups, weight.data());
            simd<add_panel<false>>(p, o.data(), w, s, q);
            continue;
        }
        for (std::size_t c = 0; c < rows * width; ++c) {
            const bool missing = std::isnan(x[c]);
            seen[c] = missing ? 0.0 : 1.0;
            x[c] = missing ? 0.0 : x[c];
        }
        simd<add_panel<true>>(p, o.data(), w, s, q);
    }
    for (std::size_t k = 0; k < groups; ++k)
        for (std::size_t j = 0; j < X.columns; ++j) w[k * width + j] += weight[k];
}

void soft_moments(Matrix<double> X, Shares shares, const double* origin, double* w, double* s,
                  double* q) {
    moments_of(X, shares, origin, w, s, q);
}
void soft_moments(Matrix<float> X, Shares shares, const double* origin, double* w, double* s,
                  double* q) {
    moments_of(X, shares, origin, w, s, q);
}

}  // namespace posterior
