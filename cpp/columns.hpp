// Columns side by side, as the rows of a table:   x_ij = column_j[i]
//
// Some rows at a time, which stay in the first cache until all their columns are there.
// Twin: posterior.kernels.reference.columns.stack_columns.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace posterior {

constexpr std::size_t kStackedBytes = 16384;

template <typename T>
void stack_columns(const std::vector<const T*>& columns, std::size_t rows, T* out) {
    const std::size_t width = columns.size();
    const std::size_t size = std::max<std::size_t>(8, kStackedBytes / (width * sizeof(T)));
    for (std::size_t first = 0; first < rows; first += size) {
        const std::size_t n = std::min(size, rows - first);
        for (std::size_t j = 0; j < width; ++j) {
            const T* column = columns[j] + first;
            T* cell = out + first * width + j;
            for (std::size_t i = 0; i < n; ++i) cell[i * width] = column[i];
        }
    }
}

}  // namespace posterior
