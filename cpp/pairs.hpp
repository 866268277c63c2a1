// Counts of pairs of values by group, and scores by models of one dependence, averaged.
// Twins in posterior.kernels.reference.dependence.
#pragma once

#include <cstddef>
#include <cstdint>

#include "matrix.hpp"

namespace posterior {

// out[k, a, b] ← out[k, a, b] + 1 for the values a, b of each two columns of each row of group k,
// and of each column with itself. Column j owns places offset[j] .. offset[j + 1] of a side; a code
// outside them (a missing cell is negative) is left out. Weights are not read.
//
// The bound: one load of a cell, one load and one store of a counter for each pair of each row,
// that is n d (d + 1) / 2 stores at one a cycle, if all counters stay in the first cache. So rows
// are taken group by group, column by column in blocks of two bytes a cell, and one pair of columns
// at a time counts a block in a table of its own. Reading n d cells from memory takes far less.
template <typename T>
void count_pairs(Matrix<T> X, Groups groups, const std::int64_t* offset, std::int64_t* out);

// log p(x | k) where each value may be the parent of all others, by a table (places, places,
// groups) of log p(b | k, a), with log p(a | k) where b is a. A place of weight 0 is no parent.
struct OneDependence {
    const double* table;
    const double* weight;  // of each place as a parent
    std::size_t places, groups;
};

// out[i, k] = log Σ_a w_a Π_b p(b | k, a) - log Σ_a w_a over the places a, b of row i; Σ_b
// log p(b | k) if no place may be a parent. A negative place is left out. Groups are 2, 4 or a
// multiple of 8: rows of out are as wide.
void one_dependence_log_joint(Matrix<std::int32_t> X, OneDependence model, double* out);

}  // namespace posterior
