#include "ordered_products.hpp"

#include <algorithm>
#include <vector>

#include "simd.hpp"

namespace posterior {

namespace {

constexpr std::size_t kTogether = 4;  // rows that read the axes together

// Eight axes, side by side in `a` (columns, 8), of which the first `width` are written.
POSTERIOR_INLINE void along_axes(const double* x, std::size_t n, std::size_t columns,
                                 const double* a, std::size_t width, std::size_t step, double* z) {
    for (std::size_t i = 0; i < n; i += kTogether) {
        const std::size_t rows = std::min(kTogether, n - i);
        const double* row[kTogether];
        for (std::size_t r = 0; r < kTogether; ++r) row[r] = x + (i + std::min(r, rows - 1)) * columns;
        Lanes sum[kTogether] = {};
        for (std::size_t j = 0; j < columns; ++j) {
            Lanes axis;
            load(axis, a + j * kLanes);
            for (std::size_t r = 0; r < kTogether; ++r) sum[r] += row[r][j] * axis;
        }
        for (std::size_t r = 0; r < rows; ++r) std::memcpy(z + (i + r) * step, &sum[r], width * sizeof(double));
    }
}

}  // namespace

void ordered_products(const double* x, std::size_t n, std::size_t columns, const double* axes,
                      std::size_t width, double* z) {
    std::vector<double> side_by_side(columns * kLanes);
    for (std::size_t first = 0; first < width; first += kLanes) {
        const std::size_t some = std::min(kLanes, width - first);
        for (std::size_t j = 0; j < columns; ++j)
            std::copy_n(axes + j * width + first, some, side_by_side.data() + j * kLanes);
        simd<along_axes>(x, n, columns, side_by_side.data(), some, width, z + first);
    }
}

}  // namespace posterior
