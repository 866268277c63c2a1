// Sums of a group without one of its rows, in pairs of doubles: what is left, its mean, its scatter
//     w - wᵢ      (s - wᵢ xᵢ) / (w - wᵢ)      (q - wᵢ xᵢ²) - (s - wᵢ xᵢ)² / (w - wᵢ)
// Twin: posterior.kernels.reference.moments_without, the same operations in the same order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "matrix.hpp"

namespace posterior {

// A table (groups, columns) of pairs.
struct PairTable {
    const double *high, *low;
};

struct MomentPairs {
    PairTable weight, total, squares;
};

// Missing cells take nothing away. All outputs are (rows, columns).
void moments_without(Matrix<double> X, Groups groups, const MomentPairs& sums, double* weight,
                     double* mean, double* scatter);

}  // namespace posterior
