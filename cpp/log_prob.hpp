// Joint log probabilities, log p(x, k), of rows under all groups in one pass.
// Twins: posterior.kernels.reference.gaussian_log_joint, linear_log_joint, table_log_joint.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "matrix.hpp"
#include "products.hpp"
#include "simd.hpp"

namespace posterior {

// Coefficients of every group, eight columns a tile: (groups, tiles, 8). The last tile reaches back
// over columns of the one before, where its coefficients are zero.
struct Tiles {
    std::size_t groups, columns, count;
    std::vector<double> first, second;

    Tiles(std::size_t groups_, std::size_t columns_, const double* a, const double* b)
        : groups(groups_), columns(columns_), count((columns_ + kLanes - 1) / kLanes),
          first(groups_ * count * kLanes), second(groups_ * count * kLanes) {
        for (std::size_t k = 0; k < groups; ++k)
            for (std::size_t j = 0; j < columns; ++j) {
                const std::size_t tile = j / kLanes;
                const std::size_t at = (k * count + tile) * kLanes + j - start(tile);
                first[at] = a[k * columns + j];
                if (b != nullptr) second[at] = b[k * columns + j];
            }
    }
    std::size_t start(std::size_t tile) const {
        return columns < kLanes ? 0 : std::min(tile * kLanes, columns - kLanes);
    }
};

// Sums over columns, for rows of at least eight contiguous numbers; out is (rows, groups).
//     distances:  Σⱼ ((xⱼ - aⱼ) bⱼ)²        products:  Σⱼ xⱼ aⱼ
void distances(const double* x, std::ptrdiff_t step, std::size_t rows, const Tiles& t, double* out);
void distances(const float* x, std::ptrdiff_t step, std::size_t rows, const Tiles& t, double* out);
void products(const double* x, std::ptrdiff_t step, std::size_t rows, const Tiles& t, double* out);
void products(const float* x, std::ptrdiff_t step, std::size_t rows, const Tiles& t, double* out);

// The same distances with rows side by side, eight at a time: many groups then share the turning of
// a row, and no sum crosses lanes. x is (tiles, columns, 8), out (tiles, groups, 8).
void distances_side_by_side(const double* x, std::size_t tiles, std::size_t columns,
                            std::size_t groups, const double* a, const double* b, double* out);

// bias_k + Σₚ xₚ W[columnₚ, k] of sparse rows; W (d, width) holds the weights of a column side by
// side, padded to whole lanes. With a threshold, x counts as one above it and as nothing below; a
// cell must then be stored once, and false says that columns do not ascend.
template <typename T, typename Index>
struct SparseScores {
    Sparse<T, Index> X;
    std::size_t groups, width;
    const double *W, *bias;
    double threshold;
    double* out;
};

template <typename T, typename Index>
bool sparse_log_joint(const SparseScores<T, Index>& job);

// bias_k + Σⱼ table[cell(xⱼ), k] of rows of codes. Column j owns cells offset[j] .. offset[j + 1];
// its last one stands for values never seen. A negative code is a missing cell and adds nothing.
template <typename T>
struct TableScores {
    Matrix<T> X;
    std::size_t groups, width;
    const double *table, *bias;
    const std::int64_t* offset;
    double* out;
};

template <typename T>
bool table_log_joint(const TableScores<T>& job);

constexpr std::size_t kCopiedRows = 64;

// Calls a sum for all rows, on copies where the table is not laid out as it needs.
template <typename T, typename Sum>
void sum_rows(Matrix<T> X, std::size_t groups, Sum sum, double* out) {
    if (X.column_step == 1 && X.columns >= kLanes) {
        sum(X.data, X.row_step, X.rows, out);
        return;
    }
    const std::size_t width = std::max(X.columns, kLanes);
    std::vector<double> copy(kCopiedRows * width, 0.0);
    for (std::size_t first = 0; first < X.rows; first += kCopiedRows) {
        const std::size_t rows = std::min(kCopiedRows, X.rows - first);
        for (std::size_t i = 0; i < rows; ++i)
            for (std::size_t j = 0; j < X.columns; ++j)
                copy[i * width + j] = static_cast<double>(X.at(first + i, j));
        sum(copy.data(), static_cast<std::ptrdiff_t>(width), rows, out + first * groups);
    }
}

// Distances from groups (groups, columns), by turned rows.
template <typename T>
void turned_distances(Matrix<T> X, std::size_t groups, const double* a, const double* b,
                      double* out) {
    constexpr std::size_t tiles = kCopiedRows / kLanes;
    Lines lines(kCopiedRows * X.columns), sums(kCopiedRows * groups);
    double *x = lines.data(), *sum = sums.data();
    for (std::size_t first = 0; first < X.rows; first += kCopiedRows, out += kCopiedRows * groups) {
        const std::size_t rows = std::min(kCopiedRows, X.rows - first);
        const std::size_t used = std::min(tiles, (rows + kLanes - 1) / kLanes);
        for (std::size_t i = 0; i < rows; ++i)
            for (std::size_t j = 0; j < X.columns; ++j)
                x[(i / kLanes * X.columns + j) * kLanes + i % kLanes] =
                    static_cast<double>(X.at(first + i, j));
        distances_side_by_side(x, used, X.columns, groups, a, b, sum);
        for (std::size_t i = 0; i < rows; ++i)
            for (std::size_t k = 0; k < groups; ++k)
                out[i * groups + k] = sum[(i / kLanes * groups + k) * kLanes + i % kLanes];
    }
}

// out_ik = constant_k - ½ Σⱼ ((x_ij - μ_kj) / σ_kj)². A missing cell adds nothing, and takes its
// own part term_kj = -½ log 2πσ²_kj out of the constant.
template <typename T>
void gaussian_log_joint(Matrix<T> X, std::size_t groups, const double* mean,
                        const double* inverse_deviation, const double* term,
                        const double* constant, double* out) {
    if (4 * groups >= X.columns) {
        turned_distances(X, groups, mean, inverse_deviation, out);
    } else {
        const Tiles tiles(groups, X.columns, mean, inverse_deviation);
        sum_rows(X, groups,
                 [&](const auto* x, std::ptrdiff_t step, std::size_t rows, double* to) {
                     distances(x, step, rows, tiles, to);
                 },
                 out);
    }
    for (std::size_t i = 0; i < X.rows; ++i)
        for (std::size_t k = 0; k < groups; ++k) {
            double& sum = out[i * groups + k];
            double absent = 0;
            if (std::isnan(sum)) {  // a cell is missing
                sum = 0;
                for (std::size_t j = 0; j < X.columns; ++j) {
                    const double x = static_cast<double>(X.at(i, j));
                    const std::size_t at = k * X.columns + j;
                    const double z = (x - mean[at]) * inverse_deviation[at];
                    if (std::isnan(x))
                        absent += term[at];
                    else
                        sum += z * z;
                }
            }
            sum = (constant[k] - absent) - 0.5 * sum;
        }
}

// out_ik = bias_k + Σⱼ x_ij w_kj; a missing cell adds nothing and takes absent_kj out.
template <typename T>
void linear_log_joint(Matrix<T> X, std::size_t groups, const double* weight, const double* absent,
                      const double* bias, double* out) {
    const Tiles tiles(groups, X.columns, weight, nullptr);
    sum_rows(X, groups,
             [&](const auto* x, std::ptrdiff_t step, std::size_t rows, double* to) {
                 products(x, step, rows, tiles, to);
             },
             out);
    for (std::size_t i = 0; i < X.rows; ++i)
        for (std::size_t k = 0; k < groups; ++k) {
            double& sum = out[i * groups + k];
            double missed = 0;
            if (std::isnan(sum)) {
                sum = 0;
                for (std::size_t j = 0; j < X.columns; ++j) {
                    const double x = static_cast<double>(X.at(i, j));
                    const std::size_t at = k * X.columns + j;
                    if (std::isnan(x))
                        missed += absent[at];
                    else
                        sum += x * weight[at];
                }
            }
            sum = (bias[k] - missed) + sum;
        }
}

}  // namespace posterior
