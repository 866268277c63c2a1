// Coordinate descent on a quadratic with a lasso:  min over s of  g·s + ½ s·H s + Σ λ |β + s|.
// Twins in posterior.kernels.reference: coordinate_descent, column_descent,
// column_squares, take_columns.
#pragma once

#include <cstddef>
#include <cstdint>

#include "matrix.hpp"

namespace posterior {

// H (size, size) is written down. gradient is g + H s and follows s, which starts at no step;
// coef is β + s. Sweeps end early when one gains no more than `enough`.
void coordinate_descent(std::size_t size, const double* H, const double* lasso, std::size_t sweeps,
                        double enough, double* gradient, double* coef);

// What the rows say of H: with z = X s, row i turns the derivative by output a by
// w_ai (z_ai - Σ_b p_bi z_bi). One output has no p: w is its whole curvature. (outputs, rows) each.
struct Curves {
    std::size_t rows, outputs;
    const double *weight, *share;
};

// All about the coordinates, (outputs, columns) each; the intercepts, if any, are the last column.
struct Coordinates {
    std::size_t columns;
    bool intercept;
    const double *coef, *gradient, *curve, *ridge, *lasso;  // curve: the diagonal of H
    double *step;
};

// H is known by the columns of X alone; z (outputs, rows) follows the step.
template <typename Columns>
void column_descent(Columns X, Curves rows, Coordinates at, std::size_t sweeps, double* z);

// out_aj ← Σᵢ w_ai x_ij², (outputs, columns).
template <typename Columns>
void column_squares(Columns X, Curves rows, std::size_t columns, double* out);

// Entries start[j] .. start[j + 1] belong to column j.
template <typename Index>
struct SparseColumns {
    const double* data;
    const Index *row, *start;

    std::size_t size(std::size_t j) const {
        return static_cast<std::size_t>(start[j + 1] - start[j]);
    }
    const double* values(std::size_t j) const { return data + start[j]; }
    const Index* places(std::size_t j) const { return row + start[j]; }
};

// Columns one after the other.
struct DenseColumns {
    const double* data;
    std::size_t rows;

    struct Everywhere {
        std::size_t operator[](std::size_t i) const { return i; }
    };
    std::size_t size(std::size_t) const { return rows; }
    const double* values(std::size_t j) const { return data + j * rows; }
    Everywhere places(std::size_t) const { return {}; }
};

// Entries of some columns of sparse rows, column by column: column c becomes the place[c]-th, or is
// left out where that is negative. Call it twice: without data it counts, start (columns + 1)
// receiving how many there are in all before each; with data it fills.
template <typename T, typename Index>
void take_columns(Sparse<T, Index> X, const std::int32_t* place, std::size_t columns, Index* start,
                  double* data, Index* row);

}  // namespace posterior
