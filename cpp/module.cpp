// Bindings only: what Python hands over becomes views, the GIL is released, a kernel runs.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <tuple>
#include <vector>

#include "boosting_module.hpp"
#include "centers.hpp"
#include "checks.hpp"
#include "columns.hpp"
#include "coordinate.hpp"
#include "counts.hpp"
#include "cuts.hpp"
#include "edit.hpp"
#include "exact.hpp"
#include "exact_products.hpp"
#include "instances.hpp"
#include "leave_out.hpp"
#include "log_prob.hpp"
#include "logistic.hpp"
#include "moments.hpp"
#include "nearest.hpp"
#include "normalize.hpp"
#include "ordered_products.hpp"
#include "pairs.hpp"
#include "products.hpp"
#include "simd.hpp"
#include "soft.hpp"
#include "soft_panel.hpp"
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

constexpr std::int64_t kMostBits = 1 << 16;
constexpr std::size_t kMostRows = 0x7fffffff;  // that have a number of 32 bits

template <typename T>
p::Matrix<T> matrix(const Table<T>& X) {
    return {p::data(X), X.shape(0), X.shape(1), X.stride(0), X.stride(1)};
}

// Columns of entries are inside the table: `SparseRows` has looked, once for all kernels.
template <typename T, typename Index>
p::Sparse<T, Index> sparse(const Vector<T>& data, const Vector<Index>& column,
                           const Vector<Index>& start) {
    const std::size_t n = p::one_less(start.shape(0));
    p::expect_parts(p::data(start), n, std::min(data.shape(0), column.shape(0)));
    return {p::data(data), p::data(column), p::data(start), n};
}

p::Groups groups(const Codes& codes, const Weight& weight, std::size_t count, std::size_t n) {
    p::expect_shape({n}, codes, weight);
    p::expect_codes(p::data(codes), n, count);
    return {p::data(codes), p::data(weight), count};
}

p::Answers answers(const Codes& codes, const Weight& weight, const Weight& offset,
                   std::size_t outputs, std::size_t n) {
    p::expect_shape({n}, codes, weight);
    p::expect_shape({n * outputs}, offset);
    p::expect_codes(p::data(codes), n, std::max<std::size_t>(outputs, 2));
    p::expect(outputs > 0, "an output or more");
    return {p::data(codes), p::data(weight), p::data(offset),
            outputs};
}

// Limbs come as (..., size); an empty table stands for sums that are not wanted.
p::Sums sums(const Output<std::int64_t>& limbs, std::int64_t exponent) {
    p::expect(std::abs(exponent) < kMostBits, "exponents of doubles and their products");
    return {p::data(limbs), limbs.size() == 0 ? 0 : limbs.shape(limbs.ndim() - 1), exponent};
}

std::size_t cells(const Output<std::int64_t>& limbs) {
    return limbs.size() == 0 ? 0 : limbs.size() / limbs.shape(limbs.ndim() - 1);
}

template <typename... Limbs>
void expect_cells(std::size_t n, const Limbs&... limbs) {
    p::expect(((cells(limbs) == n) && ...), "a sum for each cell");
}

template <typename T>
p::Matrix<T> rows(const Contiguous<T>& X) {
    return {p::data(X), X.shape(0), X.shape(1), X.stride(0), 1};
}

template <typename T>
p::Centers<T> centers(const Vector<T>& origin, const Contiguous<T>& points,
                      const Output<const T>& table, const Contiguous<T>& half,
                      const Contiguous<std::int32_t>& number) {
    const std::size_t groups = half.shape(0), d = origin.shape(0);
    p::expect_shape({points.shape(0), d}, points);
    p::expect_shape({groups, d, p::kGroup}, table);
    p::expect_shape({groups, p::kGroup}, half, number);
    p::expect_codes(p::data(number), number.size(), points.shape(0));
    p::expect(points.shape(0) > 0 && groups > 0, "a center or more");
    return {half.shape(0), origin.shape(0), p::data(origin), p::data(points), p::data(table),
            p::data(half), p::data(number)};
}

