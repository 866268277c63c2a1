#include "counts.hpp"

#include <limits>

#include "simd.hpp"

namespace posterior {

void count_groups(const std::int32_t* codes, std::size_t rows, std::size_t count,
                  std::int64_t* out) {
    std::vector<std::int64_t> table(4 * count);
    for (std::size_t i = 0; i < rows; ++i)
        if (codes[i] >= 0) ++table[i % 4 * count + static_cast<std::size_t>(codes[i])];
    for (std::size_t g = 0; g < count; ++g)
        out[g] = table[g] + table[count + g] + table[2 * count + g] + table[3 * count + g];
}

constexpr std::size_t kRowsAhead = 8;  // rows that will be read soon are fetched into cache

template <typename T>
POSTERIOR_INLINE void center_rows(Matrix<T> X, Groups groups, const double* origin, double* out,
                                  std::size_t width, const std::vector<std::uint32_t>& order) {
    const std::ptrdiff_t step = X.column_step;
    const std::size_t whole = step == 1 ? X.columns / kLanes * kLanes : 0;
    const std::size_t line = 64 / sizeof(T);
    for (std::size_t r = 0; r < order.size(); ++r, out += width) {
        const std::size_t i = order[r];
        if (step == 1 && r + kRowsAhead < order.size())
            for (std::size_t j = 0; j < X.columns; j += line)
                __builtin_prefetch(X.row(order[r + kRowsAhead]) + j);
        const T* x = X.row(i);
        const double* from = origin + static_cast<std::size_t>(groups.codes[i]) * X.columns;
        for (std::size_t j = 0; j < whole; j += kLanes) {
            Lanes cell, start;
            load(cell, x + j);
            load(start, from + j);
            store(out + j, cell - start);
        }
        for (std::size_t j = whole; j < X.columns; ++j)
            out[j] = static_cast<double>(x[static_cast<std::ptrdiff_t>(j) * step]) - from[j];
        out[X.columns] = 1.0;
    }
}

void center_by_group(Matrix<double> X, Groups groups, const double* origin, double* out,
                     std::size_t width) {
    simd<center_rows<double>>(X, groups, origin, out, width, rows_by_group(groups, X.rows));
}
void center_by_group(Matrix<float> X, Groups groups, const double* origin, double* out,
                     std::size_t width) {
    simd<center_rows<float>>(X, groups, origin, out, width, rows_by_group(groups, X.rows));
}

// One look at all numbers, eight at a time. Adding and subtracting 1.5 · 2^52 rounds a number below
// 2^51 to a whole one; what is lost adds up to zero if all are whole, and to no number if one is
// infinite or none.
template <typename T>
POSTERIOR_INLINE Survey look(const T* x, std::size_t n) {
    const double infinity = std::numeric_limits<double>::infinity();
    Lanes smallest = Lanes{} + infinity, largest = Lanes{} - infinity, lost = {};
    for (std::size_t i = 0; i < n; i += kLanes) {
        Lanes v;
        if (i + kLanes <= n) {
            load(v, x + i);
        } else {  // the last few, filled up with the first of them
            for (std::size_t l = 0; l < kLanes; ++l)
                v[l] = static_cast<double>(x[i + l < n ? i + l : i]);
        }
        smallest = v < smallest ? v : smallest;
        largest = v > largest ? v : largest;
        const Lanes fraction = (v + 0x1.8p52) - 0x1.8p52 - v;
        lost += fraction < 0 ? -fraction : fraction;
    }
    Survey s{infinity, -infinity, 0, true, true};
    for (std::size_t l = 0; l < kLanes; ++l) {
        s.smallest = smallest[l] < s.smallest ? smallest[l] : s.smallest;
        s.largest = largest[l] > s.largest ? largest[l] : s.largest;
        s.finite = s.finite && lost[l] >= 0;
        s.whole = s.whole && lost[l] == 0;
    }
    return s;
}

template <typename T>
Survey complete(const T* x, std::size_t n) {
    Survey s = simd<look<T>>(x, n);
    if (s.whole || !s.finite) return s;
    s.lowest_bit = 5000;
    for (std::size_t i = 0; i < n; ++i) {
        const double v = static_cast<double>(x[i]);
        if (v == 0) continue;
        const Parts p(v);
        const auto bit = p.exponent + __builtin_ctzll(static_cast<unsigned long long>(p.mantissa));
        s.lowest_bit = bit < s.lowest_bit ? bit : s.lowest_bit;
    }
    s.whole = s.lowest_bit >= 0;
    return s;
}

Survey survey(const double* x, std::size_t n) { return complete(x, n); }
Survey survey(const float* x, std::size_t n) { return complete(x, n); }

}  // namespace posterior
