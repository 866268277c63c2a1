#include "logistic.hpp"

#include <algorithm>
#include <vector>

#include "elementary.hpp"
#include "normalize.hpp"
#include "products.hpp"

namespace posterior {

constexpr std::size_t kPanel = 64;  // rows that stay in the first cache while they are used twice

POSTERIOR_INLINE double across(const Lanes& v) {
    return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

// One output: η of up to 64 rows becomes the derivative w (p - y), and the loss is returned.
//   loss = log(1 + e^-|η|) + max(η, 0) - y η        p = 1 / (1 + e^-η)
POSTERIOR_INLINE double binary_residuals(std::size_t rows, const double* y, const double* weight,
                                         double* eta) {
    Lanes loss = {};
    for (std::size_t i = 0; i < rows; i += kLanes) {
        const Lanes zero = {}, one = zero + 1.0;
        Lanes x, truth, w, e, log;
        load(x, eta + i);
        load(truth, y + i);
        load(w, weight + i);
        const Lanes below = x > zero ? -x : x;
        exponential(e, below);
        log_of_one_plus(log, e);
        const Lanes above = x > zero ? x : zero;
        const Lanes yes = x > zero ? one : e, no = x > zero ? e : one;  // shares, not normalized
        loss += w * (log + (above - truth * x));
        store(eta + i, w * ((one - truth) * yes - truth * no) / (one + e));
    }
    return across(loss);
}

// Scores of a panel become derivatives. A row that is left out counts for nothing.
double residuals(std::size_t rows, std::size_t first, Answers y, double* eta) {
    const std::size_t m = y.outputs;
    if (y.offset != nullptr)
        for (std::size_t c = 0; c < rows * m; ++c) eta[c] += y.offset[first * m + c];
    double weight[kPanel] = {}, truth[kPanel] = {}, evidence[kPanel], loss = 0;
    std::size_t code[kPanel];
    for (std::size_t r = 0; r < rows; ++r) {
        const std::int32_t given = y.codes[first + r];
        weight[r] = given < 0 ? 0.0 : y.weight == nullptr ? 1.0 : y.weight[first + r];
        code[r] = given < 0 ? 0 : static_cast<std::size_t>(given);
        truth[r] = m == 1 ? static_cast<double>(code[r]) : eta[r * m + code[r]];
    }
    if (m == 1) {
        std::fill(eta + rows, eta + kPanel, 0.0);
        return simd<binary_residuals>(kPanel, truth, weight, eta);
    }
    normalize(eta, rows, m, Wanted::posterior, evidence);
    for (std::size_t r = 0; r < rows; ++r) {
        loss += weight[r] * (evidence[r] - truth[r]);
        double others = 0;  // p - 1 of the row's own class, with all its digits
        for (std::size_t k = 0; k < m; ++k) others += k == code[r] ? 0.0 : eta[r * m + k];
        eta[r * m + code[r]] = -std::min(others, 1.0);
        if (weight[r] != 1.0)
            for (std::size_t k = 0; k < m; ++k) eta[r * m + k] *= weight[r];
    }
    return loss;
}

// η_r ← Σⱼ x_rj w_j of a panel whose rows are `width` apart, whole lanes.
POSTERIOR_INLINE void score_one(std::size_t rows, std::size_t width, const double* x,
                                const double* weight, double* eta) {
    for (std::size_t r = 0; r < rows; ++r, x += width) {
        Lanes even = {}, odd = {}, u, v, s, t;
        std::size_t j = 0;
        for (; j + 2 * kLanes <= width; j += 2 * kLanes) {
            load(u, x + j);
            load(s, weight + j);
            load(v, x + j + kLanes);
            load(t, weight + j + kLanes);
            even += u * s;
            odd += v * t;
        }
        if (j < width) {
            load(u, x + j);
            load(s, weight + j);
            even += u * s;
        }
        eta[r] = across(even + odd);
    }
}

// The same of many outputs, eight side by side: W (columns, outputs padded to lanes).
template <std::size_t Rows>
POSTERIOR_INLINE void score_rows(std::size_t width, std::size_t columns, std::size_t lanes,
                                 const double* x, const double* W, const double* b, double* eta) {
    for (std::size_t k = 0; k < lanes; k += kLanes) {
        Lanes sum[Rows], w;
        for (std::size_t r = 0; r < Rows; ++r) load(sum[r], b + k);
        for (std::size_t j = 0; j < columns; ++j) {
            load(w, W + j * lanes + k);
            for (std::size_t r = 0; r < Rows; ++r) sum[r] += w * x[r * width + j];
        }
        for (std::size_t r = 0; r < Rows; ++r) store(eta + r * lanes + k, sum[r]);
    }
}

POSTERIOR_INLINE void score_many(std::size_t rows, std::size_t width, std::size_t columns,
                                 std::size_t lanes, const double* x, const double* W,
                                 const double* b, double* eta) {
    std::size_t r = 0;
    for (; r + 8 <= rows; r += 8)
        score_rows<8>(width, columns, lanes, x + r * width, W, b, eta + r * lanes);
    for (; r < rows; ++r)
        score_rows<1>(width, columns, lanes, x + r * width, W, b, eta + r * lanes);
}

// Sums of some outputs, a vector of columns at a time.
template <std::size_t Outputs>
POSTERIOR_INLINE void add_outputs(std::size_t rows, std::size_t width, std::size_t outputs,
                                  const double* x, const double* residual, double* gradient) {
    for (std::size_t j = 0; j < width; j += kLanes) {
        Lanes sum[Outputs] = {};
        for (std::size_t r = 0; r < rows; ++r) {
            Lanes v;
            load(v, x + r * width + j);
            for (std::size_t k = 0; k < Outputs; ++k) sum[k] += v * residual[r * outputs + k];
        }
        for (std::size_t k = 0; k < Outputs; ++k) {
            Lanes before;
            load(before, gradient + k * width + j);
            store(gradient + k * width + j, before + sum[k]);
        }
    }
}

POSTERIOR_INLINE void add_gradient(std::size_t rows, std::size_t width, std::size_t outputs,
                                   const double* x, const double* residual, double* gradient) {
    std::size_t k = 0;
    for (; k + 8 <= outputs; k += 8)
        add_outputs<8>(rows, width, outputs, x, residual + k, gradient + k * width);
    for (; k + 2 <= outputs; k += 2)
        add_outputs<2>(rows, width, outputs, x, residual + k, gradient + k * width);
    if (k < outputs) add_outputs<1>(rows, width, outputs, x, residual + k, gradient + k * width);
}

// Rows around the origin with a one behind each, for the intercept; a whole number of lanes.
template <typename T>
void copy_panel(Matrix<T> X, const double* origin, std::size_t first, std::size_t rows,
                std::size_t width, double* to) {
    for (std::size_t r = 0; r < rows; ++r, to += width) {
        const T* x = X.row(first + r);
        if (X.column_step == 1)
            for (std::size_t j = 0; j < X.columns; ++j) to[j] = static_cast<double>(x[j]);
        else
            for (std::size_t j = 0; j < X.columns; ++j)
                to[j] = static_cast<double>(X.at(first + r, j));
        if (origin != nullptr)
            for (std::size_t j = 0; j < X.columns; ++j) to[j] -= origin[j];
        to[X.columns] = 1.0;
    }
}

// The second derivative by η is w p (1 - p), which the first, w (p - y), tells.
void add_curvature(Panel panel, std::size_t first, Answers y, const double* x,
                   const double* residual, double* weighted, double* hessian) {
    for (std::size_t r = 0; r < panel.rows; ++r) {
        const double w = y.weight == nullptr ? 1.0 : y.weight[first + r];
        const double size = residual[r] < 0 ? -residual[r] : residual[r];
        const double h = w > 0 ? size * (1.0 - size / w) : 0.0;
        for (std::size_t j = 0; j < panel.width; ++j)
            weighted[r * panel.width + j] = h * x[r * panel.width + j];
    }
    add_products(panel, x, weighted, hessian);
}

std::size_t whole_lanes(std::size_t n) { return (n + kLanes - 1) / kLanes * kLanes; }

template <typename T>
double logistic_sums(Matrix<T> X, const double* origin, Answers y, const double* W,
                     const double* b, double* gradient, double* gradient_b, double* residual,
                     double* hessian) {
    const std::size_t d = X.columns, m = y.outputs, p = d + 1;
    const std::size_t width = whole_lanes(p), lanes = whole_lanes(m);
    std::vector<double> panel(kPanel * width), weighted(hessian == nullptr ? 0 : kPanel * width);
    std::vector<double> weight(width * lanes), none(lanes), scores(kPanel * lanes);
    std::vector<double> eta(kPanel * m), sums(m * width);
    for (std::size_t k = 0; k < m; ++k)
        for (std::size_t j = 0; j < p; ++j)
            weight[m == 1 ? j : j * lanes + k] = j < d ? W[k * d + j] : b[k];
    double loss = 0;
    for (std::size_t first = 0; first < X.rows; first += kPanel) {
        const std::size_t rows = std::min(kPanel, X.rows - first);
        copy_panel(X, origin, first, rows, width, panel.data());
        if (m == 1) {
            simd<score_one>(rows, width, panel.data(), weight.data(), eta.data());
        } else {
            simd<score_many>(rows, width, p, lanes, panel.data(), weight.data(), none.data(),
                       scores.data());
            for (std::size_t r = 0; r < rows; ++r)
                std::copy_n(scores.data() + r * lanes, m, eta.data() + r * m);
        }
        loss += residuals(rows, first, y, eta.data());
        simd<add_gradient>(rows, width, m, panel.data(), eta.data(), sums.data());
        if (hessian != nullptr)
            add_curvature({rows, p, width}, first, y, panel.data(), eta.data(), weighted.data(),
                          hessian);
        if (residual != nullptr) std::copy_n(eta.data(), rows * m, residual + first * m);
    }
    for (std::size_t k = 0; k < m; ++k) {
        for (std::size_t j = 0; j < d; ++j) gradient[k * d + j] += sums[k * width + j];
        gradient_b[k] += sums[k * width + d];
    }
    return loss;
}

void add_intercepts(std::size_t rows, std::size_t outputs, const double* residual, double* out) {
    for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t k = 0; k < outputs; ++k) out[k] += residual[r * outputs + k];
}

// The score of one sparse row: four sums take turns, so that none waits for itself.
template <typename T, typename Index>
POSTERIOR_INLINE double score_entries(Sparse<T, Index> X, std::size_t row, const double* w) {
    const auto term = [&](Index p) {
        return static_cast<double>(X.data[p]) * w[static_cast<std::size_t>(X.column[p])];
    };
    double a = 0, b = 0, c = 0, d = 0;
    Index p = X.start[row];
    const Index stop = X.start[row + 1];
    for (; p + 4 <= stop; p += 4) {
        a += term(p);
        b += term(p + 1);
        c += term(p + 2);
        d += term(p + 3);
    }
    for (; p < stop; ++p) a += term(p);
    return (a + b) + (c + d);
}

// The scores of many outputs.
template <typename T, typename Index>
POSTERIOR_INLINE void score_entries(Sparse<T, Index> X, std::size_t row, std::size_t outputs,
                                    const double* W, double* score) {
    for (Index p = X.start[row]; p < X.start[row + 1]; ++p) {
        const double x = static_cast<double>(X.data[p]);
        const double* w = W + static_cast<std::size_t>(X.column[p]) * outputs;
        for (std::size_t k = 0; k < outputs; ++k) score[k] += x * w[k];
    }
}

// Adds one sparse row to the gradient; One says that there is one output only.
template <bool One, typename T, typename Index>
POSTERIOR_INLINE void add_entries(Sparse<T, Index> X, std::size_t row, std::size_t outputs,
                                  const double* residual, double* gradient) {
    const std::size_t m = One ? 1 : outputs;
    for (Index p = X.start[row]; p < X.start[row + 1]; ++p) {
        const double x = static_cast<double>(X.data[p]);
        double* to = gradient + static_cast<std::size_t>(X.column[p]) * m;
        for (std::size_t k = 0; k < m; ++k) to[k] += x * residual[k];
    }
}

template <typename T, typename Index>
double sparse_logistic_sums(Sparse<T, Index> X, Answers y, const double* W, const double* b,
                            double* gradient, double* gradient_b, double* residual) {
    const std::size_t m = y.outputs;
    std::vector<double> eta(kPanel * m);
    double loss = 0;
    for (std::size_t first = 0; first < X.rows; first += kPanel) {
        const std::size_t rows = std::min(kPanel, X.rows - first);
        for (std::size_t r = 0; r < rows; ++r) {
            double* score = eta.data() + r * m;
            std::copy_n(b, m, score);
            if (m == 1)
                *score += score_entries(X, first + r, W);
            else
                score_entries(X, first + r, m, W, score);
        }
        loss += residuals(rows, first, y, eta.data());
        add_intercepts(rows, m, eta.data(), gradient_b);
        for (std::size_t r = 0; r < rows; ++r) {
            const double* part = eta.data() + r * m;
            if (m == 1)
                add_entries<true>(X, first + r, m, part, gradient);
            else
                add_entries<false>(X, first + r, m, part, gradient);
        }
        if (residual != nullptr) std::copy_n(eta.data(), rows * m, residual + first * m);
    }
    return loss;
}

template double logistic_sums(Matrix<double>, const double*, Answers, const double*,
                              const double*, double*, double*, double*, double*);
template double logistic_sums(Matrix<float>, const double*, Answers, const double*,
                              const double*, double*, double*, double*, double*);
#define POSTERIOR_SPARSE_LOGISTIC(T, Index)                                                    \
    template double sparse_logistic_sums(Sparse<T, Index>, Answers, const double*,             \
                                         const double*, double*, double*, double*)
POSTERIOR_SPARSE_LOGISTIC(double, std::int32_t);
POSTERIOR_SPARSE_LOGISTIC(double, std::int64_t);
POSTERIOR_SPARSE_LOGISTIC(float, std::int32_t);
POSTERIOR_SPARSE_LOGISTIC(float, std::int64_t);

}  // namespace posterior
