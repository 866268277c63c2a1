#include "products.hpp"

#include <algorithm>
#include <vector>

#include "simd.hpp"

namespace posterior {

constexpr std::size_t kPanelRows = 64;  // that stay in the first cache
constexpr std::size_t kTile = 8;        // columns, or rows, that meet a vector at a time

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

POSTERIOR_CLONES void add_panel(Panel panel, const double* x, const double* y, double* out) {
    std::size_t i = 0;
    for (; i + kTile <= panel.columns; i += kTile) add_columns<kTile>(panel, i, x, y, out);
    for (; i + 4 <= panel.columns; i += 4) add_columns<4>(panel, i, x, y, out);
    for (; i < panel.columns; ++i) add_columns<1>(panel, i, x, y, out);
}

void add_products(Panel panel, const double* x, const double* y, double* out) {
    for (std::size_t r = 0; r < panel.rows; r += kPanelRows) {
        const std::size_t rows = std::min(kPanelRows, panel.rows - r);
        add_panel({rows, panel.columns, panel.width}, x + r * panel.width, y + r * panel.width,
                  out);
    }
}

// Eight rows on eight axes. x holds the rows side by side, column by column; `depth` columns have
// a weight other than zero. Adds the squared distances from each center of the set.
POSTERIOR_CLONES void measure_tiles(std::size_t tiles, std::size_t columns, std::size_t depth,
                                    const double* x, const double* weight, std::size_t groups,
                                    const double* center, std::size_t center_step, double* sum,
                                    std::size_t sum_step) {
    for (std::size_t t = 0; t < tiles; ++t, x += columns * kTile, sum += sum_step) {
        Lanes z[kTile] = {};
        for (std::size_t j = 0; j < depth; ++j) {
            Lanes w;
            load(w, weight + j * kLanes);
            for (std::size_t r = 0; r < kTile; ++r) z[r] += w * x[j * kTile + r];
        }
        for (std::size_t k = 0; k < groups; ++k) {
            Lanes c, before;
            load(c, center + k * center_step);
            for (std::size_t r = 0; r < kTile; ++r) {
                double* to = sum + (k * kTile + r) * kLanes;
                const Lanes apart = z[r] - c;
                load(before, to);
                store(to, before + apart * apart);
            }
        }
    }
}

// The columns of one vector of axes, up to the last that has a weight: half of them, on average,
// where the axes come from a Cholesky factor.
std::size_t depth_of(const double* weight, std::size_t columns) {
    const auto zero = [](double w) { return w == 0; };
    while (columns > 0 && std::all_of(weight + (columns - 1) * kLanes, weight + columns * kLanes, zero))
        --columns;
    return columns;
}

template <typename T>
void measure_rows(Matrix<T> X, const Axes& axes, double* out) {
    const std::size_t columns = X.columns, tiles = kPanelRows / kTile;
    const std::size_t groups = axes.groups, each = groups / axes.sets;
    std::vector<std::size_t> depth(axes.sets * axes.vectors);
    for (std::size_t a = 0; a < depth.size(); ++a)
        depth[a] = depth_of(axes.weight + a * columns * kLanes, columns);
    std::vector<double> x(kPanelRows * columns), sum(kPanelRows * groups * kLanes);
    for (std::size_t first = 0; first < X.rows; first += kPanelRows) {
        const std::size_t rows = std::min(kPanelRows, X.rows - first);
        for (std::size_t r = 0; r < rows; ++r) {
            double* to = x.data() + r / kTile * kTile * columns + r % kTile;
            for (std::size_t j = 0; j < columns; ++j)
                to[j * kTile] = static_cast<double>(X.at(first + r, j)) - axes.origin[j];
        }
        std::fill(sum.begin(), sum.end(), 0.0);
        for (std::size_t s = 0; s < axes.sets; ++s)
            for (std::size_t v = 0; v < axes.vectors; ++v) {
                const std::size_t a = s * axes.vectors + v;
                measure_tiles(tiles, columns, depth[a], x.data(),
                              axes.weight + a * columns * kLanes, each,
                              axes.center + (s * axes.vectors + v) * kLanes,
                              axes.vectors * kLanes, sum.data() + s * kTile * kLanes,
                              groups * kTile * kLanes);
            }
        for (std::size_t r = 0; r < rows; ++r)
            for (std::size_t k = 0; k < groups; ++k) {
                const double* lane = &sum[((r / kTile * groups + k) * kTile + r % kTile) * kLanes];
                out[(first + r) * groups + k] = ((lane[0] + lane[4]) + (lane[2] + lane[6])) +
                                                ((lane[1] + lane[5]) + (lane[3] + lane[7]));
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
