// Distinct terms: a hash table, sorted lists, and their union.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>

#include "buffer.hpp"
#include "simd.hpp"

namespace posterior {

constexpr std::uint32_t kNone = 0xFFFFFFFF;

// A term on its way into a table. Sixteen bytes behind its own may be read, whatever they are.
struct Key {
    std::uint64_t head[2];  // its first bytes, then zeros
    const char* data;
    std::uint32_t size, hash;
};

POSTERIOR_INLINE std::uint64_t load8(const char* p) {
    std::uint64_t word;
    std::memcpy(&word, p, 8);
    return word;
}

// The first `size` bytes at p, then zeros.
POSTERIOR_INLINE std::uint64_t load_part(const char* p, std::size_t size) {
    const std::uint64_t all = load8(p);
    return size >= 8 ? all : all & ((std::uint64_t{1} << 8 * size) - 1);
}

// Both halves of a product, folded. The constants hold bytes that no UTF-8 has, so that no text
// makes a factor zero.
POSTERIOR_INLINE std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
    __extension__ typedef unsigned __int128 Wide;
    const Wide product = static_cast<Wide>(a ^ 0x9E3779B97F4AF5FFu) * (b ^ 0xD1B54A32D192EDFFu);
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// The first 16 bytes of a term without a branch: words of 8 bytes and more are too common to guess.
POSTERIOR_INLINE Key make_key(const char* data, std::size_t size) {
    if (size >= kNone) throw std::length_error("Expected terms below 4 GB, got a longer one.");
    alignas(32) static constexpr unsigned char kOnes[32] = {255, 255, 255, 255, 255, 255, 255, 255,
                                                            255, 255, 255, 255, 255, 255, 255, 255};
    std::uint64_t mask[2];  // ones over the bytes that are its, zeros behind them
    std::memcpy(mask, kOnes + 16 - (size < 16 ? size : 16), 16);
    Key key{{load8(data) & mask[0], load8(data + 8) & mask[1]}, data,
            static_cast<std::uint32_t>(size), 0};
    std::uint64_t hash = fold(key.head[0], key.head[1]);
    for (std::size_t i = 16; i < size; i += 8) hash = fold(hash, load_part(data + i, size - i));
    key.hash = static_cast<std::uint32_t>(hash ^ hash >> 32);
    return key;
}

// What a counter notes about a term.
struct Seen {
    std::uint64_t total;
    std::uint32_t documents;
    std::uint32_t document, place;  // the last one with this term, and where in its row
};

class Table {
public:
    Table() {
        rehash(1 << 10);
        arena_.reserve(1 << 12);
    }

    std::uint32_t size() const { return static_cast<std::uint32_t>(records_.size()); }
    std::size_t bytes() const { return arena_.size(); }
    const char* data(std::uint32_t term) const { return arena_.data() + records_[term].start; }
    std::uint32_t size_of(std::uint32_t term) const { return records_[term].size; }
    std::uint64_t head(std::uint32_t term) const { return records_[term].head[0]; }
    Key key(std::uint32_t term) const {
        const Record& it = records_[term];
        return {{it.head[0], it.head[1]}, data(term), it.size, it.hash};
    }
    Seen& seen(std::uint32_t term) { return records_[term].seen; }
    const Seen& seen(std::uint32_t term) const { return records_[term].seen; }

    // Inlined by force: GCC takes a function that only prefetches for one without effect, and
    // leaves its calls out.
    POSTERIOR_INLINE void prefetch_slot(const Key& key) const {
        __builtin_prefetch(slots_.data() + index(key.hash));
    }

    // The term that the key's first slot suggests; its record is fetched.
    POSTERIOR_INLINE std::uint32_t prefetch_record(const Key& key) const {
        const std::uint32_t likely = slots_[index(key.hash)] & (kNone >> tag_bits_);
        __builtin_prefetch(records_.data() + likely);
        return likely;
    }

    std::uint32_t find(const Key& key) const {
        const std::uint32_t slot = slots_[seek(key)];
        return slot == kNone ? kNone : slot & (kNone >> tag_bits_);
    }

    std::uint32_t find_or_add(const Key& key) {
        const std::size_t at = seek(key);
        const std::uint32_t slot = slots_[at];
        return slot == kNone ? add(key, at) : slot & (kNone >> tag_bits_);
    }

private:
    // All that one occurrence of a term needs, in one line of the cache.
    struct Record {
        std::uint64_t head[2];
        std::uint64_t start;  // in the arena
        std::uint32_t size, hash;
        Seen seen;
        std::uint64_t unused;
    };
    static_assert(sizeof(Record) == 64);

    // The first bits of a hash tell where to look, the last bits what to look for.
    std::size_t index(std::uint32_t hash) const { return hash >> (tag_bits_ - 1); }
    std::uint32_t tag(std::uint32_t hash) const { return hash << (32 - tag_bits_); }

    bool same(const Record& record, const Key& key) const {
        if ((record.head[0] ^ key.head[0]) | (record.head[1] ^ key.head[1]) |
            (record.size ^ key.size))
            return false;
        return key.size <= 16 ||
               std::memcmp(arena_.data() + record.start + 16, key.data + 16, key.size - 16) == 0;
    }

    // The slot that holds the key, or the empty one where it belongs.
    std::size_t seek(const Key& key) const {
        const std::uint32_t wanted = tag(key.hash), terms = kNone >> tag_bits_;
        for (std::size_t at = index(key.hash);; at = (at + 1) & (slots_.size() - 1)) {
            const std::uint32_t slot = slots_[at];
            if (slot == kNone) return at;
            if ((slot & ~terms) == wanted && same(records_[slot & terms], key)) return at;
        }
    }

    std::uint32_t add(const Key& key, std::size_t at);
    void rehash(std::size_t n_slots);

    // A slot is a tag and the number of a term, or kNone. Slots are a power of two, and less than
    // half of them are taken: a number has one bit less than the place of a slot.
    Buffer<std::uint32_t> slots_;
    int tag_bits_ = 0;
    Buffer<Record> records_;
    Buffer<char> arena_;
};

// Terms in order: UTF-8 end to end, and where each starts.
struct SortedTerms {
    const std::uint8_t* data;
    const std::int64_t* starts;
    std::size_t n;

    const std::uint8_t* at(std::size_t t) const { return data + starts[t]; }
    std::size_t size(std::size_t t) const {
        return static_cast<std::size_t>(starts[t + 1] - starts[t]);
    }
};

// The table's terms in the order of their bytes.
Buffer<std::uint32_t> sorted(const Table& table);

// Writes terms in this order end to end, and where each starts.
void write_terms(const Table& table, const Buffer<std::uint32_t>& order, std::uint8_t* data,
                 std::int64_t* starts);

// A table whose term numbers are those of the terms given.
Table table_of(const SortedTerms& terms);

// Merges a and b into data and starts, and tells where their terms went; how many there are.
std::size_t unite(const SortedTerms& a, const SortedTerms& b, std::uint8_t* data,
                  std::int64_t* starts, std::int32_t* place_a, std::int32_t* place_b);

}  // namespace posterior
