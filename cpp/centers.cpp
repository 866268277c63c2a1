#include "centers.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "tiles.hpp"

namespace posterior {

// |c|² / 2 - x·c for a tile and a group. Every search uses this one loop, so a row and a center
// have the same score, to the last bit, in all of them.
template <std::size_t Bytes, typename T>
POSTERIOR_INLINE void score(const Centers<T>& centers, std::size_t g, const T* x, Vector<T, Bytes>* s) {
    const T* c = centers.table + g * centers.columns * kGroup;
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kGroup; ++i) s[i] = Vector<T, Bytes>{} + centers.half[g * kGroup + i];
    for (std::size_t j = 0; j < centers.columns; ++j, x += kRows<T, Bytes>, c += kGroup) {
        Vector<T, Bytes> v;
        get(v, x);
#pragma GCC unroll 16
        for (std::size_t i = 0; i < kGroup; ++i) s[i] -= v * c[i];
    }
}

template <std::size_t Bytes, typename T>
POSTERIOR_INLINE std::int64_t search_all(Matrix<T> X, const Centers<T>& centers, T* x,
                                         std::int32_t* label) {
    std::int64_t moved = 0;
    for (std::size_t first = 0; first < X.rows; first += kRows<T, Bytes>) {
        const std::size_t n = std::min(kRows<T, Bytes>, X.rows - first);
        const T* row[kRows<T, Bytes>];
        for (std::size_t r = 0; r < kRows<T, Bytes>; ++r) row[r] = X.row(first + std::min(r, n - 1));
        pack<Bytes>(row, centers.columns, centers.origin, x);
        Vector<T, Bytes> best = Vector<T, Bytes>{} + std::numeric_limits<T>::infinity();
        Index<T, Bytes> place = {};
        for (std::size_t g = 0; g < centers.groups; ++g) {
            Vector<T, Bytes> s[kGroup];
            score<Bytes>(centers, g, x, s);
#pragma GCC unroll 16
            for (std::size_t i = 0; i < kGroup; ++i) {
                const Index<T, Bytes> here = Index<T, Bytes>{} + static_cast<int>(g * kGroup + i);
                place = s[i] < best ? here : place;
                best = s[i] < best ? s[i] : best;
            }
        }
        for (std::size_t r = 0; r < n; ++r) {
            const std::int32_t now = centers.number[place[r]];
            moved += label[first + r] != now;
            label[first + r] = now;
        }
    }
    return moved;
}

// Rounding. |x|² + 2 (|c|²/2 - x·c), as computed, is within κ (|x| + radius)² of the square of the
// distance, κ = (d + 8) ε: each of the d + 4 roundings adds at most ε/2 of what it rounds. An upper
// bound carries twice that more, so a group is left out only if its scores, as computed, are larger
// than the own center's. Bounds are kept as floats; kMore makes up for their own roundings.
constexpr float kMore = 1.0f + 8 * FLT_EPSILON, kLess = 1.0f - 8 * FLT_EPSILON;

template <typename T, std::size_t Bytes>
struct Tile {
    std::size_t rows;
    std::uint32_t row[kRows<T, Bytes>];
    T best[kRows<T, Bytes>];
    std::int32_t place[kRows<T, Bytes>];  // of the best, negative before any was seen
    T square[kRows<T, Bytes>], error[kRows<T, Bytes>];
};

template <std::size_t Bytes, typename T>
POSTERIOR_INLINE void measure(const T* x, std::size_t columns, double radius, Tile<T, Bytes>& tile) {
    Vector<T, Bytes> square = {};
    for (std::size_t j = 0; j < columns; ++j) {
        Vector<T, Bytes> v;
        get(v, x + j * kRows<T, Bytes>);
        square += v * v;
    }
    put(tile.square, square);
    const T k = static_cast<T>(columns + 8) * std::numeric_limits<T>::epsilon();
    const T far = static_cast<T>(radius);
    for (std::size_t r = 0; r < kRows<T, Bytes>; ++r) {
        const T reach = std::sqrt(tile.square[r]) + far;
        tile.error[r] = k * reach * reach;
    }
}

// Lower bounds, stored for the group, of the distances that some scores tell.
template <std::size_t Bytes, typename T>
POSTERIOR_INLINE void at_least(const Tile<T, Bytes>& tile, const T* score, float farthest,
                               float* __restrict lower) {
    for (std::size_t r = 0; r < kRows<T, Bytes>; ++r) {
        const T square = tile.square[r] + 2 * score[r] - tile.error[r];
        const T far = std::sqrt(square > 0 ? square : T{0});
        const float least = kLess * static_cast<float>(far < T{FLT_MAX} ? far : T{FLT_MAX});
        lower[r] = kLess * (least + farthest);
    }
}

