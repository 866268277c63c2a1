#include "nearest.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "tiles.hpp"

namespace posterior {

// Scores. With q and x around the origin and scaled, |q - x|² = |q|² + 2 s,  s = |x|² / 2 - q·x.
// A score in W, of cells rounded to W, is within κ (|x|² + |q|² / 2) of that, κ = (d + 16) ε / 2:
// cells, products and sums round d + 8 times, by ε / 2 each, and |q||x| <= (|q|² + |x|²) / 2.
// We compute  low = (1 - 2κ) |x|² / 2 - q·x  and so know
//     low - κ |q|² / 2  <=  s  <=  low + 2κ |x|² + κ |q|² / 2.
// If `high` is the k-th least of  low + 2κ |x|²,  a row with  low > high + κ |q|²  has k rows
// before it. Distances that are measured round too, in double: three times the κ of a double makes
// up for that, and the κ of a float is far more.
template <typename W>
double rounding(std::size_t columns) {
    const double once = 0.5 * static_cast<double>(std::numeric_limits<W>::epsilon());
    return (sizeof(W) == sizeof(double) ? 3 : 1) * static_cast<double>(columns + 16) * once;
}

template <typename W>
constexpr W kFar = std::numeric_limits<W>::max() / 4;  // farther than any row

template <typename W>
W rounded_up(double x) {
    const W w = static_cast<W>(std::min(x, static_cast<double>(kFar<W>)));
    return static_cast<double>(w) < x ? std::nextafter(w, std::numeric_limits<W>::infinity()) : w;
}

// |q - x| of some rows, by the differences, columns in order. Compiled for the plain machine: the
// same bits on all of them. Four at a time, since a sum waits for itself.
template <typename T>
__attribute__((noinline)) void measure(const double* q, Matrix<T> X, const std::int32_t* number,
                                       std::size_t n, double* out) {
    for (std::size_t i = 0; i < n; i += 4) {
        const T* row[4];
        for (std::size_t r = 0; r < 4; ++r)
            row[r] = X.row(static_cast<std::size_t>(number[std::min(i + r, n - 1)]));
        for (std::size_t r = 0; r < 4; ++r)
            __builtin_prefetch(X.row(static_cast<std::size_t>(number[std::min(i + 4 + r, n - 1)])));
        double sum[4] = {};
        for (std::size_t j = 0; j < X.columns; ++j) {
            for (std::size_t r = 0; r < 4; ++r) {
                const double apart = static_cast<double>(row[r][j]) - q[j];
                sum[r] += apart * apart;
            }
        }
        for (std::size_t r = 0; r < std::min<std::size_t>(4, n - i); ++r)
            out[i + r] = std::sqrt(sum[r]);
    }
}

using Neighbor = std::pair<double, std::int32_t>;  // distance and number: ordered as wanted

// For each query, rows that may be among the k nearest: a pool of those with their `low`, and, once
// a pool was too small for all that products cannot tell apart, the k nearest by measure.
template <typename W, typename T>
struct Pools {
    Matrix<double> Q;
    const Searched<T>& rows;
    std::size_t k, room;
    double kappa, slack;  // of rounding, and of numbers too small to round well
    std::int64_t measured = 0;
    std::vector<W> low, limit;  // (queries, room), (queries,): no row with a higher low is near
    std::vector<std::int32_t> number;
    std::vector<std::size_t> size;
    std::vector<double> square, high, distance;
    std::vector<std::vector<Neighbor>> best;

    Pools(Matrix<double> queries, const Searched<T>& searched, std::size_t wanted,
          std::size_t places)
        : Q(queries), rows(searched), k(wanted), room(2 * wanted + 16),
          kappa(rounding<W>(queries.columns)),
          slack(static_cast<double>(queries.columns + 16) *
                static_cast<double>(std::numeric_limits<W>::min())),
          low(places * room), limit(places, -kFar<W>), number(places * room), size(places),
          square(queries.rows), high(room), distance(room), best(queries.rows) {
        std::fill(limit.begin(), limit.begin() + static_cast<std::ptrdiff_t>(Q.rows), kFar<W>);
    }