template <typename T>
void bind_tables_of_numbers(nb::module_& m) {
    m.def("add_moments",
          [](Table<T> X, Codes codes, Weight weight, std::size_t count,
             Output<std::int64_t> counts, std::int64_t count_exponent,
             Output<std::int64_t> totals, std::int64_t total_exponent,
             Output<std::int64_t> squares, std::int64_t square_exponent) {
              nb::gil_scoped_release free;
              expect_cells(count * X.shape(1), counts, totals);
              if (squares.size() > 0) expect_cells(count * X.shape(1), squares);
              const p::Sums c = sums(counts, count_exponent), t = sums(totals, total_exponent),
                            q = sums(squares, square_exponent);
              p::MomentSums chunk(matrix(X), groups(codes, weight, count, X.shape(0)), c, t, q);
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
              const std::size_t k = origin.shape(0), n = X.shape(0), d = X.shape(1);
              p::expect_shape({k, d}, origin);
              p::expect(out.ndim() == 2 && out.shape(0) >= n && out.shape(1) > d, "room for rows");
              p::center_by_group(matrix(X), groups(codes, {}, k, n), p::data(origin), p::data(out),
                                 out.shape(1));
          },
          "X"_a.noconvert(), "codes"_a.noconvert(), "origin"_a.noconvert(), "out"_a.noconvert());
    m.def("find_exponents",
          [](Table<T> X, Output<std::int64_t> above) {
              std::int64_t lowest = 5000;
              p::expect_shape({X.shape(1)}, above);
              {
                  nb::gil_scoped_release free;
                  p::find_exponents(matrix(X), p::data(above), lowest);
              }
              return lowest;
          },
          "X"_a.noconvert(), "above"_a.noconvert());
    m.def("gaussian_log_joint",
          [](Table<T> X, Contiguous<double> mean, Contiguous<double> inverse_deviation,
             Contiguous<double> term, Vector<double> constant, Output<double> out) {
              nb::gil_scoped_release free;
              const std::size_t k = mean.shape(0), d = X.shape(1);
              p::expect_shape({k, d}, mean, inverse_deviation, term);
              p::expect_shape({k}, constant);
              p::expect_shape({X.shape(0), k}, out);
              p::gaussian_log_joint(matrix(X), mean.shape(0), p::data(mean),
                                    p::data(inverse_deviation), p::data(term), p::data(constant),
                                    p::data(out));
          },
          "X"_a.noconvert(), "mean"_a.noconvert(), "inverse_deviation"_a.noconvert(),
          "term"_a.noconvert(), "constant"_a.noconvert(), "out"_a.noconvert());
    m.def("linear_log_joint",
          [](Table<T> X, Contiguous<double> weight, Contiguous<double> absent,
             Vector<double> bias, Output<double> out) {
              nb::gil_scoped_release free;
              const std::size_t k = weight.shape(0), d = X.shape(1);
              p::expect_shape({k, d}, weight, absent);
              p::expect_shape({k}, bias);
              p::expect_shape({X.shape(0), k}, out);
              p::linear_log_joint(matrix(X), weight.shape(0), p::data(weight), p::data(absent),
                                  p::data(bias), p::data(out));
          },
          "X"_a.noconvert(), "weight"_a.noconvert(), "absent"_a.noconvert(),
          "bias"_a.noconvert(), "out"_a.noconvert());
    m.def("square_distances",
          [](Table<T> X, Vector<double> origin, Output<const double> weight,
             Output<const double> center, Weight constant, Output<double> out) {
              nb::gil_scoped_release free;
              p::expect(weight.ndim() == 4 && center.ndim() == 3, "axes and centers");
              const std::size_t sets = weight.shape(0), k = center.shape(0),
                                vectors = weight.shape(1), d = X.shape(1);
              p::expect(sets == 1 || sets == k, "axes for each group, or for all");
              p::expect_shape({sets, vectors, d, p::kLanes}, weight);
              p::expect_shape({k, vectors, p::kLanes}, center);
              p::expect_shape({d}, origin);
              p::expect_shape({k}, constant);
              p::expect_shape({X.shape(0), k}, out);
              p::square_distances(matrix(X),
                                  {weight.shape(0), center.shape(0), weight.shape(1),
                                   p::data(origin), p::data(weight), p::data(center),
                                   p::data(constant)},
                                  p::data(out));
          },
          "X"_a.noconvert(), "origin"_a.noconvert(), "weight"_a.noconvert(),
          "center"_a.noconvert(), "constant"_a.none(), "out"_a.noconvert());
    m.def("soft_products",
          [](Table<T> X, Contiguous<double> R, Contiguous<double> origin, Output<double> totals,
             Output<double> products) {
              nb::gil_scoped_release free;
              const std::size_t k = R.shape(1), d = X.shape(1), width = p::whole_lanes(d);
              p::expect_shape({X.shape(0), k}, R);
              p::expect_shape({k, d}, origin);
              p::expect_shape({k, width}, totals);
              p::expect_shape({k, width, width}, products);
              return p::soft_products(matrix(X), {p::data(R), R.shape(1)}, p::data(origin),
                                      p::data(totals), p::data(products));
          },
          "X"_a.noconvert(), "R"_a.noconvert(), "origin"_a.noconvert(), "totals"_a.noconvert(),
          "products"_a.noconvert());
    m.def("soft_moments",
          [](Table<T> X, Contiguous<double> R, Contiguous<double> origin, Output<double> weight,
             Output<double> totals, Output<double> squares) {
              nb::gil_scoped_release free;
              const std::size_t k = R.shape(1), d = X.shape(1);
              p::expect_shape({X.shape(0), k}, R);
              p::expect_shape({k, d}, origin);
              p::expect_shape({k, p::whole_lanes(d)}, weight, totals, squares);
              p::soft_moments(matrix(X), {p::data(R), R.shape(1)}, p::data(origin), p::data(weight),
                              p::data(totals), p::data(squares));
          },
          "X"_a.noconvert(), "R"_a.noconvert(), "origin"_a.noconvert(), "weight"_a.noconvert(),
          "totals"_a.noconvert(), "squares"_a.noconvert());
    m.def("logistic_sums",
          [](Table<T> X, Weight origin, Codes codes, Weight weight, Weight offset,
             Contiguous<double> W, Vector<double> b, Output<double> gradient,
             Output<double> gradient_b, std::optional<Output<double>> residual,
             std::optional<Output<double>> hessian) {
              nb::gil_scoped_release free;
              const std::size_t n = X.shape(0), d = X.shape(1), outputs = b.shape(0);
              p::expect_shape({d}, origin);
              p::expect_shape({outputs, d}, W, gradient);
              p::expect_shape({outputs}, gradient_b);
              p::expect_shape({n, outputs}, residual);
              p::expect_shape({d + 1, p::whole_lanes(d + 1)}, hessian);
              p::expect(!hessian || outputs == 1, "second derivatives by one output");
              return p::logistic_sums(matrix(X), p::data(origin),
                                      answers(codes, weight, offset, outputs, n), p::data(W),
                                      p::data(b), p::data(gradient), p::data(gradient_b),
                                      p::data(residual), p::data(hessian));
          },
          "X"_a.noconvert(), "origin"_a.none(), "codes"_a.noconvert(), "weight"_a.none(), "offset"_a.none(),
          "W"_a.noconvert(), "b"_a.noconvert(), "gradient"_a.noconvert(),
          "gradient_b"_a.noconvert(), "residual"_a.none(), "hessian"_a.none());
    m.def("nearest",
          [](Contiguous<T> X, Vector<T> origin, Contiguous<T> points, Output<const T> table,
             Contiguous<T> half, Contiguous<std::int32_t> number, Output<std::int32_t> labels) {
              nb::gil_scoped_release free;
              p::expect_shape({X.shape(0)}, labels);
              p::expect(X.shape(1) == origin.shape(0), "rows as wide as centers");
              return p::nearest(rows(X), centers(origin, points, table, half, number), p::data(labels));
          },
          "X"_a.noconvert(), "origin"_a.noconvert(), "points"_a.noconvert(), "table"_a.noconvert(),
          "half"_a.noconvert(), "number"_a.noconvert(), "labels"_a.noconvert());
    m.def("nearest_bounded",
          [](Contiguous<T> X, Vector<T> origin, Contiguous<T> points, Output<const T> table,
             Contiguous<T> half, Contiguous<std::int32_t> number, Output<float> upper, Output<float> lower,
             Vector<float> way, Vector<float> farthest, Codes place, double radius, bool fresh,
             Output<std::int32_t> labels) {
              const std::size_t n = X.shape(0), k = points.shape(0), width = farthest.shape(0);
              p::expect(X.shape(1) == origin.shape(0), "rows as wide as centers");
              p::expect(width >= half.shape(0) && (width % 16 == 0 || width == 4 || width == 8 ||
                                                   width == 12), "bounds in whole vectors");
              p::expect_shape({n}, upper);
              p::expect_shape({n, width}, lower);
              p::expect_shape({k}, way, place);
              p::expect_shape({n}, labels);
              p::expect_places(p::data(place), k, half.size());
              p::expect_places(p::data(labels), n, k);
              p::Search search{};
              {
                  nb::gil_scoped_release free;
                  search = p::nearest_bounded(rows(X), centers(origin, points, table, half, number),
                                              {farthest.shape(0), p::data(upper), p::data(lower), p::data(way),
                                               p::data(farthest), p::data(place), radius, fresh},
                                              p::data(labels));
              }
              return std::tuple(search.moved, search.looked);
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
              const std::size_t queries = Q.shape(0), n = X.shape(0), d = X.shape(1);
              p::expect(distance.ndim() == 2, "a table of distances");
              const std::size_t k = distance.shape(1);
              p::expect_shape({queries, d}, Q);
              p::expect_shape({d}, origin);
              p::expect_shape({n}, half);
              p::expect_shape({queries, k}, distance, number);
              p::expect(0 < k && k <= n && n <= kMostRows, "as many neighbors as rows, or fewer");
              const auto search = single ? p::nearest_rows<float, T> : p::nearest_rows<double, T>;
              return search(rows(Q), {rows(X), p::data(origin), scale, p::data(half)},
                            distance.shape(1), p::data(distance), p::data(number));
          },
          "Q"_a.noconvert(), "X"_a.noconvert(), "origin"_a.noconvert(), "scale"_a,
          "half"_a.noconvert(), "single"_a, "distance"_a.noconvert(), "number"_a.noconvert());
    m.def("own_distances",
          [](Contiguous<T> X, Contiguous<double> center, Codes labels, Output<double> out) {
              nb::gil_scoped_release free;
              p::expect_shape({center.shape(0), X.shape(1)}, center);
              p::expect_shape({X.shape(0)}, labels, out);
              p::expect_places(p::data(labels), labels.shape(0), center.shape(0));
              p::own_distances(rows(X), p::data(center), p::data(labels), p::data(out));
          },
          "X"_a.noconvert(), "centers"_a.noconvert(), "labels"_a.noconvert(),
          "out"_a.noconvert());
    m.def("survey",
          [](Vector<T> x) {
              p::Survey s{};
              {
                  nb::gil_scoped_release free;
                  s = p::survey(p::data(x), x.shape(0));
              }
              return std::tuple(s.smallest, s.largest, s.lowest_bit, s.whole, s.finite);
          },
          "x"_a.noconvert());
}

