// Exact sums and sums of squares by group:   s_k = Σᵢ wᵢ xᵢ     q_k = Σᵢ wᵢ xᵢ²
//
// Rows are packed block by block, those of a group side by side, and added in slices (slices.hpp).
// Whole-number totals join the exact sums when a column outgrows its unit and at the end. Residues
// of slices, weighted rows and numbers near the ends of the range take the slow path: integers,
// one number at a time.
// Twin: posterior.kernels.reference.moments.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "exact.hpp"
#include "matrix.hpp"
#include "simd.hpp"
#include "slices.hpp"

namespace posterior {

constexpr std::size_t kBlockCells = 24576;    // a packed block is 192 KB: it stays in cache
constexpr std::size_t kMaxBlockRows = 1024;
constexpr std::size_t kFlushBlocks = 256;     // 2^53 · 4 pieces · 2^8 stays below 2^63
constexpr int kUnscaled = -100000;            // a column of which no number was seen yet
constexpr int kSmallest = -380, kLargest = 400;  // exponents whose squares and units are normal
constexpr std::int64_t kInfinity = 0x7ff0000000000000;

enum class Outcome : int { done = 0, window_too_small = 1, infinite = 2 };

// Sums of one chunk, columns eight at a time; scratch space lives as long as the chunk.
class MomentSums {
  public:
    MomentSums(Groups groups, std::size_t columns, Sums count, Sums total, Sums squares)
        : groups_(groups), columns_(columns), width_(padded(columns)), count_(count),
          total_(total), squares_(squares), exponent_(width_, kUnscaled),
          units_(width_ / kLanes), slices_(width_ / kLanes), plain_(width_ / kLanes, true),
          totals_(groups.count * width_ * kTotals), largest_(width_),
          residue_(kPieceRows * kLanes) {}

    template <typename T>
    Outcome add(Matrix<T> X) {
        const std::size_t block = std::clamp<std::size_t>(
            kBlockCells / std::max<std::size_t>(width_, 1), 16, kMaxBlockRows);
        packed_.assign(std::min(block, X.rows) * width_, 0.0);
        std::fill(slices_.begin(), slices_.end(), sizeof(T) == sizeof(float) ? 2 : 3);
        std::size_t blocks = 0;
        for (std::size_t first = 0; first < X.rows; first += block) {
            const std::size_t rows = std::min(block, X.rows - first);
            const Matrix<T> part{X.row(first), rows, X.columns, X.row_step, X.column_step};
            if (const Outcome o = add_block(part, first); o != Outcome::done) return o;
            if (++blocks % kFlushBlocks == 0 && !flush(0, columns_))
                return Outcome::window_too_small;
        }
        return flush(0, columns_) ? Outcome::done : Outcome::window_too_small;
    }

  private:
    template <typename T>
    Outcome add_block(Matrix<T> X, std::size_t first) {
        sort_rows(first, X.rows);
        std::fill(largest_.begin(), largest_.end(), 0);
        if (X.column_step == 1)
            pack_rows(X.data, X.row_step, X.rows, columns_, place_.data(), packed_.data(), width_,
                      largest_.data());
        else
            pack_any_order(X);
        const std::int64_t top = *std::max_element(largest_.begin(), largest_.end());
        if (top == kInfinity) return Outcome::infinite;
        if (top > kInfinity && !leave_out_missing(X.rows)) return Outcome::infinite;
        if (groups_.weight != nullptr) return add_weighted(first, X.rows);
        count_rows();
        ahead_ = reinterpret_cast<const char*>(X.row(X.rows));
        for (std::size_t tile = 0; tile < units_.size(); ++tile) {
            if (!rescale(tile)) return Outcome::window_too_small;
            for (std::size_t g = 0; g < groups_.count; ++g)
                if (start_[g] != start_[g + 1] && !add_group(tile, g))
                    return Outcome::window_too_small;
        }
        return Outcome::done;
    }

