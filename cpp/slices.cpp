// Every sum and product here is exact, so this file may fuse them (-ffp-contract=fast) on machines
// that can, and no bit changes.
#include "slices.hpp"

namespace posterior {

namespace {

constexpr std::int64_t kMagnitude = 0x7fffffffffffffff, kInfinity = 0x7ff0000000000000;
constexpr std::int64_t kSliceOutside = -(std::int64_t{2} << kSliceBits);
constexpr std::int64_t kNarrowOutside = -(std::int64_t{2} << kNarrowBits);

POSTERIOR_INLINE Integers bits_of(const Lanes& x) {
    Integers bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}

POSTERIOR_INLINE Lanes number_of(const Integers& bits) {
    Lanes x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

template <typename T>
POSTERIOR_INLINE void load_row(Lanes& x, const Piece<T>& piece, std::size_t i) {
    load(x, piece.x + static_cast<std::ptrdiff_t>(piece.order[i]) * piece.step);
}

// Puts zeros in place of what does not count.
POSTERIOR_INLINE void keep_present(Lanes& x, const Integers& usable, Integers& missing) {
    const Integers bits = bits_of(x), gone = (bits & kMagnitude) > kInfinity;
    missing += gone;  // less one where nothing is there
    x = number_of(bits & ~gone & usable);
}

POSTERIOR_INLINE void add_whole(std::int64_t* to, const Lanes& sum, const double* inverse_unit) {
    Lanes scale;
    load(scale, inverse_unit);
    const Lanes whole = sum * scale;
    for (std::size_t l = 0; l < kLanes; ++l) to[l] += static_cast<std::int64_t>(whole[l]);
}

// Sums stand in named variables, and so in registers: an array of them would live on the stack.
template <int Way, bool WithSquares, bool Careful, typename T>
POSTERIOR_INLINE bool add_rows(const Piece<T>& piece, const Units& unit, TileSums& to,
                               Residue* residue, std::size_t& residues) {
    Lanes s0 = {}, s1 = {}, s2 = {}, aa = {}, ab = {}, ac = {}, ad = {};
    Lanes bb = {}, bc = {}, bd = {}, cc = {}, cd = {}, dd = {}, cut0, cut1, cut2, cut3;
    Integers outside = {}, left = {}, missing = {}, usable;
    load(cut0, unit.cut[0]);
    load(cut1, unit.cut[1]);
    load(cut2, unit.cut[2]);
    load(cut3, unit.cut[3]);
    std::memcpy(&usable, unit.usable, sizeof usable);
    const char* ahead = piece.ahead;
    for (std::size_t i = 0; i < piece.rows; ++i, ahead += piece.ahead_bytes) {
        __builtin_prefetch(ahead, 0, 2);  // to the second cache: the first holds this piece
        Lanes rest;
        load_row(rest, piece, i);
        if constexpr (Careful) keep_present(rest, usable, missing);
        const Lanes moved = rest + cut0, a = moved - cut0;
        outside |= bits_of(moved) ^ bits_of(cut0);
        s0 += a;
        if constexpr (Way == kNarrow) {
            left |= bits_of(rest) ^ bits_of(a);
            if constexpr (WithSquares) {
                const Lanes square = a * a, high = (square + cut1) - cut1;
                aa += high;
                ab += square - high;
            }
            continue;
        }
        rest -= a;
        const Lanes b = (rest + cut1) - cut1;
        rest -= b;
        const Lanes c = (rest + cut2) - cut2;
        s1 += b;
        s1 += c;
        if constexpr (WithSquares) {
            aa += a * a;
            ab += a * b;
            ac += a * c;
            bb += b * b;
            bc += b * c;
            cc += c * c;
        }
        if constexpr (Way == 3) left |= bits_of(rest) ^ bits_of(c);
        if constexpr (Way == 4) {
            rest -= c;
            const Lanes d = (rest + cut3) - cut3;
            left |= bits_of(rest) ^ bits_of(d);
            s2 += d;
            if constexpr (WithSquares) {
                ad += a * d;
                bd += b * d;
                cd += c * d;
                dd += d * d;
            }
        }
    }
    if (any(outside & (Way == kNarrow ? kNarrowOutside : kSliceOutside))) return false;
    if constexpr (Careful)
        for (std::size_t l = 0; l < kLanes; ++l) to.missing[l] += missing[l];
    add_whole(to.total[0], s0, unit.inverse[0]);
    if constexpr (Way != kNarrow) add_whole(to.total[1], s1, unit.inverse[1]);
    if constexpr (Way == 4) add_whole(to.total[2], s2, unit.inverse[2]);
    if constexpr (WithSquares) {
        const auto square = to.total + kSums;
        const auto inverse = unit.inverse + kSums;
        add_whole(square[0], aa, inverse[0]);
        add_whole(square[1], ab, inverse[1]);
        if constexpr (Way != kNarrow) {
            add_whole(square[2], (ac + ac) + bb, inverse[2]);
            add_whole(square[3], ad + bc, inverse[3]);
            add_whole(square[4], (bd + bd) + cc, inverse[4]);
        }
        if constexpr (Way == 4) {
            add_whole(square[5], cd, inverse[5]);
            add_whole(square[6], dd, inverse[6]);
        }
    }
    residues = 0;
    for (std::size_t i = 0; any(left) && i < piece.rows; ++i) {
        Lanes x;
        load_row(x, piece, i);
        if constexpr (Careful) keep_present(x, usable, missing);
        Lanes rest = x - ((x + cut0) - cut0);
        if constexpr (Way != kNarrow) rest -= (rest + cut1) - cut1;
        if constexpr (Way != kNarrow) rest -= (rest + cut2) - cut2;
        if constexpr (Way == 4) rest -= (rest + cut3) - cut3;
        for (std::size_t l = 0; any(bits_of(rest)) && l < kLanes; ++l)
            if (rest[l] != 0) residue[residues++] = {l, x[l], rest[l]};
    }
    return true;
}

template <typename T>
POSTERIOR_INLINE bool look_at(const Piece<T>& piece, double* largest) {
    Lanes top = {}, sum = {};
    for (std::size_t i = 0; i < piece.rows; ++i) {
        Lanes x;
        load_row(x, piece, i);
        const Lanes magnitude = number_of(bits_of(x) & kMagnitude);
        top = magnitude > top ? magnitude : top;
        sum += magnitude;  // magnitudes add up to no number only if one of them is none
    }
    store(largest, top);
    return any(sum != sum);
}

template <int Way, typename T>
POSTERIOR_INLINE bool add_by(const Piece<T>& piece, Manner manner, const Units& unit,
                             TileSums& sums, Residue* residue, std::size_t& residues) {
    if (manner.squares && !manner.careful)
        return add_rows<Way, true, false>(piece, unit, sums, residue, residues);
    if (manner.squares)
        return add_rows<Way, true, true>(piece, unit, sums, residue, residues);
    return add_rows<Way, false, true>(piece, unit, sums, residue, residues);
}

template <typename T>
POSTERIOR_INLINE bool add_any(const Piece<T>& piece, Manner manner, const Units& unit,
                              TileSums& sums, Residue* residue, std::size_t& residues) {
    if constexpr (sizeof(T) == sizeof(float))
        if (manner.way == kNarrow)
            return add_by<kNarrow>(piece, manner, unit, sums, residue, residues);
    if (manner.way == 3) return add_by<3>(piece, manner, unit, sums, residue, residues);
    return add_by<4>(piece, manner, unit, sums, residue, residues);
}

}  // namespace

bool look(const Piece<double>& piece, double* largest) {
    return simd<look_at<double>>(piece, largest);
}

bool look(const Piece<float>& piece, double* largest) {
    return simd<look_at<float>>(piece, largest);
}

bool add_piece(const Piece<double>& piece, Manner manner, const Units& unit, TileSums& sums,
               Residue* residue, std::size_t& residues) {
    return simd<add_any<double>>(piece, manner, unit, sums, residue, residues);
}

bool add_piece(const Piece<float>& piece, Manner manner, const Units& unit, TileSums& sums,
               Residue* residue, std::size_t& residues) {
    return simd<add_any<float>>(piece, manner, unit, sums, residue, residues);
}

}  // namespace posterior