// Upper bounds on the distances from the best centers.
template <std::size_t Bytes, typename T>
POSTERIOR_INLINE void at_most(const Tile<T, Bytes>& tile, float* __restrict upper) {
    for (std::size_t r = 0; r < kRows<T, Bytes>; ++r) {
        const T square = tile.square[r] + 2 * tile.best[r] + 3 * tile.error[r];
        upper[r] = kMore * static_cast<float>(std::sqrt(square > 0 ? square : T{0})) + FLT_MIN;
    }
}

POSTERIOR_INLINE float upper_from(float distance, float way) {
    return (distance - way) + 4 * FLT_EPSILON * (distance + way);
}

// A group that holds the own center or a nearer one: the best, and the least of the others.
template <std::size_t Bytes, typename T>
POSTERIOR_INLINE void decide(const Centers<T>& centers, const Bounds& bounds, std::size_t g,
                             const Vector<T, Bytes>* s, Tile<T, Bytes>& tile) {
    Vector<T, Bytes> least = s[0], next = Vector<T, Bytes>{} + std::numeric_limits<T>::infinity();
    Index<T, Bytes> at = {};
#pragma GCC unroll 16
    for (std::size_t i = 1; i < kGroup; ++i) {
        const Vector<T, Bytes> larger = s[i] < least ? least : s[i];
        at = s[i] < least ? Index<T, Bytes>{} + static_cast<int>(i) : at;
        least = s[i] < least ? s[i] : least;
        next = larger < next ? larger : next;
    }
    T first[kRows<T, Bytes>], second[kRows<T, Bytes>];
    float if_farther[kRows<T, Bytes>], if_nearer[kRows<T, Bytes>];
    put(first, least);
    put(second, next);
    at_least<Bytes>(tile, first, bounds.farthest[g], if_farther);
    at_least<Bytes>(tile, second, bounds.farthest[g], if_nearer);
    for (std::size_t r = 0; r < tile.rows; ++r) {
        const auto place = static_cast<std::int32_t>(g * kGroup) + static_cast<std::int32_t>(at[r]);
        const std::int32_t before = tile.place[r];
        float* lower = bounds.lower + tile.row[r] * bounds.width;
        const bool nearer =
            before < 0 || first[r] < tile.best[r] ||
            (first[r] <= tile.best[r] && centers.number[place] < centers.number[before]);
        lower[g] = nearer ? if_nearer[r] : if_farther[r];
        if (!nearer) continue;
        if (before >= 0) {  // it is one of the others now, and the nearest of its group
            const std::size_t old = static_cast<std::size_t>(before) / kGroup;
            float from_old[kRows<T, Bytes>];
            at_least<Bytes>(tile, tile.best, bounds.farthest[old], from_old);
            lower[old] = from_old[r];
        }
        tile.best[r] = first[r];
        tile.place[r] = place;
    }
}

template <std::size_t Bytes, typename T>
POSTERIOR_INLINE void look(const Centers<T>& centers, const Bounds& bounds, std::size_t g,
                           const T* x, Tile<T, Bytes>& tile, bool own) {
    Vector<T, Bytes> s[kGroup], best;
    score<Bytes>(centers, g, x, s);
    Vector<T, Bytes> least = s[0];
#pragma GCC unroll 16
    for (std::size_t i = 1; i < kGroup; ++i) least = s[i] < least ? s[i] : least;
    get(best, tile.best);
    Vector<T, Bytes> ahead = least - best;
    least_across<kRows<T, Bytes> / 2>(ahead);
    if (own || !(ahead[0] > 0)) return decide<Bytes>(centers, bounds, g, s, tile);
    T first[kRows<T, Bytes>];
    float lower[kRows<T, Bytes>];
    put(first, least);
    at_least<Bytes>(tile, first, bounds.farthest[g], lower);
    for (std::size_t r = 0; r < tile.rows; ++r)
        bounds.lower[tile.row[r] * bounds.width + g] = lower[r];
}

// Whether a group may hold a center nearer than `upper`. Lines of bounds are of whole vectors.
template <typename V>
POSTERIOR_INLINE bool may_be_nearer(const Bounds& bounds, std::size_t row, float upper) {
    constexpr std::size_t n = sizeof(V) / sizeof(float);
    V least = V{} + FLT_MAX, lower, farthest;
    for (std::size_t g = 0; g < bounds.width; g += n) {
        get(lower, bounds.lower + row * bounds.width + g);
        get(farthest, bounds.farthest + g);
        lower -= farthest;
        least = lower < least ? lower : least;
    }
    least_across<n / 2>(least);
    return !(least[0] > upper);
}

