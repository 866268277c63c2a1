// Products whose terms are added in the order of the columns: the bits of a row are its own, however
// many rows come with it and whatever the machine. (BLAS takes other sums for one row than for many.)
// Twin: posterior.kernels.reference.ordered_products.
#pragma once

#include <cstddef>

namespace posterior {

// zᵢₐ = Σⱼ xᵢⱼ aⱼₐ of rows (n, columns) and axes (columns, width).
void ordered_products(const double* x, std::size_t n, std::size_t columns, const double* axes,
                      std::size_t width, double* z);

}  // namespace posterior
