#include "normalize.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "simd.hpp"

namespace posterior {

// exp(x) for x <= 0, a row in each lane:   x = n log 2 + r,   exp x = 2^n exp r,   |r| <= ½ log 2.
// The series of exp r to r^13 is good to the last bit or two.
POSTERIOR_INLINE void exponential(Lanes& y, Lanes x) {
    const Lanes none = {}, floor = none - 745.2;
    const Integers vanished = x < floor;
    x = vanished ? floor : x;
    const double shift = 0x1.8p52;
    const Lanes n = (x * 1.4426950408889634 + shift) - shift;
    const Lanes r = (x - n * 0x1.62e42fefa38p-1) - n * 0x1.ef35793c7673p-45;
    Lanes p = none + 1.0 / 6227020800.0;
    p = p * r + 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = p * (r * r) + r + 1.0;
    // 2^n in two factors, so that tiny results pass through the subnormal numbers in order
    Integers m;
    Lanes whole = n;
    for (std::size_t l = 0; l < kLanes; ++l) m[l] = static_cast<std::int64_t>(whole[l]);
    const Integers half = m >> 1, other = m - half;
    Lanes a, b;
    const Integers a_bits = (half + 1023) << 52, b_bits = (other + 1023) << 52;
    std::memcpy(&a, &a_bits, sizeof a);
    std::memcpy(&b, &b_bits, sizeof b);
    y = vanished ? none : p * a * b;
}

// Eight rows side by side: lane l of column k is row l's value for group k.
POSTERIOR_CLONES void shares(double* column, std::size_t groups, double* largest, double* sum) {
    Lanes top, x, e, total = {};
    load(top, column);
    for (std::size_t k = 1; k < groups; ++k) {
        load(x, column + k * kLanes);
        top = x > top ? x : top;
    }
    const Lanes lowest = Lanes{} - std::numeric_limits<double>::max();
    top = top < lowest ? lowest : top;  // -inf - -inf would be no number
    for (std::size_t k = 0; k < groups; ++k) {
        load(x, column + k * kLanes);
        exponential(e, x - top);
        store(column + k * kLanes, e);
        total += e;
    }
    store(largest, top);
    store(sum, total);
}

void normalize(double* L, std::size_t rows, std::size_t groups, Wanted wanted,
               double* log_evidence) {
    std::vector<double> column(groups * kLanes);
    double largest[kLanes], sum[kLanes];
    for (std::size_t first = 0; first < rows; first += kLanes) {
        const std::size_t n = std::min(kLanes, rows - first);
        double* row = L + first * groups;
        for (std::size_t l = 0; l < kLanes; ++l)
            for (std::size_t k = 0; k < groups; ++k)
                column[k * kLanes + l] = row[std::min(l, n - 1) * groups + k];
        shares(column.data(), groups, largest, sum);
        for (std::size_t l = 0; l < n; ++l) {
            const bool impossible = sum[l] == 0;
            const double uniform = 1.0 / static_cast<double>(groups);
            double evidence = -std::numeric_limits<double>::infinity();
            if (!impossible && (wanted != Wanted::posterior || log_evidence != nullptr))
                evidence = largest[l] + std::log(sum[l]);
            if (log_evidence != nullptr) log_evidence[first + l] = evidence;
            if (wanted == Wanted::log_evidence) continue;
            for (std::size_t k = 0; k < groups; ++k) {
                double& x = row[l * groups + k];
                if (wanted == Wanted::posterior)
                    x = impossible ? uniform : column[k * kLanes + l] / sum[l];
                else
                    x = impossible ? std::log(uniform) : x - evidence;
            }
        }
    }
}

}  // namespace posterior