// Tables whose lines hold all groups side by side, in whole vectors.
void expect_lanes(const Contiguous<double>& table, std::size_t groups) {
    const std::size_t width = table.shape(1);
    p::expect(width >= groups && width % p::kLanes == 0, "groups side by side in whole vectors");
}

// Places of values: column j owns offset[j] .. offset[j + 1]. How many there are in all.
std::size_t n_places(const Vector<std::int64_t>& offset, std::size_t columns) {
    p::expect_shape({columns + 1}, offset);
    p::expect_parts(p::data(offset), columns, std::size_t{1} << 40);
    return static_cast<std::size_t>(offset(columns));
}

template <typename T>
void bind_tables_of_codes(nb::module_& m) {
    m.def("find_code_range",
          [](Table<T> X, Output<std::int64_t> smallest, Output<std::int64_t> largest) {
              nb::gil_scoped_release free;
              p::expect_shape({X.shape(1)}, smallest, largest);
              p::find_code_range(matrix(X), p::data(smallest), p::data(largest));
          },
          "X"_a.noconvert(), "smallest"_a.noconvert(), "largest"_a.noconvert());
    m.def("add_category_counts",
          [](Table<T> X, Codes codes, Weight weight, std::size_t count,
             Vector<std::int64_t> offset, Output<std::int64_t> counts, std::int64_t exponent) {
              nb::gil_scoped_release free;
              expect_cells(count * n_places(offset, X.shape(1)), counts);
              const p::Sums s = sums(counts, exponent);
              const bool fits = p::add_category_counts(matrix(X),
                                                       groups(codes, weight, count, X.shape(0)),
                                                       p::data(offset), s);
              p::carry(s, cells(counts));
              return fits;
          },
          "X"_a.noconvert(), "codes"_a.noconvert(), "weight"_a.none(), "count"_a,
          "offset"_a.noconvert(), "counts"_a.noconvert(), "exponent"_a);
    m.def("count_pairs",
          [](Table<T> X, Codes codes, std::size_t count, Vector<std::int64_t> offset,
             Output<std::int64_t> counts) {
              nb::gil_scoped_release free;
              const std::size_t places = n_places(offset, X.shape(1));
              p::expect_shape({count, places, places}, counts);
              for (std::size_t j = 0; j < X.shape(1); ++j)  // cells are named in 16 and 32 bits
                  p::expect(offset(j + 1) - offset(j) < 0xffff, "fewer values of a column");
              p::count_pairs(matrix(X), groups(codes, {}, count, X.shape(0)), p::data(offset),
                             p::data(counts));
          },
          "X"_a.noconvert(), "codes"_a.noconvert(), "count"_a, "offset"_a.noconvert(),
          "counts"_a.noconvert());
    m.def("table_log_joint",
          [](Table<T> X, std::size_t count, Contiguous<double> table,
             Vector<std::int64_t> offset, Vector<double> bias, Output<double> out) {
              nb::gil_scoped_release free;
              p::expect(n_places(offset, X.shape(1)) <= table.shape(0), "a line for each value");
              const auto cells = matrix(X);
              for (std::size_t j = 0; j < X.shape(1); ++j)  // no line: all its cells are missing
                  for (std::size_t i = 0; offset(j) == offset(j + 1) && i < X.shape(0); ++i)
                      p::expect(static_cast<std::int64_t>(cells.at(i, j)) < 0,
                                "a line for values never seen");
              expect_lanes(table, count);
              p::expect_shape({count}, bias);
              p::expect_shape({X.shape(0), count}, out);
              p::table_log_joint(p::TableScores<T>{cells, count, table.shape(1), p::data(table),
                                                   p::data(bias), p::data(offset), p::data(out)});
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
              expect_cells(count * columns, totals);
              const p::Sums s = sums(totals, exponent);
              const p::SparseOutcome outcome =
                  p::add_sparse_sums(sparse(data, column, start),
                                     groups(codes, weight, count, start.shape(0) - 1), columns,
                                     threshold, s);
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
              const std::size_t columns = p::one_less(new_start.size());
              p::expect_codes(p::data(place), place.shape(0), columns);
              if (new_data) {  // the second call fills what the first has counted
                  p::expect_parts(p::data(new_start), columns, new_data->size());
                  p::expect(row && row->size() == new_data->size(), "a row for each entry");
              }
              p::take_columns(sparse(data, column, start), p::data(place), columns,
                              p::data(new_start), p::data(new_data),
                              p::data(row));
          },
          "data"_a.noconvert(), "column"_a.noconvert(), "start"_a.noconvert(),
          "place"_a.noconvert(), "new_start"_a.noconvert(), "new_data"_a.none(), "row"_a.none());
    m.def("sparse_logistic_sums",
          [](Vector<T> data, Vector<Index> column, Vector<Index> start, std::size_t columns,
             Codes codes, Weight weight, Weight offset, Contiguous<double> W, Vector<double> b,
             Output<double> gradient, Output<double> gradient_b,
             std::optional<Output<double>> residual) {
              nb::gil_scoped_release free;
              const std::size_t n = p::one_less(start.shape(0)), outputs = b.shape(0);
              p::expect_shape({columns, outputs}, W, gradient);
              p::expect_shape({outputs}, gradient_b);
              p::expect_shape({n, outputs}, residual);
              return p::sparse_logistic_sums(
                  sparse(data, column, start), answers(codes, weight, offset, outputs, n),
                  p::data(W), p::data(b), p::data(gradient), p::data(gradient_b),
                  p::data(residual));
          },
          "data"_a.noconvert(), "column"_a.noconvert(), "start"_a.noconvert(), "columns"_a,
          "codes"_a.noconvert(), "weight"_a.none(), "offset"_a.none(),
          "W"_a.noconvert(), "b"_a.noconvert(), "gradient"_a.noconvert(),
          "gradient_b"_a.noconvert(), "residual"_a.none());
    m.def("sparse_log_joint",
          [](Vector<T> data, Vector<Index> column, Vector<Index> start, std::size_t columns,
             std::size_t count, Contiguous<double> weight, Vector<double> bias, double threshold,
             Output<double> out) {
              nb::gil_scoped_release free;
              p::expect(columns <= weight.shape(0), "a weight for each column");
              expect_lanes(weight, count);
              p::expect_shape({count}, bias);
              p::expect_shape({p::one_less(start.shape(0)), count}, out);
              return p::sparse_log_joint(p::SparseScores<T, Index>{
                  sparse(data, column, start), count, weight.shape(1), p::data(weight),
                  p::data(bias), threshold, p::data(out)});
          },
          "data"_a.noconvert(), "column"_a.noconvert(), "start"_a.noconvert(), "columns"_a,
          "count"_a, "weight"_a.noconvert(), "bias"_a.noconvert(), "threshold"_a,
          "out"_a.noconvert());
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
    // What the arrays say is believed: `grow_tree` made them, and no file holds a tree.
    p::expect(points.ndim() == 3, "blocks of rows");
    const std::size_t d = points.shape(1), nodes = child.shape(0), blocks = number.shape(0);
    p::expect_shape({nodes, d, 2, p::kBranches}, boxes);
    p::expect_shape({nodes, p::kBranches}, child);
    p::expect_shape({blocks, d, p::kBranches}, points);
    p::expect_shape({blocks, p::kBranches}, number);
    p::expect_parts(p::data(start), p::one_less(start.shape(0)), blocks);
    return {points.shape(1), p::data(boxes), p::data(child), p::data(start), p::data(points),
            p::data(number)};
}

