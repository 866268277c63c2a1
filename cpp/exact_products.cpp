#include "exact_products.hpp"

#include <algorithm>
#include <bit>

namespace posterior {

// x = mantissa · 2^exponent with an odd mantissa, or zero.
Parts odd_parts(double x) {
    Parts p(x);
    if (p.mantissa != 0) {
        const int zeros = std::countr_zero(static_cast<std::uint64_t>(p.mantissa));
        p.mantissa >>= zeros;
        p.exponent += zeros;
    }
    return p;
}

// The exponent of the power of two above |x|.
std::int64_t above(const Parts& p) {
    const std::int64_t size = p.mantissa < 0 ? -p.mantissa : p.mantissa;
    return p.exponent + static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(size)));
}

BitRange bits_of_products(const double* a, const double* b, std::size_t count) {
    BitRange range{5000, -5000};
    for (std::size_t c = 0; c < count; ++c) {
        if (a[c] == 0 || b[c] == 0) continue;
        const Parts p = odd_parts(a[c]), q = odd_parts(b[c]);
        range.lowest = std::min(range.lowest, p.exponent + q.exponent);
        range.top = std::max(range.top, above(p) + above(q));
    }
    return range.lowest > range.top ? BitRange{0, 1} : range;
}

void add_products_exactly(const double* a, const double* b, std::size_t terms, std::size_t cells,
                          const Sums& s) {
    for (std::size_t t = 0; t < terms; ++t)
        for (std::size_t c = 0; c < cells; ++c, ++a, ++b) {
            const Parts p = odd_parts(*a), q = odd_parts(*b);
            s.add(c, Wide{p.mantissa} * q.mantissa, p.exponent + q.exponent);
        }
    carry(s, cells);
}

}  // namespace posterior
