// The inner loops of exact sums and sums of squares:   s = Σᵢ xᵢ     q = Σᵢ xᵢ²
//
// Each number is cut into slices of 22 bits below the largest of its column, x = a + b + c + ...,
// by adding and subtracting constants (Rump, Ogita and Oishi 2008). Slices and products of two
// slices are small whole multiples of a unit, so ordinary doubles add up 256 of them without
// rounding:
//     x² = aa + 2ab + (2ac + bb) + 2(ad + bc) + (2bd + cc) + 2cd + dd
// Whatever the last slice leaves over is handed back as a residue, for the caller to add.
#pragma once

#include <cstddef>
#include <cstdint>

#include "simd.hpp"

namespace posterior {

constexpr int kMinSlices = 2, kMaxSlices = 4, kSliceBits = 22;
constexpr int kSlots = 2 * kMaxSlices - 1;     // products of slices, by their unit
constexpr int kTotals = kMaxSlices + kSlots;   // sums of slices first, then of products
constexpr std::size_t kPieceRows = 256;        // 2^44 · 2^8 stays below 2^53

// The constants of eight columns: x + cut - cut rounds x to a multiple of the slice's unit, and a
// total times its inverse unit is a whole number.
struct Units {
    double cut[kMaxSlices][kLanes];
    double inverse[kTotals][kLanes];
};

// What the slices of one number left over.
struct Residue {
    std::uint32_t row, lane;
    double rest;
};

// Adds up to 256 rows, eight columns wide, to whole-number totals (kTotals, 8). Returns how many
// residues it wrote. Memory at `ahead`, soon to be read, is fetched on the way.
std::size_t add_slices(const double* x, std::size_t rows, std::size_t step, const Units& unit,
                       int slices, bool with_squares, const char* ahead, std::int64_t* total,
                       Residue* residue);

// Copies rows as doubles to their places, noting the largest magnitude of each column as the bits
// of a double; a missing cell is larger than infinity there.
void pack_rows(const double* x, std::ptrdiff_t step, std::size_t rows, std::size_t columns,
               const std::uint32_t* place, double* to, std::size_t width, std::int64_t* largest);
void pack_rows(const float* x, std::ptrdiff_t step, std::size_t rows, std::size_t columns,
               const std::uint32_t* place, double* to, std::size_t width, std::int64_t* largest);

POSTERIOR_INLINE std::int64_t magnitude_bits(double x) {
    std::int64_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits & 0x7fffffffffffffff;
}

}  // namespace posterior
