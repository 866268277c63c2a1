#include "coordinate.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace posterior {

constexpr double kFlat = 1e-150;  // less curvature is none: steps would not be finite

// Where  g x + ½ h x² + λ |b + x|  is smallest. Without curvature only a lasso can decide.
double best_step(double b, double g, double h, double lasso) {
    if (!(h > kFlat)) return std::abs(g) < lasso ? -b : 0.0;
    const double free = b - g / h, shrink = lasso / h;
    if (free > shrink) return (free - shrink) - b;
    if (free < -shrink) return (free + shrink) - b;
    return -b;
}

void coordinate_descent(std::size_t size, const double* H, const double* lasso, std::size_t sweeps,
                        double enough, double* gradient, double* coef) {
    for (std::size_t sweep = 0; sweep < sweeps; ++sweep) {
        double gained = 0;
        for (std::size_t j = 0; j < size; ++j) {
            const double* row = H + j * size;
            const double x = best_step(coef[j], gradient[j], row[j], lasso[j]);
            if (x == 0) continue;
            coef[j] += x;
            gained += 0.5 * x * (row[j] * x);
#pragma omp simd
            for (std::size_t i = 0; i < size; ++i) gradient[i] += x * row[i];
        }
        if (gained <= enough) break;
    }
}

struct Ones {
    double operator[](std::size_t) const { return 1.0; }
};

// Moves the coefficient of output a and column j, whose values stand at some places (rows).
template <typename Values, typename Places>
void move(std::size_t size, Values values, Places places, Curves rows, Coordinates at,
          std::size_t a, std::size_t j, double* z, double* mean) {
    const std::size_t m = rows.outputs, c = a * at.columns + j;
    const double* weight = rows.weight + a * rows.rows;
    double* moved = z + a * rows.rows;
    const auto part = [&](std::size_t e) {
        const auto i = static_cast<std::size_t>(places[e]);
        return values[e] * (weight[i] * (m == 1 ? moved[i] : moved[i] - mean[i]));
    };
    double sum[4] = {};  // additions need not wait for each other
    std::size_t e = 0;
    for (; e + 4 <= size; e += 4)
        for (std::size_t l = 0; l < 4; ++l) sum[l] += part(e + l);
    for (; e < size; ++e) sum[0] += part(e);
    const double turned = (sum[0] + sum[2]) + (sum[1] + sum[3]);
    const double gradient = at.gradient[c] + turned + at.ridge[c] * at.step[c];
    const double before = at.coef[c] + at.step[c];
    const double x = best_step(before, gradient, at.curve[c], at.lasso[c]);
    if (x == 0) return;
    at.step[c] = x == -before ? -at.coef[c] : at.step[c] + x;  // zeros are exact
    for (e = 0; e < size; ++e) {
        const auto i = static_cast<std::size_t>(places[e]);
        moved[i] += x * values[e];
        if (m > 1) mean[i] += x * values[e] * rows.share[a * rows.rows + i];
    }
}

template <typename Columns>
void column_descent(Columns X, Curves rows, Coordinates at, std::size_t sweeps, double* z) {
    const std::size_t n = rows.rows, m = rows.outputs, d = at.columns - at.intercept;
    std::vector<double> mean(m > 1 ? n : 0);
    for (std::size_t a = 0; m > 1 && a < m; ++a)
        for (std::size_t i = 0; i < n; ++i) mean[i] += rows.share[a * n + i] * z[a * n + i];
    // all columns lean on the intercept: it moves after every so many entries
    const std::size_t often = 8 * n;
    for (std::size_t sweep = 0; sweep < sweeps; ++sweep) {
        std::size_t seen = often;
        for (std::size_t j = 0; j <= d; ++j) {
            if (at.intercept && (seen >= often || j == d)) {
                for (std::size_t a = 0; a < m; ++a)
                    move(n, Ones{}, DenseColumns::Everywhere{}, rows, at, a, d, z, mean.data());
                seen = 0;
            }
            if (j == d) break;
            for (std::size_t a = 0; a < m; ++a)
                move(X.size(j), X.values(j), X.places(j), rows, at, a, j, z, mean.data());
            seen += X.size(j);
        }
    }
}

template <typename Columns>
void column_squares(Columns X, Curves rows, std::size_t columns, double* out) {
    for (std::size_t j = 0; j < columns; ++j) {
        const auto values = X.values(j);
        const auto places = X.places(j);
        for (std::size_t a = 0; a < rows.outputs; ++a) {
            const double* weight = rows.weight + a * rows.rows;
            double sum = 0;
            for (std::size_t e = 0; e < X.size(j); ++e)
                sum += weight[static_cast<std::size_t>(places[e])] * (values[e] * values[e]);
            out[a * columns + j] = sum;
        }
    }
}

template <typename T, typename Index>
void take_columns(Sparse<T, Index> X, const std::int32_t* place, std::size_t columns, Index* start,
                  double* data, Index* row) {
    if (data == nullptr) {
        std::fill(start, start + columns + 1, Index{0});
        for (Index e = X.start[0]; e < X.start[X.rows]; ++e)
            if (const std::int32_t c = place[X.column[e]]; c >= 0) ++start[c + 1];
        for (std::size_t c = 0; c < columns; ++c) start[c + 1] += start[c];
        return;
    }
    std::vector<Index> next(start, start + columns);
    for (std::size_t i = 0; i < X.rows; ++i) {
        for (Index e = X.start[i]; e < X.start[i + 1]; ++e) {
            const std::int32_t c = place[X.column[e]];
            if (c < 0) continue;
            const Index to = next[static_cast<std::size_t>(c)]++;
            data[to] = static_cast<double>(X.data[e]);
            row[to] = static_cast<Index>(i);
        }
    }
}

#define POSTERIOR_TAKE_COLUMNS(T, Index)                                                 \
    template void take_columns(Sparse<T, Index>, const std::int32_t*, std::size_t, Index*, \
                               double*, Index*)
POSTERIOR_TAKE_COLUMNS(double, std::int32_t);
POSTERIOR_TAKE_COLUMNS(double, std::int64_t);
POSTERIOR_TAKE_COLUMNS(float, std::int32_t);
POSTERIOR_TAKE_COLUMNS(float, std::int64_t);

#define POSTERIOR_COLUMNS(Columns)                                                           \
    template void column_descent(Columns, Curves, Coordinates, std::size_t, double*);        \
    template void column_squares(Columns, Curves, std::size_t, double*)
POSTERIOR_COLUMNS(SparseColumns<std::int32_t>);
POSTERIOR_COLUMNS(SparseColumns<std::int64_t>);
POSTERIOR_COLUMNS(DenseColumns);

}  // namespace posterior
