#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <limits>

#include "tiles.hpp"
#include "tree.hpp"

namespace posterior {

namespace {

typedef double Quad __attribute__((vector_size(32)));
typedef std::int64_t Flags __attribute__((vector_size(32)));

POSTERIOR_INLINE void take(Quad& v, const double* p) { get(v, p); }
POSTERIOR_INLINE void take(Quad& v, const float* p) {
    Four f;
    get(f, p);
    v = __builtin_convertvector(f, Quad);
}

// Distances are kept as sums over columns, Σ |x - q|^p, until a row is among the nearest. Rounding
// is monotone: the sum for a box, taken in the same order, never exceeds those for its rows. A sum
// beyond the distance's own by more than `slack` belongs to a larger distance.
struct Manhattan {
    static constexpr double slack = 0;
    POSTERIOR_INLINE Quad add(Quad s, Quad x) const { return s + (x < 0 ? -x : x); }
    POSTERIOR_INLINE double distance(double s) const { return s; }
    POSTERIOR_INLINE double sum(double distance) const { return distance; }
};
struct Euclidean {
    static constexpr double slack = 4 * DBL_EPSILON;
    POSTERIOR_INLINE Quad add(Quad s, Quad x) const { return s + x * x; }
    POSTERIOR_INLINE double distance(double s) const { return std::sqrt(s); }
    POSTERIOR_INLINE double sum(double distance) const { return distance * distance; }
};
struct Chebyshev {
    static constexpr double slack = 0;
    POSTERIOR_INLINE Quad add(Quad s, Quad x) const {
        const Quad apart = x < 0 ? -x : x;
        return s > apart ? s : apart;  // NaN wins
    }
    POSTERIOR_INLINE double distance(double s) const { return s; }
    POSTERIOR_INLINE double sum(double distance) const { return distance; }
};
struct Minkowski {
    double p, slack;  // pow is right to an ulp or so, and so is 1 / p, but for log s times as much
    explicit Minkowski(double order) : p(order), slack((4 * order + 1024) * DBL_EPSILON) {}
    POSTERIOR_INLINE Quad add(Quad s, Quad x) const {
        for (std::size_t l = 0; l < 4; ++l) s[l] += std::pow(std::fabs(x[l]), p);
        return s;
    }
    POSTERIOR_INLINE double distance(double s) const { return std::pow(s, 1 / p); }
    POSTERIOR_INLINE double sum(double distance) const { return std::pow(distance, p); }
};

// How far a query is at least from the boxes of a node, out (8,).
template <typename T, typename Metric>
POSTERIOR_INLINE void to_boxes(const T* box, const double* q, std::size_t columns,
                               const Metric& metric, double* out) {
    for (std::size_t half = 0; half < kBranches; half += 4) {
        const T* end = box + half;
        Quad sum = {}, low, high;
        for (std::size_t j = 0; j < columns; ++j, end += 2 * kBranches) {
            take(low, end);
            take(high, end + kBranches);
            low = low - q[j];
            high = q[j] - high;
            low = low > high ? low : high;
            low = low < 0 ? Quad{} : low;  // NaN stays
            sum = metric.add(sum, low);
        }
        put(out + half, sum);
    }
}

// A distance and the number of its row, as one number that is compared at once: the bits of doubles
// from zero up are ordered as they are, once -0 is 0.
__extension__ typedef unsigned __int128 Neighbor;

POSTERIOR_INLINE Neighbor neighbor(double distance, std::int32_t number) {
    return static_cast<Neighbor>(std::bit_cast<std::uint64_t>(distance + 0.0)) << 64 |
           static_cast<std::uint32_t>(number);
}
POSTERIOR_INLINE double distance_of(Neighbor one) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(one >> 64));
}

constexpr std::size_t kSorted = 24;  // neighbors that are kept in order; more are kept in a heap

