// Rows of counts become rows of a CSR matrix, columns ascending.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>

#include "bag.hpp"
#include "buffer.hpp"
#include "radix.hpp"

namespace posterior {

// Sorts entries by their columns in time linear in the row, whatever the number of columns.
class RowSorter {
public:
    void clear(std::size_t most) {
        row_.resize(most);
        other_.resize(most);
        n_ = 0;
        seen_ = 0;
    }

    // Entries of no column are left out, without a branch.
    void put(std::int32_t column, std::uint32_t count) {
        const auto at = static_cast<std::uint32_t>(column);
        row_[n_] = std::uint64_t{at} << 32 | count;
        n_ += column >= 0;
        seen_ |= column >= 0 ? at : 0;
    }

    std::size_t size() const { return n_; }

    // The entries, each column << 32 | count.
    const std::uint64_t* sorted() {
        if (n_ < 32) {
            std::sort(row_.data(), row_.data() + n_);
        } else if (n_ < 1024) {
            sort<6>();
        } else {
            sort<10>();
        }
        return row_.data();
    }

private:
    template <int bits>
    void sort() {
        for (int shift = 0; shift < 32 && seen_ >> shift != 0; shift += bits) {
            sort_by_digit<bits>(row_.data(), n_, other_.data(), [=](std::uint64_t entry) {
                return entry >> 32 >> shift & ((1u << bits) - 1);
            });
            std::swap(row_, other_);
        }
    }

    Buffer<std::uint64_t> row_, other_;
    std::size_t n_ = 0;
    std::uint32_t seen_ = 0;  // bits that any column has
};

// column[term] is negative for terms that are left out; ends count from `first`.
template <typename Index, typename Value>
void write_rows(const Counts& counts, const std::int32_t* column, std::int64_t first, Index* ends,
                Index* indices, Value* values, std::size_t room) {
    RowSorter sorter;
    std::size_t written = 0, e = 0;
    const auto check = [](bool fits) {
        if (!fits) throw std::invalid_argument("Expected room for all entries, got another size.");
    };
    for (std::size_t i = 0; i < counts.n_rows(); ++i) {
        sorter.clear(counts.end(i) - e + 1);
        for (; e < counts.end(i); ++e) {
            const Entry entry = counts.entry(e);
            sorter.put(column[entry.term], entry.count);
        }
        const std::size_t n = sorter.size();
        check(n <= room - written);
        const std::uint64_t* row = sorter.sorted();
        for (std::size_t k = 0; k < n; ++k) {
            indices[written + k] = static_cast<Index>(row[k] >> 32);
            values[written + k] = static_cast<Value>(static_cast<std::uint32_t>(row[k]));
        }
        written += n;
        ends[i] = static_cast<Index>(first + static_cast<std::int64_t>(written));
    }
    check(written == room);
}

}  // namespace posterior
