#include "bag.hpp"

#include <algorithm>
#include <stdexcept>

namespace posterior {

void Counts::grow(std::size_t n) {
    const std::size_t before = seen_.size();
    if (before == 0) {  // pages of terms that never occur stay untouched
        seen_ = decltype(seen_)::zeros(n);
        return;
    }
    seen_.resize(std::max(n, before + before / 2));
    std::fill(seen_.data() + before, seen_.data() + seen_.size(), Seen{});
}

void Counts::end_document() {
    if (!keep_rows_) entries_.clear();
    row_ = entries_.size();
    ends_.push(row_);
    if (++document_ == 0) throw std::length_error("Expected fewer than 2^32 documents, got more.");
}

}  // namespace posterior
