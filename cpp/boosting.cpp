#include "boosting.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "elementary.hpp"
#include "simd.hpp"

namespace posterior {

constexpr std::size_t kRows = 1024;  // of a block, whose residuals stay in the first cache
constexpr std::size_t kCodes = 256;
constexpr double kShift = 0x1.8p52;  // added, it leaves a whole number in the lowest bits

// A number of 64 bits that looks random, of one that does not (Steele, Lea and Flood 2014).
POSTERIOR_INLINE std::uint64_t mixed(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

POSTERIOR_INLINE double drawn_weight(const Scored& rows, std::size_t i) {
    if (rows.luck == nullptr) return rows.weight[i];
    return rows.weight[i] * rows.luck[mixed(rows.key[i] ^ rows.round) >> 54];
}

POSTERIOR_INLINE std::int64_t whole(double x) {
    std::int64_t bits, shift;
    same_bits(bits, x + kShift);
    same_bits(shift, kShift);
    return bits - shift;
}

POSTERIOR_INLINE void residuals_of_two(const Scored& rows, double scale, std::int64_t* out) {
    for (std::size_t first = 0; first < rows.rows; first += kLanes) {
        const std::size_t n = std::min(kLanes, rows.rows - first);
        Lanes s = {}, e, one = Lanes{} + 1.0;
        for (std::size_t l = 0; l < n; ++l) s[l] = rows.scores[first + l];
        const Lanes size = s < Lanes{} ? s : -s;
        exponential(e, size);
        const Lanes p = (s < Lanes{} ? e : one) / (one + e), q = (s < Lanes{} ? one : e) / (one + e);
        for (std::size_t l = 0; l < n; ++l) {
            const std::size_t i = first + l;
            const double w = drawn_weight(rows, i) * scale;
            out[2 * i] = whole(w * (rows.labels[i] == 1 ? -q[l] : p[l]));
            out[2 * i + 1] = whole(w * (p[l] * q[l]));
        }
    }
}

// e_k = exp(s_k - max s) of one row, in whole vectors, and their sum in order.
POSTERIOR_INLINE double shares(const double* s, std::size_t outputs, double* e) {
    const std::size_t width = (outputs + kLanes - 1) / kLanes * kLanes;
    double top = s[0], sum = 0;
    for (std::size_t k = 1; k < outputs; ++k) top = std::max(top, s[k]);
    for (std::size_t k = 0; k < width; ++k) e[k] = k < outputs ? s[k] - top : -800.0;
    for (std::size_t k = 0; k < width; k += kLanes) {
        Lanes x, y;
        load(x, e + k);
        exponential(y, x);
        store(e + k, y);
    }
    for (std::size_t k = 0; k < outputs; ++k) sum += e[k];
    return sum;
}

// Whole numbers of a vector.
POSTERIOR_INLINE void whole_lanes(Integers& out, const Lanes& x) {
    Integers bits, shift;
    same_bits(bits, x + kShift);
    same_bits(shift, Lanes{} + kShift);
    out = bits - shift;
}

// e has room for whole vectors, and so has the memory of g and h, a vector behind the other.
POSTERIOR_INLINE void residuals_of_more(const Scored& rows, double scale, double* e,
                                        std::int64_t* memory, std::int64_t* out) {
    const std::size_t m = rows.outputs, width = (m + kLanes - 1) / kLanes * kLanes;
    for (std::size_t i = 0; i < rows.rows; ++i, out += 2 * m) {
        const double sum = shares(rows.scores + i * m, m, e), w = drawn_weight(rows, i) * scale;
        for (std::size_t k = 0; k < width; k += kLanes) {
            Lanes p;
            Integers g, h;
            load(p, e + k);
            p /= sum;
            whole_lanes(g, p * w);
            whole_lanes(h, (p * (1.0 - p)) * w);
            std::memcpy(memory + k, &g, sizeof g);
            std::memcpy(memory + width + k, &h, sizeof h);
        }
        std::memcpy(out, memory, m * sizeof *out);
        std::memcpy(out + m, memory + width, m * sizeof *out);
        const auto label = static_cast<std::size_t>(rows.labels[i]);
        out[label] = whole(w * (e[label] / sum - 1.0));
    }
}

void residuals(Scored rows, double scale, std::int64_t* out) {
    if (rows.outputs == 1) return simd<residuals_of_two>(rows, scale, out);
    std::vector<double> e(rows.outputs + kLanes);
    std::vector<std::int64_t> memory(2 * (rows.outputs + kLanes));
    simd<residuals_of_more>(rows, scale, e.data(), memory.data(), out);
}

double log_loss(Scored rows) {
    const std::size_t m = rows.outputs;
    std::vector<double> e(m + kLanes);
    double total = 0;
    for (std::size_t i = 0; i < rows.rows; ++i) {
        const double* s = rows.scores + i * m;
        double loss;
        if (m == 1) {
            const double z = rows.labels[i] == 1 ? -s[0] : s[0];  // log(1 + exp z)
            loss = std::max(z, 0.0) + std::log1p(std::exp(-std::abs(z)));
        } else {
            const double top = *std::max_element(s, s + m);
            loss = std::log(shares(s, m, e.data())) - (s[rows.labels[i]] - top);
        }
        total += rows.weight[i] * loss;
    }
    return total;
}

// A level cuts all nodes alike. Cells up to `cut` go left, and those missing where the kind says; or
// the one cell `cut` goes left.
enum Kind { kMissingLeft = 0, kMissingRight = 1, kOneCell = 2 };

typedef std::int64_t Sums __attribute__((vector_size(16)));

// Adds G and H of one output to the cells of some columns at once, so that equal neighbors of one
// column need not wait for each other.
template <std::size_t Together>
POSTERIOR_INLINE void add_single(const std::uint8_t* const* column, std::int64_t* const* sums,
                                 const std::uint8_t* node, std::size_t nodes,
                                 const std::int64_t* residual, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
        Sums r;
        std::memcpy(&r, residual + 2 * i, sizeof r);
        for (std::size_t c = 0; c < Together; ++c) {
            std::int64_t* place = sums[c] + 2 * (column[c][i] * nodes + node[i]);
            Sums s;
            std::memcpy(&s, place, sizeof s);
            s += r;
            std::memcpy(place, &s, sizeof s);
        }
    }
}

// Adds G and H of several outputs, which stand apart: sums (cell, 2, node, output).
POSTERIOR_INLINE void add_several(const std::uint8_t* column, std::int64_t* sums,
                                  const std::uint8_t* node, std::size_t nodes,
                                  const std::int64_t* residual, std::size_t n, std::size_t m) {
    for (std::size_t i = 0; i < n; ++i) {
        const std::int64_t* __restrict r = residual + 2 * m * i;
        std::int64_t* __restrict g = sums + (2 * nodes * column[i] + node[i]) * m;
        std::int64_t* __restrict h = g + nodes * m;
        for (std::size_t k = 0; k < m; ++k) g[k] += r[k];
        for (std::size_t k = 0; k < m; ++k) h[k] += r[m + k];
    }
}

POSTERIOR_INLINE void add_columns(const std::uint8_t* const* column, std::int64_t* const* sums,
                                  std::size_t count, const std::uint8_t* node, std::size_t nodes,
                                  const std::int64_t* residual, std::size_t n,
                                  std::size_t outputs) {
    std::size_t c = 0;
    if (outputs > 1) {
        for (; c < count; ++c) add_several(column[c], sums[c], node, nodes, residual, n, outputs);
        return;
    }
    for (; c + 4 <= count; c += 4) add_single<4>(column + c, sums + c, node, nodes, residual, n);
    for (; c < count; ++c) add_single<1>(column + c, sums + c, node, nodes, residual, n);
}

// G² / (H + λ) + G'² / (H' + λ) of what goes left and of the others, by one division.
POSTERIOR_INLINE double gain_of(double g, double h, double other_g, double other_h, double shrinkage) {
    const double a = h + shrinkage, b = other_h + shrinkage;
    return (g * g * b + other_g * other_g * a) / (a * b);
}

// gain[t] ← gain[t] + the gain of one node and output, for each cut.
POSTERIOR_INLINE void add_gains(const double* g, const double* h, double all_g, double all_h,
                                double shrinkage, std::size_t n, double* gain) {
    for (std::size_t t = 0; t < n; ++t)
        gain[t] += gain_of(g[t], h[t], all_g - g[t], all_h - h[t], shrinkage);
}

// The gain of one cut over many nodes and outputs: eight lanes take turns, and are added in order.
// G and H stand in planes of whole vectors.
POSTERIOR_INLINE double gain_of_many(const std::int64_t* left, const double* total,
                                     std::size_t plane, double unit, double shrinkage) {
    Lanes lanes = {};
    for (std::size_t k = 0; k < plane; k += kLanes) {
        Integers left_g, left_h;
        Lanes all_g, all_h;
        std::memcpy(&left_g, left + k, sizeof left_g);
        std::memcpy(&left_h, left + plane + k, sizeof left_h);
        load(all_g, total + k);
        load(all_h, total + plane + k);
        const Lanes g = __builtin_convertvector(left_g, Lanes) * unit;
        const Lanes h = __builtin_convertvector(left_h, Lanes) * unit;
        const Lanes other_g = all_g - g, a = h + shrinkage, b = (all_h - h) + shrinkage;
        lanes += (g * g * b + other_g * other_g * a) / (a * b);
    }
    double sum = 0;
    for (std::size_t l = 0; l < kLanes; ++l) sum += lanes[l];
    return sum;
}

// The histograms of a level, and where those of each column begin. G and H of one output stand side
// by side, (cell, node, 2); of several they stand apart, (cell, 2, node, output).
struct TreeLevel {
    const Growth& growth;
    std::size_t nodes;
    std::vector<std::int64_t> sums;
    std::vector<std::size_t> start;

