// Exact sums of doubles.
//
// A sum is a fixed-point number Σᵢ limbᵢ 2^(exponent + 32 i). Limbs hold 32 bits each in 64, so
// that two billion terms add before a carry is due. Nothing is ever rounded: addition is
// associative, and what was added can be taken back (Kulisch 1971).
// Twin: posterior.kernels.reference.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "simd.hpp"

namespace posterior {

__extension__ typedef __int128 Wide;

constexpr int kLimbBits = 32;
constexpr std::int64_t kLimbMask = 0xffffffff;

// A table of exact sums that share one window of bits; cell c owns limbs[c * size .. + size].
struct Sums {
    std::int64_t* limbs;
    std::size_t size;
    std::int64_t exponent;

    // Adds value · 2^position; false if a bit of it falls outside the window.
    bool add(std::size_t cell, Wide value, std::int64_t position) const {
        if (value == 0) return true;
        std::int64_t shift = position - exponent;
        if (shift < 0) {
            const int drop = shift < -126 ? 127 : static_cast<int>(-shift);
            if (value != (value >> drop) << drop) return false;
            value >>= drop;
            shift = 0;
        }
        std::size_t i = static_cast<std::size_t>(shift) / kLimbBits;
        std::int64_t* limb = limbs + cell * size;
        for (int bits = static_cast<int>(shift % kLimbBits); i < size; ++i, bits = 0) {
            const Wide room = Wide{1} << (i + 1 == size ? kLimbBits - bits : kLimbBits - 1);
            if (value >= -room && value < room && (bits == 0 || i + 1 == size)) {
                limb[i] += static_cast<std::int64_t>(value) * (std::int64_t{1} << bits);
                return true;
            }
            const int taken = kLimbBits - bits;
            limb[i] += static_cast<std::int64_t>(value & ((Wide{1} << taken) - 1)) << bits;
            value >>= taken;
            if (value == 0) return true;
        }
        return false;
    }
};

// x = mantissa · 2^exponent, for finite x.
struct Parts {
    std::int64_t mantissa;
    std::int64_t exponent;

