#include "edit.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "tiles.hpp"

namespace posterior {
namespace {

using Neighbor = std::pair<double, std::int64_t>;  // distance and row: ordered as wanted

// The k nearest rows of a query so far, the farthest of them on top of a heap.
struct Best {
    std::size_t k = 0;
    std::vector<Neighbor> heap{};

    double limit() const {
        return heap.size() < k ? std::numeric_limits<double>::infinity() : heap.front().first;
    }

    // Whether a row is later than all that are known: equal to the farthest, it is not wanted.
    bool behind(std::int64_t row) const { return heap.size() == k && row > heap.front().second; }

    __attribute__((noinline)) void add(double distance, const std::int64_t* row,
                                       const std::int64_t* end) {
        for (; row != end; ++row) {
            const Neighbor found{distance, *row};
            if (heap.size() == k) {
                if (heap.front() < found) return;
                std::pop_heap(heap.begin(), heap.end());
                heap.pop_back();
            }
            heap.push_back(found);
            std::push_heap(heap.begin(), heap.end());
        }
    }
};

struct Block {
    std::size_t first, size, length;  // strings of one length, side by side
};

struct alignas(64) Line {
    unsigned char bytes[64];
};

struct Search {
    const Spelling& queries;
    const Dictionary& dictionary;
    Edits edits;
    std::vector<Best> best;
    std::vector<Line> masks;  // for each letter, where the strings of a block have it: all zero
                              // between two blocks
};

template <std::size_t Bytes, typename W>
struct Words {
    typedef W Vector __attribute__((vector_size(Bytes)));
    typedef std::uint64_t Bits __attribute__((vector_size(Bytes)));
    static constexpr std::size_t lanes = Bytes / sizeof(W), bits = 8 * sizeof(W);
};

// How many bits of a and of b are set, in each lane: two at a time, then four, and so on.
template <std::size_t Bytes, typename W>
POSTERIOR_INLINE auto count_ones(const typename Words<Bytes, W>::Vector& a,
                                 const typename Words<Bytes, W>::Vector& b) {
    constexpr std::uint64_t two = 0x5555555555555555, four = 0x3333333333333333,
                            eight = 0x0f0f0f0f0f0f0f0f;
    auto x = std::bit_cast<typename Words<Bytes, W>::Bits>(a);
    auto y = std::bit_cast<typename Words<Bytes, W>::Bits>(b);
    x -= (x >> 1) & two;
    y -= (y >> 1) & two;
    x = (x & four) + ((x >> 2) & four) + (y & four) + ((y >> 2) & four);
    x = (x & eight) + ((x >> 4) & eight);
    auto count = std::bit_cast<typename Words<Bytes, W>::Vector>(x);
    if constexpr (sizeof(W) > 1) {
        for (std::size_t width = 8; width < Words<Bytes, W>::bits; width *= 2)
            count += count >> static_cast<W>(width);
        count &= 0xff;
    }
    return count;
}

// Edits between a text and the strings of a block, plus the length of these, less that of the text.
//
// From cell to cell, a column of Wagner and Fischer's table goes up or down by one or stays. Two
// words of bits, P and N, hold the column of a string, and a letter of the text makes the next one
// of it (Myers 1999; Hyyrö 2003 for swaps). Lanes are strings. In place of P we keep C = ~P, for a
// shorter way from column to column:   (P + x) ^ P = (C - x) ^ C.
template <std::size_t Bytes, typename W, bool Swaps>
POSTERIOR_INLINE auto align(const Line* masks, const std::int32_t* text, std::size_t length,
                            W inside) {
    using Vector = typename Words<Bytes, W>::Vector;
    Vector C = {}, N = {}, matched = {}, reached = {}, equal;
    for (std::size_t j = 0; j < length; ++j) {
        get(equal, masks[text[j]].bytes);
        Vector D = equal | N;
        D |= (C - (D & ~C)) ^ C;
        if constexpr (Swaps) {
            const Vector fresh = equal & ~reached;
            D |= (fresh + fresh) & matched;  // x + x is x << 1, which bytes do not have
            matched = equal;
            reached = D;
        }
        Vector up = N | (C & ~D);
        up = (up + up) | W{1};
        const Vector down = D & ~C;
        C = (up | D) & ~(down + down);
        N = up & D;
    }
    return count_ones<Bytes, W>(~C & inside, ~N & inside);
}

// Ones in the lanes that have at most so many, and whether there are any.
template <std::size_t Bytes, typename W>
POSTERIOR_INLINE bool some_within(const typename Words<Bytes, W>::Vector& count, std::size_t most,
                                  std::uint64_t* flags) {
    using V = Words<Bytes, W>;
    const typename V::Vector near =
        count <= static_cast<W>(most) ? typename V::Vector{} + W{1} : typename V::Vector{};
    put(flags, near);
    auto sum = std::bit_cast<typename V::Bits>(near);
    add_across<Bytes / 16>(sum);
    return sum[0] != 0;
}

template <typename W>
void set_masks(const Spelling& strings, const Block& block, Line* masks) {
    for (std::size_t l = 0; l < block.size; ++l) {
        const std::int32_t* text = strings.text(block.first + l);
        for (std::size_t j = 0; j < block.length; ++j) {
            unsigned char* mask = masks[text[j]].bytes + l * sizeof(W);
            W word;
            std::memcpy(&word, mask, sizeof word);
            word = static_cast<W>(word | W{1} << j);
            std::memcpy(mask, &word, sizeof word);
        }
    }
}

inline void clear_masks(const Spelling& strings, const Block& block, Line* masks) {
    const std::int32_t* end = strings.text(block.first + block.size);
    for (const std::int32_t* letter = strings.text(block.first); letter != end; ++letter)
        masks[*letter] = Line{};
}

// The most edits with which a string of a length may be among the k nearest. Fractions of lengths
// below 2²⁰ are farther from each other than the margin.
POSTERIOR_INLINE std::size_t most_edits(const Best& best, bool normalized, std::size_t longer,
                                        std::int64_t row) {
    const double whole = static_cast<double>(longer), margin = best.behind(row) ? -1e-7 : 1e-7;
    const double most = (normalized ? best.limit() * whole : best.limit()) + margin;
    return static_cast<std::size_t>(std::clamp(most, 0.0, whole));
}

// Rows of the strings of a block that are near, by the flags of the lanes.
template <std::size_t Bytes, typename W>
POSTERIOR_INLINE void take(const Block& block, const typename Words<Bytes, W>::Vector& count,
                           const std::uint64_t* near, std::size_t q, Search& search) {
    using V = Words<Bytes, W>;
    static_assert(std::endian::native == std::endian::little);
    const std::int64_t *first = search.dictionary.first + block.first, *row = search.dictionary.row;
    const std::size_t m = search.queries.length(q), n = block.length;
    const double unit =
        search.edits.normalized ? static_cast<double>(std::max<std::size_t>({m, n, 1})) : 1;
    W counts[V::lanes];
    put(counts, count);
    for (std::size_t w = 0; w < Bytes / 8; ++w)
        for (std::uint64_t left = near[w]; left != 0; left &= left - 1) {
            const auto bit = 64 * w + static_cast<std::size_t>(std::countr_zero(left));
            const std::size_t l = bit / V::bits;
            if (l >= block.size) return;
            search.best[q].add(static_cast<double>(counts[l] + m - n) / unit, row + first[l],
                               row + first[l + 1]);
        }
}

template <std::size_t Bytes, typename W, bool Swaps>
POSTERIOR_INLINE void search_block(const Block& block, Search& search) {
    using V = Words<Bytes, W>;
    const Dictionary& dictionary = search.dictionary;
    const std::size_t n = block.length;
    const W inside = static_cast<W>(n == 0 ? 0 : static_cast<W>(~W{0}) >> (V::bits - n));
    const std::int64_t row = dictionary.row[dictionary.first[block.first]];
    bool ready = false;
    for (std::size_t q = 0; q < search.queries.size; ++q) {
        const std::size_t m = search.queries.length(q), longer = std::max(m, n);
        const std::size_t most =
            most_edits(search.best[q], search.edits.normalized, longer, row);
        if (most < longer - std::min(m, n)) continue;
        if (!ready) set_masks<W>(dictionary.strings, block, search.masks.data());
        ready = true;
        const auto count =
            align<Bytes, W, Swaps>(search.masks.data(), search.queries.text(q), m, inside);
        std::uint64_t near[Bytes / 8];
        if (!some_within<Bytes, W>(count, most + n - m, near)) continue;
        take<Bytes, W>(block, count, near, q, search);
    }
    if (ready) clear_masks(dictionary.strings, block, search.masks.data());
}

// Blocks, from the length of the middle query outward: limits fall early.
std::vector<Block> blocks(const Search& search, std::size_t bytes) {
    const Spelling& strings = search.dictionary.strings;
    std::vector<Block> all;
    for (std::size_t s = 0, next; s < strings.size; s = next) {
        const std::size_t length = strings.length(s);
        const std::size_t lanes = bytes / std::clamp<std::size_t>(std::bit_ceil(length) / 8, 1, 8);
        for (next = s; next < strings.size && next < s + lanes; ++next)
            if (strings.length(next) != length) break;
        all.push_back({s, next - s, length});
    }
    const std::size_t middle = search.queries.length(search.queries.size / 2);
    const auto away = [middle](const Block& b) {
        return std::max(b.length, middle) - std::min(b.length, middle);
    };
    std::stable_sort(all.begin(), all.end(),
                     [away](const Block& a, const Block& b) { return away(a) < away(b); });
    return all;
}

template <std::size_t Bytes, bool Swaps>
POSTERIOR_INLINE void search_blocks(Search& search) {
    for (const Block& block : blocks(search, Bytes)) {
        if (block.length <= 8)
            search_block<Bytes, std::uint8_t, Swaps>(block, search);
        else if (block.length <= 16)
            search_block<Bytes, std::uint16_t, Swaps>(block, search);
        else if (block.length <= 32)
            search_block<Bytes, std::uint32_t, Swaps>(block, search);
        else
            search_block<Bytes, std::uint64_t, Swaps>(block, search);
    }
}

template <std::size_t Bytes>
POSTERIOR_INLINE void search_all(Search& search) {
    if (search.edits.swaps)
        search_blocks<Bytes, true>(search);
    else
        search_blocks<Bytes, false>(search);
}

}  // namespace

void nearest_strings(const Spelling& queries, const Dictionary& dictionary, Edits edits,
                     std::size_t k, double* distance, std::int64_t* row) {
    if (queries.size == 0) return;
    const Spelling& strings = dictionary.strings;
    const std::int64_t* missing = dictionary.first + strings.size;
    const std::size_t longest = strings.size == 0 ? 0 : strings.length(strings.size - 1);
    Search search{queries, dictionary, edits, std::vector<Best>(queries.size, Best{k}),
                  std::vector<Line>(dictionary.n_letters)};
    for (std::size_t q = 0; q < queries.size; ++q) {
        const std::size_t far = std::max<std::size_t>({queries.length(q), longest, 1});
        search.best[q].add(edits.normalized ? 1 : static_cast<double>(far),
                           dictionary.row + missing[0], dictionary.row + missing[1]);
    }
    simd<search_all<16>, search_all<32>, search_all<64>>(search);  // as long as the machine's
    for (std::size_t q = 0; q < queries.size; ++q) {
        std::vector<Neighbor>& heap = search.best[q].heap;
        std::sort_heap(heap.begin(), heap.end());
        for (std::size_t i = 0; i < k; ++i) {
            distance[q * k + i] = heap[i].first;
            row[q * k + i] = heap[i].second;
        }
    }
}

}  // namespace posterior