    // Rows of a group side by side: place_[i] is where row i goes, start_[g] where g begins.
    void sort_rows(std::size_t first, std::size_t rows) {
        const std::int32_t* code = groups_.codes + first;
        const auto group = [&](std::size_t i) {
            return code[i] < 0 ? groups_.count : static_cast<std::size_t>(code[i]);
        };
        start_.assign(groups_.count + 2, 0);
        for (std::size_t i = 0; i < rows; ++i) ++start_[group(i) + 1];
        for (std::size_t g = 0; g <= groups_.count; ++g) start_[g + 1] += start_[g];
        next_.assign(start_.begin(), start_.end());
        place_.resize(rows);
        for (std::size_t i = 0; i < rows; ++i) place_[i] = next_[group(i)]++;
    }

    template <typename T>
    void pack_any_order(Matrix<T> X) {
        for (std::size_t j = 0; j < columns_; ++j)
            for (std::size_t i = 0; i < X.rows; ++i) {
                const double x = static_cast<double>(X.at(i, j));
                packed_[place_[i] * width_ + j] = x;
                largest_[j] = std::max(largest_[j], magnitude_bits(x));
            }
    }

    // Counts missing cells and makes them zero (weighted rows skip them instead); false if a
    // number is infinite.
    bool leave_out_missing(std::size_t rows) {
        missing_.assign(groups_.count * columns_, 0);
        for (std::size_t j = 0; j < columns_; ++j) {
            if (largest_[j] < kInfinity) continue;
            largest_[j] = 0;
            for (std::size_t g = 0; g <= groups_.count; ++g)
                for (std::size_t i = start_[g]; i < start_[g + 1] && i < rows; ++i) {
                    double& x = packed_[i * width_ + j];
                    if (std::isinf(x)) return false;
                    if (!std::isnan(x)) {
                        largest_[j] = std::max(largest_[j], magnitude_bits(x));
                    } else if (groups_.weight == nullptr) {
                        x = 0;
                        if (g < groups_.count) ++missing_[g * columns_ + j];
                    }
                }
        }
        return true;
    }

    void count_rows() {
        for (std::size_t g = 0; g < groups_.count; ++g) {
            const std::int64_t rows = start_[g + 1] - start_[g];
            if (rows == 0) continue;
            std::int64_t* count = count_.limbs + g * columns_;  // a window of one limb
            for (std::size_t j = 0; j < columns_; ++j)
                count[j] += rows - (missing_.empty() ? 0 : missing_[g * columns_ + j]);
        }
        missing_.clear();
    }

    // Gives the tile's columns units that hold their largest number, with a bit to spare.
    bool rescale(std::size_t tile) {
        for (std::size_t l = 0; l < kLanes; ++l) {
            const std::size_t j = tile * kLanes + l;
            if (largest_[j] == 0) continue;
            const int needed = static_cast<int>(largest_[j] >> 52) - 1022;
            if (needed <= exponent_[j]) continue;
            if (!flush(j, j + 1)) return false;
            exponent_[j] = needed + 1;
            plain_[tile] = plain_[tile] && needed > kSmallest && needed < kLargest;
            for (int s = 0; s < kMaxSlices; ++s)
                units_[tile].cut[s][l] = std::ldexp(1.5, 52 + sum_unit(j, s));
            for (int t = 0; t < kTotals; ++t)
                units_[tile].inverse[t][l] = std::ldexp(
                    1.0, -(t < kMaxSlices ? sum_unit(j, t) : slot_unit(j, t - kMaxSlices)));
        }
        return true;
    }

    int sum_unit(std::size_t j, int s) const { return exponent_[j] - kSliceBits * (s + 1); }
    int slot_unit(std::size_t j, int p) const { return 2 * exponent_[j] - kSliceBits * (p + 2); }

