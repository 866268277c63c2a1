// Exact sums and sums of squares by group:   s_k = Σᵢ wᵢ xᵢ     q_k = Σᵢ wᵢ xᵢ²
//
// A block of rows is sorted by group and added piece by piece, eight columns at a time
// (slices.hpp). Whole-number totals join the exact sums when a column outgrows its unit and at the
// end. Residues of slices, weighted rows and numbers near the ends of the range take the slow
// path: integers, one number at a time.
// Twin: posterior.kernels.reference.moments.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "exact.hpp"
#include "matrix.hpp"
#include "simd.hpp"
#include "slices.hpp"

namespace posterior {

constexpr std::size_t kBlockBytes = 262144;      // of rows that are sorted together: they stay in
constexpr std::size_t kMaxBlockRows = 4096;      // cache while tile after tile is added
constexpr std::size_t kFlushRows = 1 << 17;      // 2^53 · 2^9 pieces stays below 2^63
constexpr int kUnscaled = -100000;               // a column of which no number was seen yet
constexpr int kSmallest = -380, kLargest = 400;  // exponents whose squares and units are normal

enum class Outcome : int { done = 0, window_too_small = 1, infinite = 2 };

// Sums of one chunk; scratch space lives as long as the chunk.
template <typename T>
class MomentSums {
  public:
    MomentSums(Matrix<T> X, Groups groups, Sums count, Sums total, Sums squares)
        : X_(X), groups_(groups), count_(count), total_(total), squares_(squares),
          tiles_((X.columns + kLanes - 1) / kLanes), exponent_(tiles_ * kLanes, kUnscaled),
          units_(tiles_), slices_(tiles_, sizeof(T) == sizeof(float) ? 2 : 3),
          totals_(groups.count * tiles_ * kTotals * kLanes), residue_(kPieceRows * kLanes),
          clean_(kPieceRows * kLanes), in_order_(kPieceRows) {
        std::iota(in_order_.begin(), in_order_.end(), 0u);
    }

    Outcome add() {
        const std::size_t row_bytes = std::max<std::size_t>(X_.columns * sizeof(T), 1);
        const std::size_t block =
            std::clamp<std::size_t>(kBlockBytes / row_bytes, 16, kMaxBlockRows);
        std::size_t since_flush = 0;
        for (std::size_t first = 0; first < X_.rows; first += block) {
            const std::size_t rows = std::min(block, X_.rows - first);
            const Outcome outcome = groups_.weight != nullptr ? add_weighted(first, rows)
                                                              : add_block(first, rows);
            if (outcome != Outcome::done) return outcome;
            since_flush += rows;
            if (since_flush >= kFlushRows) {
                if (!flush_all()) return Outcome::window_too_small;
                since_flush = 0;
            }
        }
        return flush_all() ? Outcome::done : Outcome::window_too_small;
    }

  private:
    Outcome add_block(std::size_t first, std::size_t rows) {
        sort_rows(first, rows);
        count_rows();
        block_ = X_.row(first);
        ahead_ = reinterpret_cast<const char*>(X_.row(first + rows));
        ahead_bytes_ = (X_.columns * sizeof(T) + tiles_ - 1) / tiles_;
        for (std::size_t tile = 0; tile < tiles_; ++tile)
            for (std::size_t g = 0; g < groups_.count; ++g)
                for (std::size_t i = start_[g]; i < start_[g + 1]; i += kPieceRows) {
                    const std::size_t n = std::min<std::size_t>(kPieceRows, start_[g + 1] - i);
                    const Outcome o = add_rows(tile, g, order_.data() + i, n);
                    if (o != Outcome::done) return o;
                }
        return Outcome::done;
    }

    // Rows of a group side by side: order_[start_[g] ..] are the rows of group g.
    void sort_rows(std::size_t first, std::size_t rows) {
        const std::int32_t* code = groups_.codes + first;
        start_.assign(groups_.count + 1, 0);
        for (std::size_t i = 0; i < rows; ++i)
            if (code[i] >= 0) ++start_[static_cast<std::size_t>(code[i]) + 1];
        for (std::size_t g = 0; g < groups_.count; ++g) start_[g + 1] += start_[g];
        next_.assign(start_.begin(), start_.end());
        order_.resize(rows);
        for (std::size_t i = 0; i < rows; ++i)
            if (code[i] >= 0)
                order_[next_[static_cast<std::size_t>(code[i])]++] = static_cast<std::uint32_t>(i);
    }

    void count_rows() {
        for (std::size_t g = 0; g < groups_.count; ++g) {
            const std::int64_t rows = start_[g + 1] - start_[g];
            std::int64_t* count = count_.limbs + g * X_.columns;  // a window of one limb
            for (std::size_t j = 0; j < X_.columns && rows != 0; ++j) count[j] += rows;
        }
    }

