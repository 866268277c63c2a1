// The inner loop of exact sums and sums of squares:   s = Σᵢ xᵢ     q = Σᵢ xᵢ²
//
// Each number is cut into slices of 23 bits below the largest of its column, x = a + b + c + ...,
// by adding and subtracting constants (Rump, Ogita and Oishi 2008). Slices and products of two
// slices are small whole multiples of a unit, so ordinary doubles add up 64 of them without
// rounding:
//     x = a + (b + c) + d      x² = aa + 2ab + (2ac + bb) + 2(ad + bc) + (2bd + cc) + 2cd + dd
// A number that came as a float needs no slices: it has 24 bits, its square 48, and both are
// doubles; only the square is cut in two. Whatever the last slice leaves over is handed back as a
// residue, for the caller to add.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "simd.hpp"

namespace posterior {

constexpr int kNarrow = 0, kMaxSlices = 4;  // ways to add: floats whole, or in 3 or 4 slices
constexpr int kSliceBits = 23, kNarrowBits = 46;
constexpr int kSums = 3, kSquares = 2 * kMaxSlices - 1, kSlots = kSums + kSquares;

// How many rows add up without rounding: 1.25 · 2^46 · 2^6 and 2^46 · 2^7 do not exceed 2^53.
constexpr std::size_t rows_of(int way) { return way == kNarrow ? 128 : 64; }

// The constant that rounds numbers to multiples of 2^unit. The first one of a column is moved so
// that the upper bits of x + cut are those of cut for -2^bits <= x / 2^unit < 2^bits, and no other.
inline double cut_of(int unit, int bits = -1) {
    return std::ldexp(1.5, 52 + unit) + (bits < 0 ? 0.0 : std::ldexp(1.0, bits + unit));
}

// What a slot counts in if |x| < 2^exponent: a power of two.
constexpr int unit_of(int way, int slot, int exponent) {
    const int p = slot - kSums;
    if (way == kNarrow) return p < 0 ? exponent - kNarrowBits : 2 * exponent - kNarrowBits * (p + 1);
    if (p >= 0) return 2 * exponent - kSliceBits * (p + 2);
    return exponent - kSliceBits * (slot == 0 ? 1 : slot + 2);
}

// Constants of eight columns.
struct alignas(64) Units {
    double cut[kMaxSlices][kLanes];  // x + cut - cut rounds x to a multiple of the slice's unit
    double inverse[kSlots][kLanes];  // a sum times this is a whole number
    std::int64_t usable[kLanes];     // all bits, or none: numbers too extreme to be cut
};

// Sums of a group in eight columns: whole numbers of units, and less the cells that were missing.
struct alignas(64) TileSums {
    std::int64_t total[kSlots][kLanes];
    std::int64_t missing[kLanes];
};

// A number whose slices left something over.
struct Residue {
    std::size_t lane;
    double x, rest;
};

// Some rows, eight columns wide: row i begins at x + order[i] * step.
template <typename T>
struct Piece {
    const T* x;
    const std::uint32_t* order;
    std::size_t rows;
    std::ptrdiff_t step;
    const char* ahead;        // memory that will be read soon is fetched on the way,
    std::size_t ahead_bytes;  // so much of it with each row
};

// How to add: in how many slices, with squares or without, and with an eye on missing cells and
// columns that are not usable, which count as zeros.
struct Manner {
    int way;
    bool squares, careful;
};

// Adds a piece to the sums and lists its residues. False if a cell is outside |x| < 2^exponent or
// not a number, and the sums are then as before.
bool add_piece(const Piece<double>& piece, Manner manner, const Units& unit, TileSums& sums,
               Residue* residue, std::size_t& residues);
bool add_piece(const Piece<float>& piece, Manner manner, const Units& unit, TileSums& sums,
               Residue* residue, std::size_t& residues);

// The largest |x| of each column; true if cells are missing.
bool look(const Piece<double>& piece, double* largest);
bool look(const Piece<float>& piece, double* largest);

}  // namespace posterior