    void add(std::size_t q, W score, std::size_t row) {
        const std::size_t at = q * room + size[q];
        low[at] = score;
        number[at] = static_cast<std::int32_t>(row);
        if (++size[q] == room) tighten(q);
    }

    // Leaves out of the pool what has k rows before it.
    __attribute__((noinline)) void tighten(std::size_t q) {
        if (best[q].empty()) select(q);
        if (size[q] > room - room / 4) settle(q);
    }

    void select(std::size_t q) {
        W* l = low.data() + q * room;
        std::int32_t* n = number.data() + q * room;
        if (size[q] <= k) return;
        for (std::size_t i = 0; i < size[q]; ++i)
            high[i] = static_cast<double>(l[i]) + 4 * kappa * rows.half[n[i]];
        const auto kth = high.begin() + static_cast<std::ptrdiff_t>(k - 1);
        std::nth_element(high.begin(), kth, high.begin() + static_cast<std::ptrdiff_t>(size[q]));
        limit[q] = rounded_up<W>(*kth + kappa * square[q] + slack);
        std::size_t left = 0;
        for (std::size_t i = 0; i < size[q]; ++i) {
            const W score = l[i];
            n[left] = n[i];
            l[left] = score;
            left += score <= limit[q];
        }
        size[q] = left;
    }

    // Measures all in the pool; the k nearest are kept, and the limit follows from the last.
    void settle(std::size_t q) {
        const std::int32_t* n = number.data() + q * room;
        std::vector<Neighbor>& near = best[q];
        measure(Q.row(q), rows.X, n, size[q], distance.data());
        for (std::size_t i = 0; i < size[q]; ++i) near.emplace_back(distance[i], n[i]);
        measured += static_cast<std::int64_t>(size[q]);
        size[q] = 0;
        const std::size_t left = std::min(k, near.size());
        std::partial_sort(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(left),
                          near.end());
        near.resize(left);
        if (left < k) return;
        const double last = near.back().first * rows.scale;
        const double more = 1 + 8 * rounding<double>(Q.columns);
        const double score = 0.5 * (last * last * more - square[q]);
        limit[q] = rounded_up<W>(score + kappa * square[q] + slack);
    }

    // Measures all rows, for a query so far away that products overflow.
    void settle_all(std::size_t q) {
        for (std::size_t row = 0; row < rows.X.rows; ++row) {
            number[q * room + size[q]] = static_cast<std::int32_t>(row);
            if (++size[q] == room) settle(q);
        }
        settle(q);
    }
};

// Queries side by side, around the origin: q[j] is the column j of all queries of a tile.
template <typename W, typename T>
void pack_queries(Pools<W, T>& pools, std::size_t tile, W* out) {
    const Searched<T>& rows = pools.rows;
    const std::size_t d = pools.Q.columns;
    for (std::size_t i = 0; i < pools.Q.rows; ++i) {
        const double* q = pools.Q.row(i);
        W* to = out + i / tile * tile * d + i % tile;
        double square = 0;
        for (std::size_t j = 0; j < d; ++j) {
            const double cell = (q[j] - rows.origin[j]) * rows.scale;
            square += cell * cell;
            to[j * tile] = static_cast<W>(cell);
        }
        pools.square[i] = square;
        if (square < static_cast<double>(kFar<W>)) continue;
        for (std::size_t j = 0; j < d; ++j) to[j * tile] = W{};
        pools.limit[i] = -kFar<W>;
    }
}

constexpr std::size_t kTogether = 8;     // rows that are multiplied together, at most
constexpr std::size_t kBlock = 1 << 17;  // bytes of rows that stay near

// Rows from `first` on, around the origin. A block is filled up with rows that are far.
template <typename W>
struct Block {
    std::size_t first, size, columns;
    std::vector<W> x, half;