    TreeLevel(const Growth& g, const std::int32_t* candidates, std::size_t n)
        : growth(g), nodes(n), start(g.count + 1) {
        for (std::size_t c = 0; c < g.count; ++c)
            start[c + 1] = start[c] + static_cast<std::size_t>(g.sizes[candidates[c]]) * line();
        sums.assign(start.back(), 0);
    }

    std::size_t pairs() const { return nodes * growth.outputs; }
    std::size_t line() const { return 2 * pairs(); }
    const std::int64_t* at(std::size_t c, std::size_t cell) const {
        return sums.data() + start[c] + cell * line();
    }
    std::int64_t g(std::size_t c, std::size_t cell, std::size_t node, std::size_t k) const {
        const bool one = growth.outputs == 1;
        return at(c, cell)[one ? 2 * node : node * growth.outputs + k];
    }
    std::int64_t h(std::size_t c, std::size_t cell, std::size_t node, std::size_t k) const {
        const bool one = growth.outputs == 1;
        return at(c, cell)[one ? 2 * node + 1 : pairs() + node * growth.outputs + k];
    }
};

struct Best {
    double score = -std::numeric_limits<double>::infinity();
    std::size_t candidate = 0;
    std::size_t cut = 0;
    Kind kind = kMissingLeft;
};

// Gains of a column's cuts, by kind: cells 0 .. cut with those missing or without, or one cell.
struct Search {
    std::vector<double> g, h, gain, total;
    std::vector<std::int64_t> left;

