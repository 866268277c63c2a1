// Counts of terms by document. Twin: posterior.kernels.reference.text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "buffer.hpp"
#include "terms.hpp"

namespace posterior {

struct Entry {
    std::uint32_t term, count;
};

// The entries of one document while its terms are counted.
struct OpenRow {
    Entry* entries;
    std::size_t n;
    std::uint32_t document;

    // Whether a term is new in a document can hardly be guessed: there is no branch.
    POSTERIOR_INLINE void add(std::uint32_t term, Seen& seen) {
        const bool known = seen.document == document;
        const std::uint32_t mask = -std::uint32_t{known}, next = static_cast<std::uint32_t>(n);
        const std::uint32_t place = next ^ ((next ^ seen.place) & mask);
        entries[place] = {term, (entries[place].count & mask) + 1};
        n += !known;
        seen.document = document;
        seen.place = place;
        seen.documents += !known;
        ++seen.total;
    }
};

// Rows of entries in the order in which terms came.
class Counts {
public:
    explicit Counts(bool keep_rows) : keep_rows_(keep_rows) {}

    // The row of this document, with room for so many more terms.
    OpenRow open(std::size_t more) {
        entries_.reserve(entries_.size() + more);
        return {entries_.data() + row_, entries_.size() - row_, document_};
    }
    void close(const OpenRow& row) { entries_.resize(row_ + row.n); }

    void end_document();

    // Gives all terms other numbers, and leaves out those that get none.
    void renumber(const Buffer<std::uint32_t>& number);

    // Copies of some rows, with other numbers of their terms.
    Counts take(const std::int64_t* rows, std::size_t n, const std::uint32_t* number) const;

    // f = Σ m(m(count) + column)   of each row, where column[term] is that of a term.
    // Twin: posterior.data.fingerprints.
    void fingerprints(const std::uint64_t* column, std::uint64_t* out) const;

    bool kept() const { return keep_rows_; }
    std::size_t n_rows() const { return ends_.size(); }
    std::size_t n_entries() const { return entries_.size(); }
    std::size_t start(std::size_t row) const { return row == 0 ? 0 : ends_[row - 1]; }
    std::size_t end(std::size_t row) const { return ends_[row]; }
    Entry entry(std::size_t e) const { return entries_[e]; }

private:
    bool keep_rows_;
    std::uint32_t document_ = 1;
    std::size_t row_ = 0;  // where the entries of this document start
    Buffer<Entry> entries_;
    Buffer<std::size_t> ends_;
};

// Takes the terms of documents a few at a time, so that the table's memory is there when it is
// needed. A constant table does not grow: terms that it lacks are left out, and what is seen of the
// others is noted in `seen`, since threads may share the table.
template <typename AnyTable>
class Counter {
public:
    Counter(AnyTable& table, Counts& counts, Seen* seen = nullptr)
        : table_(table), counts_(counts), seen_(seen) {}

    POSTERIOR_INLINE void operator()(const char* data, std::size_t size) {
        batch_[filled_] = make_key(data, size);
        table_.prefetch_slot(batch_[filled_]);
        if (++filled_ == kBatch) flush();
    }

    void end_document() {
        flush();
        counts_.end_document();
    }

private:
    static constexpr std::size_t kBatch = 256;
    static constexpr bool kGiven = std::is_const_v<AnyTable>;

    __attribute__((noinline)) void flush() {
        for (std::size_t k = 0; k < filled_; ++k) {
            const std::uint32_t likely = table_.prefetch_record(batch_[k]);
            if constexpr (kGiven) __builtin_prefetch(seen_ + likely);
        }
        OpenRow row = counts_.open(filled_);
        for (std::size_t k = 0; k < filled_; ++k) {
            if constexpr (kGiven) {
                const std::uint32_t term = table_.find(batch_[k]);
                if (term != kNone) row.add(term, seen_[term]);
            } else {
                const std::uint32_t term = table_.find_or_add(batch_[k]);
                row.add(term, table_.seen(term));
            }
        }
        counts_.close(row);
        filled_ = 0;
    }

    AnyTable& table_;
    Counts& counts_;
    Seen* seen_;
    std::size_t filled_ = 0;
    Key batch_[kBatch];
};

}  // namespace posterior
