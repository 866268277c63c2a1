// Views of memory that Python owns.
#pragma once

#include <cstddef>
#include <cstdint>

namespace posterior {

// A table in any memory order: element (i, j) stands at data[i * row_step + j * column_step].
template <typename T>
struct Matrix {
    const T* data;
    std::size_t rows, columns;
    std::ptrdiff_t row_step, column_step;

    const T* row(std::size_t i) const { return data + static_cast<std::ptrdiff_t>(i) * row_step; }
    const T& at(std::size_t i, std::size_t j) const {
        return row(i)[static_cast<std::ptrdiff_t>(j) * column_step];
    }
};

// Rows start[i] .. start[i + 1] of a compressed sparse table; start may point into the middle.
template <typename T, typename Index>
struct Sparse {
    const T* data;
    const Index* column;
    const Index* start;
    std::size_t rows;
};

// Which group each row belongs to, and how much of it: a negative code leaves the row out, and a
// null weight is a weight of one.
struct Groups {
    const std::int32_t* codes;
    const double* weight;
    std::size_t count;
};

}  // namespace posterior
