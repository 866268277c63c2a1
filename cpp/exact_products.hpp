// Exact sums of a few products, cell by cell: sums around an origin are moved to zero by them.
// Twin: posterior.kernels.reference.sums_of_products.
#pragma once

#include "exact.hpp"

namespace posterior {

// The bits of all products a_c b_c: from 2^lowest to below 2^top.
struct BitRange {
    std::int64_t lowest, top;
};
BitRange bits_of_products(const double* a, const double* b, std::size_t count);

// s_c ← s_c + Σₜ a_tc b_tc, exact, in a window that holds those bits and carries of all terms.
void add_products_exactly(const double* a, const double* b, std::size_t terms, std::size_t cells,
                          const Sums& s);

}  // namespace posterior
