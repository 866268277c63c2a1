// Bindings only: what Python hands over becomes views, the GIL is released, a kernel runs.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "centers.hpp"
#include "columns.hpp"
#include "coordinate.hpp"
#include "counts.hpp"
#include "cuts.hpp"
#include "edit.hpp"
#include "exact.hpp"
#include "exact_products.hpp"
#include "leave_out.hpp"
#include "log_prob.hpp"
#include "logistic.hpp"
#include "moments.hpp"
#include "nearest.hpp"
#include "normalize.hpp"
#include "pairs.hpp"
#include "products.hpp"
#include "soft.hpp"
#include "student.hpp"
#include "text_module.hpp"
#include "tree.hpp"

namespace nb = nanobind;
using namespace nb::literals;
namespace p = posterior;

namespace {

template <typename T>
using Table = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;
template <typename T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T>
using Contiguous = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <typename T>
using Output = nb::ndarray<T, nb::c_contig, nb::device::cpu>;
using Codes = Vector<std::int32_t>;
using Weight = std::optional<Vector<double>>;

template <typename T>
p::Matrix<T> matrix(const Table<T>& X) {
    return {X.data(), X.shape(0), X.shape(1), X.stride(0), X.stride(1)};
}

template <typename T, typename Index>
p::Sparse<T, Index> sparse(const Vector<T>& data, const Vector<Index>& column,
                           const Vector<Index>& start) {
    return {data.data(), column.data(), start.data(), start.shape(0) - 1};
}

p::Groups groups(const Codes& codes, const Weight& weight, std::size_t count) {
    return {codes.data(), weight ? weight->data() : nullptr, count};
}

p::Answers answers(const Codes& codes, const Weight& weight, const Weight& offset,
                   std::size_t outputs) {
    return {codes.data(), weight ? weight->data() : nullptr, offset ? offset->data() : nullptr,
            outputs};
}

// Limbs come as (..., size); an empty table stands for sums that are not wanted.
p::Sums sums(const Output<std::int64_t>& limbs, std::int64_t exponent) {
    return {limbs.data(), limbs.size() == 0 ? 0 : limbs.shape(limbs.ndim() - 1), exponent};
}

std::size_t cells(const Output<std::int64_t>& limbs) {
    return limbs.size() == 0 ? 0 : limbs.size() / limbs.shape(limbs.ndim() - 1);
}

template <typename T>
p::Matrix<T> rows(const Contiguous<T>& X) {
    return {X.data(), X.shape(0), X.shape(1), X.stride(0), 1};
}

template <typename T>
p::Centers<T> centers(const Vector<T>& origin, const Contiguous<T>& points,
                      const Output<const T>& table, const Contiguous<T>& half,
                      const Contiguous<std::int32_t>& number) {
    return {half.shape(0), origin.shape(0), origin.data(), points.data(), table.data(),
            half.data(), number.data()};
}

template <typename T>
void bind_tables_of_numbers(nb::module_& m) {
    m.def("add_moments",
          [](Table<T> X, Codes codes, Weight weight, std::size_t count,
             Output<std::int64_t> counts, std::int64_t count_exponent,
             Output<std::int64_t> totals, std::int64_t total_exponent,
             Output<std::int64_t> squares, std::int64_t square_exponent) {
              nb::gil_scoped_release free;
              const p::Sums c = sums(counts, count_exponent), t = sums(totals, total_exponent),
                            q = sums(squares, square_exponent);
              p::MomentSums chunk(matrix(X), groups(codes, weight, count), c, t, q);
              const p::Outcome outcome = chunk.add();
              p::carry(c, cells(counts));
              p::carry(t, cells(totals));
              p::carry(q, cells(squares));
              return static_cast<int>(outcome);
          },
          "X"_a.noconvert(), "codes"_a.noconvert(), "weight"_a.none(), "count"_a,
          "counts"_a.noconvert(), "count_exponent"_a, "totals"_a.noconvert(), "total_exponent"_a,
          "squares"_a.noconvert(), "square_exponent"_a);
    m.def("center_by_group",
          [](Table<T> X, Codes codes, Contiguous<double> origin, Output<double> out) {
              nb::gil_scoped_release free;
              p::center_by_group(matrix(X), {codes.data(), nullptr, origin.shape(0)},
                                 origin.data(), out.data(), out.shape(1));
          },
          "X"_a.noconvert(), "codes"_a.noconvert(), "origin"_a.noconvert(), "out"_a.noconvert());
    m.def("find_exponents",
          [](Table<T> X, Output<std::int64_t> above) {
              std::int64_t lowest = 5000;
              {
                  nb::gil_scoped_release free;
                  p::find_exponents(matrix(X), above.data(), lowest);
              }
              return lowest;
          },
          "X"_a.noconvert(), "above"_a.noconvert());
    m.def("gaussian_log_joint",
          [](Table<T> X, Contiguous<double> mean, Contiguous<double> inverse_deviation,
             Contiguous<double> term, Vector<double> constant, Output<double> out) {
              nb::gil_scoped_release free;
              p::gaussian_log_joint(matrix(X), mean.shape(0), mean.data(),
                                    inverse_deviation.data(), term.data(), constant.data(),
                                    out.data());
          },
          "X"_a.noconvert(), "mean"_a.noconvert(), "inverse_deviation"_a.noconvert(),
          "term"_a.noconvert(), "constant"_a.noconvert(), "out"_a.noconvert());
    m.def("linear_log_joint",
          [](Table<T> X, Contiguous<double> weight, Contiguous<double> absent,
             Vector<double> bias, Output<double> out) {
              nb::gil_scoped_release free;
              p::linear_log_joint(matrix(X), weight.shape(0), weight.data(), absent.data(),
                                  bias.data(), out.data());
          },
          "X"_a.noconvert(), "weight"_a.noconvert(), "absent"_a.noconvert(),
          "bias"_a.noconvert(), "out"_a.noconvert());
    m.def("square_distances",
          [](Table<T> X, Vector<double> origin, Output<const double> weight,
             Output<const double> center, Weight constant, Output<double> out) {
              nb::gil_scoped_release free;
              p::square_distances(matrix(X),
                                  {weight.shape(0), center.shape(0), weight.shape(1),
                                   origin.data(), weight.data(), center.data(),
                                   constant ? constant->data() : nullptr},
                                  out.data());
          },
          "X"_a.noconvert(), "origin"_a.noconvert(), "weight"_a.noconvert(),
          "center"_a.noconvert(), "constant"_a.none(), "out"_a.noconvert());
    m.def("soft_products",
          [](Table<T> X, Contiguous<double> R, Contiguous<double> origin, Output<double> totals,
             Output<double> products) {
              nb::gil_scoped_release free;
              return p::soft_products(matrix(X), {R.data(), R.shape(1)}, origin.data(),
                                      totals.data(), products.data());
          },
          "X"_a.noconvert(), "R"_a.noconvert(), "origin"_a.noconvert(), "totals"_a.noconvert(),
          "products"_a.noconvert());
    m.def("soft_moments",
          [](Table<T> X, Contiguous<double> R, Contiguous<double> origin, Output<double> weight,
             Output<double> totals, Output<double> squares) {
              nb::gil_scoped_release free;
              p::soft_moments(matrix(X), {R.data(), R.shape(1)}, origin.data(), weight.data(),
                              totals.data(), squares.data());
          },
          "X"_a.noconvert(), "R"_a.noconvert(), "origin"_a.noconvert(), "weight"_a.noconvert(),
          "totals"_a.noconvert(), "squares"_a.noconvert());
    m.def("logistic_sums",
          [](Table<T> X, Weight origin, Codes codes, Weight weight, Weight offset,
             Contiguous<double> W, Vector<double> b, Output<double> gradient,
             Output<double> gradient_b, std::optional<Output<double>> residual,
             std::optional<Output<double>> hessian) {
              nb::gil_scoped_release free;
              return p::logistic_sums(matrix(X), origin ? origin->data() : nullptr, answers(codes, weight, offset, b.shape(0)),
                                      W.data(), b.data(), gradient.data(), gradient_b.data(),
                                      residual ? residual->data() : nullptr,
                                      hessian ? hessian->data() : nullptr);
          },
          "X"_a.noconvert(), "origin"_a.none(), "codes"_a.noconvert(), "weight"_a.none(), "offset"_a.none(),
          "W"_a.noconvert(), "b"_a.noconvert(), "gradient"_a.noconvert(),
          "gradient_b"_a.noconvert(), "residual"_a.none(), "hessian"_a.none());
    m.def("nearest",
          [](Contiguous<T> X, Vector<T> origin, Contiguous<T> points, Output<const T> table,
             Contiguous<T> half, Contiguous<std::int32_t> number, Output<std::int32_t> labels) {
              nb::gil_scoped_release free;
              return p::nearest(rows(X), centers(origin, points, table, half, number), labels.data());
          },
          "X"_a.noconvert(), "origin"_a.noconvert(), "points"_a.noconvert(), "table"_a.noconvert(),
          "half"_a.noconvert(), "number"_a.noconvert(), "labels"_a.noconvert());
    m.def("nearest_bounded",
          [](Contiguous<T> X, Vector<T> origin, Contiguous<T> points, Output<const T> table,
             Contiguous<T> half, Contiguous<std::int32_t> number, Output<float> upper, Output<float> lower,
             Vector<float> way, Vector<float> farthest, Codes place, double radius, bool fresh,
             Output<std::int32_t> labels) {
              p::Search search{};
              {
                  nb::gil_scoped_release free;
                  search = p::nearest_bounded(rows(X), centers(origin, points, table, half, number),
                                              {farthest.shape(0), upper.data(), lower.data(), way.data(),
                                               farthest.data(), place.data(), radius, fresh},
                                              labels.data());
              }
              return nb::make_tuple(search.moved, search.looked);
          },
          "X"_a.noconvert(), "origin"_a.noconvert(), "points"_a.noconvert(), "table"_a.noconvert(),
          "half"_a.noconvert(), "number"_a.noconvert(), "upper"_a.noconvert(), "lower"_a.noconvert(),
          "way"_a.noconvert(), "farthest"_a.noconvert(), "place"_a.noconvert(), "radius"_a,
          "fresh"_a, "labels"_a.noconvert());
    m.def("nearest_rows",
          [](Contiguous<double> Q, Contiguous<T> X, Vector<double> origin, double scale,
             Vector<double> half, bool single, Output<double> distance,
             Output<std::int64_t> number) {
              nb::gil_scoped_release free;
              const auto search = single ? p::nearest_rows<float, T> : p::nearest_rows<double, T>;
              return search(rows(Q), {rows(X), origin.data(), scale, half.data()},
                            distance.shape(1), distance.data(), number.data());
          },
          "Q"_a.noconvert(), "X"_a.noconvert(), "origin"_a.noconvert(), "scale"_a,
          "half"_a.noconvert(), "single"_a, "distance"_a.noconvert(), "number"_a.noconvert());
    m.def("own_distances",
          [](Contiguous<T> X, Contiguous<double> center, Codes labels, Output<double> out) {
              nb::gil_scoped_release free;
              p::own_distances(rows(X), center.data(), labels.data(), out.data());
          },
          "X"_a.noconvert(), "centers"_a.noconvert(), "labels"_a.noconvert(),
          "out"_a.noconvert());
    m.def("survey",
          [](Vector<T> x) {
              p::Survey s{};
              {
                  nb::gil_scoped_release free;
                  s = p::survey(x.data(), x.shape(0));
              }
              return nb::make_tuple(s.smallest, s.largest, s.lowest_bit, s.whole, s.finite);
          },
          "x"_a.noconvert());
}

template <typename T>
void bind_tables_of_codes(nb::module_& m) {
    m.def("find_code_range",
          [](Table<T> X, Output<std::int64_t> smallest, Output<std::int64_t> largest) {
              nb::gil_scoped_release free;
              p::find_code_range(matrix(X), smallest.data(), largest.data());
          },
          "X"_a.noconvert(), "smallest"_a.noconvert(), "largest"_a.noconvert());
    m.def("add_category_counts",
          [](Table<T> X, Codes codes, Weight weight, std::size_t count,
             Vector<std::int64_t> offset, Output<std::int64_t> counts, std::int64_t exponent) {
              nb::gil_scoped_release free;
              const p::Sums s = sums(counts, exponent);
              const bool fits = p::add_category_counts(matrix(X), groups(codes, weight, count),
                                                       offset.data(), s);
              p::carry(s, cells(counts));
              return fits;
          },
          "X"_a.noconvert(), "codes"_a.noconvert(), "weight"_a.none(), "count"_a,
          "offset"_a.noconvert(), "counts"_a.noconvert(), "exponent"_a);
    m.def("count_pairs",
          [](Table<T> X, Codes codes, std::size_t count, Vector<std::int64_t> offset,
             Output<std::int64_t> counts) {
              nb::gil_scoped_release free;
              p::count_pairs(matrix(X), groups(codes, {}, count), offset.data(), counts.data());
          },
          "X"_a.noconvert(), "codes"_a.noconvert(), "count"_a, "offset"_a.noconvert(),
          "counts"_a.noconvert());
    m.def("table_log_joint",
          [](Table<T> X, std::size_t count, Contiguous<double> table,
             Vector<std::int64_t> offset, Vector<double> bias, Output<double> out) {
              nb::gil_scoped_release free;
              p::table_log_joint(p::TableScores<T>{matrix(X), count, table.shape(1), table.data(),
                                                   bias.data(), offset.data(), out.data()});
          },
          "X"_a.noconvert(), "count"_a, "table"_a.noconvert(), "offset"_a.noconvert(),
          "bias"_a.noconvert(), "out"_a.noconvert());
}

template <typename T, typename Index>
void bind_sparse(nb::module_& m) {
    m.def("add_sparse_sums",
          [](Vector<T> data, Vector<Index> column, Vector<Index> start, Codes codes,
             Weight weight, std::size_t count, std::size_t columns, double threshold,
             Output<std::int64_t> totals, std::int64_t exponent) {
              nb::gil_scoped_release free;
              const p::Sums s = sums(totals, exponent);
              const p::SparseOutcome outcome =
                  p::add_sparse_sums(sparse(data, column, start), groups(codes, weight, count),
                                     columns, threshold, s);
              p::carry(s, cells(totals));
              return static_cast<int>(outcome);
          },
          "data"_a.noconvert(), "column"_a.noconvert(), "start"_a.noconvert(),
          "codes"_a.noconvert(), "weight"_a.none(), "count"_a, "columns"_a, "threshold"_a,
          "totals"_a.noconvert(), "exponent"_a);
    m.def("take_columns",
          [](Vector<T> data, Vector<Index> column, Vector<Index> start, Codes place,
             Output<Index> new_start, std::optional<Output<double>> new_data,
             std::optional<Output<Index>> row) {
              nb::gil_scoped_release free;
              p::take_columns(sparse(data, column, start), place.data(), new_start.size() - 1,
                              new_start.data(), new_data ? new_data->data() : nullptr,
                              row ? row->data() : nullptr);
          },
          "data"_a.noconvert(), "column"_a.noconvert(), "start"_a.noconvert(),
          "place"_a.noconvert(), "new_start"_a.noconvert(), "new_data"_a.none(), "row"_a.none());
    m.def("sparse_logistic_sums",
          [](Vector<T> data, Vector<Index> column, Vector<Index> start, Codes codes,
             Weight weight, Weight offset, Contiguous<double> W, Vector<double> b,
             Output<double> gradient, Output<double> gradient_b,
             std::optional<Output<double>> residual) {
              nb::gil_scoped_release free;
              return p::sparse_logistic_sums(
                  sparse(data, column, start), answers(codes, weight, offset, b.shape(0)),
                  W.data(), b.data(), gradient.data(), gradient_b.data(),
                  residual ? residual->data() : nullptr);
          },
          "data"_a.noconvert(), "column"_a.noconvert(), "start"_a.noconvert(),
          "codes"_a.noconvert(), "weight"_a.none(), "offset"_a.none(),
          "W"_a.noconvert(), "b"_a.noconvert(), "gradient"_a.noconvert(),
          "gradient_b"_a.noconvert(), "residual"_a.none());
    m.def("sparse_log_joint",
          [](Vector<T> data, Vector<Index> column, Vector<Index> start, std::size_t count,
             Contiguous<double> weight, Vector<double> bias, double threshold,
             Output<double> out) {
              nb::gil_scoped_release free;
              return p::sparse_log_joint(p::SparseScores<T, Index>{
                  sparse(data, column, start), count, weight.shape(1), weight.data(),
                  bias.data(), threshold, out.data()});
          },
          "data"_a.noconvert(), "column"_a.noconvert(), "start"_a.noconvert(), "count"_a,
          "weight"_a.noconvert(), "bias"_a.noconvert(), "threshold"_a, "out"_a.noconvert());
}

// A vector of ours becomes an array of Python's.
template <typename T>
nb::ndarray<nb::numpy, T> given(std::vector<T>&& vector, std::initializer_list<std::size_t> shape) {
    auto* kept = new std::vector<T>(std::move(vector));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return {kept->data(), shape, owner};
}

template <typename T>
p::Tree<T> tree(const Output<const T>& boxes, const Contiguous<std::int32_t>& child,
                const Codes& start, const Output<const T>& points,
                const Contiguous<std::int32_t>& number) {
    return {points.shape(1), boxes.data(), child.data(), start.data(), points.data(),
            number.data()};
}

template <typename T>
void bind_columns(nb::module_& m) {
    m.def("digitize",
          [](Table<T> X, Vector<double> cut, Vector<std::int64_t> start, Output<T> out) {
              nb::gil_scoped_release free;
              p::digitize(matrix(X), cut.data(), start.data(), out.data());
          },
          "X"_a.noconvert(), "cut"_a.noconvert(), "start"_a.noconvert(), "out"_a.noconvert());
    m.def("pack_columns",
          [](Table<T> X, Codes code, int bits, Output<std::uint64_t> key,
             Output<std::int64_t> known) {
              nb::gil_scoped_release free;
              p::pack_columns(matrix(X), code.data(), bits, key.data(), known.data());
          },
          "X"_a.noconvert(), "code"_a.noconvert(), "bits"_a, "key"_a.noconvert(),
          "known"_a.noconvert());
}

template <typename T>
void bind_stacking(nb::module_& m) {
    m.def("stack_columns",
          [](const std::vector<Vector<T>>& columns, Output<T> out) {
              std::vector<const T*> data;
              for (const Vector<T>& column : columns) data.push_back(column.data());
              nb::gil_scoped_release free;
              p::stack_columns(data, out.shape(0), out.data());
          },
          "columns"_a.noconvert(), "out"_a.noconvert());
}

void bind_cuts(nb::module_& m) {
    bind_stacking<std::uint64_t>(m);
    bind_stacking<std::uint32_t>(m);
    bind_columns<double>(m);
    bind_columns<float>(m);
    m.def("class_cells",
          [](Vector<std::uint64_t> key, int bits, std::size_t classes, std::size_t limit) {
              p::ClassCells cells;
              {
                  nb::gil_scoped_release free;
                  cells = p::class_cells(key.data(), key.shape(0), bits, classes, limit);
              }
              const std::size_t size = cells.end.size();
              return nb::make_tuple(given(std::move(cells.end), {size}),
                                    given(std::move(cells.count), {size, classes}), cells.moved);
          },
          "key"_a.noconvert(), "bits"_a, "classes"_a, "limit"_a);
    m.def("sort_column",
          [](Vector<double> x, Output<double> value, Output<std::int32_t> row) {
              nb::gil_scoped_release free;
              return p::sort_column(x.data(), x.shape(0), value.data(), row.data());
          },
          "x"_a.noconvert(), "value"_a.noconvert(), "row"_a.noconvert());
    m.def("mdl_cuts",
          [](Vector<double> value, Codes code, Weight weight, std::size_t classes,
             Weight log_table) {
              std::vector<std::int64_t> found;
              {
                  nb::gil_scoped_release free;
                  found = p::mdl_cuts({value.data(), code.data(),
                                       weight ? weight->data() : nullptr, value.shape(0), classes,
                                       log_table ? log_table->data() : nullptr});
              }
              const std::size_t size = found.size();
              return given(std::move(found), {size});
          },
          "value"_a.noconvert(), "code"_a.noconvert(), "weight"_a.none(), "classes"_a,
          "log_table"_a.none());
    m.def("student_fit",
          [](Vector<double> x, Contiguous<double> W, double rows, Vector<double> prior_mean,
             Vector<double> prior_square, double least, int steps, double tolerance,
             double heaviest, double lightest, Output<double> mean, Output<double> square,
             Output<double> say, double nu) {
              nb::gil_scoped_release free;
              return p::student_fit({x.data(), W.data(), x.shape(0), W.shape(0), rows,
                                     prior_mean.data(), prior_square.data(), least},
                                    {steps, tolerance, heaviest, lightest}, mean.data(),
                                    square.data(), say.data(), nu);
          },
          "x"_a.noconvert(), "W"_a.noconvert(), "rows"_a, "prior_mean"_a.noconvert(),
          "prior_square"_a.noconvert(), "least"_a, "steps"_a, "tolerance"_a, "heaviest"_a,
          "lightest"_a, "mean"_a.noconvert(), "square"_a.noconvert(), "say"_a.noconvert(), "nu"_a);
}

template <typename T>
void bind_trees(nb::module_& m) {
    m.def("grow_tree",
          [](Table<T> X) {
              p::GrownTree<T> grown;
              {
                  nb::gil_scoped_release free;
                  grown = p::grow_tree(matrix(X));
              }
              const std::size_t d = X.shape(1), nodes = grown.child.size() / p::kBranches,
                                leaves = grown.start.size() - 1,
                                blocks = grown.number.size() / p::kBranches;
              return nb::make_tuple(given(std::move(grown.boxes), {nodes, d, 2, p::kBranches}),
                                    given(std::move(grown.child), {nodes, p::kBranches}),
                                    given(std::move(grown.start), {leaves + 1}),
                                    given(std::move(grown.points), {blocks, d, p::kBranches}),
                                    given(std::move(grown.number), {blocks, p::kBranches}));
          },
          "X"_a.noconvert());
    m.def("find_leaves",
          [](Output<const T> boxes, Contiguous<std::int32_t> child, Codes start,
             Output<const T> points, Contiguous<std::int32_t> number, Contiguous<double> Q,
             nb::ndarray<std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> leaf) {
              nb::gil_scoped_release free;
              p::find_leaves(tree(boxes, child, start, points, number), rows(Q), leaf.data());
          },
          "boxes"_a.noconvert(), "child"_a.noconvert(), "start"_a.noconvert(),
          "points"_a.noconvert(), "number"_a.noconvert(), "Q"_a.noconvert(), "leaf"_a.noconvert());
    m.def("search_tree",
          [](Output<const T> boxes, Contiguous<std::int32_t> child, Codes start,
             Output<const T> points, Contiguous<std::int32_t> number, Contiguous<double> Q,
             Codes leaf, Vector<std::int64_t> order, double power, Output<double> distances,
             Output<std::int64_t> numbers) {
              nb::gil_scoped_release free;
              p::search_tree(tree(boxes, child, start, points, number), rows(Q), leaf.data(),
                             order.data(), order.shape(0),
                             {distances.shape(1), power, distances.data(), numbers.data()});
          },
          "boxes"_a.noconvert(), "child"_a.noconvert(), "start"_a.noconvert(),
          "points"_a.noconvert(), "number"_a.noconvert(), "Q"_a.noconvert(), "leaf"_a.noconvert(),
          "order"_a.noconvert(), "p"_a, "distances"_a.noconvert(), "numbers"_a.noconvert());
}

p::Curves curves(const Contiguous<double>& weight, const std::optional<Contiguous<double>>& share) {
    return {weight.shape(1), weight.shape(0), weight.data(), share ? share->data() : nullptr};
}

template <typename Index>
void bind_sparse_columns(nb::module_& m) {
    m.def("sparse_column_squares",
          [](Vector<double> data, Vector<Index> row, Vector<Index> start,
             Contiguous<double> weight, Output<double> out) {
              nb::gil_scoped_release free;
              p::column_squares(p::SparseColumns<Index>{data.data(), row.data(), start.data()},
                                curves(weight, {}), start.shape(0) - 1, out.data());
          },
          "data"_a.noconvert(), "row"_a.noconvert(), "start"_a.noconvert(),
          "weight"_a.noconvert(), "out"_a.noconvert());
    m.def("sparse_column_descent",
          [](Vector<double> data, Vector<Index> row, Vector<Index> start,
             Contiguous<double> weight, std::optional<Contiguous<double>> share, bool intercept,
             Contiguous<double> coef, Contiguous<double> gradient, Contiguous<double> curve,
             Contiguous<double> ridge, Contiguous<double> lasso, std::size_t sweeps,
             Output<double> step, Output<double> z) {
              nb::gil_scoped_release free;
              p::column_descent(p::SparseColumns<Index>{data.data(), row.data(), start.data()},
                                curves(weight, share),
                                {coef.shape(1), intercept, coef.data(), gradient.data(),
                                 curve.data(), ridge.data(), lasso.data(), step.data()},
                                sweeps, z.data());
          },
          "data"_a.noconvert(), "row"_a.noconvert(), "start"_a.noconvert(),
          "weight"_a.noconvert(), "share"_a.none(), "intercept"_a, "coef"_a.noconvert(),
          "gradient"_a.noconvert(), "curve"_a.noconvert(), "ridge"_a.noconvert(),
          "lasso"_a.noconvert(), "sweeps"_a, "step"_a.noconvert(), "z"_a.noconvert());
}

}  // namespace

