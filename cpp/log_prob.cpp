// The inner loops of log_prob.hpp, compiled for each instruction set. Sums run over columns in
// order and never across lanes, so every instruction set gives the same bits.
#include "log_prob.hpp"

namespace posterior {

constexpr std::size_t kVectors = kTileRows / kLanes;

POSTERIOR_CLONES void add_distances(const double* tile, std::size_t columns, const double* mean,
                                    const double* inverse_deviation, double* sum) {
    Lanes total[kVectors], x;
    for (std::size_t v = 0; v < kVectors; ++v) load(total[v], sum + v * kLanes);
    for (std::size_t j = 0; j < columns; ++j)
        for (std::size_t v = 0; v < kVectors; ++v) {
            load(x, tile + j * kTileRows + v * kLanes);
            x = (x - mean[j]) * inverse_deviation[j];
            total[v] += x * x;
        }
    for (std::size_t v = 0; v < kVectors; ++v) store(sum + v * kLanes, total[v]);
}

POSTERIOR_CLONES void add_products(const double* tile, std::size_t columns, const double* weight,
                                   double* sum) {
    Lanes total[kVectors], x;
    for (std::size_t v = 0; v < kVectors; ++v) load(total[v], sum + v * kLanes);
    for (std::size_t j = 0; j < columns; ++j)
        for (std::size_t v = 0; v < kVectors; ++v) {
            load(x, tile + j * kTileRows + v * kLanes);
            total[v] += x * weight[j];
        }
    for (std::size_t v = 0; v < kVectors; ++v) store(sum + v * kLanes, total[v]);
}

POSTERIOR_CLONES void sparse_row_scores(const double* x, const std::int64_t* column,
                                        std::size_t entries, const double* W, std::size_t width,
                                        double* sum) {
    constexpr std::size_t kAhead = 8;  // rows of W far apart in memory are asked for in advance
    for (std::size_t p = 0; p < entries; ++p) {
        if (p + kAhead < entries) {
            const double* next = W + static_cast<std::size_t>(column[p + kAhead]) * width;
            for (std::size_t k = 0; k < width; k += kLanes) __builtin_prefetch(next + k);
        }
        const double* w = W + static_cast<std::size_t>(column[p]) * width;
        for (std::size_t k = 0; k < width; k += kLanes) {
            Lanes s, t;
            load(s, sum + k);
            load(t, w + k);
            s += t * x[p];
            store(sum + k, s);
        }
    }
}

}  // namespace posterior
