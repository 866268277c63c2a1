// Bindings of the counters of terms.
#include "text_module.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/unique_ptr.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "bag.hpp"
#include "checks.hpp"
#include "group_sums.hpp"
#include "hashing.hpp"
#include "lowering.hpp"
#include "sorted_rows.hpp"
#include "terms.hpp"
#include "tokens.hpp"

namespace nb = nanobind;
using namespace nb::literals;
namespace p = posterior;

namespace {

template <typename T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T>
using Output = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

constexpr std::int64_t kAllGood = -1;
constexpr std::uint32_t kMostColumns = 0x7fffffff;

p::SortedTerms sorted_terms(const Vector<std::uint8_t>& data, const Vector<std::int64_t>& starts) {
    const std::size_t n = p::one_less(starts.shape(0));
    p::expect_parts(p::data(starts), n, data.shape(0));
    return {data.data(), p::data(starts), n};
}

// The UTF-8 that a string of ASCII is, or that Python keeps beside it; none of half a surrogate pair.
std::optional<p::Document> utf8_of(PyObject* string) {
    Py_ssize_t size = 0;
    const char* data = PyUnicode_AsUTF8AndSize(string, &size);
    if (data != nullptr) return p::Document{data, static_cast<std::size_t>(size), p::Encoding::utf8};
    if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) throw nb::python_error();
    PyErr_Clear();
    return std::nullopt;
}

// The characters of a string, copied.
std::vector<Py_UCS4> utf32_of(PyObject* string) {
    const Py_ssize_t size = PyUnicode_GetLength(string);
    if (size < 0) throw nb::python_error();
    std::vector<Py_UCS4> copied(static_cast<std::size_t>(size));
    if (size > 0 && PyUnicode_AsUCS4(string, copied.data(), size, 0) == nullptr)
        throw nb::python_error();
    return copied;
}

p::Document view(const std::vector<Py_UCS4>& characters) {
    return {characters.data(), characters.size(), p::Encoding::utf32};
}

// Views of documents that Python owns, and keeps while this object lives.
struct Documents {
    std::vector<p::Document> views;
    std::vector<std::vector<Py_UCS4>> copied;  // those without UTF-8
    nb::tuple strings;
    Vector<std::uint8_t> data;
    std::int64_t bad = kAllGood;  // the first that is not a string

    explicit Documents(nb::tuple given) : strings(std::move(given)) {
        views.reserve(nb::len(strings));
        for (nb::handle item : strings) {
            if (!PyUnicode_Check(item.ptr())) {
                bad = static_cast<std::int64_t>(views.size());
                return;
            }
            if (const auto found = utf8_of(item.ptr())) {
                views.push_back(*found);
            } else {
                copied.push_back(utf32_of(item.ptr()));
                views.push_back(view(copied.back()));
            }
        }
    }

    template <typename Offset>
    Documents(Vector<std::uint8_t> given, Vector<Offset> offsets,
              std::optional<Vector<bool>> valid)
        : data(std::move(given)) {
        const std::size_t n = p::one_less(offsets.shape(0));
        p::expect_parts(p::data(offsets), n, data.shape(0));
        p::expect_shape({n}, valid);
        views.reserve(n);
        for (std::size_t i = 0; i < n; ++i) {
            const bool missing = valid && !(*valid)(i);
            const Offset size = missing ? 0 : offsets(i + 1) - offsets(i);
            views.push_back({data.data() + offsets(i), static_cast<std::size_t>(size),
                             p::Encoding::utf8});
        }
    }

    std::size_t size() const {  // characters, or bytes of UTF-8, in all
        std::size_t all = 0;
        for (const p::Document& document : views) all += document.size;
        return all;
    }
};

