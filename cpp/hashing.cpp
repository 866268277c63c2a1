#include "hashing.hpp"

#include <algorithm>

namespace posterior {

void HashedRows::end_document() {
    std::sort(row_.begin(), row_.end());
    for (std::size_t k = 0; k < row_.size();) {
        const std::uint32_t column = row_[k] >> 1;
        std::int32_t sum = 0;
        for (; k < row_.size() && row_[k] >> 1 == column; ++k) sum += row_[k] & 1 ? -1 : 1;
        columns_.push(column);
        sums_.push(sum);
    }
    ends_.push(columns_.size());
    row_.clear();
}

}  // namespace posterior
