#include "bag.hpp"

#include <stdexcept>

namespace posterior {
namespace {

// 64 bits of which each depends on all bits of z (the last steps of SplitMix64).
std::uint64_t mixed(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

}  // namespace

void Counts::end_document() {
    if (!keep_rows_) entries_.clear();
    row_ = entries_.size();
    ends_.push(row_);
    if (++document_ == 0) throw std::length_error("Expected fewer than 2^32 documents, got more.");
}

void Counts::renumber(const Buffer<std::uint32_t>& number) {
    std::size_t e = 0, kept = 0;
    for (std::size_t i = 0; i < ends_.size(); ++i) {
        for (; e < ends_[i]; ++e) {
            const std::uint32_t term = number[entries_[e].term];
            entries_[kept] = {term, entries_[e].count};
            kept += term != kNone;
        }
        ends_[i] = kept;
    }
    entries_.resize(kept);
    row_ = kept;
}

Counts Counts::take(const std::int64_t* rows, std::size_t n, const std::uint32_t* number) const {
    Counts made(true);
    for (std::size_t i = 0; i < n; ++i) {
        const auto row = static_cast<std::size_t>(rows[i]);
        if (row >= n_rows()) throw std::out_of_range("Expected rows of this bag, got another.");
        for (std::size_t e = start(row); e < end(row); ++e)
            made.entries_.push({number[entries_[e].term], entries_[e].count});
        made.ends_.push(made.entries_.size());
    }
    made.row_ = made.entries_.size();
    return made;
}

void Counts::fingerprints(const std::uint64_t* column, std::uint64_t* out) const {
    for (std::size_t i = 0; i < n_rows(); ++i) {
        std::uint64_t sum = 0;
        for (std::size_t e = start(i); e < end(i); ++e)
            sum += mixed(mixed(entries_[e].count) + column[entries_[e].term]);
        out[i] = sum;
    }
}

}  // namespace posterior
