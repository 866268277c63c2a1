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

}  // namespace posterior
