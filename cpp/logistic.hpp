// What rows add to the loss of logistic regression and to its gradient, in one pass.
// Twins in posterior.kernels.reference: logistic_sums, sparse_logistic_sums.
#pragma once

#include <cstddef>
#include <cstdint>

#include "matrix.hpp"

namespace posterior {

// Class 0 .. of each row (negative: it is left out), how much the row counts (null: once), and what
// is known of its scores beforehand, (rows, outputs) (null: nothing). One output scores class 1 against class 0; more
// score a class each.
struct Answers {
    const std::int32_t* codes;
    const double *weight, *offset;
    std::size_t outputs;
};

// The value of the loss  Σᵢ wᵢ (log Σ_k exp η_ik - η_i,yᵢ),  η = (X - o) Wᵀ + b, where o is the
// origin (columns) (null: zero).  W (outputs, columns) and the gradient have the same shape, and so have b and its gradient; residual (rows, outputs),
// if not null, receives the derivative with respect to η, and with one output hessian
// (columns + 1, whole lanes), if not null, the upper triangle of the second derivatives, that of
// the intercept last.
template <typename T>
double logistic_sums(Matrix<T> X, const double* origin, Answers y, const double* W,
                     const double* b, double* gradient, double* gradient_b, double* residual,
                     double* hessian);

// The same of sparse rows around zero, for which W and the gradient are (columns, outputs).
template <typename T, typename Index>
double sparse_logistic_sums(Sparse<T, Index> X, Answers y, const double* W, const double* b,
                            double* gradient, double* gradient_b, double* residual);

}  // namespace posterior
