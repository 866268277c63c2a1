// Elementary functions of eight doubles at once.
#pragma once

#include "simd.hpp"

namespace posterior {

template <typename To, typename From>
POSTERIOR_INLINE void same_bits(To& to, const From& from) {
    static_assert(sizeof to == sizeof from);
    std::memcpy(&to, &from, sizeof to);
}

// exp(x) for x <= 0:   x = n log 2 + r,   exp x = 2^n exp r,   |r| <= ½ log 2.
// The series of exp r to r^13 is good to the last bit or two.
POSTERIOR_INLINE void exponential(Lanes& y, Lanes x) {
    const Lanes none = {}, floor = none - 745.2, given = x;
    x = x < floor ? floor : x;
    const double shift = 0x1.8p52;  // added, it leaves n in the lowest bits
    const Lanes shifted = x * 1.4426950408889634 + shift, n = shifted - shift;
    const Lanes r = (x - n * 0x1.62e42fefa38p-1) - n * 0x1.ef35793c7673p-45;
    // pairs of terms, then pairs of pairs: a chain of few steps
    const Lanes r2 = r * r, r4 = r2 * r2;
    const Lanes a2 = r * (1.0 / 6.0) + 0.5, a4 = r * (1.0 / 120.0) + 1.0 / 24.0;
    const Lanes a6 = r * (1.0 / 5040.0) + 1.0 / 720.0, a8 = r * (1.0 / 362880.0) + 1.0 / 40320.0;
    const Lanes a10 = r * (1.0 / 39916800.0) + 1.0 / 3628800.0;
    const Lanes a12 = r * (1.0 / 6227020800.0) + 1.0 / 479001600.0;
    const Lanes b2 = a4 * r2 + a2, b6 = a8 * r2 + a6, b10 = a12 * r2 + a10;
    const Lanes p = ((b10 * r4 + b6) * r4 + b2) * r2 + r + 1.0;
    // 2^n in two factors, so that tiny results pass through the subnormal numbers in order
    Bits bits, a_bits, b_bits;
    same_bits(bits, shifted);
    const Bits positive = (bits + 2048) & 0xffff;           // n + 2048
    a_bits = ((positive >> 1) - 1) << 52;                   // exponents 1023 + n / 2, biased by
    b_bits = (positive - (positive >> 1) - 1) << 52;        // 1024 each in n + 2048
    Lanes a, b;
    same_bits(a, a_bits);
    same_bits(b, b_bits);
    y = given < floor ? none : p * a * b;
}

// log(x) for x >= 1:   x = 2^n m,   log x = n log 2 + 2 atanh s,   s = (m - 1) / (m + 1), with m
// between √½ and √2. The series of atanh s to s^23 is good to the last bit or two.
POSTERIOR_INLINE void logarithm(Lanes& y, const Lanes& x) {
    Bits bits;
    same_bits(bits, x);
    const Bits above = bits + 0x95f6400000000;  // √2 and more is carried into the exponent
    const Bits exponent = above >> 52, m_bits = bits - ((exponent - 1023) << 52);
    const Bits whole = exponent | 0x4330000000000000;  // 2^52 + exponent
    Lanes m, n;
    same_bits(m, m_bits);
    same_bits(n, whole);
    n -= 0x1p52 + 1023;
    const Lanes s = (m - 1.0) / (m + 1.0), q = s * s;
    const Lanes q2 = q * q, q4 = q2 * q2;
    const Lanes a0 = q * (2.0 / 5.0) + 2.0 / 3.0, a2 = q * (2.0 / 9.0) + 2.0 / 7.0;
    const Lanes a4 = q * (2.0 / 13.0) + 2.0 / 11.0, a6 = q * (2.0 / 17.0) + 2.0 / 15.0;
    const Lanes a8 = q * (2.0 / 21.0) + 2.0 / 19.0 + q2 * (2.0 / 23.0);
    const Lanes p = ((a8 * q4) + (a6 * q2 + a4)) * q4 + (a2 * q2 + a0);
    y = n * 0x1.62e42fefa38p-1 + (2.0 * s + (p * q * s + n * 0x1.ef35793c7673p-45));
}

// log(1 + e) for 0 <= e <= 1: what 1 + e rounds away is made good by a ratio (Kahan).
POSTERIOR_INLINE void log_of_one_plus(Lanes& y, const Lanes& e) {
    const Lanes one = Lanes{} + 1.0, sum = one + e, rounded = sum - one;
    Lanes log;
    logarithm(log, sum);
    const Lanes ratio = e / rounded;
    y = rounded > Lanes{} ? log * ratio : e;
}

}  // namespace posterior
