// What the documents of each group add up to. Twins in posterior.kernels.reference.text.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bag.hpp"
#include "matrix.hpp"

namespace posterior {

// How much a document has of a term that occurs c times:   x = l(c) / (u ‖l‖), to the next whole
// number, where ‖l‖² is summed over the terms of the document, and l(c) = logs[min(c, n - 1)].
// Without logs l(c) = c, and a unit of zero stands for x = l(c).
struct Damping {
    const std::int64_t* logs;
    std::size_t n;
    double unit;
};

// Terms in the order in which they are told: that of rank r is number order[r], or r itself, and
// has column place[r], which ascends.
struct RankedTerms {
    const std::uint32_t* order;
    const std::int32_t* place;
    std::size_t n;
};

// Sums of groups, columns ascending: the cells of group k are start[k] .. start[k + 1].
template <typename Integer>
struct Cells {
    Integer *start, *column, *documents, *total;
};

// n_kj = Σᵢ [c_ij > 0]      s_kj = Σᵢ x_ij      over the documents i of group k, where n_kj > 0
void sum_groups(const Counts& counts, Groups groups, const Damping& damping,
                const RankedTerms& terms, Cells<std::int64_t> out);

// The sums of a and b together.
void add_cells(Cells<const std::int64_t> a, Cells<const std::int64_t> b, std::size_t n_groups,
               Cells<std::int64_t> out);

}  // namespace posterior
