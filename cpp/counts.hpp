// Weighted counts of categories and weighted sums of sparse rows, by group, exact.
// Twins in posterior.kernels.reference: group_counts, rows_by_group, centered_by_group,
// category_counts, sparse_sums.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "exact.hpp"
#include "matrix.hpp"

namespace posterior {

// The rows that belong to a group, those of the first group first.
inline std::vector<std::uint32_t> rows_by_group(Groups groups, std::size_t rows) {
    std::vector<std::uint32_t> start(groups.count + 1), order;
    for (std::size_t i = 0; i < rows; ++i)
        if (groups.codes[i] >= 0) ++start[static_cast<std::size_t>(groups.codes[i]) + 1];
    for (std::size_t g = 0; g < groups.count; ++g) start[g + 1] += start[g];
    order.resize(start[groups.count]);
    for (std::size_t i = 0; i < rows; ++i)
        if (groups.codes[i] >= 0)
            order[start[static_cast<std::size_t>(groups.codes[i])]++] =
                static_cast<std::uint32_t>(i);
    return order;
}

// How many rows each group has. Rows take turns at four tables, so that equal neighbours need not
// wait for each other.
void count_groups(const std::int32_t* codes, std::size_t rows, std::size_t count,
                  std::int64_t* out);

// Rows of a table, group by group, less their group's origin, and a one behind each; rows of out
// are `width` apart, so that they can begin where lines of the cache do.
void center_by_group(Matrix<double> X, Groups groups, const double* origin, double* out,
                     std::size_t width);
void center_by_group(Matrix<float> X, Groups groups, const double* origin, double* out,
                     std::size_t width);

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

enum class SparseOutcome : int { done = 0, window_too_small = 1, not_ascending = 2 };

constexpr std::size_t kSparseRowsAhead = 2;  // rows that will be read soon are fetched into cache

// entry(p) for each entry of a row. Another row is fetched meanwhile, a line at a time: fetching
// it at once would leave the entries nothing to wait in.
template <typename T, typename Index, typename Entry>
inline void visit_row(const Sparse<T, Index>& X, std::size_t row, std::size_t soon, Entry entry) {
    constexpr Index step = 8;
    const Index stop = X.start[row + 1];
    Index p = X.start[row], fetched = X.start[soon];
    for (; p + step <= stop; p += step, fetched += step) {
        __builtin_prefetch(X.data + fetched);
        __builtin_prefetch(X.column + fetched);
        for (Index l = 0; l < step; ++l) entry(p + l);
    }
    for (; p < stop; ++p) entry(p);
}

// s_k ← s_k + w x over the stored entries of sparse rows. With a threshold, x counts as one above
// it and as nothing below; a cell must then be stored once, so columns must ascend. Rows are taken
// group by group, so that one group's sums stay in cache.
template <typename T, typename Index>
SparseOutcome add_sparse_sums(Sparse<T, Index> X, Groups groups, std::size_t columns,
                              double threshold, Sums total) {
    const bool binary = !std::isnan(threshold);
    const bool whole = total.size == 1 && total.exponent == 0 && groups.weight == nullptr;
    const std::vector<std::uint32_t> order = rows_by_group(groups, X.rows);
    bool ascending = true, fits = true;
    for (std::size_t r = 0; r < order.size() && ascending && fits; ++r) {
        const std::size_t i = order[r], soon = order[std::min(r + kSparseRowsAhead, order.size() - 1)];
        const std::size_t base = static_cast<std::size_t>(groups.codes[i]) * columns;
        const double w = groups.weight == nullptr ? 1.0 : groups.weight[i];
        const auto cell = [&](Index p) { return base + static_cast<std::size_t>(X.column[p]); };
        const auto above = [&](Index p) {
            ascending &= p == X.start[i] || X.column[p] > X.column[p - 1];
            return static_cast<double>(X.data[p]) > threshold;
        };
        if (whole && binary)
            visit_row(X, i, soon, [&](Index p) { total.limbs[cell(p)] += above(p); });
        else if (whole)
            visit_row(X, i, soon, [&](Index p) {
                total.limbs[cell(p)] += static_cast<std::int64_t>(X.data[p]);
            });
        else
            visit_row(X, i, soon, [&](Index p) {
                const double x = binary ? above(p) : static_cast<double>(X.data[p]);
                fits &= add_term(total, cell(p), w, x);
            });
    }
    return !ascending ? SparseOutcome::not_ascending
           : !fits    ? SparseOutcome::window_too_small
                      : SparseOutcome::done;
}

// What kernels need to know of numbers before they add them.
struct Survey {
    double smallest, largest;
    std::int64_t lowest_bit;  // set in any number
    bool whole, finite;
};

Survey survey(const double* x, std::size_t n);
Survey survey(const float* x, std::size_t n);

}  // namespace posterior