// The nearest so far, and the largest sum that may still be among them.
template <typename Metric>
struct Nearest {
    const Metric& metric;
    std::vector<Neighbor> list;
    double limit;

    Nearest(const Metric& m, std::size_t k) : metric(m), list(k), limit(0) {}

    POSTERIOR_INLINE void clear() {
        const double none = std::numeric_limits<double>::infinity();
        std::fill(list.begin(), list.end(), neighbor(none, -1));  // behind all numbers
        limit = none;
    }

    // Among few, without a branch: where a row comes to stand cannot be foreseen.
    POSTERIOR_INLINE void offer(double sum, std::int32_t number) {
        const Neighbor one = neighbor(metric.distance(sum), number);
        Neighbor* const first = list.data();
        if (list.size() <= kSorted) {
            for (std::size_t i = list.size() - 1; i > 0; --i)
                first[i] = std::min(first[i], std::max(first[i - 1], one));
            first[0] = std::min(first[0], one);
        } else if (one < first[0]) {
            std::pop_heap(list.begin(), list.end());
            list.back() = one;
            std::push_heap(list.begin(), list.end());
        }
    }

    POSTERIOR_INLINE void tighten() {
        const double farthest = distance_of(list.size() <= kSorted ? list.back() : list.front());
        limit = metric.sum(farthest) * (1 + metric.slack) + DBL_MIN;
    }

    POSTERIOR_INLINE void tell(double* distance, std::int64_t* number) {
        if (list.size() > kSorted) std::sort_heap(list.begin(), list.end());
        for (std::size_t i = 0; i < list.size(); ++i) {
            distance[i] = distance_of(list[i]);
            number[i] = static_cast<std::int32_t>(list[i]);
        }
    }
};

// Rows of a leaf: their sums in vectors, then the few that may be among the nearest one by one.
template <typename T, typename Metric>
POSTERIOR_INLINE void look(const Tree<T>& tree, std::size_t leaf, const double* q,
                           Nearest<Metric>& nearest) {
    const std::size_t d = tree.columns, step = kLeaf / kBranches;
    const std::size_t enough = std::max(kLeaf, nearest.list.size() + kBranches - 1) / kBranches;
    std::size_t block = static_cast<std::size_t>(tree.start[leaf]);
    const std::size_t end = std::min(block + enough, static_cast<std::size_t>(tree.start[leaf + 1]));
    for (; block < end; block += step) {
        const std::size_t blocks = std::min(step, end - block);
        const T* x = tree.points + block * d * kBranches;
        double s[kLeaf];
        Flags hits = {}, flag = {1, 2, 4, 8};
        const Quad limit = Quad{} + nearest.limit;
        for (std::size_t b = 0; b < blocks; ++b, x += d * kBranches)
            for (std::size_t half = 0; half < kBranches; half += 4) {
                Quad sum = {}, v;
                for (std::size_t j = 0; j < d; ++j) {
                    take(v, x + j * kBranches + half);
                    sum = nearest.metric.add(sum, v - q[j]);
                }
                put(s + b * kBranches + half, sum);
                hits |= sum <= limit ? flag : Flags{};
                flag <<= 4;
            }
        const std::int32_t* number = tree.number + block * kBranches;
        for (std::int64_t left = hits[0] | hits[1] | hits[2] | hits[3]; left; left &= left - 1) {
            const int i = __builtin_ctzll(static_cast<unsigned long long>(left));
            nearest.offer(s[i], number[i]);
        }
        nearest.tighten();
    }
}

struct Step {
    double bound;
    std::int32_t child;
};

