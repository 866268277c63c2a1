// Rows of counts become rows of a CSR matrix, columns ascending.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bag.hpp"
#include "buffer.hpp"

namespace posterior {

// Sorts the entries of a row by their columns. The row is scattered into a table, and the columns
// taken are read off two levels of bits: time linear in the row and in columns / 4096.
class RowSorter {
public:
    explicit RowSorter(std::size_t n_columns)
        : counts_(Buffer<std::uint32_t>::zeros(n_columns)),
          fine_(Buffer<std::uint64_t>::zeros(n_columns / 64 + 1)),
          coarse_(n_columns / 4096 + 1) {}

    // Short rows of many columns are sorted faster in other ways.
    bool suits(std::size_t n_entries) const { return 2 * n_entries > coarse_.size() + 16; }

    void put(std::uint32_t column, std::uint32_t count) {
        counts_[column] = count;
        fine_[column / 64] |= std::uint64_t{1} << column % 64;
        coarse_[column / 4096] |= std::uint64_t{1} << column / 64 % 64;
    }

    template <typename Write>
    void take_all(Write write) {
        for (std::size_t c = 0; c < coarse_.size(); ++c) {
            for (std::uint64_t some = coarse_[c]; some != 0; some &= some - 1) {
                const std::size_t f = 64 * c + lowest(some);
                for (std::uint64_t taken = fine_[f]; taken != 0; taken &= taken - 1) {
                    const std::size_t column = 64 * f + lowest(taken);
                    write(column, counts_[column]);
                }
                fine_[f] = 0;
            }
            coarse_[c] = 0;
        }
    }

private:
    static std::size_t lowest(std::uint64_t bits) {
        return static_cast<std::size_t>(std::countr_zero(bits));
    }

    Buffer<std::uint32_t> counts_;
    Buffer<std::uint64_t> fine_;
    std::vector<std::uint64_t> coarse_;
};

// column[term] is negative for terms that are left out; ends count from `first`.
template <typename Index, typename Value>
void write_rows(const Counts& counts, const std::int32_t* column, std::size_t n_terms,
                std::int64_t first, Index* ends, Index* indices, Value* values) {
    const std::int32_t last = n_terms == 0 ? -1 : *std::max_element(column, column + n_terms);
    RowSorter sorter(static_cast<std::size_t>(last + 1));
    std::vector<std::uint64_t> row;
    std::size_t written = 0, e = 0;
    const auto write = [&](std::size_t at, std::uint32_t count) {
        indices[written] = static_cast<Index>(at);
        values[written++] = static_cast<Value>(count);
    };
    for (std::size_t i = 0; i < counts.n_rows(); ++i) {
        const bool scatter = sorter.suits(counts.end(i) - e);
        row.clear();
        for (; e < counts.end(i); ++e) {
            const Entry entry = counts.entry(e);
            const auto at = static_cast<std::uint32_t>(column[entry.term]);
            if (at >> 31) continue;
            if (scatter) {
                sorter.put(at, entry.count);
            } else {
                row.push_back(std::uint64_t{at} << 32 | entry.count);
            }
        }
        if (scatter) {
            sorter.take_all(write);
        } else {
            std::sort(row.begin(), row.end());
            for (const std::uint64_t one : row) write(one >> 32, static_cast<std::uint32_t>(one));
        }
        ends[i] = static_cast<Index>(first + static_cast<std::int64_t>(written));
    }
}

}  // namespace posterior
