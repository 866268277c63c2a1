// The inner loops of log_prob.hpp, compiled for each instruction set. Sums over columns run in
// eight lanes, added up in one fixed order, so every instruction set gives the same bits.
#include "log_prob.hpp"

namespace posterior {

POSTERIOR_INLINE double total(const Lanes& v) {
    double x[kLanes];
    store(x, v);
    return ((x[0] + x[1]) + (x[2] + x[3])) + ((x[4] + x[5]) + (x[6] + x[7]));
}

template <bool Distances>
POSTERIOR_INLINE void add(Lanes& sum, const Lanes& x, const Lanes& a, const Lanes& b) {
    if constexpr (Distances) {
        const Lanes z = (x - a) * b;
        sum += z * z;
    } else {
        sum += x * a;
    }
}

// Four rows at a time share the coefficients they load; each row's own operations, and so its
// bits, are those of a row alone.
template <bool Distances, typename T>
POSTERIOR_INLINE void sums(const T* x, std::ptrdiff_t step, std::size_t rows, const Tiles& t,
                           double* out) {
    const double *first = t.first.data(), *second = t.second.data();
    std::size_t i = 0;
    for (; i + 4 <= rows; i += 4, x += 4 * step, out += 4 * t.groups)
        for (std::size_t k = 0; k < t.groups; ++k) {
            Lanes s0 = {}, s1 = {}, s2 = {}, s3 = {}, a, b, v;
            for (std::size_t tile = 0; tile < t.count; ++tile) {
                const T* at = x + t.start(tile);
                load(a, first + (k * t.count + tile) * kLanes);
                load(b, second + (k * t.count + tile) * kLanes);
                load(v, at);
                add<Distances>(s0, v, a, b);
                load(v, at + step);
                add<Distances>(s1, v, a, b);
                load(v, at + 2 * step);
                add<Distances>(s2, v, a, b);
                load(v, at + 3 * step);
                add<Distances>(s3, v, a, b);
            }
            out[k] = total(s0);
            out[t.groups + k] = total(s1);
            out[2 * t.groups + k] = total(s2);
            out[3 * t.groups + k] = total(s3);
        }
    for (; i < rows; ++i, x += step, out += t.groups)
        for (std::size_t k = 0; k < t.groups; ++k) {
            Lanes s = {}, a, b, v;
            for (std::size_t tile = 0; tile < t.count; ++tile) {
                load(a, first + (k * t.count + tile) * kLanes);
                load(b, second + (k * t.count + tile) * kLanes);
                load(v, x + t.start(tile));
                add<Distances>(s, v, a, b);
            }
            out[k] = total(s);
        }
}

POSTERIOR_CLONES void distances(const double* x, std::ptrdiff_t step, std::size_t rows,
                                const Tiles& t, double* out) {
    sums<true>(x, step, rows, t, out);
}
POSTERIOR_CLONES void distances(const float* x, std::ptrdiff_t step, std::size_t rows,
                                const Tiles& t, double* out) {
    sums<true>(x, step, rows, t, out);
}
POSTERIOR_CLONES void products(const double* x, std::ptrdiff_t step, std::size_t rows,
                               const Tiles& t, double* out) {
    sums<false>(x, step, rows, t, out);
}
POSTERIOR_CLONES void products(const float* x, std::ptrdiff_t step, std::size_t rows,
                               const Tiles& t, double* out) {
    sums<false>(x, step, rows, t, out);
}

POSTERIOR_CLONES void sparse_row_scores(const double* x, const std::int64_t* column,
                                        std::size_t entries, const double* W, std::size_t width,
                                        double* sum) {
    constexpr std::size_t kAhead = 8;  // rows of W far apart in memory are asked for in advance
    for (std::size_t p = 0; p < entries; ++p) {
        if (p + kAhead < entries) {
            const double* next = W + static_cast<std::size_t>(column[p + kAhead]) * width;
            for (std::size_t k = 0; k < width; k += kLanes) __builtin_prefetch(next + k);
        }
        const double* w = W + static_cast<std::size_t>(column[p]) * width;
        for (std::size_t k = 0; k < width; k += kLanes) {
            Lanes s, t;
            load(s, sum + k);
            load(t, w + k);
            s += t * x[p];
            store(sum + k, s);
        }
    }
}

}  // namespace posterior