// The own leaf first, for a good limit; then whatever may hold a nearer row, nearest boxes first.
template <typename T, typename Metric>
POSTERIOR_INLINE void search(const Tree<T>& tree, const double* q, std::int32_t own,
                             std::vector<Step>& steps, Nearest<Metric>& nearest) {
    nearest.clear();
    look(tree, static_cast<std::size_t>(own), q, nearest);
    std::size_t top = 0;
    steps[top++] = {0, 0};
    while (top > 0) {
        const Step step = steps[--top];
        if (step.bound > nearest.limit) continue;
        if (step.child < 0) {
            if (-1 - step.child != own)
                look(tree, static_cast<std::size_t>(-1 - step.child), q, nearest);
            continue;
        }
        if (top + kBranches > steps.size()) steps.resize(2 * steps.size());
        const auto node = static_cast<std::size_t>(step.child);
        const std::int32_t* child = tree.child + node * kBranches;
        double bound[kBranches];
        to_boxes(tree.boxes + node * tree.columns * 2 * kBranches, q, tree.columns,
                 nearest.metric, bound);
        const std::size_t base = top;
        for (std::size_t b = 0; b < kBranches; ++b) {
            if (!(bound[b] <= nearest.limit)) continue;
            std::size_t i = top++;
            for (; i > base && steps[i - 1].bound < bound[b]; --i) steps[i] = steps[i - 1];
            steps[i] = {bound[b], child[b]};
        }
    }
}

template <typename T, typename Metric>
POSTERIOR_INLINE void search_all(const Tree<T>& tree, Matrix<double> Q, const std::int32_t* leaf,
                                 const std::int64_t* order, std::size_t count,
                                 const Neighbors& out, const Metric& metric) {
    Nearest<Metric> nearest(metric, out.k);
    std::vector<Step> steps(16 * kBranches);
    for (std::size_t i = 0; i < count; ++i) {
        const auto query = static_cast<std::size_t>(order[i]);
        search(tree, Q.row(query), leaf[query], steps, nearest);
        nearest.tell(out.distance + query * out.k, out.number + query * out.k);
    }
}

template <typename T>
POSTERIOR_INLINE void descend(const Tree<T>& tree, Matrix<double> Q, std::int32_t* leaf) {
    for (std::size_t i = 0; i < Q.rows; ++i) {
        std::int32_t child = 0;
        while (child >= 0) {
            const auto node = static_cast<std::size_t>(child);
            double bound[kBranches];
            to_boxes(tree.boxes + node * tree.columns * 2 * kBranches, Q.row(i), tree.columns,
                     Chebyshev{}, bound);
            std::size_t nearest = 0;
            for (std::size_t b = 1; b < kBranches; ++b)
                nearest = bound[b] < bound[nearest] ? b : nearest;
            child = tree.child[node * kBranches + nearest];
        }
        leaf[i] = -1 - child;
    }
}

template <typename T, typename Metric>
constexpr auto search_by = simd<search_all<T, Metric>>;

}  // namespace

template <typename T>
void find_leaves(const Tree<T>& tree, Matrix<double> Q, std::int32_t* leaf) {
    simd<descend<T>>(tree, Q, leaf);
}

template <typename T>
void search_tree(const Tree<T>& tree, Matrix<double> Q, const std::int32_t* leaf,
                 const std::int64_t* order, std::size_t count, const Neighbors& out) {
    if (out.p == 1) return search_by<T, Manhattan>(tree, Q, leaf, order, count, out, {});
    if (out.p == 2) return search_by<T, Euclidean>(tree, Q, leaf, order, count, out, {});
    if (std::isinf(out.p)) return search_by<T, Chebyshev>(tree, Q, leaf, order, count, out, {});
    search_by<T, Minkowski>(tree, Q, leaf, order, count, out, Minkowski{out.p});
}

template void find_leaves(const Tree<float>&, Matrix<double>, std::int32_t*);
template void find_leaves(const Tree<double>&, Matrix<double>, std::int32_t*);
template void search_tree(const Tree<float>&, Matrix<double>, const std::int32_t*,
                          const std::int64_t*, std::size_t, const Neighbors&);
template void search_tree(const Tree<double>&, Matrix<double>, const std::int32_t*,
                          const std::int64_t*, std::size_t, const Neighbors&);

}  // namespace posterior
