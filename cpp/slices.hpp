// The inner loop of exact sums and sums of squares:   s = Σᵢ xᵢ     q = Σᵢ xᵢ²
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

constexpr int kMaxSlices = 4, kSliceBits = 22;
constexpr int kSlots = 2 * kMaxSlices - 1;    // products of slices, by their unit
constexpr int kTotals = kMaxSlices + kSlots;  // sums of slices first, then of products
constexpr std::size_t kPieceRows = 256;       // 2^44 · 2^8 stays below 2^53

// Constants of eight columns: x + cut - cut rounds x to a multiple of the slice's unit, and a sum
// times its inverse unit is a whole number. Numbers must not exceed the limit.
struct Units {
    double limit[kLanes];
    double cut[kMaxSlices][kLanes];
    double inverse[kTotals][kLanes];
};

// A number whose slices left something over.
struct Residue {
    std::size_t lane;
    double x, rest;
};

// Up to 256 rows, eight columns wide: row i begins at x + order[i] * step.
template <typename T>
struct Piece {
    const T* x;
    const std::uint32_t* order;
    std::size_t rows;
    std::ptrdiff_t step;
    int slices;
    bool squares;
    const char* ahead;        // memory that will be read soon is fetched on the way,
    std::size_t ahead_bytes;  // so much of it with each row
};

enum class Fit { yes, too_large, not_finite };

// Adds a piece to whole-number totals (kTotals, 8) and lists its residues; or says why it cannot
// and, if numbers are too large, how large they are. Totals are then as before.
Fit add_piece(const Piece<double>& piece, const Units& unit, std::int64_t* total,
              Residue* residue, std::size_t& residues, double* largest);
Fit add_piece(const Piece<float>& piece, const Units& unit, std::int64_t* total, Residue* residue,
              std::size_t& residues, double* largest);

}  // namespace posterior