template <typename T>
void bind_columns(nb::module_& m) {
    m.def("digitize",
          [](Table<T> X, Vector<double> cut, Vector<std::int64_t> start, Output<T> out) {
              nb::gil_scoped_release free;
              p::expect_shape({X.shape(1) + 1}, start);
              p::expect_parts(p::data(start), X.shape(1), cut.shape(0));
              p::expect_shape({X.shape(0), X.shape(1)}, out);
              p::digitize(matrix(X), p::data(cut), p::data(start), p::data(out));
          },
          "X"_a.noconvert(), "cut"_a.noconvert(), "start"_a.noconvert(), "out"_a.noconvert());
    m.def("pack_columns",
          [](Table<T> X, Codes code, int bits, Output<std::uint64_t> key,
             Output<std::int64_t> known) {
              nb::gil_scoped_release free;
              p::expect(0 <= bits && bits < 32, "few bits for classes");
              p::expect_shape({X.shape(0)}, code);
              p::expect_places(p::data(code), code.shape(0), std::size_t{1} << bits);
              p::expect_shape({X.shape(1), X.shape(0)}, key);
              p::expect_shape({X.shape(1)}, known);
              p::pack_columns(matrix(X), p::data(code), bits, p::data(key), p::data(known));
          },
          "X"_a.noconvert(), "code"_a.noconvert(), "bits"_a, "key"_a.noconvert(),
          "known"_a.noconvert());
}

