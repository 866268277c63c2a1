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

// Every group reads a row again, so floats become doubles once, a few rows at a time.
template <bool Distances>
POSTERIOR_INLINE void widened_sums(const float* x, std::ptrdiff_t step, std::size_t rows,
                                   const Tiles& t, double* out) {
    constexpr std::size_t kRows = 16;
    std::vector<double> wide(kRows * t.columns);
    for (std::size_t i = 0; i < rows; i += kRows, out += kRows * t.groups) {
        const std::size_t n = std::min(kRows, rows - i);
        for (std::size_t r = 0; r < n; ++r, x += step)
            for (std::size_t j = 0; j < t.columns; ++j)
                wide[r * t.columns + j] = static_cast<double>(x[j]);
        sums<Distances>(wide.data(), static_cast<std::ptrdiff_t>(t.columns), n, t, out);
    }
}

void distances(const double* x, std::ptrdiff_t step, std::size_t rows, const Tiles& t,
               double* out) {
    simd<sums<true, double>>(x, step, rows, t, out);
}
void distances(const float* x, std::ptrdiff_t step, std::size_t rows, const Tiles& t, double* out) {
    simd<widened_sums<true>>(x, step, rows, t, out);
}
void products(const double* x, std::ptrdiff_t step, std::size_t rows, const Tiles& t, double* out) {
    simd<sums<false, double>>(x, step, rows, t, out);
}
void products(const float* x, std::ptrdiff_t step, std::size_t rows, const Tiles& t, double* out) {
    simd<widened_sums<false>>(x, step, rows, t, out);
}

// Some tiles at a time share the coefficients they load.
template <std::size_t Tiles>
POSTERIOR_INLINE void measure(const double* x, std::size_t columns, std::size_t groups,
                              const double* a, const double* b, double* out) {
    for (std::size_t k = 0; k < groups; ++k) {
        Lanes sum[Tiles] = {}, v;
        for (std::size_t j = 0; j < columns; ++j)
#pragma GCC unroll 4
            for (std::size_t t = 0; t < Tiles; ++t) {
                load(v, x + (t * columns + j) * kLanes);
                const Lanes z = (v - a[k * columns + j]) * b[k * columns + j];
                sum[t] += z * z;
            }
#pragma GCC unroll 4
        for (std::size_t t = 0; t < Tiles; ++t) store(out + (t * groups + k) * kLanes, sum[t]);
    }
}

POSTERIOR_INLINE void measure_all(const double* x, std::size_t tiles, std::size_t columns,
                                  std::size_t groups, const double* a, const double* b,
                                  double* out) {
    std::size_t t = 0;
    for (; t + 4 <= tiles; t += 4)
        measure<4>(x + t * columns * kLanes, columns, groups, a, b, out + t * groups * kLanes);
    for (; t < tiles; ++t)
        measure<1>(x + t * columns * kLanes, columns, groups, a, b, out + t * groups * kLanes);
}

void distances_side_by_side(const double* x, std::size_t tiles, std::size_t columns,
                            std::size_t groups, const double* a, const double* b, double* out) {
    simd<measure_all>(x, tiles, columns, groups, a, b, out);
}

// Adds x times a row of W to the sums of up to eight groups a vector, which stay in registers.
template <std::size_t Vectors>
struct Accumulators {
    Lanes sum[Vectors];

    POSTERIOR_INLINE void add(double x, const double* w) {
#pragma GCC unroll 4
        for (std::size_t v = 0; v < Vectors; ++v) {
            Lanes t;
            load(t, w + v * kLanes);
            sum[v] += t * x;
        }
    }
    POSTERIOR_INLINE void store(double* to) const {
#pragma GCC unroll 4
        for (std::size_t v = 0; v < Vectors; ++v) posterior::store(to + v * kLanes, sum[v]);
    }
};

POSTERIOR_INLINE void write(const double* sum, const double* bias, std::size_t groups,
                            double* out) {
    for (std::size_t k = 0; k < groups; ++k) out[k] = bias[k] + sum[k];
}

// The weights of an entry may lie anywhere in a table beyond the caches, so they are asked for
// well in advance: the second cache waits for many lines at once, the first for few.
constexpr std::ptrdiff_t kFarAhead = 48, kAhead = 6;

