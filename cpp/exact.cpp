#include "exact.hpp"

#include <algorithm>
#include <cmath>

namespace posterior {

void to_pairs(const Sums& s, std::size_t cells, double* high, double* low) {
    PairReader read(s);
    for (std::size_t c = 0; c < cells; ++c) {
        const Pair p = read(c);
        high[c] = p.high;
        low[c] = p.low;
    }
}

// acc ← acc + sign · a b, exact; acc holds one number.
static void add_product(const Sums& acc, const Sums& a, const Sums& b, std::size_t cell, int sign) {
    const std::int64_t *x = a.limbs + cell * a.size, *y = b.limbs + cell * b.size;
    for (std::size_t i = 0; i < a.size; ++i)
        for (std::size_t j = 0; j < b.size; ++j)
            acc.add(0, Wide{x[i]} * y[j] * sign,
                    a.exponent + b.exponent + kLimbBits * static_cast<std::int64_t>(i + j));
}

void mean_and_scatter(const Sums& w, const Sums& s, const Sums& q, std::size_t cells,
                             double* mean, double* scatter) {
    const std::int64_t low = std::min(w.exponent + q.exponent, 2 * s.exponent);
    const auto limbs = [&](const Sums& a, const Sums& b) {
        const std::int64_t above = (a.exponent + b.exponent - low) / kLimbBits;
        return static_cast<std::size_t>(above) + a.size + b.size + 3;
    };
    std::vector<std::int64_t> difference(std::max(limbs(w, q), limbs(s, s)));
    const Sums acc{difference.data(), difference.size(), low};
    PairReader weight(w), total(s), numerator(acc);
    for (std::size_t c = 0; c < cells; ++c) {
        const Pair n = weight(c);
        mean[c] = (total(c) / n).high;
        std::fill(difference.begin(), difference.end(), 0);
        add_product(acc, w, q, c, 1);
        add_product(acc, s, s, c, -1);
        carry(acc, 1);
        const Pair d = numerator(0);
        // beyond the doubles: infinity says that numbers were too large to be squared
        const bool varies = n.high != 0 && d.high > 0;
        scatter[c] = !varies ? 0.0 : std::isfinite(d.high) ? (d / n).high : d.high;
    }
}

}  // namespace posterior
