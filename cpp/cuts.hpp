// A column in order, and where to cut it so that classes are best told apart.
// Twins in posterior.kernels.reference.cuts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "matrix.hpp"

namespace posterior {

// The known cells of x in ascending order, those of equal value in the order of their rows, and
// the rows they stand in; how many they are. NaN is missing, and -0 is 0.
std::size_t sort_column(const double* x, std::size_t n, double* value, std::int32_t* row);

// The known cells of each column as whole numbers in their order, the class of each in the last
// bits instead of its own, and how many they are. Numbers take a third of the time of pairs to sort.
template <typename T>
void pack_columns(Matrix<T> X, const std::int32_t* code, int bits, std::uint64_t* key,
                  std::int64_t* known);

// Sorted keys gathered in cells: one for each value, or, if there are more than `limit`, those that
// end with the value of a multiple of n / limit.
struct ClassCells {
    std::vector<std::int64_t> end;  // of each cell
    std::vector<double> count;      // (cells, classes)
    std::int64_t moved = 0;         // most keys of a cell that are not of its last value
};

ClassCells class_cells(const std::uint64_t* key, std::size_t n, int bits, std::size_t classes,
                       std::size_t limit);

// How many of its column's cuts, ascending from cut[start[j]] to cut[start[j + 1]], are at most a
// cell; NaN for NaN.
template <typename T>
void digitize(Matrix<T> X, const double* cut, const std::int64_t* start, T* out);

// Entries in the order of their values: entry i is of class code[i] and counts weight[i] times,
// once if weight is null. log_table[c] is c log₂ c for whole numbers c up to the total weight, or
// the table is null and weights are any.
struct Labeled {
    const double* value;
    const std::int32_t* code;
    const double* weight;
    std::size_t n, classes;
    const double* log_table;
};

// Where to cut, by Fayyad and Irani (1993): ascending i, each between entries i - 1 and i.
std::vector<std::int64_t> mdl_cuts(const Labeled& entries);

}  // namespace posterior
