// Sums over rows of which every group receives a part: the M step of a mixture.
// Twins in posterior.kernels.reference.soft.
#pragma once

#include <cstddef>

#include "matrix.hpp"

namespace posterior {

// Group k receives r_ik of row i, at R[i * groups + k].
struct Shares {
    const double* R;
    std::size_t groups;
};

// s_k ← Σᵢ r_ik (xᵢ - o_k)      Q_k ← Σᵢ r_ik (xᵢ - o_k)(xᵢ - o_k)ᵀ, its upper triangle
//
// s is (groups, width) and Q (groups, width, width), zeros before, where width is a whole number of
// lanes. False if a cell is not finite.
bool soft_products(Matrix<double> X, Shares shares, const double* origin, double* s, double* Q);
bool soft_products(Matrix<float> X, Shares shares, const double* origin, double* s, double* Q);

// w_kj ← Σᵢ r_ik      s_kj ← Σᵢ r_ik (x_ij - o_kj)      q_kj ← Σᵢ r_ik (x_ij - o_kj)²
//
// over the cells that are not missing; all are (groups, width), zeros before.
void soft_moments(Matrix<double> X, Shares shares, const double* origin, double* w, double* s,
                  double* q);
void soft_moments(Matrix<float> X, Shares shares, const double* origin, double* w, double* s,
                  double* q);

}  // namespace posterior