    // The last tile reaches back over columns of the one before, so that all have eight; lanes
    // that another tile has are not its own.
    std::size_t first_column(std::size_t tile) const {
        return X_.columns < kLanes ? 0 : std::min(tile * kLanes, X_.columns - kLanes);
    }
    bool own(std::size_t tile, std::size_t lane) const {
        const std::size_t column = first_column(tile) + lane;
        return column >= tile * kLanes && column < X_.columns;
    }

    Outcome add_rows(std::size_t tile, std::size_t g, const std::uint32_t* order, std::size_t n) {
        std::int64_t* total = totals_.data() + (g * tiles_ + tile) * kTotals * kLanes;
        double largest[kLanes];
        std::size_t residues = 0;
        Fit fit = Fit::not_finite;
        if (X_.column_step == 1 && X_.columns >= kLanes) {
            Piece<T> piece{block_ + first_column(tile), order, n, X_.row_step, slices_[tile],
                           squares_.size != 0, ahead_, ahead_bytes_};
            ahead_ += n * ahead_bytes_;
            fit = add_piece(piece, units_[tile], total, residue_.data(), residues, largest);
            if (fit == Fit::too_large) {
                if (!rescale(tile, largest)) return Outcome::window_too_small;
                piece.ahead_bytes = 0;
                fit = add_piece(piece, units_[tile], total, residue_.data(), residues, largest);
            }
        }
        if (fit == Fit::not_finite) {
            if (!copy_clean(tile, g, order, n, largest)) return Outcome::infinite;
            if (!rescale(tile, largest)) return Outcome::window_too_small;
            const Piece<double> piece{clean_.data(), in_order_.data(), n, kLanes, slices_[tile],
                                      squares_.size != 0, nullptr, 0};
            fit = add_piece(piece, units_[tile], total, residue_.data(), residues, largest);
        }
        if (fit != Fit::yes) return add_one_by_one(tile, g, order, n);
        return add_residues(tile, g, n, residues) ? Outcome::done : Outcome::window_too_small;
    }

    // A piece as doubles in plain order, missing cells as zeros that do not count; false if a
    // number is infinite.
    bool copy_clean(std::size_t tile, std::size_t g, const std::uint32_t* order, std::size_t n,
                    double* largest) {
        std::fill(largest, largest + kLanes, 0.0);
        for (std::size_t l = 0; l < kLanes; ++l)
            for (std::size_t i = 0; i < n; ++i) {
                const std::size_t j = first_column(tile) + l;
                double x = j < X_.columns ? number(order[i], j) : 0.0;
                if (std::isinf(x)) return false;
                if (std::isnan(x)) {
                    x = 0;
                    if (own(tile, l)) --count_.limbs[g * X_.columns + j];
                }
                clean_[i * kLanes + l] = x;
                largest[l] = std::max(largest[l], std::abs(x));
            }
        return true;
    }

    double number(std::size_t row_of_block, std::size_t j) const {
        return static_cast<double>(
            block_[static_cast<std::ptrdiff_t>(row_of_block) * X_.row_step +
                   static_cast<std::ptrdiff_t>(j) * X_.column_step]);
    }

    // Gives the tile's columns units that hold their largest number, with a bit to spare.
    bool rescale(std::size_t tile, const double* largest) {
        for (std::size_t l = 0; l < kLanes; ++l) {
            int& exponent = exponent_[tile * kLanes + l];
            int needed = kUnscaled;
            if (largest[l] > 0) std::frexp(largest[l], &needed);
            if (needed <= exponent) continue;
            if (!flush(tile, l)) return false;
            exponent = needed + 1;
            const bool normal = kSmallest < exponent && exponent < kLargest;
            Units& unit = units_[tile];
            unit.limit[l] = normal ? std::nextafter(std::ldexp(1.0, exponent), 0.0) : -1.0;
            for (int s = 0; s < kMaxSlices; ++s)
                unit.cut[s][l] = normal ? std::ldexp(1.5, 52 + sum_unit(tile, l, s)) : 0.0;
            for (int t = 0; t < kTotals; ++t)
                unit.inverse[t][l] =
                    !normal          ? 0.0
                    : t < kMaxSlices ? std::ldexp(1.0, -sum_unit(tile, l, t))
                                     : std::ldexp(1.0, -slot_unit(tile, l, t - kMaxSlices));
        }
        return true;
    }

    int sum_unit(std::size_t tile, std::size_t lane, int s) const {
        return exponent_[tile * kLanes + lane] - kSliceBits * (s + 1);
    }
    int slot_unit(std::size_t tile, std::size_t lane, int p) const {
        return 2 * exponent_[tile * kLanes + lane] - kSliceBits * (p + 2);
    }

