// The strings nearest to each query, by the edits between them.
// Twin: posterior.kernels.reference.edit.nearest_strings.
#pragma once

#include <cstddef>
#include <cstdint>

namespace posterior {

// Strings letter by letter, one after the other; letters are numbered.
struct Spelling {
    std::size_t size;
    const std::int32_t* letters;
    const std::int64_t* start;  // (size + 1,)

    const std::int32_t* text(std::size_t s) const { return letters + start[s]; }
    std::size_t length(std::size_t s) const {
        return static_cast<std::size_t>(start[s + 1] - start[s]);
    }
};

// Distinct strings of up to 64 letters: by length, and those of a length by their first rows.
struct Dictionary {
    Spelling strings;
    std::size_t n_letters;      // letters are less than this
    const std::int64_t* row;    // of string s, ascending: row[first[s]] .. row[first[s + 1]]
    const std::int64_t* first;  // (strings + 2,): the last rows have no string
};

struct Edits {
    bool swaps;       // of neighbors, that stay as they are, are an edit too
    bool normalized;  // by the length of the longer string
};

// Distances and rows (queries, k), in the order of (distance, row). A row without a string is as
// far as can be: 1 if normalized, otherwise the length of the query or of the longest string.
void nearest_strings(const Spelling& queries, const Dictionary& dictionary, Edits edits,
                     std::size_t k, double* distance, std::int64_t* row);

}  // namespace posterior
