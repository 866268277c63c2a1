#include "soft_panel.hpp"

#include <algorithm>

namespace posterior {

template <typename T>
POSTERIOR_INLINE void copy(Matrix<T> X, std::size_t first, std::size_t rows, std::size_t width,
                           double* to) {
    for (std::size_t i = 0; i < rows; ++i, to += width) {
        const T* x = X.row(first + i);
        if (X.column_step == 1)
            for (std::size_t j = 0; j < X.columns; ++j) to[j] = static_cast<double>(x[j]);
        else
            for (std::size_t j = 0; j < X.columns; ++j)
                to[j] = static_cast<double>(X.at(first + i, j));
    }
}
void copy_rows(Matrix<double> X, std::size_t first, std::size_t rows, std::size_t width,
               double* to) {
    simd<copy<double>>(X, first, rows, width, to);
}
void copy_rows(Matrix<float> X, std::size_t first, std::size_t rows, std::size_t width, double* to) {
    simd<copy<float>>(X, first, rows, width, to);
}

std::vector<double> padded(const double* table, std::size_t groups, std::size_t columns) {
    const std::size_t width = whole_lanes(columns);
    std::vector<double> out(groups * width);
    for (std::size_t k = 0; k < groups; ++k)
        std::copy_n(table + k * columns, columns, out.data() + k * width);
    return out;
}

// Groups side by side.
POSTERIOR_INLINE void add_columns(const double* R, std::size_t rows, std::size_t groups, double* w) {
    std::size_t k = 0;
    for (; k + kLanes <= groups; k += kLanes) {
        Lanes even, odd = {}, r;
        load(even, w + k);
        std::size_t i = 0;
        for (; i + 2 <= rows; i += 2) {
            load(r, R + i * groups + k);
            even += r;
            load(r, R + (i + 1) * groups + k);
            odd += r;
        }
        if (i < rows) {
            load(r, R + i * groups + k);
            even += r;
        }
        store(w + k, even + odd);
    }
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t l = k; l < groups; ++l) w[l] += R[i * groups + l];
}

POSTERIOR_INLINE bool widen_all(const double* x, std::size_t rows, std::size_t width, double* low,
                                double* high) {
    Lanes apart = {};
    for (std::size_t j = 0; j < width; j += kLanes) {
        Lanes v, least, most;
        load(least, low + j);
        load(most, high + j);
        for (std::size_t i = 0; i < rows; ++i) {
            load(v, x + i * width + j);
            least = v < least ? v : least;
            most = v > most ? v : most;
            apart += v - v;  // zero, or no number
        }
        store(low + j, least);
        store(high + j, most);
    }
    double lane[kLanes];
    store(lane, apart);
    return std::all_of(lane, lane + kLanes, [](double a) { return a == 0; });
}

void add_shares(const double* R, std::size_t rows, std::size_t groups, double* w) {
    simd<add_columns>(R, rows, groups, w);
}

bool widen(const double* x, std::size_t rows, std::size_t width, double* low, double* high) {
    return simd<widen_all>(x, rows, width, low, high);
}

}  // namespace posterior