    Search() : g(kCodes), h(kCodes), gain(kCodes) {}

    // Of one output, node by node, many cuts at once.
    void node_by_node(const TreeLevel& level, std::size_t c, std::size_t cells, Kind kind) {
        const double unit = level.growth.unit;
        std::fill(gain.begin(), gain.end(), 0.0);
        for (std::size_t node = 0; node < level.nodes; ++node) {
            std::int64_t left_g = 0, left_h = 0, all_g = 0, all_h = 0;
            const std::int64_t* s = level.at(c, 0) + 2 * node;
            for (std::size_t t = 0; t < cells; ++t, s += level.line()) {
                all_g += s[0];
                all_h += s[1];
                if (kind == kOneCell) left_g = left_h = 0;
                if (kind != kMissingRight || t > 0) left_g += s[0], left_h += s[1];
                g[t] = static_cast<double>(left_g) * unit;
                h[t] = static_cast<double>(left_h) * unit;
            }
            simd<add_gains>(g.data(), h.data(), static_cast<double>(all_g) * unit,
                      static_cast<double>(all_h) * unit, level.growth.shrinkage, cells,
                      gain.data());
        }
    }

    // Of several outputs, cut by cut, many nodes and outputs at once.
    void cut_by_cut(const TreeLevel& level, std::size_t c, std::size_t cells, Kind kind) {
        const std::size_t plane = (level.pairs() + kLanes - 1) / kLanes * kLanes;
        left.assign(2 * plane, 0);
        total.assign(2 * plane, 0.0);
        for (std::size_t t = 0; t < cells; ++t) add_line(level, c, t, plane);
        for (std::size_t k = 0; k < 2 * plane; ++k)
            total[k] = static_cast<double>(left[k]) * level.growth.unit;
        std::fill(left.begin(), left.end(), 0);
        for (std::size_t t = 0; t < cells; ++t) {
            if (kind == kOneCell) std::fill(left.begin(), left.end(), 0);
            if (kind != kMissingRight || t > 0) add_line(level, c, t, plane);
            gain[t] = simd<gain_of_many>(left.data(), total.data(), plane, level.growth.unit,
                                   level.growth.shrinkage);
        }
    }

