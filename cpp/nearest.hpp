// The rows nearest to each query: matrix products tell which may be, differences which are.
// Twin: posterior.kernels.reference.search.nearest_rows.
#pragma once

#include <cstddef>
#include <cstdint>

#include "matrix.hpp"

namespace posterior {

// Rows that are searched. Around the origin and scaled, the longest has a length of about one.
template <typename T>
struct Searched {
    Matrix<T> X;           // each row contiguous
    const double* origin;  // (columns,)
    double scale;          // a power of two
    const double* half;    // (rows,)  scale² |x - o|² / 2
};

// Distances and numbers (queries, k) of the k nearest rows, in the order of (distance, number).
// Products are taken in the type W. Returns how many distances were measured by differences.
template <typename W, typename T>
std::int64_t nearest_rows(Matrix<double> Q, const Searched<T>& rows, std::size_t k,
                          double* distance, std::int64_t* number);

}  // namespace posterior
