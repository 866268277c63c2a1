#include "group_sums.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "buffer.hpp"
#include "counts.hpp"

namespace posterior {
namespace {

struct Sum {
    std::int64_t documents, total;
};

// Adds one document; its terms' sums are fetched while its length is taken.
void add_row(const Counts& counts, std::size_t row, const Damping& damping, Sum* sums) {
    const auto log = [&](const Entry& entry) {
        return damping.n == 0 ? static_cast<std::int64_t>(entry.count)
                              : damping.logs[std::min<std::size_t>(entry.count, damping.n - 1)];
    };
    if (damping.unit == 0) {
        for (std::size_t e = counts.start(row); e < counts.end(row); ++e) {
            const Entry entry = counts.entry(e);
            ++sums[entry.term].documents;
            sums[entry.term].total += log(entry);
        }
        return;
    }
    std::int64_t squares = 0;
    for (std::size_t e = counts.start(row); e < counts.end(row); ++e) {
        const Entry entry = counts.entry(e);
        __builtin_prefetch(sums + entry.term, 1);
        squares += log(entry) * log(entry);
    }
    const double length = std::max(std::sqrt(static_cast<double>(squares)), 1.0);
    const double scale = 1 / (damping.unit * length);
    for (std::size_t e = counts.start(row); e < counts.end(row); ++e) {
        const Entry entry = counts.entry(e);
        Sum& sum = sums[entry.term];
        ++sum.documents;
        sum.total += std::lrint(static_cast<double>(log(entry)) * scale);
    }
}

}  // namespace

// Numbers of terms ascend with their first document: frequent terms stand together, and the sums
// of one group at a time stay in cache.
void sum_groups(const Counts& counts, Groups groups, const Damping& damping,
                const RankedTerms& terms, Cells<std::int64_t> out) {
    auto sums = Buffer<Sum>::zeros(terms.n);
    const std::vector<std::uint32_t> rows = rows_by_group(groups, counts.n_rows());
    std::size_t r = 0;
    std::size_t written = 0;
    out.start[0] = 0;
    for (std::size_t k = 0; k < groups.count; ++k) {
        const std::size_t first = r;
        for (; r < rows.size() && groups.codes[rows[r]] == static_cast<std::int32_t>(k); ++r)
            add_row(counts, rows[r], damping, sums.data());
        for (std::size_t t = 0; t < terms.n && r > first; ++t) {
            Sum& sum = sums[terms.order == nullptr ? t : terms.order[t]];
            if (sum.documents == 0) continue;
            out.column[written] = terms.place[t];
            out.documents[written] = sum.documents;
            out.total[written++] = sum.total;
            sum = {};
        }
        out.start[k + 1] = static_cast<std::int64_t>(written);
    }
}

// Which column is smaller cannot be guessed: cells of both are read, and masked.
void add_cells(Cells<const std::int64_t> a, Cells<const std::int64_t> b, std::size_t n_groups,
               Cells<std::int64_t> out) {
    std::int64_t i = a.start[0], j = b.start[0], n = 0;
    const auto copy_rest = [&](const Cells<const std::int64_t>& from, std::int64_t& at,
                               std::int64_t end) {
        for (; at < end; ++at, ++n) {
            out.column[n] = from.column[at];
            out.documents[n] = from.documents[at];
            out.total[n] = from.total[at];
        }
    };
    out.start[0] = 0;
    for (std::size_t k = 0; k < n_groups; ++k) {
        for (; i < a.start[k + 1] && j < b.start[k + 1]; ++n) {
            const std::int64_t x = a.column[i], y = b.column[j];
            const std::int64_t of_a = -std::int64_t{x <= y}, of_b = -std::int64_t{y <= x};
            out.column[n] = std::min(x, y);
            out.documents[n] = (a.documents[i] & of_a) + (b.documents[j] & of_b);
            out.total[n] = (a.total[i] & of_a) + (b.total[j] & of_b);
            i -= of_a;
            j -= of_b;
        }
        copy_rest(a, i, a.start[k + 1]);
        copy_rest(b, j, b.start[k + 1]);
        out.start[k + 1] = n;
    }
}

}  // namespace posterior
