// Every sum and product here is exact, so this file may fuse them (-ffp-contract=fast) on machines
// that can, and no bit changes.
#include "slices.hpp"

namespace posterior {

constexpr std::size_t kGroupRows = 16;  // rows whose residues are looked at together

POSTERIOR_INLINE void keep_largest(Lanes& largest, const Lanes& x) {
    Integers bits;
    std::memcpy(&bits, &x, sizeof bits);
    bits &= 0x7fffffffffffffff;
    Lanes magnitude;
    std::memcpy(&magnitude, &bits, sizeof magnitude);
    largest = magnitude > largest ? magnitude : largest;
}

POSTERIOR_INLINE void cut_off(Lanes& slice, Lanes& rest, const Lanes& cut) {
    slice = (rest + cut) - cut;
    rest -= slice;
}

// Sums stand in named variables, and so in registers: an array of them would live on the stack.
template <int Slices, bool WithSquares, typename T>
POSTERIOR_INLINE Fit add_rows(const Piece<T>& piece, const Units& unit, std::int64_t* total,
                              Residue* residue, std::size_t& residues, double* largest) {
    Lanes s0 = {}, s1 = {}, s2 = {}, s3 = {}, top = {};
    Lanes q0 = {}, q1 = {}, q2 = {}, q3 = {}, q4 = {}, q5 = {}, q6 = {};
    Lanes cut0, cut1, cut2, cut3;
    load(cut0, unit.cut[0]);
    load(cut1, unit.cut[1]);
    load(cut2, unit.cut[2]);
    load(cut3, unit.cut[3]);
    double rests[kGroupRows][kLanes];
    const char* ahead = piece.ahead;
    std::size_t left_over = 0;
    for (std::size_t first = 0; first < piece.rows; first += kGroupRows) {
        const std::uint32_t* order = piece.order + first;
        const std::size_t left_rows = piece.rows - first;
        const std::size_t group = left_rows < kGroupRows ? left_rows : kGroupRows;
        Integers left = {};
        for (std::size_t i = 0; i < group; ++i, ahead += piece.ahead_bytes) {
            __builtin_prefetch(ahead, 0, 2);  // to the second cache: the first holds sums
            Lanes rest, a, b, c = {}, d = {};
            load(rest, piece.x + static_cast<std::ptrdiff_t>(order[i]) * piece.step);
            keep_largest(top, rest);
            cut_off(a, rest, cut0);
            cut_off(b, rest, cut1);
            s0 += a;
            s1 += b;
            if constexpr (Slices > 2) {
                cut_off(c, rest, cut2);
                s2 += c;
            }
            if constexpr (Slices > 3) {
                cut_off(d, rest, cut3);
                s3 += d;
            }
            store(rests[i], rest);
            left |= rest != 0;
            if constexpr (WithSquares) {
                q0 += a * a;
                q1 += a * b;
                if constexpr (Slices == 2) q2 += b * b;
                if constexpr (Slices > 2) {
                    q2 += (a + a) * c + b * b;
                    q3 += Slices == 3 ? b * c : a * d + b * c;
                    q4 += Slices == 3 ? c * c : (b + b) * d + c * c;
                }
                if constexpr (Slices > 3) {
                    q5 += c * d;
                    q6 += d * d;
                }
            }
        }
        if (!any(left)) continue;
        for (std::size_t i = 0; i < group; ++i)
            for (std::size_t l = 0; l < kLanes; ++l)
                if (rests[i][l] != 0) {
                    const T* x = piece.x + static_cast<std::ptrdiff_t>(order[i]) * piece.step;
                    residue[left_over++] = {l, static_cast<double>(x[l]), rests[i][l]};
                }
    }
    residues = left_over;
    store(largest, top);
    Lanes limit;
    load(limit, unit.limit);
    if (any(s1 != s1)) return Fit::not_finite;  // a slice of infinity leaves no number over
    if (any(top > limit)) return Fit::too_large;
    const Lanes sums[kTotals] = {s0, s1, s2, s3, q0, q1, q2, q3, q4, q5, q6};
    for (int t = 0; t < (WithSquares ? kTotals : kMaxSlices); ++t) {
        Lanes scale;
        load(scale, unit.inverse[t]);
        const Lanes whole = sums[t] * scale;
        std::int64_t* to = total + static_cast<std::size_t>(t) * kLanes;
        for (std::size_t l = 0; l < kLanes; ++l) to[l] += static_cast<std::int64_t>(whole[l]);
    }
    return Fit::yes;
}

template <typename T>
POSTERIOR_INLINE Fit add_any(const Piece<T>& piece, const Units& unit, std::int64_t* total,
                             Residue* residue, std::size_t& residues, double* largest) {
    if (piece.squares) {
        if (piece.slices == 2)
            return add_rows<2, true>(piece, unit, total, residue, residues, largest);
        if (piece.slices == 3)
            return add_rows<3, true>(piece, unit, total, residue, residues, largest);
        return add_rows<4, true>(piece, unit, total, residue, residues, largest);
    }
    if (piece.slices == 2)
        return add_rows<2, false>(piece, unit, total, residue, residues, largest);
    if (piece.slices == 3)
        return add_rows<3, false>(piece, unit, total, residue, residues, largest);
    return add_rows<4, false>(piece, unit, total, residue, residues, largest);
}

POSTERIOR_CLONES Fit add_piece(const Piece<double>& piece, const Units& unit, std::int64_t* total,
                               Residue* residue, std::size_t& residues, double* largest) {
    return add_any(piece, unit, total, residue, residues, largest);
}

POSTERIOR_CLONES Fit add_piece(const Piece<float>& piece, const Units& unit, std::int64_t* total,
                               Residue* residue, std::size_t& residues, double* largest) {
    return add_any(piece, unit, total, residue, residues, largest);
}

}  // namespace posterior