template <typename T>
struct Room {
    std::vector<T> x;                            // a tile
    std::vector<std::int32_t> need;              // groups to look at
    std::vector<std::uint32_t> doubtful, order;  // rows whose center may be another one
    std::vector<std::size_t> start;
};

// Rows for which the bounds do not tell, also after the own distance was measured anew. Rows go on
// a list without a branch: which do cannot be foreseen.
template <typename V, typename T>
POSTERIOR_INLINE void find_doubtful(Matrix<T> X, const Centers<T>& centers, const Bounds& bounds,
                                    const std::int32_t* label, Room<T>& room) {
    const std::size_t d = centers.columns;
    const double k = static_cast<double>(d + 8) * std::numeric_limits<T>::epsilon();
    room.doubtful.resize(X.rows + 1);
    std::uint32_t* list = room.doubtful.data();
    std::size_t n = 0, left = 0;
    for (std::size_t i = 0; i < X.rows; ++i) {
        list[n] = static_cast<std::uint32_t>(i);
        n += may_be_nearer<V>(bounds, i, kMore * (bounds.upper[i] + bounds.way[label[i]]));
    }
    for (std::size_t a = 0; a < n; ++a) {
        const std::uint32_t i = list[a];
        const auto own = static_cast<std::size_t>(label[i]);
        const T* c = centers.point + own * d;
        const auto square = static_cast<double>(square_distance(X.row(i), centers.origin, c, d));
        const double reach = 2 * bounds.radius + std::sqrt(square);
        const float upper =
            kMore * static_cast<float>(std::sqrt(square + 3 * k * reach * reach)) + FLT_MIN;
        bounds.upper[i] = upper_from(upper, bounds.way[own]);
        list[left] = i;
        left += may_be_nearer<V>(bounds, i, kMore * upper);
    }
    room.doubtful.resize(left);
}

// Doubtful rows whose centers are near each other stand together: they need the same groups.
template <typename T>
void sort_doubtful(const Bounds& bounds, const std::int32_t* label, std::size_t places,
                   Room<T>& room) {
    room.start.assign(places + 1, 0);
    const auto place = [&](std::uint32_t i) {
        return static_cast<std::size_t>(bounds.place[label[i]]);
    };
    for (const std::uint32_t i : room.doubtful) ++room.start[place(i) + 1];
    for (std::size_t p = 0; p < places; ++p) room.start[p + 1] += room.start[p];
    room.order.resize(room.doubtful.size());
    for (const std::uint32_t i : room.doubtful) room.order[room.start[place(i)]++] = i;
}

template <std::size_t Bytes, typename T>
POSTERIOR_INLINE std::int64_t search_tile(Matrix<T> X, const Centers<T>& centers,
                                          const Bounds& bounds, const std::int32_t* label,
                                          Room<T>& room, Tile<T, Bytes>& tile) {
    const T* row[kRows<T, Bytes>];
    for (std::size_t r = 0; r < kRows<T, Bytes>; ++r) row[r] = X.row(tile.row[std::min(r, tile.rows - 1)]);
    pack<Bytes>(row, centers.columns, centers.origin, room.x.data());
    measure<Bytes>(room.x.data(), centers.columns, bounds.radius, tile);
    std::fill(tile.best, tile.best + kRows<T, Bytes>, std::numeric_limits<T>::infinity());
    std::fill(tile.place, tile.place + kRows<T, Bytes>, -1);
    std::int32_t* need = room.need.data();
    std::fill(need, need + bounds.width, bounds.fresh ? 1 : 0);
    std::int64_t looked = 0;
    for (std::size_t r = 0; r < tile.rows; ++r)
        need[static_cast<std::size_t>(bounds.place[label[tile.row[r]]]) / kGroup] = 2;
    for (std::size_t g = 0; g < centers.groups; ++g)
        if (need[g] == 2) {
            look<Bytes>(centers, bounds, g, room.x.data(), tile, true);
            ++looked;
        }
    if (!bounds.fresh) {
        float upper[kRows<T, Bytes>];
        at_most<Bytes>(tile, upper);
        for (std::size_t r = 0; r < tile.rows; ++r) {
            const float* lower = bounds.lower + tile.row[r] * bounds.width;
            for (std::size_t g = 0; g < bounds.width; ++g)
                need[g] |= lower[g] - bounds.farthest[g] > kMore * upper[r] ? 0 : 1;
        }
    }
    for (std::size_t g = 0; g < centers.groups; ++g)
        if (need[g] == 1) {
            look<Bytes>(centers, bounds, g, room.x.data(), tile, false);
            ++looked;
        }
    return looked;
}

