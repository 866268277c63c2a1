// Exact sums and sums of squares by group:   s_k = Σᵢ wᵢ xᵢ     q_k = Σᵢ wᵢ xᵢ²
//
// A block of rows is sorted by group, and a group's rows are added in pieces that stay in the
// first cache, eight columns at a time (slices.hpp). Whole-number totals join the exact sums when
// a column outgrows its unit and at the end. Residues of slices, weighted rows and numbers near
// the end of the range take the slow path: integers, one number at a time. Tables so wide that
// their totals would leave the cache are read in panels of columns.
// Twin: posterior.kernels.reference.moments.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "exact.hpp"
#include "matrix.hpp"
#include "simd.hpp"
#include "slices.hpp"

namespace posterior {

constexpr std::size_t kPanelBytes = 524288;      // of totals
constexpr std::size_t kBlockBytes = 131072;      // of rows that are sorted together
constexpr std::size_t kMaxBlockRows = 4096;
constexpr std::size_t kFlushRows = 1 << 15;      // 2^53 · 2^9 pieces stays below 2^63
constexpr int kSmallest = -380, kLargest = 400;  // exponents whose squares and units are normal

enum class Outcome : int { done = 0, window_too_small = 1, infinite = 2 };

// Sums of one chunk; scratch space lives as long as the chunk.
template <typename T>
class MomentSums {
  public:
    MomentSums(Matrix<T> X, Groups groups, Sums count, Sums total, Sums squares)
        : X_(X), groups_(groups), count_(count), total_(total), squares_(squares),
          in_place_(X.column_step == 1 && X.columns >= kLanes), residue_(rows_of(kNarrow) * kLanes) {}

    Outcome add() {
        if (groups_.weight != nullptr) return add_weighted();
        const std::size_t tiles = (X_.columns + kLanes - 1) / kLanes;
        const std::size_t tile_bytes = std::max<std::size_t>(groups_.count, 1) * sizeof(TileSums);
        const std::size_t most = std::max<std::size_t>(kPanelBytes / tile_bytes, 1);
        for (first_tile_ = 0; first_tile_ < tiles; first_tile_ += tiles_) {
            tiles_ = std::min(most, tiles - first_tile_);
            const Outcome outcome = add_panel();
            if (outcome != Outcome::done) return outcome;
        }
        return Outcome::done;
    }

  private:
    struct Tile {
        Units units{};
        int exponent[kLanes];  // of each lane: |x| < 2^exponent
        int way = sizeof(T) == sizeof(float) ? kNarrow : 3;
        bool careful = false;

        Tile() {
            std::fill(exponent, exponent + kLanes, kSmallest);
            for (std::size_t l = 0; l < kLanes; ++l) set_units(l);
        }

        bool usable(std::size_t lane) const { return exponent[lane] <= kLargest; }

        void set_units(std::size_t lane) {
            const int e = exponent[lane];
            units.usable[lane] = usable(lane) ? -1 : 0;
            if (!usable(lane)) careful = true;
            for (int s = 0; s < kMaxSlices && usable(lane); ++s)
                units.cut[s][lane] = cut_of(e - kSliceBits * (s + 1), s == 0 ? kSliceBits : -1);
            if (way == kNarrow && usable(lane)) {
                units.cut[0][lane] = cut_of(e - kNarrowBits, kNarrowBits);
                units.cut[1][lane] = cut_of(2 * e - kNarrowBits);
            }
            for (int slot = 0; slot < kSlots && usable(lane); ++slot)
                units.inverse[slot][lane] = std::ldexp(1.0, -unit_of(way, slot, e));
        }
    };

    Outcome add_panel() {
        tile_.assign(tiles_, Tile());
        sums_.assign(groups_.count * tiles_, TileSums{});
        const std::size_t row_bytes = tiles_ * kLanes * sizeof(T);
        const std::size_t size = std::clamp<std::size_t>(kBlockBytes / row_bytes, 16, kMaxBlockRows);
        if (!in_place_) packed_.assign(size * tiles_ * kLanes, T{0});
        std::size_t since_flush = 0;
        for (std::size_t first = 0; first < X_.rows; first += size) {
            const Outcome outcome = add_block(first, std::min(size, X_.rows - first));
            if (outcome != Outcome::done) return outcome;
            since_flush += size;
            if (since_flush >= kFlushRows) {
                if (!flush_all()) return Outcome::window_too_small;
                since_flush = 0;
            }
        }
        return flush_all() ? Outcome::done : Outcome::window_too_small;
    }

