// Columns of terms by their hash (Weinberger et al. 2009).
// Twin: posterior.kernels.reference.text.hash_terms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "buffer.hpp"

namespace posterior {

// MurmurHash3, x86, 32 bit, seed 0 (Appleby 2011).
inline std::uint32_t murmur(const char* data, std::size_t size) {
    const auto scramble = [](std::uint32_t word) {
        word *= 0xCC9E2D51u;
        return (word << 15 | word >> 17) * 0x1B873593u;
    };
    std::uint32_t hash = 0, word;
    std::size_t i = 0;
    for (; i + 4 <= size; i += 4) {
        std::memcpy(&word, data + i, 4);
        hash ^= scramble(word);
        hash = (hash << 13 | hash >> 19) * 5 + 0xE6546B64u;
    }
    word = 0;
    std::memcpy(&word, data + i, size - i);
    hash ^= scramble(word) ^ static_cast<std::uint32_t>(size);
    hash = (hash ^ hash >> 16) * 0x85EBCA6Bu;
    hash = (hash ^ hash >> 13) * 0xC2B2AE35u;
    return hash ^ hash >> 16;
}

// Rows of columns |h| mod n, ascending, and the sums of the signs of h there.
class HashedRows {
public:
    HashedRows(std::uint32_t n_features, bool alternate_sign)
        : n_features_(n_features), alternate_sign_(alternate_sign) {}

    void operator()(const char* data, std::size_t size) {
        const std::uint32_t hash = murmur(data, size);
        const bool negative = hash >> 31;
        const std::uint32_t column = (negative ? -hash : hash) % n_features_;
        row_.push_back(column << 1 | (alternate_sign_ && negative));
    }

    void end_document();

    std::int64_t bad = -1;  // the first document that could not be read

    std::size_t n_rows() const { return ends_.size(); }
    std::size_t n_entries() const { return columns_.size(); }

    template <typename Index, typename Value>
    void write(std::int64_t first, Index* ends, Index* indices, Value* values) const {
        for (std::size_t i = 0; i < ends_.size(); ++i)
            ends[i] = static_cast<Index>(first + static_cast<std::int64_t>(ends_[i]));
        for (std::size_t e = 0; e < columns_.size(); ++e) {
            indices[e] = static_cast<Index>(columns_[e]);
            values[e] = static_cast<Value>(sums_[e]);
        }
    }

private:
    std::uint32_t n_features_;
    bool alternate_sign_;
    std::vector<std::uint32_t> row_;  // 2 column + 1 if negative, for each term of this document
    Buffer<std::uint32_t> columns_;
    Buffer<std::int32_t> sums_;
    Buffer<std::size_t> ends_;
};

}  // namespace posterior
