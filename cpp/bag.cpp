#include "bag.hpp"

#include <stdexcept>

namespace posterior {

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

}  // namespace posterior
