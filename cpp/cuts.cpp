#include "cuts.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "simd.hpp"

namespace posterior {

namespace {

constexpr std::size_t kDigits = 256, kPasses = 4;
constexpr std::size_t kFew = 32;  // cells that are sorted by insertion
constexpr std::size_t kBlock = 256;  // rows whose column is looked at together
constexpr std::ptrdiff_t kMany = 64;  // cuts that are searched rather than compared one by one
constexpr double kTie = 1e-7;  // bits that a later cut must be better by

// Whole numbers in the order of the doubles.
inline std::uint64_t ordered(double x) {
    const auto bits = std::bit_cast<std::uint64_t>(x + 0.0);  // -0 becomes 0
    return bits >> 63 ? ~bits : bits | std::uint64_t{1} << 63;
}

// c log₂ c, from the table if there is one.
struct Lookup {
    const double* table;
    double operator()(double c) const { return table[static_cast<std::size_t>(c)]; }
};

struct Logarithm {
    double operator()(double c) const { return c > 0 ? c * std::log2(c) : 0.0; }
};

// The weight of each class among some entries.
struct Tally {
    std::vector<double> count;
    double total = 0.0;

    Tally(const Labeled& e, std::size_t first, std::size_t last) : count(e.classes) {
        for (std::size_t i = first; i < last; ++i) {
            const double w = e.weight ? e.weight[i] : 1.0;
            count[static_cast<std::size_t>(e.code[i])] += w;
            total += w;
        }
    }

    double present() const {
        return static_cast<double>(
            std::count_if(count.begin(), count.end(), [](double c) { return c > 0; }));
    }