// A document that Python itself lower-cased, unless it is not UTF-8.
class LoweredByPython {
public:
    explicit LoweredByPython(const p::Document& document) {
        nb::gil_scoped_acquire held;
        const auto size = static_cast<Py_ssize_t>(document.size);
        const bool utf8 = document.encoding == p::Encoding::utf8;
        const nb::object string = nb::steal(
            utf8 ? PyUnicode_DecodeUTF8(static_cast<const char*>(document.data), size, "strict")
                 : PyUnicode_DecodeUTF32(static_cast<const char*>(document.data), 4 * size,
                                         "surrogatepass", nullptr));
        if (string.is_valid()) {
            string_ = string.attr("lower")();
            if (!utf8) copied_ = utf32_of(string_.ptr());
            document_ = utf8 ? *utf8_of(string_.ptr()) : view(copied_);
        } else if (utf8 && PyErr_ExceptionMatches(PyExc_UnicodeDecodeError)) {
            PyErr_Clear();
        } else {
            throw nb::python_error();
        }
    }
    ~LoweredByPython() {
        nb::gil_scoped_acquire held;
        string_.reset();
    }

    bool good() const { return string_.is_valid(); }
    const p::Document& document() const { return document_; }

private:
    nb::object string_;
    std::vector<Py_UCS4> copied_;
    p::Document document_{};
};

// Reads all documents; the number of the first that is not UTF-8, or kAllGood.
template <typename Sink>
std::int64_t read_all(const Documents& documents, const p::Rule& rule, Sink& sink) {
    p::Tokenizer tokenizer(rule);
    for (std::size_t i = 0; i < documents.views.size(); ++i) {
        if (i + 1 < documents.views.size()) documents.views[i + 1].prefetch();
        p::Reading reading = tokenizer.read(documents.views[i], sink);
        if (reading == p::Reading::hard) {
            const LoweredByPython lowered(documents.views[i]);
            if (lowered.good()) reading = tokenizer.read(lowered.document(), sink);
        }
        if (reading != p::Reading::done) return static_cast<std::int64_t>(i);
        sink.end_document();
    }
    return kAllGood;
}

struct Bag {
    std::optional<p::Table> table;      // none if the terms were given
    p::Buffer<std::uint32_t> order;     // its terms, sorted; given terms already are
    p::Buffer<p::Seen> seen;            // of terms that were given, if the documents are many
    std::size_t n_given;                // terms
    p::Counts counts;
    std::int64_t bad = kAllGood;

    std::size_t n_terms() const { return table ? table->size() : n_given; }

    const p::Seen& of(std::size_t rank) const {
        return table ? table->seen(order[rank]) : seen[rank];
    }

    void write_sums(std::int64_t* documents, std::int64_t* total) const {  // (terms,) each
        const bool noted = table || seen.size() > 0;
        for (std::size_t r = 0; r < n_terms(); ++r) {
            documents[r] = noted ? of(r).documents : 0;
            total[r] = noted ? static_cast<std::int64_t>(of(r).total) : 0;
        }
        if (noted) return;
        for (std::size_t e = 0; e < counts.n_entries(); ++e) {
            const auto [term, count] = counts.entry(e);
            ++documents[term];
            total[term] += count;
        }
    }
};

std::unique_ptr<Bag> count_terms(const Documents& documents, const p::Rule& rule, bool keep_rows) {
    auto made = std::make_unique<Bag>(Bag{p::Table(), {}, {}, 0, p::Counts(keep_rows)});
    p::Counter counter(*made->table, made->counts);
    made->bad = read_all(documents, rule, counter);
    return made;
}

std::unique_ptr<Bag> count_known(const Documents& documents, const p::Rule& rule,
                                 const p::Table& known, bool keep_rows) {
    if (keep_rows && documents.size() < known.size()) {  // few documents: touch few known terms
        auto made = count_terms(documents, rule, keep_rows);
        p::Buffer<std::uint32_t> number;
        for (std::uint32_t t = 0; t < made->table->size(); ++t)
            number.push(known.find(made->table->key(t)));
        made->counts.renumber(number);
        made->table.reset();
        made->n_given = known.size();
        return made;
    }
    auto seen = p::Buffer<p::Seen>::zeros(known.size());
    p::Seen* const notes = seen.data();
    auto made = std::make_unique<Bag>(
        Bag{std::nullopt, {}, std::move(seen), known.size(), p::Counts(keep_rows)});
    p::Counter counter(known, made->counts, notes);
    made->bad = read_all(documents, rule, counter);
    return made;
}

void expect_room(bool all) { p::expect(all, "room for all rows and entries"); }