    explicit Parts(double x) {
        std::uint64_t bits;
        std::memcpy(&bits, &x, sizeof bits);
        const std::int64_t raw = static_cast<std::int64_t>(bits >> 52 & 0x7ff);
        const std::int64_t fraction = static_cast<std::int64_t>(bits & 0xfffffffffffff);
        mantissa = raw == 0 ? fraction : fraction | std::int64_t{1} << 52;
        exponent = (raw == 0 ? 1 : raw) - 1075;
        if (bits >> 63) mantissa = -mantissa;
    }
};

// s ← s + w     s ← s + w x     s ← s + w x², all exact.
inline bool add_term(const Sums& s, std::size_t cell, double w) {
    const Parts p(w);
    return s.add(cell, p.mantissa, p.exponent);
}

inline bool add_term(const Sums& s, std::size_t cell, double w, double x) {
    const Parts p(w), q(x);
    return s.add(cell, Wide{p.mantissa} * q.mantissa, p.exponent + q.exponent);
}

inline bool add_square_term(const Sums& s, std::size_t cell, double w, double x) {
    const Parts p(w), q(x);
    const Wide square = Wide{q.mantissa} * q.mantissa;  // 106 bits; with w too wide for one
    const Wide low = square & ((Wide{1} << 53) - 1), high = square >> 53;
    const std::int64_t position = p.exponent + 2 * q.exponent;
    return s.add(cell, low * p.mantissa, position) && s.add(cell, high * p.mantissa, position + 53);
}

// x · 2^exponent; the common case is one product with a power of two made from its bits.
inline double scaled(double x, std::int64_t exponent) {
    if (exponent < -1000 || exponent > 900) return std::ldexp(x, static_cast<int>(exponent));
    const std::uint64_t bits = static_cast<std::uint64_t>(exponent + 1023) << 52;
    double power;
    std::memcpy(&power, &bits, sizeof power);
    return x * power;
}

// Brings every limb but the last of each cell into [0, 2^32).
inline void carry(const Sums& s, std::size_t cells) {
    for (std::size_t c = 0; c < cells; ++c) {
        std::int64_t* limb = s.limbs + c * s.size;
        for (std::size_t i = 0; i + 1 < s.size; ++i) {
            limb[i + 1] += limb[i] >> kLimbBits;
            limb[i] &= kLimbMask;
        }
    }
}

// high + low, about 106 bits (Dekker 1971, Knuth 1969); of numbers, or of lanes of them. Each
// operation is that of posterior.kernels.pairs.Pair, bit for bit.
template <typename V>
struct PairOf {
    V high, low;
};
using Pair = PairOf<double>;

template <typename V>
POSTERIOR_INLINE PairOf<V> renormalized(V high, V low) {
    const V total = high + low;
    return {total, low - (total - high)};
}

template <typename V>
POSTERIOR_INLINE PairOf<V> operator+(PairOf<V> a, PairOf<V> b) {
    const V high = a.high + b.high, part = high - a.high;
    const V low = (a.high - (high - part)) + (b.high - part);
    return renormalized<V>(high, low + (a.low + b.low));
}

template <typename V>
POSTERIOR_INLINE PairOf<V> operator-(PairOf<V> a, PairOf<V> b) {
    return a + PairOf<V>{-b.high, -b.low};
}

template <typename V>
POSTERIOR_INLINE PairOf<V> operator*(PairOf<V> a, PairOf<V> b) {
    constexpr double split = 134217729.0;
    const V product = a.high * b.high, x = split * a.high, y = split * b.high;
    const V a1 = x - (x - a.high), b1 = y - (y - b.high), a2 = a.high - a1, b2 = b.high - b1;
    const V error = ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2;
    return renormalized<V>(product, error + (a.high * b.low + a.low * b.high));
}

template <typename V>
POSTERIOR_INLINE PairOf<V> operator/(PairOf<V> a, PairOf<V> b) {
    const V quotient = a.high / b.high, zero = {};
    const V rest = (a - b * PairOf<V>{quotient, zero}).high, near = rest / b.high;
    return renormalized<V>(quotient, rest - rest == zero ? near : zero);  // near the end: none
}

// Reads sums as pairs: functions of the exact values alone. A negative sum is read through its
// magnitude, whose empty limbs at the top are zeros.
class PairReader {
  public:
    explicit PairReader(Sums s) : s_(s), magnitude_(s.size) {}

    Pair operator()(std::size_t cell) {
        const std::int64_t* limb = s_.limbs + cell * s_.size;
        const bool negative = limb[s_.size - 1] < 0;
        for (std::size_t i = 0; i < s_.size; ++i) magnitude_[i] = negative ? -limb[i] : limb[i];
        carry({magnitude_.data(), s_.size, s_.exponent}, 1);
        double h = 0, l = 0;
        for (std::size_t i = s_.size; i-- > 0;) {
            if (magnitude_[i] == 0) continue;
            const auto exponent = s_.exponent + kLimbBits * static_cast<std::int64_t>(i);
            const double v = scaled(static_cast<double>(magnitude_[i]), exponent);
            const double sum = h + v, part = sum - h;
            l += (h - (sum - part)) + (v - part);
            h = sum;
        }
        const double sum = std::isfinite(h) ? h + l : h;
        const double rest = std::isfinite(sum) ? l - (sum - h) : 0.0;
        return negative ? Pair{-sum, -rest} : Pair{sum, rest};
    }

  private:
    Sums s_;
    std::vector<std::int64_t> magnitude_;
};

void to_pairs(const Sums& s, std::size_t cells, double* high, double* low);

// The mean s / w and the scatter q - s² / w = (w q - s²) / w, whose numerator is exact: no mean is
// too large to see a variance beside it.
void mean_and_scatter(const Sums& w, const Sums& s, const Sums& q, std::size_t cells, double* mean,
                      double* scatter);

}  // namespace posterior