    // Σ_k c_k log₂ c_k
    template <typename Plogp>
    double sum(Plogp plogp) const {
        double s = 0.0;
        for (const double c : count) s += plogp(c);
        return s;
    }
};

// The cut of least entropy in [first, last), the first of equals, and that entropy in bits:
//   n₁ H(S₁) + n₂ H(S₂),   n H(S) = n log₂ n - Σ_k c_k log₂ c_k
// Only the class of the entry that changes sides has other terms than before.
template <typename Plogp>
std::pair<std::size_t, double> best_cut(const Labeled& e, std::size_t first, std::size_t last,
                                        const Tally& all, Plogp plogp) {
    std::vector<double> below(e.classes), above = all.count;
    double lower = 0.0, upper = all.sum(plogp), n_below = 0.0, n_above = all.total;
    std::size_t cut = first;
    double least = HUGE_VAL;
    for (std::size_t i = first; i + 1 < last; ++i) {
        const auto k = static_cast<std::size_t>(e.code[i]);
        const double w = e.weight ? e.weight[i] : 1.0;
        const double b = below[k], a = above[k];
        const double left = std::max(a - w, 0.0);
        lower += plogp(b + w) - plogp(b);
        upper += plogp(left) - plogp(a);
        below[k] = b + w;
        above[k] = left;
        n_below += w;
        n_above = std::max(n_above - w, 0.0);
        if (e.value[i] < e.value[i + 1]) {
            const double bits = plogp(n_below) + plogp(n_above) - lower - upper;
            if (bits < least - kTie) {
                least = bits;
                cut = i + 1;
            }
        }
    }
    return {cut, least};
}

// Whether a cut tells more than it costs, in bits:
//   n H(S) - n₁ H(S₁) - n₂ H(S₂) > log₂(n - 1) + log₂(3ᵏ - 2) - k H(S) + k₁ H(S₁) + k₂ H(S₂)
template <typename Plogp>
bool pays(const Tally& all, const Tally& below, const Tally& above, Plogp plogp) {
    if (!(all.total > 1)) return false;
    const auto bits = [&](const Tally& t) { return plogp(t.total) - t.sum(plogp); };
    const double s = bits(all), s_1 = bits(below), s_2 = bits(above), k = all.present();
    const double gain = s - s_1 - s_2;
    const double described = k * std::log2(3.0) + std::log2(1 - 2 * std::pow(3.0, -k));
    const double told = k * s / all.total - below.present() * s_1 / below.total -
                        above.present() * s_2 / above.total;
    return gain > std::log2(all.total - 1) + described - told;
}

template <typename Plogp>
std::vector<std::int64_t> cuts(const Labeled& e, Plogp plogp) {
    std::vector<std::int64_t> found;
    std::vector<std::pair<std::size_t, std::size_t>> parts{{0, e.n}};
    while (!parts.empty()) {
        const auto [first, last] = parts.back();
        parts.pop_back();
        const Tally all(e, first, last);
        if (all.present() < 2) continue;
        const auto [cut, least] = best_cut(e, first, last, all, plogp);
        if (cut == first) continue;
        const Tally below(e, first, cut), above(e, cut, last);
        if (!pays(all, below, above, plogp)) continue;
        found.push_back(static_cast<std::int64_t>(cut));
        parts.emplace_back(first, cut);
        parts.emplace_back(cut, last);
    }
    std::sort(found.begin(), found.end());
    return found;
}

}  // namespace

// The upper halves of the keys are sorted digit by digit, from the last to the first, together with
// the numbers of their rows. Few cells agree in 32 bits and differ in the others: those are sorted
// among themselves.
std::size_t sort_column(const double* x, std::size_t n, double* value, std::int32_t* row) {
    std::vector<std::uint64_t> from(n), to(n);
    std::array<std::array<std::size_t, kDigits>, kPasses> counts{};
    std::size_t m = 0;
    for (std::size_t i = 0; i < n; ++i) {
        if (std::isnan(x[i])) continue;
        const std::uint64_t key = ordered(x[i]) >> 32;
        for (std::size_t pass = 0; pass < kPasses; ++pass) ++counts[pass][key >> 8 * pass & 255];
        from[m++] = key << 32 | i;
    }
    for (std::size_t pass = 0; pass < kPasses; ++pass) {
        auto& place = counts[pass];
        if (*std::max_element(place.begin(), place.end()) == m) continue;  // all alike
        std::size_t start = 0;
        for (auto& p : place) start += std::exchange(p, start);
        for (std::size_t i = 0; i < m; ++i) to[place[from[i] >> (32 + 8 * pass) & 255]++] = from[i];
        from.swap(to);
    }
    for (std::size_t i = 0; i < m; ++i) {
        row[i] = static_cast<std::int32_t>(from[i] & 0xffffffff);
        value[i] = x[row[i]] + 0.0;
    }
    for (std::size_t first = 0, last; first < m; first = last) {
        bool sorted = true;
        for (last = first + 1; last < m && from[last] >> 32 == from[first] >> 32; ++last) {
            sorted &= value[last - 1] <= value[last];
        }
        if (sorted) continue;
        const auto less = [x](auto a, auto b) { return x[a] < x[b]; };
        if (last - first > kFew) {
            std::stable_sort(row + first, row + last, less);
        } else {
            for (auto* r = row + first + 1; r < row + last; ++r) {
                std::rotate(std::upper_bound(row + first, r, *r, less), r, r + 1);
            }
        }
        for (std::size_t i = first; i < last; ++i) value[i] = x[row[i]] + 0.0;
    }
    return m;
}

template <typename T>
void pack_columns(Matrix<T> X, const std::int32_t* code, int bits, std::uint64_t* key,
                  std::int64_t* known) {
    const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
    std::fill(known, known + X.columns, 0);
    for (std::size_t first = 0; first < X.rows; first += kBlock) {
        const std::size_t last = std::min(first + kBlock, X.rows);
        for (std::size_t j = 0; j < X.columns; ++j) {
            std::uint64_t* out = key + j * X.rows + known[j];
            for (std::size_t i = first; i < last; ++i) {
                const auto x = static_cast<double>(X.at(i, j));
                *out = (ordered(x) & ~mask) | static_cast<std::uint64_t>(code[i]);
                out += x == x;  // NaN is written over
            }
            known[j] = out - (key + j * X.rows);
        }
    }
}

template void pack_columns(Matrix<double>, const std::int32_t*, int, std::uint64_t*, std::int64_t*);
template void pack_columns(Matrix<float>, const std::int32_t*, int, std::uint64_t*, std::int64_t*);

ClassCells class_cells(const std::uint64_t* key, std::size_t n, int bits, std::size_t classes,
                       std::size_t limit) {
    ClassCells cells;
    std::size_t values = n > 0;
    for (std::size_t i = 1; i < n && values <= limit; ++i) {
        values += (key[i] ^ key[i - 1]) >> bits != 0;
    }
    cells.end.reserve(std::min(values, limit));
    cells.count.reserve(std::min(values, limit) * classes);
    const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
    for (std::size_t mark = 1, start = 0; start < n; ++mark) {
        std::size_t end = values > limit ? (mark * n + limit - 1) / limit - 1 : start;
        if (end < start) continue;  // its value was of the last cell
        const std::uint64_t value = key[end] >> bits;
        std::size_t same = end;
        while (same > start && key[same - 1] >> bits == value) --same;
        while (end < n && key[end] >> bits == value) ++end;
        cells.moved = std::max(cells.moved, static_cast<std::int64_t>(same - start));
        cells.end.push_back(static_cast<std::int64_t>(end));
        cells.count.resize(cells.count.size() + classes);
        double* count = cells.count.data() + cells.count.size() - classes;
        for (; start < end; ++start) count[key[start] & mask] += 1.0;
    }
    return cells;
}

namespace {

template <typename T>
POSTERIOR_INLINE void count_cuts(const double* x, std::size_t n, const double* cut,
                                 const double* last, T* code) {
    for (std::size_t i = 0; i < n; ++i) code[i] = x[i] == x[i] ? T(0) : static_cast<T>(x[i]);
    if (last - cut > kMany) {
        for (std::size_t i = 0; i < n; ++i) {
            if (x[i] == x[i]) code[i] = static_cast<T>(std::upper_bound(cut, last, x[i]) - cut);
        }
        return;
    }
    for (; cut < last; ++cut) {
        for (std::size_t i = 0; i < n; ++i) code[i] += x[i] >= *cut ? T(1) : T(0);
    }
}

}  // namespace

template <typename T>
void digitize(Matrix<T> X, const double* cut, const std::int64_t* start, T* out) {
    std::array<double, kBlock> x;
    std::array<T, kBlock> code;
    for (std::size_t first = 0; first < X.rows; first += kBlock) {
        const std::size_t n = std::min(kBlock, X.rows - first);
        for (std::size_t j = 0; j < X.columns; ++j) {
            for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<double>(X.at(first + i, j));
            simd<count_cuts<T>>(x.data(), n, cut + start[j], cut + start[j + 1], code.data());
            for (std::size_t i = 0; i < n; ++i) out[(first + i) * X.columns + j] = code[i];
        }
    }
}

template void digitize(Matrix<double>, const double*, const std::int64_t*, double*);
template void digitize(Matrix<float>, const double*, const std::int64_t*, float*);

std::vector<std::int64_t> mdl_cuts(const Labeled& entries) {
    if (entries.log_table) return cuts(entries, Lookup{entries.log_table});
    return cuts(entries, Logarithm{});
}

}  // namespace posterior
