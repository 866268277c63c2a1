#include "pairs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "counts.hpp"
#include "elementary.hpp"
#include "simd.hpp"

namespace posterior {

constexpr std::size_t kBlock = 8192;  // rows whose columns stay in the second cache
constexpr std::size_t kTile = 512;    // cells that are named at a time
constexpr std::size_t kTurns = 4;     // tables, so that equal neighbours need not wait
constexpr std::size_t kSmall = 2048;  // cells of a table that can have so many

// Adds rows to the table of two columns, b the faster; tables of turns are `step` apart.
POSTERIOR_INLINE void count_block(const std::uint16_t* a, const std::uint16_t* b, std::size_t n,
                                  std::uint32_t width, std::uint32_t* table, std::size_t step) {
    alignas(64) std::uint32_t cell[kTile];
    for (std::size_t first = 0; first < n; first += kTile) {
        const std::size_t rows = std::min(kTile, n - first);
        for (std::size_t r = 0; r < rows; ++r) cell[r] = a[first + r] * width + b[first + r];
        std::size_t r = 0;
        for (; r + kTurns <= rows; r += kTurns)
            for (std::size_t t = 0; t < kTurns; ++t) ++table[t * step + cell[r + t]];
        for (; r < rows; ++r) ++table[cell[r]];
    }
}

// One group's counts: a table of all places on both sides, filled where a <= b.
struct PairTable {
    const std::int64_t* offset;
    std::int64_t* out;
    std::size_t places;

