// Loops of headers that module.cpp binds. It is compiled for size, they for speed in instances.cpp.
#pragma once

#include "checks.hpp"
#include "columns.hpp"
#include "counts.hpp"
#include "log_prob.hpp"
#include "moments.hpp"

namespace posterior {

#define POSTERIOR_NUMBERS(prefix, T)                                                           \
    prefix template class MomentSums<T>;                                                       \
    prefix template void find_exponents(Matrix<T>, std::int64_t*, std::int64_t&);              \
    prefix template void gaussian_log_joint(Matrix<T>, std::size_t, const double*,             \
                                            const double*, const double*, const double*,       \
                                            double*);                                          \
    prefix template void linear_log_joint(Matrix<T>, std::size_t, const double*,               \
                                          const double*, const double*, double*);              \
    prefix template SparseOutcome add_sparse_sums(Sparse<T, std::int32_t>, Groups, std::size_t, \
                                                  double, Sums);                               \
    prefix template SparseOutcome add_sparse_sums(Sparse<T, std::int64_t>, Groups, std::size_t, \
                                                  double, Sums);

#define POSTERIOR_CODES(prefix, T)                                                             \
    prefix template void find_code_range(Matrix<T>, std::int64_t*, std::int64_t*);             \
    prefix template bool add_category_counts(Matrix<T>, Groups, const std::int64_t*, Sums);

#define POSTERIOR_PLACES(prefix, T)                    \
    prefix template Range range(const T*, std::size_t); \
    prefix template bool ascending(const T*, std::size_t);

#define POSTERIOR_CELLS(prefix, T) \
    prefix template void stack_columns(const std::vector<const T*>&, std::size_t, T*);

#define POSTERIOR_INSTANCES(prefix)        \
    POSTERIOR_NUMBERS(prefix, float)       \
    POSTERIOR_NUMBERS(prefix, double)      \
    POSTERIOR_CODES(prefix, std::int64_t)  \
    POSTERIOR_CODES(prefix, std::int32_t)  \
    POSTERIOR_CODES(prefix, std::int16_t)  \
    POSTERIOR_CODES(prefix, std::uint8_t)  \
    POSTERIOR_PLACES(prefix, std::int32_t) \
    POSTERIOR_PLACES(prefix, std::int64_t) \
    POSTERIOR_CELLS(prefix, std::uint32_t) \
    POSTERIOR_CELLS(prefix, std::uint64_t)

POSTERIOR_INSTANCES(extern)

}  // namespace posterior