// The rows of the next tile stand anywhere: they are on their way while this one is searched.
template <std::size_t Bytes, typename T>
POSTERIOR_INLINE void fetch(Matrix<T> X, const Bounds& bounds, const Room<T>& room,
                            std::size_t first) {
    const std::size_t end = std::min(first + kRows<T, Bytes>, room.order.size());
    for (std::size_t i = first; i < end; ++i) {
        const T* x = X.row(room.order[i]);
        for (std::size_t j = 0; j < X.columns; j += kRows<T, Bytes>) __builtin_prefetch(x + j);
        __builtin_prefetch(bounds.lower + room.order[i] * bounds.width, 1);
    }
}

template <std::size_t Bytes, typename T>
POSTERIOR_INLINE Search search_tiles(Matrix<T> X, const Centers<T>& centers, const Bounds& bounds,
                                     std::int32_t* label, Room<T>& room) {
    Search search{};
    for (std::size_t first = 0; first < room.order.size(); first += kRows<T, Bytes>) {
        Tile<T, Bytes> tile;
        tile.rows = std::min(kRows<T, Bytes>, room.order.size() - first);
        std::copy_n(room.order.data() + first, tile.rows, tile.row);
        fetch<Bytes>(X, bounds, room, first + kRows<T, Bytes>);
        search.looked += search_tile<Bytes>(X, centers, bounds, label, room, tile) *
                         static_cast<std::int64_t>(kRows<T, Bytes>);
        float upper[kRows<T, Bytes>];
        at_most<Bytes>(tile, upper);
        for (std::size_t r = 0; r < tile.rows; ++r) {
            const std::int32_t now = centers.number[tile.place[r]];
            std::int32_t& before = label[tile.row[r]];
            search.moved += before != now;
            before = now;
            bounds.upper[tile.row[r]] = upper_from(upper[r], bounds.way[now]);
        }
    }
    return search;
}

template <std::size_t Bytes, typename T>
POSTERIOR_INLINE void find_by_width(Matrix<T> X, const Centers<T>& centers, const Bounds& bounds,
                                    const std::int32_t* label, Room<T>& room) {
    if (bounds.width % 16 == 0)
        find_doubtful<Vector<float, Bytes>>(X, centers, bounds, label, room);
    else
        find_doubtful<Four>(X, centers, bounds, label, room);
}

template <typename T>
std::int64_t nearest(Matrix<T> X, const Centers<T>& centers, std::int32_t* label) {
    std::vector<T> x(kRows<T> * centers.columns);
    return simd<search_all<16, T>, search_all<32, T>, search_all<64, T>>(X, centers, x.data(), label);
}

template <typename T>
Search nearest_bounded(Matrix<T> X, const Centers<T>& centers, const Bounds& bounds,
                       std::int32_t* label) {
    Room<T> room;
    room.x.resize(kRows<T> * centers.columns);
    room.need.resize(bounds.width);
    if (bounds.fresh) {
        room.doubtful.resize(X.rows);
        std::iota(room.doubtful.begin(), room.doubtful.end(), 0);
        std::fill(bounds.lower, bounds.lower + X.rows * bounds.width, FLT_MAX);
    } else {
        simd<find_by_width<16, T>, find_by_width<32, T>, find_by_width<64, T>>(X, centers, bounds, label, room);
    }
    sort_doubtful(bounds, label, centers.groups * kGroup, room);
    return simd<search_tiles<16, T>, search_tiles<32, T>, search_tiles<64, T>>(X, centers, bounds, label, room);
}

template <typename T>
void own_distances(Matrix<T> X, const double* center, const std::int32_t* label, double* out) {
    for (std::size_t i = 0; i < X.rows; ++i) {
        const T* x = X.row(i);
        const double* c = center + static_cast<std::size_t>(label[i]) * X.columns;
        Lanes sum = {}, v, w;
        std::size_t j = 0;
        for (; j + kLanes <= X.columns; j += kLanes) {
            load(v, x + j);
            load(w, c + j);
            sum += (v - w) * (v - w);
        }
        double rest = 0;
        for (; j < X.columns; ++j) {
            const double apart = static_cast<double>(x[j]) - c[j];
            rest += apart * apart;
        }
        out[i] = ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7])) +
                 rest;
    }
}

template std::int64_t nearest(Matrix<float>, const Centers<float>&, std::int32_t*);
template std::int64_t nearest(Matrix<double>, const Centers<double>&, std::int32_t*);
template Search nearest_bounded(Matrix<float>, const Centers<float>&, const Bounds&, std::int32_t*);
template Search nearest_bounded(Matrix<double>, const Centers<double>&, const Bounds&,
                                std::int32_t*);
template void own_distances(Matrix<float>, const double*, const std::int32_t*, double*);
template void own_distances(Matrix<double>, const double*, const std::int32_t*, double*);

}  // namespace posterior