    // What was added is y = x - rest; what is missing is rest, and x² - y².
    bool add_residues(std::size_t tile, std::size_t g, std::size_t n, std::size_t residues) {
        for (std::size_t r = 0; r < residues; ++r) {
            const auto [lane, x, rest] = residue_[r];
            if (!own(tile, lane)) continue;
            const std::size_t cell = g * X_.columns + first_column(tile) + lane;
            if (!add_term(total_, cell, 1.0, rest)) return false;
            if (squares_.size == 0) continue;
            if (!add_square_term(squares_, cell, 1.0, x) ||
                !add_square_term(squares_, cell, -1.0, x - rest))
                return false;
        }
        if (residues * 2 > n && slices_[tile] < kMaxSlices) ++slices_[tile];
        return true;
    }

    Outcome add_one_by_one(std::size_t tile, std::size_t g, const std::uint32_t* order,
                           std::size_t n) {
        for (std::size_t l = 0; l < kLanes; ++l) {
            const std::size_t j = first_column(tile) + l;
            for (std::size_t i = 0; i < n && own(tile, l); ++i) {
                const double x = number(order[i], j);
                if (!std::isnan(x) && !add_number(g * X_.columns + j, 1.0, x))
                    return Outcome::window_too_small;
            }
        }
        return Outcome::done;
    }

    bool add_number(std::size_t cell, double w, double x) const {
        return add_term(total_, cell, w, x) &&
               (squares_.size == 0 || add_square_term(squares_, cell, w, x));
    }

    Outcome add_weighted(std::size_t first, std::size_t rows) {
        block_ = X_.row(first);
        for (std::size_t i = 0; i < rows; ++i) {
            const std::int32_t code = groups_.codes[first + i];
            const double w = groups_.weight[first + i];
            if (code < 0) continue;
            for (std::size_t j = 0; j < X_.columns; ++j) {
                const double x = number(i, j);
                if (std::isinf(x)) return Outcome::infinite;
                if (std::isnan(x) || w == 0) continue;
                const std::size_t cell = static_cast<std::size_t>(code) * X_.columns + j;
                if (!add_term(count_, cell, w) || !add_number(cell, w, x))
                    return Outcome::window_too_small;
            }
        }
        return Outcome::done;
    }

    bool flush_all() {
        for (std::size_t tile = 0; tile < tiles_; ++tile)
            for (std::size_t l = 0; l < kLanes; ++l)
                if (!flush(tile, l)) return false;
        return true;
    }

    // Adds the whole-number totals of a column to the exact sums.
    bool flush(std::size_t tile, std::size_t lane) {
        if (exponent_[tile * kLanes + lane] == kUnscaled) return true;
        for (std::size_t g = 0; g < groups_.count; ++g) {
            std::int64_t* total = totals_.data() + (g * tiles_ + tile) * kTotals * kLanes + lane;
            const std::size_t cell = g * X_.columns + first_column(tile) + lane;
            for (int t = 0; t < kTotals; ++t) {
                const std::int64_t value =
                    std::exchange(total[static_cast<std::size_t>(t) * kLanes], 0);
                if (value == 0 || !own(tile, lane)) continue;
                const int p = t - kMaxSlices;
                if (!(p < 0 ? total_.add(cell, value, sum_unit(tile, lane, t))
                            : squares_.add(cell, value, slot_unit(tile, lane, p) + p % 2)))
                    return false;
            }
        }
        return true;
    }

    Matrix<T> X_;
    Groups groups_;
    Sums count_, total_, squares_;
    std::size_t tiles_;
    std::vector<int> exponent_;         // of each tile's lanes: |x| < 2^exponent
    std::vector<Units> units_;          // of each tile
    std::vector<int> slices_;
    std::vector<std::int64_t> totals_;  // (group, tile, kTotals, 8)
    std::vector<Residue> residue_;
    std::vector<double> clean_;
    std::vector<std::uint32_t> in_order_, start_, next_, order_;
    const T* block_ = nullptr;
    const char* ahead_ = nullptr;
    std::size_t ahead_bytes_ = 0;
};

// For the window of the sums: the exponent above each column's largest number, and the lowest bit
// set in any number. Columns without numbers keep what they had.
template <typename T>
void find_exponents(Matrix<T> X, std::int64_t* above, std::int64_t& lowest) {
    for (std::size_t i = 0; i < X.rows; ++i)
        for (std::size_t j = 0; j < X.columns; ++j) {
            const double x = static_cast<double>(X.at(i, j));
            if (x == 0 || !std::isfinite(x)) continue;
            const Parts p(x);
            int top;
            std::frexp(x, &top);
            above[j] = std::max<std::int64_t>(above[j], top);
            lowest = std::min(lowest, p.exponent + __builtin_ctzll(
                                          static_cast<unsigned long long>(p.mantissa)));
        }
}

}  // namespace posterior
