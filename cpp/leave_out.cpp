#include "leave_out.hpp"

#include <limits>

#include "exact.hpp"
#include "simd.hpp"

namespace posterior {

namespace {

constexpr double kResolution = 0x1p-94;  // of a difference of pairs: posterior.kernels.pairs

using LanePair = PairOf<Lanes>;

// Up to eight numbers, zeros behind them.
POSTERIOR_INLINE void load_some(Lanes& v, const double* p, std::size_t n) {
    if (n >= kLanes) return load(v, p);
    v = Lanes{};
    std::memcpy(&v, p, n * sizeof(double));
}

POSTERIOR_INLINE void store_some(double* p, const Lanes& v, std::size_t n) {
    std::memcpy(p, &v, (n < kLanes ? n : kLanes) * sizeof(double));
}

POSTERIOR_INLINE LanePair load_pair(const PairTable& table, std::size_t at, std::size_t n) {
    LanePair pair;
    load_some(pair.high, table.high + at, n);
    load_some(pair.low, table.low + at, n);
    return pair;
}

}  // namespace

POSTERIOR_INLINE void leave_out(Matrix<double> X, Groups groups, const MomentPairs& sums,
                                double* weight, double* mean, double* scatter) {
    const Lanes zero = {}, infinity = zero + std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < X.rows; ++i) {
        const std::size_t group = static_cast<std::size_t>(groups.codes[i]) * X.columns;
        const LanePair own = {zero + (groups.weight == nullptr ? 1.0 : groups.weight[i]), zero};
        for (std::size_t j = 0; j < X.columns; j += kLanes) {
            const std::size_t n = X.columns - j, to = i * X.columns + j;
            Lanes x;
            load_some(x, X.row(i) + j, n);
            const LanePair there = {x == x ? zero + 1.0 : zero, zero};
            const LanePair cell = {x == x ? x : zero, zero};
            const LanePair w = load_pair(sums.weight, group + j, n) - own * there;
            const LanePair s = load_pair(sums.total, group + j, n) - own * cell;
            const LanePair q = load_pair(sums.squares, group + j, n) - own * (cell * cell);
            const LanePair center = s / w;
            const Lanes difference = (q - s * center).high;
            const Lanes varied = difference > kResolution * q.high ? difference : zero;
            const Lanes known = w.high == zero ? varied : infinity;
            store_some(weight + to, w.high, n);
            store_some(mean + to, center.high, n);
            store_some(scatter + to, difference - difference == zero ? varied : known, n);
        }
    }
}

void moments_without(Matrix<double> X, Groups groups, const MomentPairs& sums, double* weight,
                     double* mean, double* scatter) {
    simd<leave_out>(X, groups, sums, weight, mean, scatter);
}

}  // namespace posterior