NB_MODULE(_compiled, m) {
    m.doc() = "Compiled loops of posterior.kernels; see posterior.kernels.compiled.";
    bind_tables_of_numbers<double>(m);
    bind_tables_of_numbers<float>(m);
    bind_trees<double>(m);
    bind_trees<float>(m);
    bind_text(m);
    bind_cuts(m);
    bind_tables_of_codes<std::int64_t>(m);
    bind_tables_of_codes<std::int32_t>(m);
    bind_tables_of_codes<std::int16_t>(m);
    bind_tables_of_codes<std::uint8_t>(m);
    bind_sparse<double, std::int32_t>(m);
    bind_sparse<double, std::int64_t>(m);
    bind_sparse<float, std::int32_t>(m);
    bind_sparse<float, std::int64_t>(m);
    m.def("one_dependence_log_joint",
          [](Table<std::int32_t> X, Output<const double> table, Vector<double> weight,
             Output<double> out) {
              nb::gil_scoped_release free;
              p::one_dependence_log_joint(
                  matrix(X), {table.data(), weight.data(), weight.shape(0), out.shape(1)},
                  out.data());
          },
          "X"_a.noconvert(), "table"_a.noconvert(), "weight"_a.noconvert(),
          "out"_a.noconvert());
    m.def("count_groups",
          [](Codes codes, Output<std::int64_t> out) {
              nb::gil_scoped_release free;
              p::count_groups(codes.data(), codes.shape(0), out.size(), out.data());
          },
          "codes"_a.noconvert(), "out"_a.noconvert());
    m.def("rows_by_group",
          [](Codes codes, std::size_t count, Output<std::uint32_t> out) {
              nb::gil_scoped_release free;
              const auto order = p::rows_by_group({codes.data(), nullptr, count}, codes.shape(0));
              std::copy(order.begin(), order.end(), out.data());
          },
          "codes"_a.noconvert(), "count"_a, "out"_a.noconvert());
    bind_sparse_columns<std::int32_t>(m);
    bind_sparse_columns<std::int64_t>(m);
    m.def("column_squares",
          [](Contiguous<double> columns, Contiguous<double> weight, Output<double> out) {
              nb::gil_scoped_release free;
              p::column_squares(p::DenseColumns{columns.data(), columns.shape(1)},
                                curves(weight, {}), columns.shape(0), out.data());
          },
          "columns"_a.noconvert(), "weight"_a.noconvert(), "out"_a.noconvert());
    m.def("column_descent",
          [](Contiguous<double> columns, Contiguous<double> weight,
             std::optional<Contiguous<double>> share, bool intercept, Contiguous<double> coef,
             Contiguous<double> gradient, Contiguous<double> curve, Contiguous<double> ridge,
             Contiguous<double> lasso, std::size_t sweeps, Output<double> step,
             Output<double> z) {
              nb::gil_scoped_release free;
              p::column_descent(p::DenseColumns{columns.data(), columns.shape(1)},
                                curves(weight, share),
                                {coef.shape(1), intercept, coef.data(), gradient.data(),
                                 curve.data(), ridge.data(), lasso.data(), step.data()},
                                sweeps, z.data());
          },
          "columns"_a.noconvert(), "weight"_a.noconvert(), "share"_a.none(), "intercept"_a,
          "coef"_a.noconvert(), "gradient"_a.noconvert(), "curve"_a.noconvert(),
          "ridge"_a.noconvert(), "lasso"_a.noconvert(), "sweeps"_a, "step"_a.noconvert(),
          "z"_a.noconvert());
    m.def("coordinate_descent",
          [](Contiguous<double> H, Vector<double> lasso, std::size_t sweeps, double enough,
             Output<double> gradient, Output<double> coef) {
              nb::gil_scoped_release free;
              p::coordinate_descent(lasso.shape(0), H.data(), lasso.data(), sweeps, enough,
                                    gradient.data(), coef.data());
          },
          "H"_a.noconvert(), "lasso"_a.noconvert(), "sweeps"_a, "enough"_a,
          "gradient"_a.noconvert(), "coef"_a.noconvert());
    m.def("nearest_strings",
          [](Codes asked, Vector<std::int64_t> asked_start, Codes known,
             Vector<std::int64_t> known_start, std::size_t n_letters, Vector<std::int64_t> rows,
             Vector<std::int64_t> first, bool swaps, bool normalized, Output<double> distance,
             Output<std::int64_t> row) {
              nb::gil_scoped_release free;
              p::nearest_strings({asked_start.shape(0) - 1, asked.data(), asked_start.data()},
                                 {{known_start.shape(0) - 1, known.data(), known_start.data()},
                                  n_letters, rows.data(), first.data()},
                                 {swaps, normalized}, distance.shape(1), distance.data(),
                                 row.data());
          },
          "asked"_a.noconvert(), "asked_start"_a.noconvert(), "known"_a.noconvert(),
          "known_start"_a.noconvert(), "n_letters"_a, "rows"_a.noconvert(),
          "first"_a.noconvert(), "swaps"_a, "normalized"_a, "distance"_a.noconvert(),
          "row"_a.noconvert());
    m.def("carry",
          [](Output<std::int64_t> limbs) {
              nb::gil_scoped_release free;
              p::carry(sums(limbs, 0), cells(limbs));
          },
          "limbs"_a.noconvert());
    m.def("bits_of_products",
          [](Contiguous<double> a, Contiguous<double> b) {
              p::BitRange bits{};
              {
                  nb::gil_scoped_release free;
                  bits = p::bits_of_products(a.data(), b.data(), a.size());
              }
              return nb::make_tuple(bits.lowest, bits.top);
          },
          "a"_a.noconvert(), "b"_a.noconvert());
    m.def("add_products_exactly",
          [](Contiguous<double> a, Contiguous<double> b, Output<std::int64_t> limbs,
             std::int64_t exponent) {
              nb::gil_scoped_release free;
              p::add_products_exactly(a.data(), b.data(), a.shape(0), a.shape(1),
                                      sums(limbs, exponent));
          },
          "a"_a.noconvert(), "b"_a.noconvert(), "limbs"_a.noconvert(), "exponent"_a);
    m.def("to_pairs",
          [](Output<std::int64_t> limbs, std::int64_t exponent, Output<double> high,
             Output<double> low) {
              nb::gil_scoped_release free;
              p::to_pairs(sums(limbs, exponent), cells(limbs), high.data(), low.data());
          },
          "limbs"_a.noconvert(), "exponent"_a, "high"_a.noconvert(), "low"_a.noconvert());
    m.def("mean_and_scatter",
          [](Output<std::int64_t> weight, std::int64_t weight_exponent,
             Output<std::int64_t> total, std::int64_t total_exponent,
             Output<std::int64_t> squares, std::int64_t square_exponent, Output<double> mean,
             Output<double> scatter) {
              nb::gil_scoped_release free;
              p::mean_and_scatter(sums(weight, weight_exponent), sums(total, total_exponent),
                                  sums(squares, square_exponent), cells(total), mean.data(),
                                  scatter.data());
          },
          "weight"_a.noconvert(), "weight_exponent"_a, "total"_a.noconvert(),
          "total_exponent"_a, "squares"_a.noconvert(), "square_exponent"_a,
          "mean"_a.noconvert(), "scatter"_a.noconvert());
    m.def("moments_without",
          [](Contiguous<double> X, Codes codes, Weight weight, Contiguous<double> w_high,
             Contiguous<double> w_low, Contiguous<double> s_high, Contiguous<double> s_low,
             Contiguous<double> q_high, Contiguous<double> q_low, Output<double> left,
             Output<double> mean, Output<double> scatter) {
              nb::gil_scoped_release free;
              p::moments_without({X.data(), X.shape(0), X.shape(1), X.stride(0), X.stride(1)},
                                 groups(codes, weight, w_high.shape(0)),
                                 {{w_high.data(), w_low.data()},
                                  {s_high.data(), s_low.data()},
                                  {q_high.data(), q_low.data()}},
                                 left.data(), mean.data(), scatter.data());
          },
          "X"_a.noconvert(), "codes"_a.noconvert(), "weight"_a.none(), "w_high"_a.noconvert(),
          "w_low"_a.noconvert(), "s_high"_a.noconvert(), "s_low"_a.noconvert(),
          "q_high"_a.noconvert(), "q_low"_a.noconvert(), "left"_a.noconvert(),
          "mean"_a.noconvert(), "scatter"_a.noconvert());
    m.def("add_products",
          [](Contiguous<double> x, Contiguous<double> y, Vector<std::int64_t> end,
             std::size_t columns, Output<double> out) {
              nb::gil_scoped_release free;
              const std::size_t width = x.shape(1);
              std::size_t first = 0;
              for (std::size_t k = 0; k < end.shape(0); ++k) {
                  const auto last = static_cast<std::size_t>(end(k));
                  p::add_products({last - first, columns, width}, x.data() + first * width,
                                  y.data() + first * width, out.data() + k * columns * width);
                  first = last;
              }
          },
          "x"_a.noconvert(), "y"_a.noconvert(), "end"_a.noconvert(), "columns"_a,
          "out"_a.noconvert());
    m.def("normalize",
          [](Output<double> L, int wanted, std::optional<Output<double>> log_evidence) {
              nb::gil_scoped_release free;
              p::normalize(L.data(), L.shape(0), L.shape(1), static_cast<p::Wanted>(wanted),
                           log_evidence ? log_evidence->data() : nullptr);
          },
          "L"_a.noconvert(), "wanted"_a, "log_evidence"_a.none());
}
