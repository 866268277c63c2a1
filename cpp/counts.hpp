// Weighted counts of categories and weighted sums of sparse rows, by group, exact.
// Twins: posterior.kernels.reference.category_counts, sparse_sums.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "exact.hpp"
#include "matrix.hpp"

namespace posterior {

// The smallest and largest code of each column.
template <typename T>
void find_code_range(Matrix<T> X, std::int64_t* smallest, std::int64_t* largest) {
    for (std::size_t i = 0; i < X.rows; ++i)
        for (std::size_t j = 0; j < X.columns; ++j) {
            const auto code = static_cast<std::int64_t>(X.at(i, j));
            smallest[j] = code < smallest[j] ? code : smallest[j];
            largest[j] = code > largest[j] ? code : largest[j];
        }
}

// n_k,v ← n_k,v + w for each row's value v of each column. Column j owns cells offset[j] ..
// offset[j + 1] of a group; a code outside them (a missing cell is negative) is left out.
template <typename T>
bool add_category_counts(Matrix<T> X, Groups groups, const std::int64_t* offset, Sums count) {
    const std::int64_t width = offset[X.columns];
    for (std::size_t i = 0; i < X.rows; ++i) {
        if (groups.codes[i] < 0) continue;
        const std::int64_t base = groups.codes[i] * width;
        for (std::size_t j = 0; j < X.columns; ++j) {
            const auto code = static_cast<std::int64_t>(X.at(i, j));
            if (code < 0 || code >= offset[j + 1] - offset[j]) continue;
            const auto cell = static_cast<std::size_t>(base + offset[j] + code);
            if (groups.weight == nullptr)
                ++count.limbs[cell * count.size];
            else if (!add_term(count, cell, groups.weight[i]))
                return false;
        }
    }
    return true;
}

// s_k ← s_k + w x over the stored entries of sparse rows. With a threshold, x counts as one above
// it and as nothing below.
template <typename T, typename Index>
bool add_sparse_sums(Sparse<T, Index> X, Groups groups, std::size_t columns, double threshold,
                     Sums total) {
    const bool binary = !std::isnan(threshold);
    const bool whole = total.size == 1 && total.exponent == 0 && groups.weight == nullptr;
    for (std::size_t i = 0; i < X.rows; ++i) {
        if (groups.codes[i] < 0) continue;
        const std::size_t base = static_cast<std::size_t>(groups.codes[i]) * columns;
        const double w = groups.weight == nullptr ? 1.0 : groups.weight[i];
        for (Index p = X.start[i]; p < X.start[i + 1]; ++p) {
            double x = static_cast<double>(X.data[p]);
            if (binary) x = x > threshold ? 1.0 : 0.0;
            const std::size_t cell = base + static_cast<std::size_t>(X.column[p]);
            if (whole)
                total.limbs[cell] += static_cast<std::int64_t>(x);
            else if (!add_term(total, cell, w, x))
                return false;
        }
    }
    return true;
}

// What kernels need to know of numbers before they add them.
struct Survey {
    double smallest = std::numeric_limits<double>::infinity();
    double largest = -std::numeric_limits<double>::infinity();
    std::int64_t lowest_bit = 5000;
    bool whole = true, finite = true;
};

template <typename T>
Survey survey(const T* x, std::size_t n) {
    Survey s;
    for (std::size_t i = 0; i < n; ++i) {
        const double v = static_cast<double>(x[i]);
        s.smallest = v < s.smallest ? v : s.smallest;
        s.largest = v > s.largest ? v : s.largest;
        s.whole = s.whole && v == std::trunc(v);
        s.finite = s.finite && std::isfinite(v);
    }
    if (s.whole || !s.finite) {
        s.lowest_bit = 0;
        return s;
    }
    for (std::size_t i = 0; i < n; ++i) {
        const double v = static_cast<double>(x[i]);
        if (v == 0) continue;
        const Parts p(v);
        const auto bit = p.exponent + __builtin_ctzll(static_cast<unsigned long long>(p.mantissa));
        s.lowest_bit = bit < s.lowest_bit ? bit : s.lowest_bit;
    }
    return s;
}

}  // namespace posterior
