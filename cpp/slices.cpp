// Every sum and product here is exact, so this file may fuse them (-ffp-contract=fast) on machines
// that can, and no bit changes.
#include "slices.hpp"

namespace posterior {

constexpr std::size_t kGroupRows = 16;  // rows whose residues are looked at together

POSTERIOR_INLINE bool any(const Integers& mask) {
    std::int64_t lane[kLanes], seen = 0;
    std::memcpy(lane, &mask, sizeof lane);
    for (std::size_t l = 0; l < kLanes; ++l) seen |= lane[l];
    return seen != 0;
}

template <int Slices, bool WithSquares>
POSTERIOR_INLINE std::size_t add_piece(const double* x, std::size_t rows, std::size_t step,
                                       const Units& unit, const char* ahead,
                                       std::int64_t* total, Residue* residue) {
    constexpr int kUsedSlots = WithSquares ? 2 * Slices - 1 : 0;
    Lanes sum[Slices] = {}, slot[2 * Slices - 1] = {}, cut[Slices];
    double rests[kGroupRows][kLanes];
    std::size_t left_over = 0;
    for (int s = 0; s < Slices; ++s) load(cut[s], unit.cut[s]);
    for (std::size_t first = 0; first < rows; first += kGroupRows) {
        const std::size_t group = rows - first < kGroupRows ? rows - first : kGroupRows;
        Integers left = {};
        for (std::size_t i = 0; i < group; ++i, x += step, ahead += 64) {
            __builtin_prefetch(ahead);
            Lanes rest, slice[Slices];
            load(rest, x);
            for (int s = 0; s < Slices; ++s) {
                slice[s] = (rest + cut[s]) - cut[s];
                rest -= slice[s];
                sum[s] += slice[s];
            }
            store(rests[i], rest);
            left |= rest != 0;
            if constexpr (WithSquares) {
                for (int s = 0; s < Slices; ++s) {
                    slot[2 * s] += slice[s] * slice[s];
                    for (int t = s + 1; t < Slices; ++t) {
                        // slots of even index hold a square, so their mixed products come doubled
                        const Lanes first_factor =
                            (s + t) % 2 == 0 ? slice[s] + slice[s] : slice[s];
                        slot[s + t] += first_factor * slice[t];
                    }
                }
            }
        }
        if (!any(left)) continue;
        for (std::size_t i = 0; i < group; ++i)
            for (std::size_t l = 0; l < kLanes; ++l)
                if (rests[i][l] != 0)
                    residue[left_over++] = {static_cast<std::uint32_t>(first + i),
                                            static_cast<std::uint32_t>(l), rests[i][l]};
    }
    for (int t = 0; t < Slices + kUsedSlots; ++t) {
        const int place = t < Slices ? t : kMaxSlices + t - Slices;
        Lanes scale;
        load(scale, unit.inverse[place]);
        const Lanes value = (t < Slices ? sum[t] : slot[t - Slices]) * scale;
        std::int64_t* to = total + static_cast<std::size_t>(place) * kLanes;
        for (std::size_t l = 0; l < kLanes; ++l) to[l] += static_cast<std::int64_t>(value[l]);
    }
    return left_over;
}

POSTERIOR_CLONES std::size_t add_slices(const double* x, std::size_t rows, std::size_t step,
                                        const Units& unit, int slices, bool with_squares,
                                        const char* ahead, std::int64_t* total,
                                        Residue* residue) {
    if (with_squares) {
        if (slices == 2) return add_piece<2, true>(x, rows, step, unit, ahead, total, residue);
        if (slices == 3) return add_piece<3, true>(x, rows, step, unit, ahead, total, residue);
        return add_piece<4, true>(x, rows, step, unit, ahead, total, residue);
    }
    if (slices == 2) return add_piece<2, false>(x, rows, step, unit, ahead, total, residue);
    if (slices == 3) return add_piece<3, false>(x, rows, step, unit, ahead, total, residue);
    return add_piece<4, false>(x, rows, step, unit, ahead, total, residue);
}

template <typename T>
POSTERIOR_INLINE void pack(const T* x, std::ptrdiff_t step, std::size_t rows, std::size_t columns,
                           const std::uint32_t* place, double* to, std::size_t width,
                           std::int64_t* __restrict largest) {
    for (std::size_t i = 0; i < rows; ++i, x += step) {
        double* __restrict row = to + place[i] * width;
        for (std::size_t j = 0; j < columns; ++j) {
            row[j] = static_cast<double>(x[j]);
            const std::int64_t bits = magnitude_bits(row[j]);
            largest[j] = bits > largest[j] ? bits : largest[j];
        }
    }
}

POSTERIOR_CLONES void pack_rows(const double* x, std::ptrdiff_t step, std::size_t rows,
                                std::size_t columns, const std::uint32_t* place, double* to,
                                std::size_t width, std::int64_t* largest) {
    pack(x, step, rows, columns, place, to, width, largest);
}

POSTERIOR_CLONES void pack_rows(const float* x, std::ptrdiff_t step, std::size_t rows,
                                std::size_t columns, const std::uint32_t* place, double* to,
                                std::size_t width, std::int64_t* largest) {
    pack(x, step, rows, columns, place, to, width, largest);
}

}  // namespace posterior
