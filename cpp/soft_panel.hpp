// Some dozens of rows that all groups read while they are in the first cache.
#pragma once

#include <cstddef>
#include <vector>

#include "matrix.hpp"
#include "simd.hpp"

namespace posterior {

constexpr std::size_t kSharedRows = 64;

constexpr std::size_t whole_lanes(std::size_t columns) {
    return (columns + kLanes - 1) / kLanes * kLanes;
}

// Rows first .. first + rows as doubles, in lines of `width` whose ends are left as they are.
void copy_rows(Matrix<double> X, std::size_t first, std::size_t rows, std::size_t width,
               double* to);
void copy_rows(Matrix<float> X, std::size_t first, std::size_t rows, std::size_t width, double* to);

// (groups, columns) in lines of whole lanes.
std::vector<double> padded(const double* table, std::size_t groups, std::size_t columns);

// w_k ← w_k + Σᵢ r_ik
void add_shares(const double* R, std::size_t rows, std::size_t groups, double* w);

// Widens low_j .. high_j to the cells of some rows; false if one is not finite.
bool widen(const double* x, std::size_t rows, std::size_t width, double* low, double* high);

}  // namespace posterior