template <std::size_t Vectors, int Locality>
POSTERIOR_INLINE void fetch(const double* w) {
#pragma GCC unroll 4
    for (std::size_t v = 0; v < Vectors; ++v) __builtin_prefetch(w + v * kLanes, 0, Locality);
}

// Groups first .. first + groups of all rows.
template <std::size_t Vectors, typename T, typename Index>
POSTERIOR_INLINE bool sparse_rows(const SparseScores<T, Index>& job, std::size_t first,
                                  std::size_t groups) {
    const bool binary = job.threshold == job.threshold;
    const Index* column = job.X.column;
    const Index end = job.X.start[job.X.rows];
    const auto weights = [&](Index p) {
        return job.W + static_cast<std::size_t>(column[p]) * job.width + first;
    };
    for (std::size_t i = 0; i < job.X.rows; ++i) {
        Accumulators<Vectors> sums = {};
        for (Index p = job.X.start[i]; p < job.X.start[i + 1]; ++p) {
            if (p + kFarAhead < end) fetch<Vectors, 2>(weights(static_cast<Index>(p + kFarAhead)));
            if (p + kAhead < end) fetch<Vectors, 3>(weights(static_cast<Index>(p + kAhead)));
            double x = static_cast<double>(job.X.data[p]);
            if (binary) {
                if (p > job.X.start[i] && column[p] <= column[p - 1]) return false;
                x = x > job.threshold ? 1.0 : 0.0;
            }
            sums.add(x, weights(p));
        }
        double sum[Vectors * kLanes];
        sums.store(sum);
        write(sum, job.bias + first, groups, job.out + i * job.groups + first);
    }
    return true;
}

template <std::size_t Vectors, typename T>
POSTERIOR_INLINE bool table_rows(const TableScores<T>& job, std::size_t first,
                                 std::size_t groups) {
    for (std::size_t i = 0; i < job.X.rows; ++i) {
        Accumulators<Vectors> sums = {};
        const T* x = job.X.row(i);
        for (std::size_t j = 0; j < job.X.columns; ++j, x += job.X.column_step) {
            const auto code = static_cast<std::int64_t>(*x);
            if (code < 0) continue;
            const std::int64_t unseen = job.offset[j + 1] - 1, cell = job.offset[j] + code;
            const auto row = static_cast<std::size_t>(cell < unseen ? cell : unseen);
            sums.add(1.0, job.table + row * job.width + first);
        }
        double sum[Vectors * kLanes];
        sums.store(sum);
        write(sum, job.bias + first, groups, job.out + i * job.groups + first);
    }
    return true;
}

// Four vectors of groups at a time, then what is left.
template <auto One, auto Two, auto Three, auto Four, typename Job>
POSTERIOR_INLINE bool by_groups(const Job& job) {
    bool done = true;
    for (std::size_t first = 0; done && first < job.groups; first += 4 * kLanes) {
        const std::size_t left = job.groups - first;
        done = left <= kLanes       ? One(job, first, left)
               : left <= 2 * kLanes ? Two(job, first, left)
               : left <= 3 * kLanes ? Three(job, first, left)
                                    : Four(job, first, std::min(left, 4 * kLanes));
    }
    return done;
}

template <typename T, typename Index>
bool sparse_log_joint(const SparseScores<T, Index>& job) {
    return simd<by_groups<sparse_rows<1, T, Index>, sparse_rows<2, T, Index>,
                          sparse_rows<3, T, Index>, sparse_rows<4, T, Index>,
                          SparseScores<T, Index>>>(job);
}
template bool sparse_log_joint(const SparseScores<double, std::int32_t>&);
template bool sparse_log_joint(const SparseScores<double, std::int64_t>&);
template bool sparse_log_joint(const SparseScores<float, std::int32_t>&);
template bool sparse_log_joint(const SparseScores<float, std::int64_t>&);

template <typename T>
bool table_log_joint(const TableScores<T>& job) {
    return simd<by_groups<table_rows<1, T>, table_rows<2, T>, table_rows<3, T>, table_rows<4, T>,
                          TableScores<T>>>(job);
}
template bool table_log_joint(const TableScores<std::int64_t>&);
template bool table_log_joint(const TableScores<std::int32_t>&);
template bool table_log_joint(const TableScores<std::int16_t>&);
template bool table_log_joint(const TableScores<std::uint8_t>&);

}  // namespace posterior