// Some documents of a bag; their terms are given, those of the bag.
std::unique_ptr<Bag> take(const Bag& bag, Vector<std::int64_t> rows) {
    p::Buffer<std::uint32_t> rank;
    rank.resize(bag.n_terms());
    p::expect_places(p::data(rows), rows.shape(0), bag.counts.n_rows());
    for (std::uint32_t r = 0; r < bag.n_terms(); ++r) rank[bag.table ? bag.order[r] : r] = r;
    return std::make_unique<Bag>(Bag{std::nullopt, {}, {}, bag.n_terms(),
                                     bag.counts.take(p::data(rows), rows.shape(0), rank.data())});
}

void fingerprints(const Bag& bag, Vector<std::int32_t> place, Output<std::uint64_t> out) {
    expect_room(place.shape(0) == bag.n_terms() && out.shape(0) == bag.counts.n_rows());
    p::Buffer<std::uint64_t> column;
    column.resize(bag.n_terms());
    for (std::size_t r = 0; r < bag.n_terms(); ++r)
        column[bag.table ? bag.order[r] : r] = static_cast<std::uint64_t>(place.data()[r]);
    bag.counts.fingerprints(column.data(), out.data());
}

void group_sums(const Bag& bag, Vector<std::int32_t> codes, Vector<std::int32_t> place,
                Vector<std::int64_t> logs, double unit, Output<std::int64_t> start,
                Output<std::int64_t> column, Output<std::int64_t> documents,
                Output<std::int64_t> total) {
    const std::size_t n_groups = p::one_less(start.shape(0));
    p::expect_codes(p::data(codes), codes.shape(0), n_groups);
    const std::size_t room = std::min(bag.counts.n_entries(), n_groups * place.shape(0));
    expect_room(codes.shape(0) == bag.counts.n_rows() && place.shape(0) == bag.n_terms() &&
                column.shape(0) >= room && documents.shape(0) >= room &&
                total.shape(0) >= room);
    p::sum_groups(bag.counts, {p::data(codes), nullptr, n_groups},
                  {p::data(logs), logs.shape(0), unit},
                  {bag.table ? bag.order.data() : nullptr, p::data(place), place.shape(0)},
                  {p::data(start), p::data(column), p::data(documents), p::data(total)});
}

template <typename Index, typename Value>
void bind_rows(nb::class_<Bag>& bag, nb::class_<p::HashedRows>& hashed) {
    bag.def("rows",
            [](const Bag& self, Vector<std::int32_t> place, std::int64_t first,
               Output<Index> ends, Output<Index> indices, Output<Value> values) {
                nb::gil_scoped_release free;
                expect_room(place.shape(0) == self.n_terms() &&
                            ends.shape(0) == self.counts.n_rows() &&
                            indices.shape(0) == values.shape(0));
                p::Buffer<std::int32_t> moved;  // places by number
                moved.resize(self.order.size());
                for (std::size_t r = 0; r < moved.size(); ++r) moved[self.order[r]] = p::data(place)[r];
                p::write_rows(self.counts, self.table ? moved.data() : p::data(place), first,
                              p::data(ends), p::data(indices), p::data(values), indices.shape(0));
            },
            "place"_a.noconvert(), "first"_a, "ends"_a.noconvert(), "indices"_a.noconvert(),
            "values"_a.noconvert());
    hashed.def("rows",
               [](const p::HashedRows& self, std::int64_t first, Output<Index> ends,
                  Output<Index> indices, Output<Value> values) {
                   nb::gil_scoped_release free;
                   expect_room(ends.shape(0) == self.n_rows() &&
                               indices.shape(0) == self.n_entries() &&
                               values.shape(0) == self.n_entries());
                   self.write(first, p::data(ends), p::data(indices), p::data(values));
               },
               "first"_a, "ends"_a.noconvert(), "indices"_a.noconvert(), "values"_a.noconvert());
}

}  // namespace