    std::size_t size(std::size_t j) const {
        return static_cast<std::size_t>(offset[j + 1] - offset[j]);
    }
    std::int64_t* line(std::size_t i, std::size_t v, std::size_t j) const {
        const auto start = static_cast<std::size_t>(offset[i]) + v;
        return out + start * places + static_cast<std::size_t>(offset[j]);
    }
};

// Counts columns i and j of a block; a cell that is left out has a line of its own at the end.
void add_pair(const std::uint16_t* a, const std::uint16_t* b, std::size_t n, std::size_t i,
              std::size_t j, PairTable counts, std::vector<std::uint32_t>& table) {
    const std::size_t width = counts.size(j) + 1, cells = (counts.size(i) + 1) * width;
    const std::size_t turns = cells <= kSmall ? kTurns : 1, step = turns > 1 ? cells : 0;
    table.assign(cells * turns, 0);
    simd<count_block>(a, b, n, static_cast<std::uint32_t>(width), table.data(), step);
    for (std::size_t t = 1; t < turns; ++t)
        for (std::size_t c = 0; c < cells; ++c) table[c] += table[t * cells + c];
    for (std::size_t v = 0; v + 1 < cells / width; ++v) {
        std::int64_t* line = counts.line(i, v, j);
        for (std::size_t w = 0; w + 1 < width; ++w) line[w] += table[v * width + w];
    }
}

template <typename T>
void count_pairs(Matrix<T> X, Groups groups, const std::int64_t* offset, std::int64_t* out) {
    const std::size_t d = X.columns, places = static_cast<std::size_t>(offset[d]);
    const std::vector<std::uint32_t> order = rows_by_group(groups, X.rows);
    std::vector<std::uint16_t> column(d * kBlock);
    std::vector<std::uint32_t> table;
    for (std::size_t first = 0, n = 0; first < order.size(); first += n) {
        const std::int32_t group = groups.codes[order[first]];
        const std::size_t end = std::min(order.size(), first + kBlock);
        for (n = 0; first + n < end && groups.codes[order[first + n]] == group; ++n)
            for (std::size_t j = 0; j < d; ++j) {
                const auto code = static_cast<std::int64_t>(X.at(order[first + n], j));
                const std::int64_t size = offset[j + 1] - offset[j];
                const bool known = code >= 0 && code < size;
                column[j * kBlock + n] = static_cast<std::uint16_t>(known ? code : size);
            }
        const PairTable counts{offset, out + static_cast<std::size_t>(group) * places * places,
                               places};
        for (std::size_t i = 0; i < d; ++i)
            for (std::size_t j = i; j < d; ++j)
                add_pair(&column[i * kBlock], &column[j * kBlock], n, i, j, counts, table);
    }
    for (std::size_t k = 0; k < groups.count; ++k, out += places * places)
        for (std::size_t a = 0; a < places; ++a)
            for (std::size_t b = 0; b < a; ++b) out[a * places + b] = out[b * places + a];
}

template void count_pairs(Matrix<std::int64_t>, Groups, const std::int64_t*, std::int64_t*);
template void count_pairs(Matrix<std::int32_t>, Groups, const std::int64_t*, std::int64_t*);
template void count_pairs(Matrix<std::int16_t>, Groups, const std::int64_t*, std::int64_t*);
template void count_pairs(Matrix<std::uint8_t>, Groups, const std::int64_t*, std::int64_t*);

// Σ_b log p(b | k, a) of Width groups.
template <std::size_t Width>
POSTERIOR_INLINE void add_terms(const double* table, const std::int32_t* place, std::size_t n,
                                std::size_t groups, double* out) {
    double sum[Width] = {};
    for (std::size_t j = 0; j < n; ++j) {
        const double* term = table + static_cast<std::size_t>(place[j]) * groups;
        for (std::size_t k = 0; k < Width; ++k) sum[k] += term[k];
    }
    for (std::size_t k = 0; k < Width; ++k) out[k] = sum[k];
}

POSTERIOR_INLINE void add_parent(const double* table, const std::int32_t* place, std::size_t n,
                                 std::size_t groups, double* out) {
    if (groups == 2) return add_terms<2>(table, place, n, groups, out);
    if (groups == 4) return add_terms<4>(table, place, n, groups, out);
    for (std::size_t k = 0; k < groups; k += kLanes)
        add_terms<kLanes>(table + k, place, n, groups, out + k);
}

POSTERIOR_INLINE void exponentials(double* x, std::size_t n) {
    for (std::size_t i = 0; i < n; i += kLanes) {
        Lanes v, e;
        load(v, x + i);
        exponential(e, v);
        store(x + i, e);
    }
}

// log Σ_a w_a exp(score_a) - log Σ_a w_a, group by group. Scores are overwritten; there is room
// behind them for whole vectors.
void average(double* score, const std::vector<double>& weight, std::size_t groups, double* out) {
    const std::size_t n = weight.size();
    double total = 0;
    for (std::size_t a = 0; a < n; ++a) total += weight[a];
    std::copy(score, score + groups, out);
    for (std::size_t a = 1; a < n; ++a)
        for (std::size_t k = 0; k < groups; ++k) out[k] = std::max(out[k], score[a * groups + k]);
    for (std::size_t k = 0; k < groups; ++k)  // -inf - -inf would be no number
        out[k] = std::max(out[k], -std::numeric_limits<double>::max());
    for (std::size_t a = 0; a < n; ++a)
        for (std::size_t k = 0; k < groups; ++k) score[a * groups + k] -= out[k];
    simd<exponentials>(score, n * groups);
    for (std::size_t k = 0; k < groups; ++k) {
        double sum = 0;
        for (std::size_t a = 0; a < n; ++a) sum += weight[a] * score[a * groups + k];
        out[k] += std::log(sum / total);
    }
}

void one_dependence_log_joint(Matrix<std::int32_t> X, OneDependence model, double* out) {
    const std::size_t K = model.groups;
    std::vector<double> score(X.columns * K + kLanes), weight;
    std::vector<std::int32_t> place;
    for (std::size_t i = 0; i < X.rows; ++i, out += K) {
        place.clear();
        weight.clear();
        for (std::size_t j = 0; j < X.columns; ++j)
            if (X.at(i, j) >= 0) place.push_back(X.at(i, j));
        for (const std::int32_t a : place) {
            const auto parent = static_cast<std::size_t>(a);
            if (!(model.weight[parent] > 0)) continue;
            simd<add_parent>(model.table + parent * model.places * K, place.data(), place.size(), K,
                       &score[weight.size() * K]);
            weight.push_back(model.weight[parent]);
        }
        if (!weight.empty()) {
            average(score.data(), weight, K, out);
            continue;
        }
        std::fill(out, out + K, 0.0);
        for (const std::int32_t a : place) {
            const double* own = model.table + static_cast<std::size_t>(a) * (model.places + 1) * K;
            for (std::size_t k = 0; k < K; ++k) out[k] += own[k];
        }
    }
}

}  // namespace posterior
