#include "tree.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "tiles.hpp"

namespace posterior {

namespace {

constexpr std::size_t kHalvings = 3;  // that make eight branches
constexpr std::size_t kFull = 32;     // rows that a leaf has at most where medians are exact
constexpr std::size_t kSample = 63;   // rows whose median stands for that of all,
constexpr std::size_t kPart = 64;     // or one row in so many
constexpr std::size_t kUneven = 8;    // a smaller part than an eighth: the sample misled

// A row and its number fill whole lines of 32 bytes, which go from place to place as vectors.
template <typename T>
constexpr std::size_t kCells = 32 / sizeof(T);
template <typename T>
struct Across;
template <>
struct Across<float> {
    typedef float Line __attribute__((vector_size(32)));
};
template <>
struct Across<double> {
    typedef double Line __attribute__((vector_size(32)));
};
template <typename T>
struct alignas(32) Memory {
    T cell[kCells<T>];
    Memory() {}  // nobody reads it before it is written
};

// The least and the largest value of each column, of one column of lines after the other.
template <typename T>
POSTERIOR_INLINE void find_box(const T* row, std::size_t n, std::size_t width, T* low, T* high) {
    typename Across<T>::Line least[2], most[2], v[2];
    for (std::size_t c = 0; c < width; c += kCells<T>) {
        const T* x = row + c;
        get(least[0], x);
        least[1] = most[0] = most[1] = least[0];
        for (std::size_t i = 0; i < n; i += 2) {  // two by two: one waits for the other
            get(v[0], x + i * width);
            get(v[1], x + std::min(i + 1, n - 1) * width);
            for (std::size_t a = 0; a < 2; ++a) {
                least[a] = v[a] < least[a] ? v[a] : least[a];
                most[a] = v[a] > most[a] ? v[a] : most[a];
            }
        }
        put(low + c, least[0] < least[1] ? least[0] : least[1]);
        put(high + c, most[0] > most[1] ? most[0] : most[1]);
    }
}

// Rows below the cut go to the front of `to`, the others to its back. Every row is written to both,
// without a branch: which it is cannot be foreseen.
template <typename T>
POSTERIOR_INLINE std::size_t part_rows(const T* from, std::size_t n, std::size_t width,
                                       std::size_t column, T cut, T* to) {
    T *front = to, *back = to + n * width;
    for (std::size_t i = 0; i < n; ++i, from += width) {
        const std::size_t below = from[column] < cut;
        for (std::size_t c = 0; c < width; c += kCells<T>) {
            typename Across<T>::Line line;
            get(line, from + c);
            put(front + c, line);
            put(back - width + c, line);
        }
        front += width * below;
        back -= width * (1 - below);
    }
    return static_cast<std::size_t>(front - to) / width;
}

// Rows first .. last of one of two tables, and the box that they fill.
template <typename T>
struct Part {
    std::size_t first, last;
    int table;
    std::vector<T> low, high;
    bool is_leaf;

    std::size_t size() const { return last - first; }
};

// Rows go from one table to the other each time they are parted. Equal rows stay together: a part
// is cut between two values of its widest column.
template <typename T>
class Growth {
public:
    explicit Growth(Matrix<T> X)
        : n_(X.rows), d_(X.columns), width_((d_ + kCells<T>) / kCells<T> * kCells<T>) {
        for (auto& table : table_) table.resize(n_ * width_ / kCells<T>);
        for (std::size_t i = 0; i < n_; ++i) {
            T* row = table_[0].data()->cell + i * width_;
            std::fill(row, row + width_, T{});
            for (std::size_t j = 0; j < d_; ++j) row[j] = X.at(i, j);
            const auto number = static_cast<std::int32_t>(i);
            std::memcpy(row + d_, &number, sizeof number);
        }
        tree_.points.reserve((n_ + n_ / 4 + kBranches) * d_);
        tree_.number.reserve(n_ + n_ / 4 + kBranches);
    }

    GrownTree<T> grown() {
        std::size_t halvings = 1;
        while (n_ >> halvings > kFull) ++halvings;
        grow(part(0, n_, 0), (halvings - 1) % kHalvings + 1);  // so that all nodes below are full
        tree_.start.push_back(static_cast<std::int32_t>(tree_.number.size() / kBranches));
        return std::move(tree_);
    }

private:
    T* rows(int table, std::size_t first) { return table_[table].data()->cell + first * width_; }

    Part<T> part(std::size_t first, std::size_t last, int table) {
        Part<T> part{first, last, table, std::vector<T>(width_), std::vector<T>(width_), true};
        simd<find_box<T>>(rows(table, first), last - first, width_, part.low.data(), part.high.data());
        part.is_leaf = part.size() <= kLeaf ||
                       std::equal(part.low.data(), part.low.data() + d_, part.high.data());
        return part;
    }

