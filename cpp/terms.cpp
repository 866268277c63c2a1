#include "terms.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "radix.hpp"

namespace posterior {
namespace {

struct Ranked {
    std::uint64_t head;  // as a number that ascends with the bytes
    std::uint32_t term;
};

int compare(const void* a, std::size_t size_a, const void* b, std::size_t size_b) {
    const int order = std::memcmp(a, b, std::min(size_a, size_b));
    return order != 0 ? order : size_a < size_b ? -1 : size_a > size_b;
}

}  // namespace

std::uint32_t Table::add(const Key& key, std::size_t at) {
    const std::uint32_t term = size();
    const std::size_t start = arena_.size();
    arena_.resize(start + key.size);
    std::memcpy(arena_.data() + start, key.data, key.size);
    records_.push({{key.head[0], key.head[1]}, start, key.size, key.hash, {}, 0});
    slots_[at] = tag(key.hash) | term;
    if (2 * records_.size() + 2 > slots_.size()) rehash(2 * slots_.size());
    return term;
}

void Table::rehash(std::size_t n_slots) {
    if (n_slots >> 33 != 0) throw std::length_error("Expected fewer than 2^31 terms, got more.");
    slots_.resize(n_slots);
    tag_bits_ = 33 - std::countr_zero(n_slots);
    std::fill_n(slots_.data(), n_slots, kNone);
    for (std::uint32_t term = 0; term < size(); ++term) {
        std::size_t at = index(records_[term].hash);
        while (slots_[at] != kNone) at = (at + 1) & (n_slots - 1);
        slots_[at] = tag(records_[term].hash) | term;
    }
}

Buffer<std::uint32_t> sorted(const Table& table) {
    Buffer<Ranked> ranked, other;
    ranked.resize(table.size());
    other.resize(table.size());
    for (std::uint32_t t = 0; t < table.size(); ++t)
        ranked[t] = {__builtin_bswap64(table.head(t)), t};
    for (int shift = 0; shift < 64; shift += 8) {
        sort_by_digit<8>(ranked.data(), ranked.size(), other.data(),
                         [=](const Ranked& one) { return one.head >> shift & 0xFF; });
        std::swap(ranked, other);
    }
    Buffer<std::uint32_t> order;
    order.reserve(ranked.size());
    Ranked* const last = ranked.data() + ranked.size();
    for (Ranked* one = ranked.data(); one < last;) {
        Ranked* end = one + 1;
        while (end < last && end->head == one->head) ++end;
        if (end - one > 1) std::sort(one, end, [&](const Ranked& a, const Ranked& b) {
            return compare(table.data(a.term), table.size_of(a.term), table.data(b.term),
                           table.size_of(b.term)) < 0;
        });
        for (; one < end; ++one) order.push(one->term);
    }
    return order;
}

void write_terms(const Table& table, const Buffer<std::uint32_t>& order, std::uint8_t* data,
                 std::int64_t* starts) {
    starts[0] = 0;
    for (std::size_t r = 0; r < order.size(); ++r) {
        const std::uint32_t size = table.size_of(order[r]);
        std::memcpy(data + starts[r], table.data(order[r]), size);
        starts[r + 1] = starts[r] + size;
    }
}

Table table_of(const SortedTerms& terms) {
    Table table;
    std::vector<char> padded;
    for (std::size_t t = 0; t < terms.n; ++t) {
        padded.assign(terms.at(t), terms.at(t) + terms.size(t));
        padded.resize(terms.size(t) + 16);
        table.find_or_add(make_key(padded.data(), terms.size(t)));
    }
    if (table.size() != terms.n) throw std::invalid_argument("Expected distinct terms.");
    return table;
}

std::size_t unite(const SortedTerms& a, const SortedTerms& b, std::uint8_t* data,
                  std::int64_t* starts, std::int32_t* place_a, std::int32_t* place_b) {
    std::size_t i = 0, j = 0, n = 0;
    for (starts[0] = 0; i < a.n || j < b.n; ++n) {
        const int order = i == a.n   ? 1
                          : j == b.n ? -1
                                     : compare(a.at(i), a.size(i), b.at(j), b.size(j));
        const auto& [from, t] = order <= 0 ? std::pair{a, i} : std::pair{b, j};
        std::memcpy(data + starts[n], from.at(t), from.size(t));
        starts[n + 1] = starts[n] + static_cast<std::int64_t>(from.size(t));
        if (order <= 0) place_a[i++] = static_cast<std::int32_t>(n);
        if (order >= 0) place_b[j++] = static_cast<std::int32_t>(n);
    }
    return n;
}

}  // namespace posterior
