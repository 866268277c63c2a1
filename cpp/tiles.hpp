// Rows side by side in vectors, one row in each lane.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "simd.hpp"

namespace posterior {

template <typename T, std::size_t Bytes>
struct Wide {
    using Whole = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
    typedef T Vector __attribute__((vector_size(Bytes)));
    typedef Whole Index __attribute__((vector_size(Bytes)));
};
template <typename T, std::size_t Bytes = 64>
using Vector = typename Wide<T, Bytes>::Vector;
template <typename T, std::size_t Bytes = 64>
using Index = typename Wide<T, Bytes>::Index;
template <typename T, std::size_t Bytes = 64>
constexpr std::size_t kRows = Bytes / sizeof(T);  // of a tile: one in each lane

typedef float Four __attribute__((vector_size(16)));

template <typename V, typename T>
POSTERIOR_INLINE void get(V& v, const T* p) {
    std::memcpy(&v, p, sizeof v);
}
template <typename V, typename T>
POSTERIOR_INLINE void put(T* p, const V& v) {
    std::memcpy(p, &v, sizeof v);
}

// One step of turning a square block: halves of two rows, `Half` lanes wide, change places.
template <std::size_t Half, typename V, std::size_t... L>
POSTERIOR_INLINE void swap_halves(V& a, V& b, std::index_sequence<L...>) {
    constexpr int n = sizeof...(L);
    const V first = __builtin_shufflevector(
        a, b, (L & Half ? static_cast<int>(L - Half) + n : static_cast<int>(L))...);
    b = __builtin_shufflevector(
        a, b, (L & Half ? static_cast<int>(L) + n : static_cast<int>(L + Half))...);
    a = first;
}

template <std::size_t Half, std::size_t N, typename V>
POSTERIOR_INLINE void turn(V* block) {
    if constexpr (Half > 0) {
#pragma GCC unroll 16
        for (std::size_t i = 0; i < N; ++i)
            if ((i & Half) == 0)
                swap_halves<Half>(block[i], block[i + Half], std::make_index_sequence<N>());
        turn<Half / 2, N>(block);
    }
}

// Each lane with the one `Half` lanes away, until all lanes hold the sum or the least of all.
template <std::size_t Half, typename V, std::size_t... L>
POSTERIOR_INLINE V shifted(const V& v, std::index_sequence<L...>) {
    return __builtin_shufflevector(v, v, static_cast<int>(L ^ Half)...);
}
template <std::size_t Half, typename V>
POSTERIOR_INLINE void add_across(V& v) {
    if constexpr (Half > 0) {
        v += shifted<Half>(v, std::make_index_sequence<sizeof v / sizeof v[0]>());
        add_across<Half / 2>(v);
    }
}
template <std::size_t Half, typename V>
POSTERIOR_INLINE void least_across(V& v) {
    if constexpr (Half > 0) {
        const V other = shifted<Half>(v, std::make_index_sequence<sizeof v / sizeof v[0]>());
        v = other < v ? other : v;
        least_across<Half / 2>(v);
    }
}

// Rows of a tile side by side, around the origin: x[j] is a vector of the rows' column j.
template <std::size_t Bytes, typename T>
POSTERIOR_INLINE void pack(const T* const* row, std::size_t columns, const T* origin, T* x) {
    constexpr std::size_t n = kRows<T, Bytes>;
    std::size_t j = 0;
    for (; j + n <= columns; j += n) {
        Vector<T, Bytes> block[n], o;
        get(o, origin + j);
#pragma GCC unroll 16
        for (std::size_t r = 0; r < n; ++r) {
            get(block[r], row[r] + j);
            block[r] -= o;
        }
        turn<n / 2, n>(block);
#pragma GCC unroll 16
        for (std::size_t c = 0; c < n; ++c) put(x + (j + c) * n, block[c]);
    }
    for (; j < columns; ++j)
        for (std::size_t r = 0; r < n; ++r) x[j * n + r] = row[r][j] - origin[j];
}

// |x - o - c|² of one row.
template <typename T>
POSTERIOR_INLINE T square_distance(const T* x, const T* origin, const T* c, std::size_t columns) {
    Vector<T> sum = {}, v, o, w;
    std::size_t j = 0;
    for (; j + kRows<T> <= columns; j += kRows<T>) {
        get(v, x + j);
        get(o, origin + j);
        get(w, c + j);
        v = v - o - w;
        sum += v * v;
    }
    add_across<kRows<T> / 2>(sum);
    T total = sum[0];
    for (; j < columns; ++j) total += (x[j] - origin[j] - c[j]) * (x[j] - origin[j] - c[j]);
    return total;
}

}  // namespace posterior