template <typename T>
void bind_stacking(nb::module_& m) {
    m.def("stack_columns",
          [](const std::vector<Vector<T>>& columns, Output<T> out) {
              p::expect(out.ndim() == 2 && out.shape(1) > 0, "a table of columns");
              p::expect(out.shape(1) == columns.size(), "as many columns as the table has");
              std::vector<const T*> data;
              for (const Vector<T>& column : columns) {
                  p::expect_shape({out.shape(0)}, column);
                  data.push_back(p::data(column));
              }
              nb::gil_scoped_release free;
              p::stack_columns(data, out.shape(0), p::data(out));
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
              p::expect(0 <= bits && bits < 32 && limit > 0, "few bits for classes, and cells");
              p::ClassCells cells;
              {
                  nb::gil_scoped_release free;
                  std::uint64_t last = 0;
                  for (std::size_t i = 0; i < key.shape(0); ++i)
                      last = std::max(last, p::data(key)[i] & ((std::uint64_t{1} << bits) - 1));
                  p::expect(key.shape(0) == 0 || last < classes, "codes of classes");
                  cells = p::class_cells(p::data(key), key.shape(0), bits, classes, limit);
              }
              const std::size_t size = cells.end.size();
              return std::tuple(given(std::move(cells.end), {size}),
                                given(std::move(cells.count), {size, classes}), cells.moved);
          },
          "key"_a.noconvert(), "bits"_a, "classes"_a, "limit"_a);
    m.def("sort_column",
          [](Vector<double> x, Output<double> value, Output<std::int32_t> row) {
              nb::gil_scoped_release free;
              p::expect(x.shape(0) <= kMostRows, "fewer rows");
              p::expect_shape({x.shape(0)}, value, row);
              return p::sort_column(p::data(x), x.shape(0), p::data(value), p::data(row));
          },
          "x"_a.noconvert(), "value"_a.noconvert(), "row"_a.noconvert());
    m.def("mdl_cuts",
          [](Vector<double> value, Codes code, Weight weight, std::size_t classes,
             Weight log_table) {
              const std::size_t n = value.shape(0);
              p::expect_shape({n}, code, weight);
              p::expect_places(p::data(code), n, classes);
              const double* w = p::data(weight);
              double total = w == nullptr ? static_cast<double>(n) : 0.0;
              bool counts = true;
              for (std::size_t i = 0; w != nullptr && i < n; ++i) {
                  total += w[i];
                  counts &= w[i] >= 0;
              }
              p::expect(!log_table || (counts && total < static_cast<double>(log_table->shape(0))),
                        "logarithms up to the total weight");
              std::vector<std::int64_t> found;
              {
                  nb::gil_scoped_release free;
                  found = p::mdl_cuts({p::data(value), p::data(code),
                                       p::data(weight), value.shape(0), classes,
                                       p::data(log_table)});
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
              const std::size_t k = W.shape(0);
              p::expect_shape({k, x.shape(0)}, W);
              p::expect_shape({k}, prior_mean, prior_square, mean, square, say);
              return p::student_fit({p::data(x), p::data(W), x.shape(0), W.shape(0), rows,
                                     p::data(prior_mean), p::data(prior_square), least},
                                    {steps, tolerance, heaviest, lightest}, p::data(mean),
                                    p::data(square), p::data(say), nu);
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
              return std::tuple(given(std::move(grown.boxes), {nodes, d, 2, p::kBranches}),
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
              p::expect(Q.shape(1) == points.shape(1), "queries as wide as rows");
              p::expect_shape({Q.shape(0)}, leaf);
              p::find_leaves(tree(boxes, child, start, points, number), rows(Q), p::data(leaf));
          },
          "boxes"_a.noconvert(), "child"_a.noconvert(), "start"_a.noconvert(),
          "points"_a.noconvert(), "number"_a.noconvert(), "Q"_a.noconvert(), "leaf"_a.noconvert());
    m.def("search_tree",
          [](Output<const T> boxes, Contiguous<std::int32_t> child, Codes start,
             Output<const T> points, Contiguous<std::int32_t> number, Contiguous<double> Q,
             Codes leaf, Vector<std::int64_t> order, double power, Output<double> distances,
             Output<std::int64_t> numbers) {
              nb::gil_scoped_release free;
              const std::size_t queries = Q.shape(0);
              p::expect(Q.shape(1) == points.shape(1) && power >= 1, "queries as wide as rows");
              p::expect(distances.ndim() == 2 && distances.shape(1) > 0, "a table of distances");
              p::expect_shape({queries, distances.shape(1)}, distances, numbers);
              p::expect_shape({queries}, leaf);
              p::expect_places(p::data(leaf), queries, p::one_less(start.shape(0)));
              p::expect_places(p::data(order), order.shape(0), queries);
              p::search_tree(tree(boxes, child, start, points, number), rows(Q), p::data(leaf),
                             p::data(order), order.shape(0),
                             {distances.shape(1), power, p::data(distances), p::data(numbers)});
          },
          "boxes"_a.noconvert(), "child"_a.noconvert(), "start"_a.noconvert(),
          "points"_a.noconvert(), "number"_a.noconvert(), "Q"_a.noconvert(), "leaf"_a.noconvert(),
          "order"_a.noconvert(), "p"_a, "distances"_a.noconvert(), "numbers"_a.noconvert());
}

p::Curves curves(const Contiguous<double>& weight, const std::optional<Contiguous<double>>& share) {
    p::expect_shape({weight.shape(0), weight.shape(1)}, share);
    return {weight.shape(1), weight.shape(0), p::data(weight), p::data(share)};
}

template <typename Index>
p::SparseColumns<Index> sparse_columns(const Vector<double>& data, const Vector<Index>& row,
                                       const Vector<Index>& start, std::size_t rows) {
    const std::size_t n = p::one_less(start.shape(0));
    p::expect_parts(p::data(start), n, std::min(data.shape(0), row.shape(0)));
    p::expect_places(p::data(row), row.shape(0), rows);
    return {p::data(data), p::data(row), p::data(start)};
}

p::DenseColumns dense_columns(const Contiguous<double>& columns, std::size_t rows) {
    p::expect(columns.shape(1) == rows, "a weight for each row");
    return {p::data(columns), rows};
}

// All about d columns, and about the intercepts.
p::Coordinates coordinates(std::size_t d, bool intercept, const Contiguous<double>& coef,
                           const Contiguous<double>& gradient, const Contiguous<double>& curve,
                           const Contiguous<double>& ridge, const Contiguous<double>& lasso,
                           const Output<double>& step) {
    const std::size_t m = coef.shape(0), width = d + (intercept ? 1 : 0);
    p::expect_shape({m, width}, coef, gradient, curve, ridge, lasso, step);
    return {width,           intercept,     p::data(coef),  p::data(gradient),
            p::data(curve),  p::data(ridge), p::data(lasso), p::data(step)};
}

template <typename Index>
void bind_sparse_columns(nb::module_& m) {
    m.def("sparse_column_squares",
          [](Vector<double> data, Vector<Index> row, Vector<Index> start,
             Contiguous<double> weight, Output<double> out) {
              nb::gil_scoped_release free;
              const std::size_t d = p::one_less(start.shape(0));
              p::expect_shape({weight.shape(0), d}, out);
              p::column_squares(sparse_columns(data, row, start, weight.shape(1)),
                                curves(weight, {}), d, p::data(out));
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
              const std::size_t d = p::one_less(start.shape(0));
              p::expect(coef.shape(0) == weight.shape(0), "coordinates of each output");
              p::expect_shape({weight.shape(0), weight.shape(1)}, z);
              p::column_descent(
                  sparse_columns(data, row, start, weight.shape(1)), curves(weight, share),
                  coordinates(d, intercept, coef, gradient, curve, ridge, lasso, step), sweeps,
                  p::data(z));
          },
          "data"_a.noconvert(), "row"_a.noconvert(), "start"_a.noconvert(),
          "weight"_a.noconvert(), "share"_a.none(), "intercept"_a, "coef"_a.noconvert(),
          "gradient"_a.noconvert(), "curve"_a.noconvert(), "ridge"_a.noconvert(),
          "lasso"_a.noconvert(), "sweeps"_a, "step"_a.noconvert(), "z"_a.noconvert());
}

constexpr std::size_t kLongest = 64;  // letters of a string: those of a word of bits

p::Spelling spelling(const Codes& letters, const Vector<std::int64_t>& start,
                     std::size_t n_letters) {
    const std::size_t n = p::one_less(start.shape(0));
    p::expect_parts(p::data(start), n, letters.shape(0));
    p::expect_places(p::data(letters) + start(0), static_cast<std::size_t>(start(n) - start(0)),
                     n_letters);
    return {n, p::data(letters), p::data(start)};
}

}  // namespace

NB_MODULE(_compiled, m) {
    m.doc() = "Compiled loops of posterior.kernels; see posterior.kernels.compiled.";
    // A process that ends while a thread answers, or without a look for garbage, leaves objects
    // behind: that is no fault, and users of a command must not read of it.
    nb::set_leak_warnings(false);
    m.attr("simd") = p::name_of(p::simd_level);
    bind_tables_of_numbers<double>(m);
    bind_tables_of_numbers<float>(m);
    bind_trees<double>(m);
    bind_trees<float>(m);
    bind_text(m);
    bind_boosting(m);
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
              const std::size_t places = weight.shape(0);
              p::expect(out.ndim() == 2, "a table of scores");
              const std::size_t k = out.shape(1);
              p::expect(k == 2 || k == 4 || (k > 0 && k % p::kLanes == 0), "vectors of groups");
              p::expect_shape({places, places, k}, table);
              p::expect_shape({X.shape(0), k}, out);
              const p::Matrix<std::int32_t> place = matrix(X);
              for (std::size_t i = 0; i < place.rows; ++i)
                  for (std::size_t j = 0; j < place.columns; ++j)
                      p::expect(place.at(i, j) < static_cast<std::int64_t>(places), "places");
              p::one_dependence_log_joint(
                  place, {p::data(table), p::data(weight), weight.shape(0), out.shape(1)},
                  p::data(out));
          },
          "X"_a.noconvert(), "table"_a.noconvert(), "weight"_a.noconvert(),
          "out"_a.noconvert());
    m.def("count_groups",
          [](Codes codes, Output<std::int64_t> out) {
              nb::gil_scoped_release free;
              p::expect_codes(p::data(codes), codes.shape(0), out.size());
              p::count_groups(p::data(codes), codes.shape(0), out.size(), p::data(out));
          },
          "codes"_a.noconvert(), "out"_a.noconvert());
    m.def("rows_by_group",
          [](Codes codes, std::size_t count, Output<std::uint32_t> out) {
              nb::gil_scoped_release free;
              const auto order =
                  p::rows_by_group(groups(codes, {}, count, codes.shape(0)), codes.shape(0));
              p::expect(out.size() == order.size(), "room for the rows of all groups");
              std::copy(order.begin(), order.end(), p::data(out));
          },
          "codes"_a.noconvert(), "count"_a, "out"_a.noconvert());
    bind_sparse_columns<std::int32_t>(m);
    bind_sparse_columns<std::int64_t>(m);
    m.def("column_squares",
          [](Contiguous<double> columns, Contiguous<double> weight, Output<double> out) {
              nb::gil_scoped_release free;
              p::expect_shape({weight.shape(0), columns.shape(0)}, out);
              p::column_squares(dense_columns(columns, weight.shape(1)),
                                curves(weight, {}), columns.shape(0), p::data(out));
          },
          "columns"_a.noconvert(), "weight"_a.noconvert(), "out"_a.noconvert());
    m.def("column_descent",
          [](Contiguous<double> columns, Contiguous<double> weight,
             std::optional<Contiguous<double>> share, bool intercept, Contiguous<double> coef,
             Contiguous<double> gradient, Contiguous<double> curve, Contiguous<double> ridge,
             Contiguous<double> lasso, std::size_t sweeps, Output<double> step,
             Output<double> z) {
              nb::gil_scoped_release free;
              const std::size_t d = columns.shape(0);
              p::expect(coef.shape(0) == weight.shape(0), "coordinates of each output");
              p::expect_shape({weight.shape(0), weight.shape(1)}, z);
              p::column_descent(
                  dense_columns(columns, weight.shape(1)), curves(weight, share),
                  coordinates(d, intercept, coef, gradient, curve, ridge, lasso, step), sweeps,
                  p::data(z));
          },
          "columns"_a.noconvert(), "weight"_a.noconvert(), "share"_a.none(), "intercept"_a,
          "coef"_a.noconvert(), "gradient"_a.noconvert(), "curve"_a.noconvert(),
          "ridge"_a.noconvert(), "lasso"_a.noconvert(), "sweeps"_a, "step"_a.noconvert(),
          "z"_a.noconvert());
    m.def("coordinate_descent",
          [](Contiguous<double> H, Vector<double> lasso, std::size_t sweeps, double enough,
             Output<double> gradient, Output<double> coef) {
              nb::gil_scoped_release free;
              const std::size_t size = lasso.shape(0);
              p::expect_shape({size, size}, H);
              p::expect_shape({size}, gradient, coef);
              p::coordinate_descent(lasso.shape(0), p::data(H), p::data(lasso), sweeps, enough,
                                    p::data(gradient), p::data(coef));
          },
          "H"_a.noconvert(), "lasso"_a.noconvert(), "sweeps"_a, "enough"_a,
          "gradient"_a.noconvert(), "coef"_a.noconvert());
    m.def("nearest_strings",
          [](Codes asked, Vector<std::int64_t> asked_start, Codes known,
             Vector<std::int64_t> known_start, std::size_t n_letters, Vector<std::int64_t> rows,
             Vector<std::int64_t> first, bool swaps, bool normalized, Output<double> distance,
             Output<std::int64_t> row) {
              nb::gil_scoped_release free;
              const p::Spelling queries = spelling(asked, asked_start, n_letters),
                                strings = spelling(known, known_start, n_letters);
              for (std::size_t t = 0; t < strings.size; ++t)
                  p::expect(strings.length(t) <= kLongest, "strings of few letters");
              p::expect(distance.ndim() == 2 && distance.shape(1) > 0, "a table of distances");
              p::expect_shape({queries.size, distance.shape(1)}, distance, row);
              p::expect_shape({strings.size + 2}, first);
              p::expect_parts(p::data(first), strings.size + 1, rows.shape(0));
              p::nearest_strings(queries, {strings, n_letters, p::data(rows), p::data(first)},
                                 {swaps, normalized}, distance.shape(1), p::data(distance),
                                 p::data(row));
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
              p::expect_shape({a.shape(0), a.shape(1)}, b);
              {
                  nb::gil_scoped_release free;
                  bits = p::bits_of_products(p::data(a), p::data(b), a.size());
              }
              return std::tuple(bits.lowest, bits.top);
          },
          "a"_a.noconvert(), "b"_a.noconvert());
    m.def("ordered_products",
          [](Contiguous<double> X, Contiguous<double> axes, Output<double> out) {
              nb::gil_scoped_release free;
              const std::size_t n = X.shape(0), d = X.shape(1), width = axes.shape(1);
              p::expect_shape({d, width}, axes);
              p::expect_shape({n, width}, out);
              p::ordered_products(p::data(X), n, d, p::data(axes), width, p::data(out));
          },
          "X"_a.noconvert(), "axes"_a.noconvert(), "out"_a.noconvert());
    m.def("add_products_exactly",
          [](Contiguous<double> a, Contiguous<double> b, Output<std::int64_t> limbs,
             std::int64_t exponent) {
              nb::gil_scoped_release free;
              p::expect_shape({a.shape(0), a.shape(1)}, b);
              expect_cells(a.shape(1), limbs);
              p::add_products_exactly(p::data(a), p::data(b), a.shape(0), a.shape(1),
                                      sums(limbs, exponent));
          },
          "a"_a.noconvert(), "b"_a.noconvert(), "limbs"_a.noconvert(), "exponent"_a);
    m.def("to_pairs",
          [](Output<std::int64_t> limbs, std::int64_t exponent, Output<double> high,
             Output<double> low) {
              nb::gil_scoped_release free;
              p::expect(high.size() == cells(limbs) && low.size() == cells(limbs), "all pairs");
              p::to_pairs(sums(limbs, exponent), cells(limbs), p::data(high), p::data(low));
          },
          "limbs"_a.noconvert(), "exponent"_a, "high"_a.noconvert(), "low"_a.noconvert());
    m.def("mean_and_scatter",
          [](Output<std::int64_t> weight, std::int64_t weight_exponent,
             Output<std::int64_t> total, std::int64_t total_exponent,
             Output<std::int64_t> squares, std::int64_t square_exponent, Output<double> mean,
             Output<double> scatter) {
              nb::gil_scoped_release free;
              expect_cells(mean.size(), weight, total, squares);
              p::expect(scatter.size() == mean.size(), "means and scatters");
              p::mean_and_scatter(sums(weight, weight_exponent), sums(total, total_exponent),
                                  sums(squares, square_exponent), cells(total), p::data(mean),
                                  p::data(scatter));
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
              const std::size_t k = w_high.shape(0), n = X.shape(0), d = X.shape(1);
              p::expect_shape({k, d}, w_high, w_low, s_high, s_low, q_high, q_low);
              p::expect_shape({n, d}, left, mean, scatter);
              p::expect_places(p::data(codes), codes.shape(0), k);  // here no row is left out
              p::moments_without({p::data(X), X.shape(0), X.shape(1), X.stride(0), X.stride(1)},
                                 groups(codes, weight, w_high.shape(0), X.shape(0)),
                                 {{p::data(w_high), p::data(w_low)},
                                  {p::data(s_high), p::data(s_low)},
                                  {p::data(q_high), p::data(q_low)}},
                                 p::data(left), p::data(mean), p::data(scatter));
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
              p::expect_shape({x.shape(0), width}, y);
              p::expect_shape({end.shape(0), columns, width}, out);
              p::expect(columns <= width && width % p::kLanes == 0, "rows of whole vectors");
              const std::int64_t* ends = p::data(end);
              if (end.shape(0) > 0) p::expect_parts(ends, end.shape(0) - 1, x.shape(0));
              std::size_t first = 0;
              for (std::size_t k = 0; k < end.shape(0); ++k) {
                  const auto last = static_cast<std::size_t>(ends[k]);
                  p::add_products({last - first, columns, width}, p::data(x) + first * width,
                                  p::data(y) + first * width, p::data(out) + k * columns * width);
                  first = last;
              }
          },
          "x"_a.noconvert(), "y"_a.noconvert(), "end"_a.noconvert(), "columns"_a,
          "out"_a.noconvert());
    m.def("normalize",
          [](Output<double> L, int wanted, std::optional<Output<double>> log_evidence) {
              nb::gil_scoped_release free;
              p::expect(L.ndim() == 2 && L.shape(1) > 0, "log probabilities of a group or more");
              p::expect(0 <= wanted && wanted <= 2, "what is known to be wanted");
              p::expect(!log_evidence || log_evidence->size() == L.shape(0), "one for each row");
              p::normalize(p::data(L), L.shape(0), L.shape(1), static_cast<p::Wanted>(wanted),
                           p::data(log_evidence));
          },
          "L"_a.noconvert(), "wanted"_a, "log_evidence"_a.none());
}
