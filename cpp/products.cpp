#include "products.hpp"

#include <algorithm>
#include <vector>

#include "simd.hpp"

namespace posterior {

constexpr std::size_t kPanelRows = 64;  // that stay in the first cache
constexpr std::size_t kTile = 8;        // columns that meet a vector at a time
constexpr std::size_t kAxes = 4;        // on which sixteen rows are measured at a time

// Some columns of x with a vector of columns of y: the sums stay in registers.
template <std::size_t Columns>
POSTERIOR_INLINE void add_tile(Panel panel, const double* x, const double* y, double* out) {
    Lanes sum[Columns] = {};
    for (std::size_t r = 0; r < panel.rows; ++r, x += panel.width, y += panel.width) {
        Lanes v;
        load(v, y);
        for (std::size_t c = 0; c < Columns; ++c) sum[c] += v * x[c];
    }
    for (std::size_t c = 0; c < Columns; ++c, out += panel.width) {
        Lanes before;
        load(before, out);
        store(out, before + sum[c]);
    }
}

template <std::size_t Columns>
POSTERIOR_INLINE void add_columns(Panel panel, std::size_t i, const double* x, const double* y,
                                  double* out) {
    for (std::size_t j = i / kLanes * kLanes; j < panel.width; j += kLanes)
        add_tile<Columns>(panel, x + i, y + j, out + i * panel.width + j);
}

POSTERIOR_INLINE void add_panel(Panel panel, const double* x, const double* y, double* out) {
    std::size_t i = 0;
    for (; i + kTile <= panel.columns; i += kTile) add_columns<kTile>(panel, i, x, y, out);
    for (; i + 4 <= panel.columns; i += 4) add_columns<4>(panel, i, x, y, out);
    for (; i < panel.columns; ++i) add_columns<1>(panel, i, x, y, out);
}

void add_products(Panel panel, const double* x, const double* y, double* out) {
    for (std::size_t r = 0; r < panel.rows; r += kPanelRows) {
        const std::size_t rows = std::min(kPanelRows, panel.rows - r);
        simd<add_panel>({rows, panel.columns, panel.width}, x + r * panel.width, y + r * panel.width,
                  out);
    }
}

// Sixteen rows on four axes. x holds eight rows side by side, column by column, and then the next
// eight; the first `depth` columns have a weight other than zero. Adds the squared distances from
// each center of the set.
POSTERIOR_INLINE void measure_tiles(std::size_t tiles, std::size_t columns, std::size_t depth,
                                    const double* x, const double* weight, std::size_t groups,
                                    const double* center, std::size_t center_step, double* sum,
                                    std::size_t sum_step) {
    const std::size_t step = columns * kLanes;
    for (std::size_t t = 0; t < tiles; t += 2, x += 2 * step, sum += 2 * sum_step) {
        Lanes near[kAxes] = {}, far[kAxes] = {}, a, b;
        for (std::size_t j = 0; j < depth; ++j) {
            load(a, x + j * kLanes);
            load(b, x + step + j * kLanes);
            for (std::size_t c = 0; c < kAxes; ++c) {
                near[c] += a * weight[j * kLanes + c];
                far[c] += b * weight[j * kLanes + c];
            }
        }
        for (std::size_t k = 0; k < groups; ++k) {
            double *to = sum + k * kLanes, *next = to + sum_step;
            load(a, to);
            load(b, next);
            for (std::size_t c = 0; c < kAxes; ++c) {
                const Lanes p = near[c] - center[k * center_step + c];
                const Lanes q = far[c] - center[k * center_step + c];
                a += p * p;
                b += q * q;
            }
            store(to, a);
            store(next, b);
        }
    }
}

// The columns of four axes, up to the last that has a weight: half of them, on average, where the
// axes come from a Cholesky factor.
std::size_t depth_of(const double* weight, std::size_t columns) {
    const auto zero = [](double w) { return w == 0; };
    const auto none = [&](const double* w) { return std::all_of(w, w + kAxes, zero); };
    while (columns > 0 && none(weight + (columns - 1) * kLanes)) --columns;
    return columns;
}

template <typename T>
void measure_rows(Matrix<T> X, const Axes& axes, double* out) {
    const std::size_t columns = X.columns, tiles = kPanelRows / kLanes, halves = kLanes / kAxes;
    const std::size_t groups = axes.groups, each = groups / axes.sets;
    const std::size_t blocks = axes.sets * axes.vectors * halves;  // of four axes
    const auto weight = [&](std::size_t a) {
        return axes.weight + a / halves * columns * kLanes + a % halves * kAxes;
    };
    std::vector<std::size_t> depth(blocks);
    for (std::size_t a = 0; a < blocks; ++a) depth[a] = depth_of(weight(a), columns);
    Lines lines(kPanelRows * columns), sums(kPanelRows * groups);
    double *x = lines.data(), *sum = sums.data();
    for (std::size_t first = 0; first < X.rows; first += kPanelRows) {
        const std::size_t rows = std::min(kPanelRows, X.rows - first);
        for (std::size_t r = 0; r < rows; ++r) {
            double* to = x + r / kLanes * kLanes * columns + r % kLanes;
            for (std::size_t j = 0; j < columns; ++j)
                to[j * kLanes] = static_cast<double>(X.at(first + r, j)) - axes.origin[j];
        }
        std::fill(sum, sum + kPanelRows * groups, 0.0);
        for (std::size_t a = 0; a < blocks; ++a) {
            const std::size_t set = a / (axes.vectors * halves);
            const std::size_t axis = a % (axes.vectors * halves) * kAxes;
            simd<measure_tiles>(tiles, columns, depth[a], x, weight(a), each,
                          axes.center + set * axes.vectors * kLanes + axis,
                          axes.vectors * kLanes, sum + set * kLanes, groups * kLanes);
        }
        for (std::size_t r = 0; r < rows; ++r) {
            const double* from = sum + r / kLanes * groups * kLanes + r % kLanes;
            double* to = out + (first + r) * groups;
            if (axes.constant == nullptr)
                for (std::size_t k = 0; k < groups; ++k) to[k] = from[k * kLanes];
            else
                for (std::size_t k = 0; k < groups; ++k)
                    to[k] = axes.constant[k] - 0.5 * from[k * kLanes];
        }
    }
}

void square_distances(Matrix<double> X, const Axes& axes, double* out) {
    measure_rows(X, axes, out);
}
void square_distances(Matrix<float> X, const Axes& axes, double* out) {
    measure_rows(X, axes, out);
}

}  // namespace posterior