    T median(const T* key, std::size_t n, std::size_t size) {
        sample_.resize(std::min(n, size));
        const std::size_t step = n / sample_.size();
        for (std::size_t i = 0; i < sample_.size(); ++i) sample_[i] = key[i * step * width_];
        const auto middle = sample_.begin() + static_cast<std::ptrdiff_t>(sample_.size() / 2);
        std::nth_element(sample_.begin(), middle, sample_.end());
        return *middle;
    }

    // How many rows of the part go before the others.
    std::size_t cut(const Part<T>& part) {
        std::size_t widest = 0;
        for (std::size_t j = 1; j < d_; ++j)
            if (part.high[j] - part.low[j] > part.high[widest] - part.low[widest]) widest = j;
        const T* from = rows(part.table, part.first);
        T* to = rows(1 - part.table, part.first);
        const std::size_t n = part.size();
        T middle = median(from + widest, n, std::max(kSample, n / kPart));
        std::size_t below = simd<part_rows<T>>(from, n, width_, widest, middle, to);
        if (std::min(below, n - below) * kUneven < n) {
            middle = median(from + widest, n, n);
            below = simd<part_rows<T>>(from, n, width_, widest, middle, to);
        }
        if (below > 0) return below;
        middle = std::nextafter(middle, std::numeric_limits<T>::infinity());
        return simd<part_rows<T>>(from, n, width_, widest, middle, to);
    }

    std::vector<Part<T>> branches(Part<T> whole, std::size_t halvings) {
        std::vector<Part<T>> parts, halves;
        parts.push_back(std::move(whole));
        for (; halvings > 0; --halvings) {
            halves.clear();
            for (Part<T>& each : parts) {
                if (each.is_leaf) {
                    halves.push_back(std::move(each));
                    continue;
                }
                const std::size_t middle = each.first + cut(each);
                halves.push_back(part(each.first, middle, 1 - each.table));
                halves.push_back(part(middle, each.last, 1 - each.table));
            }
            parts.swap(halves);
        }
        return parts;
    }

    std::int32_t grow(Part<T> whole, std::size_t halvings = kHalvings) {
        std::vector<Part<T>> parts = branches(std::move(whole), halvings);
        const std::size_t node = tree_.child.size() / kBranches, size = d_ * 2 * kBranches;
        tree_.child.resize((node + 1) * kBranches);
        tree_.boxes.resize((node + 1) * size, std::numeric_limits<T>::quiet_NaN());
        T* end = tree_.boxes.data() + node * size;
        for (std::size_t j = 0; j < d_; ++j, end += 2 * kBranches)
            for (std::size_t b = 0; b < parts.size(); ++b) {
                end[b] = parts[b].low[j];
                end[kBranches + b] = parts[b].high[j];
            }
        for (std::size_t b = 0; b < parts.size(); ++b) {
            const std::int32_t child =
                parts[b].is_leaf ? leaf(parts[b]) : grow(std::move(parts[b]));
            tree_.child[node * kBranches + b] = child;
        }
        return static_cast<std::int32_t>(node);
    }

    std::int32_t leaf(const Part<T>& part) {
        const std::size_t first = tree_.number.size(), n = part.size();
        const std::size_t cells = (n + kBranches - 1) / kBranches * kBranches;
        const T* row = rows(part.table, part.first);
        tree_.number.resize(first + cells, -1);
        tree_.points.resize((first + cells) * d_, std::numeric_limits<T>::quiet_NaN());
        std::int32_t* number = tree_.number.data() + first;
        T* point = tree_.points.data() + first * d_;
        for (std::size_t i = 0; i < n; ++i, row += width_) {
            std::memcpy(number + i, row + d_, sizeof *number);
            T* to = point + i / kBranches * d_ * kBranches + i % kBranches;
            for (std::size_t j = 0; j < d_; ++j) to[j * kBranches] = row[j];
        }
        if (n > kLeaf) std::sort(number, number + n);  // equal rows, in any order
        tree_.start.push_back(static_cast<std::int32_t>(first / kBranches));
        return -static_cast<std::int32_t>(tree_.start.size());  // -1 - leaf
    }

    std::size_t n_, d_, width_;  // width_: cells of a row with its number
    std::vector<Memory<T>> table_[2];
    std::vector<T> sample_;
    GrownTree<T> tree_;
};

}  // namespace

template <typename T>
GrownTree<T> grow_tree(Matrix<T> X) {
    return Growth<T>(X).grown();
}

template GrownTree<float> grow_tree(Matrix<float>);
template GrownTree<double> grow_tree(Matrix<double>);

}  // namespace posterior
