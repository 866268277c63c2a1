// From log p(x, k) to the posterior:   log p(k | x) = log p(x, k) - log Σ_k exp log p(x, k)
// Twin: posterior.kernels.reference.normalize.
#pragma once

#include <cstddef>

namespace posterior {

enum class Wanted : int { log_posterior = 0, posterior = 1, log_evidence = 2 };

// Normalizes rows of L (n, k) in place; log_evidence, if not null, receives log p(x). A row that
// is impossible under every group says nothing: its posterior is uniform, its evidence -inf.
void normalize(double* L, std::size_t rows, std::size_t groups, Wanted wanted,
               double* log_evidence);

}  // namespace posterior