    Outcome add_block(std::size_t first, std::size_t rows) {
        sort_rows(first, rows);
        if (first_tile_ == 0) count_rows();
        block_ = in_place_ ? X_.row(first) + first_tile_ * kLanes : pack(first, rows);
        step_ = in_place_ ? X_.row_step : static_cast<std::ptrdiff_t>(tiles_ * kLanes);
        ahead_ = reinterpret_cast<const char*>(X_.row(first + rows) + first_tile_ * kLanes);
        for (std::size_t g = 0; g < groups_.count; ++g)
            for (std::size_t i = start_[g], end = start_[g + 1], n; i < end; i += n) {
                const std::size_t most = rows_of(tile_[0].way);
                const std::size_t pieces = (end - i + most - 1) / most;
                n = (end - i + pieces - 1) / pieces;  // about equal ones
                for (std::size_t t = 0; t < tiles_; ++t) {
                    const Outcome outcome = add_rows(t, g, order_.data() + i, n);
                    if (outcome != Outcome::done) return outcome;
                }
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

    // Rows of the panel in plain order, zeros where a tile has no column.
    const T* pack(std::size_t first, std::size_t rows) {
        const std::size_t width = tiles_ * kLanes, start = first_tile_ * kLanes;
        for (std::size_t j = 0; j < std::min(width, X_.columns - start); ++j)
            for (std::size_t i = 0; i < rows; ++i)
                packed_[i * width + j] = X_.at(first + i, start + j);
        return packed_.data();
    }

    // Where a tile begins in the panel's rows. In place the last one reaches back over columns of
    // the one before, so that all have eight; lanes that another tile has are not its own.
    std::ptrdiff_t offset(std::size_t tile) const {
        const std::size_t end = (first_tile_ + tile + 1) * kLanes;
        const std::size_t back = in_place_ && end > X_.columns ? end - X_.columns : 0;
        return static_cast<std::ptrdiff_t>(tile * kLanes) - static_cast<std::ptrdiff_t>(back);
    }
    std::size_t column(std::size_t tile, std::size_t lane) const {
        return static_cast<std::size_t>(static_cast<std::ptrdiff_t>(first_tile_ * kLanes + lane) +
                                        offset(tile));
    }
    bool own(std::size_t tile, std::size_t lane) const {
        const std::size_t j = column(tile, lane);
        return j >= (first_tile_ + tile) * kLanes && j < X_.columns;
    }

    Outcome add_rows(std::size_t t, std::size_t g, const std::uint32_t* order, std::size_t n) {
        Tile& tile = tile_[t];
        if (n > rows_of(tile.way)) {  // a column of floats that needs slices
            const Outcome outcome = add_rows(t, g, order, n / 2);
            return outcome == Outcome::done ? add_rows(t, g, order + n / 2, n - n / 2) : outcome;
        }
        const Piece<T> piece{block_ + offset(t), order, n, step_, ahead_, kLanes * sizeof(T)};
        ahead_ += n * piece.ahead_bytes;
        std::size_t residues = 0;
        while (!add_piece(piece, {tile.way, squares_.size != 0, tile.careful}, tile.units,
                          sums_[g * tiles_ + t], residue_.data(), residues)) {
            double largest[kLanes];
            if (look(piece, largest)) tile.careful = true;
            if (std::isinf(*std::max_element(largest, largest + kLanes))) return Outcome::infinite;
            if (!rescale(t, largest)) return Outcome::window_too_small;
        }
        return add_residues(t, g, n, residues) && add_extremes(t, g, piece)
                   ? Outcome::done
                   : Outcome::window_too_small;
    }

    // Gives the tile's columns units that hold their largest number, with a bit to spare.
    bool rescale(std::size_t t, const double* largest) {
        Tile& tile = tile_[t];
        for (std::size_t l = 0; l < kLanes; ++l) {
            int needed;
            std::frexp(largest[l], &needed);
            if (needed < tile.exponent[l]) continue;
            if (!flush(t, l)) return false;
            tile.exponent[l] = needed + 1;
            tile.set_units(l);
        }
        return true;
    }

    // What was added is y = x - rest; what is missing is rest, and x² - y². Where that is often
    // so, more slices are cut from now on.
    bool add_residues(std::size_t t, std::size_t g, std::size_t n, std::size_t residues) {
        for (std::size_t r = 0; r < residues; ++r) {
            const auto [lane, x, rest] = residue_[r];
            if (!own(t, lane)) continue;
            const std::size_t cell = g * X_.columns + column(t, lane);
            if (!add_term(total_, cell, 1.0, rest)) return false;
            if (squares_.size == 0) continue;
            if (!add_square_term(squares_, cell, 1.0, x) ||
                !add_square_term(squares_, cell, -1.0, x - rest))
                return false;
        }
        Tile& tile = tile_[t];
        if (residues * 2 <= n || tile.way == kMaxSlices) return true;
        for (std::size_t l = 0; l < kLanes; ++l)
            if (!flush(t, l)) return false;
        tile.way = tile.way == kNarrow ? 3 : 4;
        for (std::size_t l = 0; l < kLanes; ++l) tile.set_units(l);
        return true;
    }

    // Columns with numbers near the end of the range.
    bool add_extremes(std::size_t t, std::size_t g, const Piece<T>& piece) {
        const Tile& tile = tile_[t];
        if (!tile.careful) return true;
        for (std::size_t l = 0; l < kLanes; ++l) {
            if (tile.usable(l) || !own(t, l)) continue;
            for (std::size_t i = 0; i < piece.rows; ++i) {
                const auto row = static_cast<std::ptrdiff_t>(piece.order[i]) * piece.step;
                const double x = static_cast<double>(piece.x[row + static_cast<std::ptrdiff_t>(l)]);
                if (!std::isnan(x) && !add_number(g * X_.columns + column(t, l), 1.0, x))
                    return false;
            }
        }
        return true;
    }

    bool add_number(std::size_t cell, double w, double x) const {
        return add_term(total_, cell, w, x) &&
               (squares_.size == 0 || add_square_term(squares_, cell, w, x));
    }

    Outcome add_weighted() {
        for (std::size_t i = 0; i < X_.rows; ++i) {
            const std::int32_t code = groups_.codes[i];
            const double w = groups_.weight[i];
            if (code < 0) continue;
            for (std::size_t j = 0; j < X_.columns; ++j) {
                const double x = static_cast<double>(X_.at(i, j));
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
        for (std::size_t t = 0; t < tiles_; ++t)
            for (std::size_t l = 0; l < kLanes; ++l)
                if (!flush(t, l)) return false;
        return true;
    }

    // Adds the whole-number totals of a column to the exact sums.
    bool flush(std::size_t t, std::size_t lane) {
        const Tile& tile = tile_[t];
        for (std::size_t g = 0; g < groups_.count; ++g) {
            TileSums& sums = sums_[g * tiles_ + t];
            const std::size_t cell = g * X_.columns + column(t, lane);
            const std::int64_t missing = std::exchange(sums.missing[lane], 0);
            if (own(t, lane)) count_.limbs[cell] += missing;
            for (int slot = 0; slot < kSlots; ++slot) {
                const std::int64_t value = std::exchange(sums.total[slot][lane], 0);
                if (value == 0 || !own(t, lane)) continue;
                const int unit = unit_of(tile.way, slot, tile.exponent[lane]), p = slot - kSums;
                const int twice = tile.way != kNarrow && p % 2 == 1 ? 1 : 0;
                if (!(p < 0 ? total_.add(cell, value, unit)
                            : squares_.add(cell, value, unit + twice)))
                    return false;
            }
        }
        return true;
    }

    Matrix<T> X_;
    Groups groups_;
    Sums count_, total_, squares_;
    bool in_place_;
    std::size_t first_tile_ = 0, tiles_ = 0;  // of the panel
    std::vector<Tile> tile_;
    std::vector<TileSums> sums_;              // (group, tile)
    std::vector<Residue> residue_;
    std::vector<T> packed_;
    std::vector<std::uint32_t> start_, next_, order_;
    const T* block_ = nullptr;
    std::ptrdiff_t step_ = 0;
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