    void add_line(const TreeLevel& level, std::size_t c, std::size_t t, std::size_t plane) {
        const std::size_t pairs = level.pairs();
        const std::int64_t* __restrict s = level.at(c, t);
        std::int64_t* __restrict sum = left.data();
        for (std::size_t k = 0; k < pairs; ++k) sum[k] += s[k];
        for (std::size_t k = 0; k < pairs; ++k) sum[plane + k] += s[pairs + k];
    }

    void look(const TreeLevel& level, std::size_t c, std::int32_t column, std::size_t cells,
              Kind kind, std::uint64_t seed, Best& best) {
        const Growth& growth = level.growth;
        if (growth.outputs == 1) node_by_node(level, c, cells, kind);
        else cut_by_cut(level, c, cells, kind);
        const std::size_t first = kind == kMissingRight ? 1 : 0;
        const std::size_t last = kind == kOneCell ? cells : cells - 1;
        for (std::size_t t = first; t < last; ++t) {
            double score = std::sqrt(gain[t]);
            if (growth.noise > 0) {
                const auto where = (static_cast<std::uint64_t>(column) << 16) + t * 4 +
                                   static_cast<std::uint64_t>(kind);
                score += growth.noise * growth.normal[mixed(seed + where) >> 54];
            }
            if (score > best.score) best = {score, c, t, kind};
        }
    }
};

bool any_missing(const TreeLevel& level, std::size_t c) {
    const std::int64_t* first = level.at(c, 0);
    return std::any_of(first, first + level.line(), [](std::int64_t x) { return x != 0; });
}

void mark_right(const Best& best, std::uint8_t* right) {
    for (std::size_t t = 0; t < kCodes; ++t) {
        const bool one = best.kind == kOneCell, missing_right = best.kind == kMissingRight;
        const bool left = one ? t == best.cut : t <= best.cut && !(t == 0 && missing_right);
        right[t] = !left;
    }
}

void symmetric_tree(Cells cells, const std::int64_t* residual, Growth growth, std::int32_t* columns,
               std::uint8_t* sides, std::int64_t* leaves) {
    const std::size_t m = growth.outputs;
    std::vector<std::uint8_t> node(cells.rows, 0);
    std::vector<const std::uint8_t*> column(growth.count);
    std::vector<std::int64_t*> sums(growth.count);
    Search search;
    for (std::size_t depth = 0; depth < growth.depth; ++depth) {
        const std::int32_t* candidates = growth.candidates + depth * growth.count;
        TreeLevel level(growth, candidates, std::size_t{1} << depth);
        for (std::size_t c = 0; c < growth.count; ++c) sums[c] = &level.sums[level.start[c]];
        for (std::size_t first = 0; first < cells.rows; first += kRows) {
            const std::size_t n = std::min(kRows, cells.rows - first);
            for (std::size_t c = 0; c < growth.count; ++c)
                column[c] = cells.column(static_cast<std::size_t>(candidates[c])) + first;
            simd<add_columns>(column.data(), sums.data(), growth.count, &node[first], level.nodes,
                        residual + 2 * m * first, n, m);
        }
        Best best;
        const std::uint64_t seed = mixed(growth.seed + depth);
        for (std::size_t c = 0; c < growth.count; ++c) {
            const std::int32_t j = candidates[c];
            const auto size = static_cast<std::size_t>(growth.sizes[j]);
            if (!growth.ordered[j]) {
                search.look(level, c, j, size, kOneCell, seed, best);
                continue;
            }
            search.look(level, c, j, size, kMissingLeft, seed, best);
            if (any_missing(level, c)) search.look(level, c, j, size, kMissingRight, seed, best);
        }
        const std::int32_t j = candidates[best.candidate];
        columns[depth] = j;
        std::uint8_t* right = sides + depth * kCodes;
        mark_right(best, right);
        if (depth + 1 == growth.depth) {
            std::fill(leaves, leaves + (2 * m << growth.depth), 0);
            for (std::size_t t = 0; t < static_cast<std::size_t>(growth.sizes[j]); ++t)
                for (std::size_t v = 0; v < level.nodes; ++v)
                    for (std::size_t k = 0; k < m; ++k) {
                        std::int64_t* leaf = leaves + 2 * m * (2 * v + right[t]);
                        leaf[k] += level.g(best.candidate, t, v, k);
                        leaf[m + k] += level.h(best.candidate, t, v, k);
                    }
            return;
        }
        const std::uint8_t* code = cells.column(static_cast<std::size_t>(j));
        for (std::size_t i = 0; i < cells.rows; ++i)
            node[i] = static_cast<std::uint8_t>(2 * node[i] + right[code[i]]);
    }
}

// The place of each row in a table, from the cells of its axes.
template <std::size_t Axes>
POSTERIOR_INLINE void place_rows(const Cells& cells, const Tables& tables, std::size_t axis,
                                 std::size_t first, std::size_t n, std::uint32_t* where) {
    const std::uint8_t *code[Axes], *group[Axes];
    std::uint32_t stride[Axes];
    for (std::size_t a = 0; a < Axes; ++a) {
        code[a] = cells.column(static_cast<std::size_t>(tables.column[axis + a])) + first;
        group[a] = tables.group + tables.first[axis + a];
        stride[a] = static_cast<std::uint32_t>(tables.stride[axis + a]);
    }
    for (std::size_t i = 0; i < n; ++i) {
        std::uint32_t sum = 0;
        for (std::size_t a = 0; a < Axes; ++a) sum += stride[a] * group[a][code[a][i]];
        where[i] += sum;
    }
}

POSTERIOR_INLINE void add_values(const double* values, const std::uint32_t* where, std::size_t n,
                                 std::size_t outputs, double* out) {
    if (outputs == 1) {
        for (std::size_t i = 0; i < n; ++i) out[i] += values[where[i]];
        return;
    }
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t k = 0; k < outputs; ++k)
            out[i * outputs + k] += values[where[i] * outputs + k];
}

void add_tables(Cells cells, Tables tables, double* out) {
    const std::size_t m = tables.outputs;
    std::uint32_t where[kRows];
    for (std::size_t first = 0; first < cells.rows; first += kRows) {
        const std::size_t n = std::min(kRows, cells.rows - first);
        for (std::size_t t = 0; t < tables.count; ++t) {
            const auto axis = static_cast<std::size_t>(tables.axis[t]);
            const auto axes = static_cast<std::size_t>(tables.axis[t + 1]) - axis;
            std::fill(where, where + n, 0u);
            if (axes == 3) place_rows<3>(cells, tables, axis, first, n, where);
            else if (axes == 2) place_rows<2>(cells, tables, axis, first, n, where);
            else
                for (std::size_t a = axis; a < axis + axes; ++a)
                    place_rows<1>(cells, tables, a, first, n, where);
            simd<add_values>(tables.values + static_cast<std::size_t>(tables.start[t]) * m, where, n, m,
                       out + first * m);
        }
    }
}

}  // namespace posterior