    bool add_group(std::size_t tile, std::size_t g) {
        std::int64_t* total = totals_.data() + (g * units_.size() + tile) * kTotals * kLanes;
        const std::size_t cell = g * columns_ + tile * kLanes;
        const std::size_t columns = std::min(kLanes, columns_ - tile * kLanes);
        for (std::size_t i = start_[g]; i < start_[g + 1]; i += kPieceRows) {
            const double* x = packed_.data() + i * width_ + tile * kLanes;
            const std::size_t rows = std::min<std::size_t>(kPieceRows, start_[g + 1] - i);
            if (!plain_[tile]) {
                for (std::size_t r = 0; r < rows; ++r)
                    for (std::size_t l = 0; l < columns; ++l)
                        if (!add_number(cell + l, 1.0, x[r * width_ + l])) return false;
                continue;
            }
            const std::size_t left = add_slices(x, rows, width_, units_[tile], slices_[tile],
                                                squares_.size != 0, ahead_, total,
                                                residue_.data());
            ahead_ += rows * 64;
            for (std::size_t r = 0; r < left; ++r)
                if (!add_residue(cell, x, residue_[r])) return false;
            if (left * 16 > rows * columns && slices_[tile] < kMaxSlices) ++slices_[tile];
        }
        return true;
    }

    // What was added is y = x - rest; what is missing is rest, and x² - y².
    bool add_residue(std::size_t cell, const double* packed, const Residue& r) const {
        const double x = packed[r.row * width_ + r.lane], y = x - r.rest;
        return add_term(total_, cell + r.lane, 1.0, r.rest) &&
               (squares_.size == 0 || (add_square_term(squares_, cell + r.lane, 1.0, x) &&
                                       add_square_term(squares_, cell + r.lane, -1.0, y)));
    }

    bool add_number(std::size_t cell, double w, double x) const {
        return add_term(total_, cell, w, x) &&
               (squares_.size == 0 || add_square_term(squares_, cell, w, x));
    }

    Outcome add_weighted(std::size_t first, std::size_t rows) {
        missing_.clear();
        for (std::size_t i = 0; i < rows; ++i) {
            const std::int32_t code = groups_.codes[first + i];
            const double w = groups_.weight[first + i];
            if (code < 0 || w == 0) continue;
            const double* x = packed_.data() + place_[i] * width_;
            for (std::size_t j = 0; j < columns_; ++j) {
                if (std::isnan(x[j])) continue;
                const std::size_t cell = static_cast<std::size_t>(code) * columns_ + j;
                if (!add_term(count_, cell, w) || !add_number(cell, w, x[j]))
                    return Outcome::window_too_small;
            }
        }
        return Outcome::done;
    }

    // Adds the whole-number totals of columns from .. to - 1 to the exact sums.
    bool flush(std::size_t from, std::size_t to) {
        for (std::size_t j = from; j < to; ++j) {
            if (exponent_[j] == kUnscaled) continue;
            for (std::size_t g = 0; g < groups_.count; ++g) {
                std::int64_t* total = totals_.data() + j % kLanes +
                                      (g * units_.size() + j / kLanes) * kTotals * kLanes;
                const std::size_t cell = g * columns_ + j;
                for (int t = 0; t < kTotals; ++t) {
                    std::int64_t& value = total[static_cast<std::size_t>(t) * kLanes];
                    if (value == 0) continue;
                    const int p = t - kMaxSlices;
                    const bool fits = p < 0 ? total_.add(cell, value, sum_unit(j, t))
                                            : squares_.add(cell, value, slot_unit(j, p) + p % 2);
                    if (!fits) return false;
                    value = 0;
                }
            }
        }
        return true;
    }

    Groups groups_;
    std::size_t columns_, width_;
    Sums count_, total_, squares_;
    std::vector<int> exponent_;         // of each column: |x| < 2^exponent
    std::vector<Units> units_;          // of each tile of eight columns
    std::vector<int> slices_;
    std::vector<bool> plain_;           // false: numbers too large or small to slice
    std::vector<std::int64_t> totals_;  // (group, tile, kTotals, 8)
    std::vector<std::int64_t> largest_, missing_;
    std::vector<Residue> residue_;
    std::vector<double> packed_;
    std::vector<std::uint32_t> start_, next_, place_;
    const char* ahead_ = nullptr;
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
