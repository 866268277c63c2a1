#include "normalize.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "elementary.hpp"
#include "simd.hpp"

namespace posterior {

constexpr std::size_t kTileCells = 1024;  // that change their places at a time

// Eight rows side by side: lane l of column k is row l's value for group k. A row that is impossible
// has a sum of zero.
POSTERIOR_INLINE void normalize_eight(double* column, std::size_t groups, Wanted wanted,
                                      double* sum, double* log_evidence) {
    Lanes top, x, e, log_total, total = {};
    load(top, column);
    for (std::size_t k = 1; k < groups; ++k) {
        load(x, column + k * kLanes);
        top = x > top ? x : top;
    }
    const Lanes lowest = Lanes{} - std::numeric_limits<double>::max();
    top = top < lowest ? lowest : top;  // -inf - -inf would be no number
    for (std::size_t k = 0; k < groups; ++k) {
        load(x, column + k * kLanes);
        x -= top;
        exponential(e, x);
        store(column + k * kLanes, wanted == Wanted::posterior ? e : x);
        total += e;
    }
    store(sum, total);
    logarithm(log_total, total);
    store(log_evidence, top + log_total);
    if (wanted == Wanted::log_evidence) return;
    for (std::size_t k = 0; k < groups; ++k) {
        load(x, column + k * kLanes);
        store(column + k * kLanes, wanted == Wanted::posterior ? x / total : x - log_total);
    }
}

// Eight rows of L to columns, or back.
POSTERIOR_INLINE void turn(double* row, std::size_t n, std::size_t groups, double* column,
                           bool back) {
    for (std::size_t l = 0; l < n; ++l, row += groups)
        for (std::size_t k = 0; k < groups; ++k)
            if (back)
                row[k] = column[k * kLanes + l];
            else
                column[k * kLanes + l] = row[k];
}

// Some dozens of rows are turned at a time: a vector that is read right after its lanes were
// written one by one has to wait for them.
void normalize(double* L, std::size_t rows, std::size_t groups, Wanted wanted,
               double* log_evidence) {
    const std::size_t cells = groups * kLanes, tiles = std::max<std::size_t>(1, kTileCells / cells);
    std::vector<double> columns(tiles * cells);
    double sum[kLanes], evidence[kLanes];
    const double infinity = std::numeric_limits<double>::infinity();
    const double n_groups = static_cast<double>(groups);
    const double uniform = wanted == Wanted::posterior ? 1.0 / n_groups : -std::log(n_groups);
    for (std::size_t first = 0; first < rows; first += tiles * kLanes) {
        const std::size_t end = std::min(first + tiles * kLanes, rows);
        const auto each_tile = [&](auto step) {
            double* column = columns.data();
            for (std::size_t i = first; i < end; i += kLanes, column += cells)
                step(i, std::min(kLanes, end - i), column);
        };
        each_tile([&](std::size_t i, std::size_t n, double* column) {
            turn(L + i * groups, n, groups, column, false);
        });
        each_tile([&](std::size_t i, std::size_t n, double* column) {
            simd<normalize_eight>(column, groups, wanted, sum, evidence);
            for (std::size_t l = 0; l < n; ++l) {
                if (sum[l] == 0) {
                    evidence[l] = -infinity;
                    for (std::size_t k = 0; k < groups; ++k) column[k * kLanes + l] = uniform;
                }
                if (log_evidence != nullptr) log_evidence[i + l] = evidence[l];
            }
        });
        if (wanted == Wanted::log_evidence) continue;
        each_tile([&](std::size_t i, std::size_t n, double* column) {
            turn(L + i * groups, n, groups, column, true);
        });
    }
}

}  // namespace posterior