void bind_text(nb::module_& m) {
    nb::class_<Documents>(m, "Documents")
        .def(nb::init<nb::typed<nb::tuple, nb::object, nb::ellipsis>>(), "strings"_a)
        .def(nb::init<Vector<std::uint8_t>, Vector<std::int32_t>, std::optional<Vector<bool>>>(),
             "data"_a.noconvert(), "offsets"_a.noconvert(), "valid"_a.none())
        .def(nb::init<Vector<std::uint8_t>, Vector<std::int64_t>, std::optional<Vector<bool>>>(),
             "data"_a.noconvert(), "offsets"_a.noconvert(), "valid"_a.none())
        .def_ro("bad", &Documents::bad);

    nb::class_<p::Rule>(m, "Rule").def(
        "__init__",
        [](p::Rule* self, int unit, std::size_t least, std::size_t most, bool lowercase,
           std::size_t min_length, Vector<std::uint32_t> alphabet, Vector<std::uint8_t> data,
           Vector<std::int64_t> starts) {
            p::expect(0 <= unit && unit <= 2 && 1 <= least && least <= most, "a rule of terms");
            const p::Alphabet letters(alphabet.data(), alphabet.shape(0));
            new (self)
                p::Rule{static_cast<p::Unit>(unit), least, most, lowercase, min_length, letters, {}};
            self->stop_words = p::table_of(sorted_terms(data, starts));
        },
        "unit"_a, "least"_a, "most"_a, "lowercase"_a, "min_length"_a, "alphabet"_a.noconvert(),
        "data"_a.noconvert(), "starts"_a.noconvert(), nb::keep_alive<1, 7>());

    nb::class_<p::Table>(m, "Lookup")
        .def("__init__",
             [](p::Table* self, Vector<std::uint8_t> data, Vector<std::int64_t> starts) {
                 nb::gil_scoped_release free;
                 new (self) p::Table(p::table_of(sorted_terms(data, starts)));
             },
             "data"_a.noconvert(), "starts"_a.noconvert());

    nb::class_<Bag> bag(m, "Bag");
    bag.def_ro("bad", &Bag::bad)
        .def_prop_ro("kept", [](const Bag& self) { return self.counts.kept(); })
        .def_prop_ro("n_rows", [](const Bag& self) { return self.counts.n_rows(); })
        .def_prop_ro("n_entries", [](const Bag& self) { return self.counts.n_entries(); })
        .def_prop_ro("n_terms", &Bag::n_terms)
        .def_prop_ro("n_bytes",
                     [](const Bag& self) { return self.table ? self.table->bytes() : 0; })
        .def("terms",
             [](const Bag& self, Output<std::uint8_t> data, Output<std::int64_t> starts) {
                 nb::gil_scoped_release free;
                 expect_room(self.table && data.shape(0) == self.table->bytes() &&
                             starts.shape(0) == self.n_terms() + 1);
                 p::write_terms(*self.table, self.order, data.data(), p::data(starts));
             },
             "data"_a.noconvert(), "starts"_a.noconvert())
        .def("sums",
             [](const Bag& self, Output<std::int64_t> documents, Output<std::int64_t> total) {
                 nb::gil_scoped_release free;
                 p::expect_shape({self.n_terms()}, documents, total);
                 self.write_sums(p::data(documents), p::data(total));
             },
             "documents"_a.noconvert(), "total"_a.noconvert())
        .def("take", &take, "rows"_a.noconvert(), nb::call_guard<nb::gil_scoped_release>())
        .def("fingerprints", &fingerprints, "place"_a.noconvert(), "out"_a.noconvert(),
             nb::call_guard<nb::gil_scoped_release>())
        .def("group_sums", &group_sums, "codes"_a.noconvert(), "place"_a.noconvert(),
             "logs"_a.noconvert(), "unit"_a, "start"_a.noconvert(), "column"_a.noconvert(),
             "documents"_a.noconvert(), "total"_a.noconvert(),
             nb::call_guard<nb::gil_scoped_release>());

    nb::class_<p::HashedRows> hashed(m, "HashedRows");
    hashed.def_ro("bad", &p::HashedRows::bad)
        .def_prop_ro("n_rows", &p::HashedRows::n_rows)
        .def_prop_ro("n_entries", &p::HashedRows::n_entries);

    bind_rows<std::int32_t, std::int64_t>(bag, hashed);
    bind_rows<std::int32_t, double>(bag, hashed);
    bind_rows<std::int32_t, float>(bag, hashed);
    bind_rows<std::int64_t, std::int64_t>(bag, hashed);
    bind_rows<std::int64_t, double>(bag, hashed);
    bind_rows<std::int64_t, float>(bag, hashed);

    m.def("count_terms",
          [](const Documents& documents, const p::Rule& rule, bool keep_rows) {
              nb::gil_scoped_release free;
              auto made = count_terms(documents, rule, keep_rows);
              made->order = p::sorted(*made->table);
              return made;
          },
          "documents"_a, "rule"_a, "keep_rows"_a);
    m.def("count_known",
          [](const Documents& documents, const p::Rule& rule, const p::Table& known,
             bool keep_rows) {
              nb::gil_scoped_release free;
              return count_known(documents, rule, known, keep_rows);
          },
          "documents"_a, "rule"_a, "known"_a, "keep_rows"_a);
    m.def("hash_terms",
          [](const Documents& documents, const p::Rule& rule, std::uint32_t n_features,
             bool alternate_sign) {
              nb::gil_scoped_release free;
              p::expect(0 < n_features && n_features <= kMostColumns, "columns to hash into");
              auto made = std::make_unique<p::HashedRows>(n_features, alternate_sign);
              made->bad = read_all(documents, rule, *made);
              return made;
          },
          "documents"_a, "rule"_a, "n_features"_a, "alternate_sign"_a);
    m.def("union",
          [](Vector<std::uint8_t> data_a, Vector<std::int64_t> starts_a,
             Vector<std::uint8_t> data_b, Vector<std::int64_t> starts_b,
             Output<std::uint8_t> data, Output<std::int64_t> starts,
             Output<std::int32_t> place_a, Output<std::int32_t> place_b) {
              nb::gil_scoped_release free;
              const std::size_t n_a = p::one_less(starts_a.shape(0)),
                                n_b = p::one_less(starts_b.shape(0));
              expect_room(data.shape(0) >= data_a.shape(0) + data_b.shape(0) &&
                          starts.shape(0) > n_a + n_b && place_a.shape(0) == n_a &&
                          place_b.shape(0) == n_b);
              return p::unite(sorted_terms(data_a, starts_a), sorted_terms(data_b, starts_b),
                              data.data(), p::data(starts), p::data(place_a), p::data(place_b));
          },
          "data_a"_a.noconvert(), "starts_a"_a.noconvert(), "data_b"_a.noconvert(),
          "starts_b"_a.noconvert(), "data"_a.noconvert(), "starts"_a.noconvert(),
          "place_a"_a.noconvert(), "place_b"_a.noconvert());
    m.def("add_cells",
          [](Vector<std::int64_t> start_a, Vector<std::int64_t> column_a,
             Vector<std::int64_t> documents_a, Vector<std::int64_t> total_a,
             Vector<std::int64_t> start_b, Vector<std::int64_t> column_b,
             Vector<std::int64_t> documents_b, Vector<std::int64_t> total_b,
             Output<std::int64_t> start, Output<std::int64_t> column,
             Output<std::int64_t> documents, Output<std::int64_t> total) {
              nb::gil_scoped_release free;
              const std::size_t n = p::one_less(start.shape(0)), size_a = column_a.shape(0),
                                size_b = column_b.shape(0);
              p::expect_shape({n + 1}, start_a, start_b);
              p::expect_shape({size_a}, documents_a, total_a);
              p::expect_shape({size_b}, documents_b, total_b);
              p::expect_shape({size_a + size_b}, column, documents, total);
              p::expect_parts(p::data(start_a), n, size_a);
              p::expect_parts(p::data(start_b), n, size_b);
              p::add_cells(
                  {p::data(start_a), p::data(column_a), p::data(documents_a), p::data(total_a)},
                  {p::data(start_b), p::data(column_b), p::data(documents_b), p::data(total_b)},
                  start.shape(0) - 1,
                  {p::data(start), p::data(column), p::data(documents), p::data(total)});
          },
          "start_a"_a.noconvert(), "column_a"_a.noconvert(), "documents_a"_a.noconvert(),
          "total_a"_a.noconvert(), "start_b"_a.noconvert(), "column_b"_a.noconvert(),
          "documents_b"_a.noconvert(), "total_b"_a.noconvert(), "start"_a.noconvert(),
          "column"_a.noconvert(), "documents"_a.noconvert(), "total"_a.noconvert());
}
