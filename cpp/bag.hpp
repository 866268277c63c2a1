// Counts of terms by document. Twin: posterior.kernels.plain_text.
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

// Rows of entries in the order in which terms came, and the sums of terms over all rows.
class Counts {
public:
    explicit Counts(bool keep_rows) : keep_rows_(keep_rows) {}

    void prefetch(std::uint32_t term) const { __builtin_prefetch(seen_.data() + term); }

    // Makes room for terms of numbers below n.
    void cover(std::size_t n) {
        if (n > seen_.size()) grow(n);
    }

    // Makes room for n more terms of a document.
    void expect(std::size_t n) { entries_.reserve(entries_.size() + n); }

    // Whether a term is new in a document can hardly be guessed: there is no branch.
    void add(std::uint32_t term) {
        Seen& seen = seen_[term];
        const bool known = seen.document == document_;
        const std::size_t at = known ? row_ + seen.place : entries_.size();
        Entry& entry = entries_[at];
        entry = {term, known ? entry.count + 1 : 1};
        entries_.resize(entries_.size() + !known);
        seen.document = document_;
        seen.place = static_cast<std::uint32_t>(at - row_);
        seen.documents += !known;
        ++seen.total;
    }

    void end_document();

    bool kept() const { return keep_rows_; }
    std::size_t n_rows() const { return ends_.size(); }
    std::size_t n_entries() const { return entries_.size(); }
    std::size_t end(std::size_t row) const { return ends_[row]; }
    Entry entry(std::size_t e) const { return entries_[e]; }
    std::uint32_t documents(std::size_t term) const { return seen_[term].documents; }
    std::uint64_t total(std::size_t term) const { return seen_[term].total; }

private:
    struct Seen {
        std::uint64_t total;
        std::uint32_t documents;
        std::uint32_t document, place;  // the last one with this term, and where in its row
    };

    void grow(std::size_t n);

    bool keep_rows_;
    std::uint32_t document_ = 1;
    std::size_t row_ = 0;  // where the entries of this document start
    Buffer<Seen, Access::at_random> seen_;
    Buffer<Entry> entries_;
    Buffer<std::size_t> ends_;
};

// Takes the terms of documents a few at a time, so that the table's memory is there when it is
// needed. A constant table does not grow: terms that it lacks are left out.
template <typename AnyTable>
class Counter {
public:
    Counter(AnyTable& table, Counts& counts) : table_(table), counts_(counts) {
        counts_.cover(table_.size());
    }

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
    static constexpr std::size_t kBatch = 64;

    __attribute__((noinline)) void flush() {
        counts_.expect(filled_);
        for (std::size_t k = 0; k < filled_; ++k)
            counts_.prefetch(table_.prefetch_record(batch_[k]));
        for (std::size_t k = 0; k < filled_; ++k) {
            if constexpr (std::is_const_v<AnyTable>) {
                const std::uint32_t term = table_.find(batch_[k]);
                if (term != kNone) counts_.add(term);
            } else {
                const std::uint32_t term = table_.find_or_add(batch_[k]);
                counts_.cover(std::size_t{term} + 1);
                counts_.add(term);
            }
        }
        filled_ = 0;
    }

    AnyTable& table_;
    Counts& counts_;
    std::size_t filled_ = 0;
    Key batch_[kBatch];
};

}  // namespace posterior