    explicit Block(std::size_t d)
        : first(0), size(std::clamp<std::size_t>(kBlock / sizeof(W) / std::max<std::size_t>(d, 1),
                                                 4 * kTogether, 1024) / kTogether * kTogether),
          columns(d), x(size * d), half(size) {}
};

template <typename W, typename T>
POSTERIOR_INLINE void copy_rows(const Searched<T>& rows, double kappa, Block<W>& block) {
    const std::size_t d = block.columns, n = std::min(block.size, rows.X.rows - block.first);
    for (std::size_t i = 0; i < n; ++i) {
        const T* x = rows.X.row(block.first + i);
        W* to = block.x.data() + i * d;
        for (std::size_t j = 0; j < d; ++j)
            to[j] = static_cast<W>((static_cast<double>(x[j]) - rows.origin[j]) * rows.scale);
        block.half[i] = static_cast<W>(rows.half[block.first + i] * (1 - 2 * kappa));
    }
    if (n < block.size) {
        std::fill(block.x.data() + n * d, block.x.data() + block.size * d, W{});
        std::fill(block.half.data() + n, block.half.data() + block.size, 2 * kFar<W>);
    }
}

template <typename W, std::size_t Bytes>
struct Vectors {
    typedef W Real __attribute__((vector_size(Bytes)));
    using Word = std::conditional_t<sizeof(W) == 4, std::uint32_t, std::uint64_t>;
    typedef Word Bits __attribute__((vector_size(Bytes)));
    static constexpr std::size_t lanes = Bytes / sizeof(W), tile = 2 * lanes;
    typedef std::uint8_t Flags __attribute__((vector_size(lanes)));
    static constexpr int sign = 8 * sizeof(W) - 1;
};

// Rows of a tile of scores that may be near go into the pools. Bit r of a byte, one for each query,
// is set if row r may.
template <std::size_t Bytes, std::size_t Rows, typename W, typename T>
POSTERIOR_INLINE void take(const typename Vectors<W, Bytes>::Real (&s)[Rows][2],
                           std::size_t query, std::size_t row, Pools<W, T>& pools) {
    using V = Vectors<W, Bytes>;
    static_assert(Rows <= 8 && std::endian::native == std::endian::little);
    W score[Rows][V::tile];
    std::uint64_t word[(V::tile + 7) / 8] = {};
    for (std::size_t v = 0; v < 2; ++v) {
        typename V::Real limit;
        typename V::Bits seen = {};
        get(limit, pools.limit.data() + query + v * V::lanes);
#pragma GCC unroll 16
        for (std::size_t r = 0; r < Rows; ++r) {
            const typename V::Real ahead = limit - s[r][v];
            seen |= (~std::bit_cast<typename V::Bits>(ahead) >> V::sign) << r;
            put(score[r] + v * V::lanes, s[r][v]);
        }
        const auto flags = __builtin_convertvector(seen, typename V::Flags);
        std::memcpy(reinterpret_cast<char*>(word) + v * V::lanes, &flags, V::lanes);
    }
    for (std::size_t w = 0; w < std::size(word); ++w)
        for (std::uint64_t left = word[w]; left != 0; left &= left - 1) {
            const auto bit = static_cast<std::size_t>(std::countr_zero(left));
            const std::size_t l = 8 * w + bit / 8, r = bit % 8;
            pools.add(query + l, score[r][l], row + r);
        }
}

// Some rows of the next block are on their way while those of this one are searched: a part of them
// in the turn of each tile of queries.
template <typename T>
POSTERIOR_INLINE void fetch(Matrix<T> X, std::size_t row, std::size_t rows, std::size_t turn,
                            std::size_t turns) {
    if (row + rows > X.rows) return;
    const char* from = reinterpret_cast<const char*>(X.row(row));
    const std::size_t bytes = rows * X.columns * sizeof(T);
    for (std::size_t at = 64 * turn; at < bytes; at += 64 * turns)
        __builtin_prefetch(from + at, 0, 2);
}

template <std::size_t Bytes, std::size_t Rows, typename W, typename T>
POSTERIOR_INLINE void search_block(const Block<W>& block, const W* packed, Pools<W, T>& pools) {
    using V = Vectors<W, Bytes>;
    const std::size_t d = block.columns, tiles = (pools.Q.rows + V::tile - 1) / V::tile;
    for (std::size_t query = 0; query < pools.Q.rows; query += V::tile)
        for (std::size_t i = 0; i < block.size; i += Rows) {
            fetch(pools.rows.X, block.first + block.size + i, Rows, query / V::tile, tiles);
            const W *x = block.x.data() + i * d, *q = packed + query * d;
            typename V::Real s[Rows][2], near[2], limit[2];
#pragma GCC unroll 16
            for (std::size_t r = 0; r < Rows; ++r)
                s[r][0] = s[r][1] = typename V::Real{} + block.half[i + r];
            for (std::size_t j = 0; j < d; ++j, q += V::tile) {
                get(near[0], q);
                get(near[1], q + V::lanes);
#pragma GCC unroll 16
                for (std::size_t r = 0; r < Rows; ++r) {
                    s[r][0] -= near[0] * x[r * d + j];
                    s[r][1] -= near[1] * x[r * d + j];
                }
            }
            near[0] = s[0][0];
            near[1] = s[0][1];
#pragma GCC unroll 16
            for (std::size_t r = 1; r < Rows; ++r) {
                near[0] = s[r][0] < near[0] ? s[r][0] : near[0];
                near[1] = s[r][1] < near[1] ? s[r][1] : near[1];
            }
            get(limit[0], pools.limit.data() + query);
            get(limit[1], pools.limit.data() + query + V::lanes);
            const typename V::Real one = near[0] - limit[0], other = near[1] - limit[1];
            typename V::Real ahead = one < other ? one : other;
            least_across<V::lanes / 2>(ahead);
            if (!(ahead[0] > 0)) take<Bytes>(s, query, block.first + i, pools);
        }
}

template <std::size_t Bytes, std::size_t Rows, typename W, typename T>
POSTERIOR_INLINE void search_rows(Pools<W, T>& pools, W* packed) {
    pack_queries(pools, Vectors<W, Bytes>::tile, packed);
    for (Block<W> block(pools.Q.columns); block.first < pools.rows.X.rows;
         block.first += block.size) {
        copy_rows(pools.rows, pools.kappa, block);
        search_block<Bytes, Rows>(block, packed, pools);
    }
}

// Vectors as long as those of the machine, so that a tile of scores stays in its registers: ARM has
// 32 of them.
#if defined(__x86_64__)
constexpr std::size_t kFew = 4;
#else
constexpr std::size_t kFew = 8;
#endif

template <typename W, typename T>
std::int64_t nearest_rows(Matrix<double> Q, const Searched<T>& rows, std::size_t k,
                          double* distance, std::int64_t* number) {
    constexpr std::size_t widest = Vectors<W, 64>::tile;
    const std::size_t places = (Q.rows + widest - 1) / widest * widest;
    std::vector<W> packed(places * Q.columns);
    Pools<W, T> pools(Q, rows, k, places);
    simd<search_rows<16, kFew, W, T>, search_rows<32, 4, W, T>, search_rows<64, 8, W, T>>(
        pools, packed.data());
    for (std::size_t q = 0; q < Q.rows; ++q) {
        if (pools.best[q].empty()) pools.select(q);
        pools.settle(q);
        if (pools.best[q].size() < k) pools.settle_all(q);
        for (std::size_t i = 0; i < k; ++i) {
            distance[q * k + i] = pools.best[q][i].first;
            number[q * k + i] = pools.best[q][i].second;
        }
    }
    return pools.measured;
}

template std::int64_t nearest_rows<float>(Matrix<double>, const Searched<float>&, std::size_t,
                                          double*, std::int64_t*);
template std::int64_t nearest_rows<float>(Matrix<double>, const Searched<double>&, std::size_t,
                                          double*, std::int64_t*);
template std::int64_t nearest_rows<double>(Matrix<double>, const Searched<float>&, std::size_t,
                                           double*, std::int64_t*);
template std::int64_t nearest_rows<double>(Matrix<double>, const Searched<double>&, std::size_t,
                                           double*, std::int64_t*);

}  // namespace posterior
