// Joint log probabilities, log p(x, k), of rows under all groups in one pass.
// Twins: posterior.kernels.reference.gaussian_log_joint, linear_log_joint, table_log_joint.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "matrix.hpp"
#include "simd.hpp"

namespace posterior {

constexpr std::size_t kTileRows = 32;  // rows side by side in lanes; a column of them is a tile

// Σⱼ ((xⱼ - μⱼ) / σⱼ)² of a tile of rows, columns in order.
void add_distances(const double* tile, std::size_t columns, const double* mean,
                   const double* inverse_deviation, double* sum);

// Σⱼ xⱼ wⱼ of a tile of rows, columns in order.
void add_products(const double* tile, std::size_t columns, const double* weight, double* sum);

// out_k = Σₚ xₚ W[columnₚ, k] + bias_k for one sparse row; W is padded to whole lanes.
void sparse_row_scores(const double* x, const std::int64_t* column, std::size_t entries,
                       const double* W, std::size_t width, double* sum);

// Fills a tile (column by column) from rows; true if a cell is missing.
template <typename T>
bool fill_tile(Matrix<T> X, std::size_t first, std::size_t rows, double* tile) {
    bool missing = false;
    for (std::size_t i = 0; i < rows; ++i) {
        const T* x = X.row(first + i);
        for (std::size_t j = 0; j < X.columns; ++j) {
            const double v = static_cast<double>(x[static_cast<std::ptrdiff_t>(j) * X.column_step]);
            tile[j * kTileRows + i] = v;
            missing |= v != v;
        }
    }
    return missing;
}

// out_ik = constant_k - ½ Σⱼ ((x_ij - μ_kj) / σ_kj)². A missing cell adds nothing, and takes its
// own part term_kj = -½ log 2πσ²_kj out of the constant.
template <typename T>
void gaussian_log_joint(Matrix<T> X, std::size_t groups, const double* mean,
                        const double* inverse_deviation, const double* term,
                        const double* constant, double* out) {
    const std::size_t d = X.columns;
    std::vector<double> tile(d * kTileRows, 0.0), holes;
    double sum[kTileRows], absent[kTileRows];
    for (std::size_t first = 0; first < X.rows; first += kTileRows) {
        const std::size_t rows = std::min(kTileRows, X.rows - first);
        const bool missing = fill_tile(X, first, rows, tile.data());
        if (missing) holes = tile;
        for (std::size_t k = 0; k < groups; ++k) {
            std::fill(sum, sum + kTileRows, 0.0);
            std::fill(absent, absent + kTileRows, 0.0);
            if (missing)
                for (std::size_t j = 0; j < d; ++j)
                    for (std::size_t i = 0; i < rows; ++i)
                        if (std::isnan(holes[j * kTileRows + i])) {
                            tile[j * kTileRows + i] = mean[k * d + j];  // a distance of zero
                            absent[i] += term[k * d + j];
                        }
            add_distances(tile.data(), d, mean + k * d, inverse_deviation + k * d, sum);
            for (std::size_t i = 0; i < rows; ++i)
                out[(first + i) * groups + k] = (constant[k] - absent[i]) - 0.5 * sum[i];
        }
    }
}

// out_ik = bias_k + Σⱼ x_ij w_kj; a missing cell adds nothing and takes absent_kj out.
template <typename T>
void linear_log_joint(Matrix<T> X, std::size_t groups, const double* weight, const double* absent,
                      const double* bias, double* out) {
    const std::size_t d = X.columns;
    std::vector<double> tile(d * kTileRows, 0.0), holes;
    double sum[kTileRows], missed[kTileRows];
    for (std::size_t first = 0; first < X.rows; first += kTileRows) {
        const std::size_t rows = std::min(kTileRows, X.rows - first);
        const bool missing = fill_tile(X, first, rows, tile.data());
        if (missing) {
            holes = tile;
            for (double& x : tile) x = std::isnan(x) ? 0.0 : x;
        }
        for (std::size_t k = 0; k < groups; ++k) {
            std::fill(sum, sum + kTileRows, 0.0);
            std::fill(missed, missed + kTileRows, 0.0);
            if (missing)
                for (std::size_t j = 0; j < d; ++j)
                    for (std::size_t i = 0; i < rows; ++i)
                        if (std::isnan(holes[j * kTileRows + i])) missed[i] += absent[k * d + j];
            add_products(tile.data(), d, weight + k * d, sum);
            for (std::size_t i = 0; i < rows; ++i)
                out[(first + i) * groups + k] = (bias[k] - missed[i]) + sum[i];
        }
    }
}

// The same for sparse rows; W (d, width) holds the weights of a column side by side. With a
// threshold, x counts as one above it and as nothing below.
template <typename T, typename Index>
void sparse_log_joint(Sparse<T, Index> X, std::size_t groups, const double* W, std::size_t width,
                      const double* bias, double threshold, double* out) {
    const bool binary = !std::isnan(threshold);
    std::vector<double> value, sum(width);
    std::vector<std::int64_t> column;
    for (std::size_t i = 0; i < X.rows; ++i) {
        value.clear();
        column.clear();
        for (Index p = X.start[i]; p < X.start[i + 1]; ++p) {
            const double x = static_cast<double>(X.data[p]);
            if (binary && !(x > threshold)) continue;
            value.push_back(binary ? 1.0 : x);
            column.push_back(static_cast<std::int64_t>(X.column[p]));
        }
        std::fill(sum.begin(), sum.end(), 0.0);
        sparse_row_scores(value.data(), column.data(), value.size(), W, width, sum.data());
        for (std::size_t k = 0; k < groups; ++k) out[i * groups + k] = bias[k] + sum[k];
    }
}

// out_ik = bias_k + Σⱼ table[cell(x_ij), k]. Column j owns cells offset[j] .. offset[j + 1]; its
// last one stands for values never seen. A negative code is a missing cell and adds nothing.
template <typename T>
void table_log_joint(Matrix<T> X, std::size_t groups, const double* table, std::size_t width,
                     const std::int64_t* offset, const double* bias, double* out) {
    std::vector<double> one(X.columns, 1.0), sum(width);
    std::vector<std::int64_t> cell(X.columns);
    for (std::size_t i = 0; i < X.rows; ++i) {
        std::size_t entries = 0;
        for (std::size_t j = 0; j < X.columns; ++j) {
            const auto code = static_cast<std::int64_t>(X.at(i, j));
            if (code < 0) continue;
            const std::int64_t unseen = offset[j + 1] - offset[j] - 1;
            cell[entries++] = offset[j] + (code < unseen ? code : unseen);
        }
        std::fill(sum.begin(), sum.end(), 0.0);
        sparse_row_scores(one.data(), cell.data(), entries, table, width, sum.data());
        for (std::size_t k = 0; k < groups; ++k) out[i * groups + k] = bias[k] + sum[k];
    }
}

}  // namespace posterior
