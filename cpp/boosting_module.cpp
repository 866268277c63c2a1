// Bindings of the kernels of boosting.
#include "boosting_module.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <optional>
#include <vector>

#include "boosting.hpp"
#include "checks.hpp"

namespace nb = nanobind;
using namespace nb::literals;
namespace p = posterior;

namespace {

template <typename T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T>
using Contiguous = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <typename T>
using Output = nb::ndarray<T, nb::c_contig, nb::device::cpu>;

constexpr std::size_t kDraws = 1024, kCodes = 256, kDeepest = 8;

p::Cells cells(const Contiguous<std::uint8_t>& codes) {
    return {p::data(codes), codes.shape(1), codes.shape(0)};
}

p::Scored scored(const Contiguous<double>& scores, const Vector<std::int32_t>& labels,
                 const Vector<double>& weight) {
    const std::size_t n = scores.shape(0), m = scores.shape(1);
    p::expect(m > 0, "an output");
    p::expect_shape({n}, labels, weight);
    p::expect_places(p::data(labels), n, m == 1 ? 2 : m);
    return {p::data(scores), p::data(labels), p::data(weight), n, m, nullptr, nullptr, 0};
}

// The largest code of each column is below `size` of it.
template <typename Size>
void expect_cells(const p::Cells& table, std::size_t column, Size size) {
    const auto found = p::range(table.column(column), table.rows);
    p::expect(found.largest < static_cast<std::int64_t>(size), "codes of cells");
}

void expect_tables(const p::Cells& table, const p::Tables& tables, std::size_t axes,
                   std::size_t groups, std::size_t values) {
    p::expect_parts(tables.axis, tables.count, axes);
    p::expect_parts(tables.first, axes, groups);
    p::expect_parts(tables.start, tables.count, values);
    p::expect_places(tables.column, axes, table.columns);
    p::expect(p::range(tables.start, tables.count + 1).largest <= 0x7fffffff, "fewer cells");
    for (std::size_t t = 0; t < tables.count; ++t) {
        std::int64_t last = 0;
        for (std::int64_t a = tables.axis[t]; a < tables.axis[t + 1]; ++a) {
            const std::int64_t n = tables.first[a + 1] - tables.first[a], s = tables.stride[a];
            p::expect(n > 0 && s >= 0 && s <= 0x7fffffff, "groups of cells");
            last += s * p::range(tables.group + tables.first[a], static_cast<std::size_t>(n)).largest;
        }
        p::expect(last < tables.start[t + 1] - tables.start[t], "groups inside their table");
    }
}

}  // namespace

void bind_boosting(nb::module_& m) {
    m.def("residuals",
          [](Contiguous<double> scores, Vector<std::int32_t> labels, Vector<double> weight,
             std::optional<Vector<std::uint64_t>> key, std::optional<Vector<double>> luck,
             std::uint64_t round, double scale, Output<std::int64_t> out) {
              nb::gil_scoped_release free;
              p::Scored rows = scored(scores, labels, weight);
              p::expect_shape({rows.rows, 2, rows.outputs}, out);
              p::expect(key.has_value() == luck.has_value(), "keys and what they draw from");
              p::expect_shape({rows.rows}, key);
              p::expect_shape({kDraws}, luck);
              rows.key = p::data(key);
              rows.luck = p::data(luck);
              rows.round = round;
              p::residuals(rows, scale, p::data(out));
          },
          "scores"_a.noconvert(), "labels"_a.noconvert(), "weight"_a.noconvert(), "key"_a.none(),
          "luck"_a.none(), "round"_a, "scale"_a, "out"_a.noconvert());
    m.def("log_loss",
          [](Contiguous<double> scores, Vector<std::int32_t> labels, Vector<double> weight) {
              nb::gil_scoped_release free;
              return p::log_loss(scored(scores, labels, weight));
          },
          "scores"_a.noconvert(), "labels"_a.noconvert(), "weight"_a.noconvert());
    m.def("symmetric_tree",
          [](Contiguous<std::uint8_t> codes,
             nb::ndarray<const std::int64_t, nb::ndim<3>, nb::c_contig, nb::device::cpu> residual,
             Vector<std::int32_t> sizes, Vector<std::uint8_t> ordered,
             Contiguous<std::int32_t> candidates, double unit, double shrinkage, double noise,
             Vector<double> normal, std::uint64_t seed, Output<std::int32_t> columns,
             Output<std::uint8_t> sides, Output<std::int64_t> leaves) {
              nb::gil_scoped_release free;
              const p::Cells table = cells(codes);
              const std::size_t outputs = residual.shape(2), depth = candidates.shape(0);
              const std::size_t count = candidates.shape(1);
              p::expect(0 < depth && depth < kDeepest && count > 0 && outputs > 0, "candidates");
              p::expect_shape({table.rows, 2, outputs}, residual);
              p::expect_shape({table.columns}, sizes, ordered);
              p::expect_shape({kDraws}, normal);
              p::expect_shape({depth}, columns);
              p::expect_shape({depth, kCodes}, sides);
              p::expect_shape({std::size_t{1} << depth, 2, outputs}, leaves);
              p::expect_places(p::data(candidates), depth * count, table.columns);
              const std::int32_t* size = p::data(sizes);
              for (std::size_t j = 0; j < table.columns; ++j) {
                  p::expect(1 <= size[j] && size[j] <= static_cast<std::int32_t>(kCodes),
                            "up to 256 cells of a column");
                  expect_cells(table, j, size[j]);
              }
              p::symmetric_tree(table, p::data(residual),
                           {size, p::data(ordered), p::data(candidates), depth, count,
                            outputs, unit, shrinkage, noise, p::data(normal), seed},
                           p::data(columns), p::data(sides), p::data(leaves));
          },
          "codes"_a.noconvert(), "residual"_a.noconvert(), "sizes"_a.noconvert(),
          "ordered"_a.noconvert(), "candidates"_a.noconvert(), "unit"_a, "shrinkage"_a, "noise"_a,
          "normal"_a.noconvert(), "seed"_a, "columns"_a.noconvert(), "sides"_a.noconvert(),
          "leaves"_a.noconvert());
    m.def("add_tables",
          [](Contiguous<std::uint8_t> codes, Vector<std::int64_t> axis,
             Vector<std::int32_t> column, Vector<std::int64_t> first, Vector<std::int64_t> stride,
             Vector<std::uint8_t> group, Vector<std::int64_t> start, Contiguous<double> values,
             Output<double> out) {
              nb::gil_scoped_release free;
              const p::Cells table = cells(codes);
              const std::size_t count = p::one_less(axis.shape(0)), axes = column.shape(0);
              const p::Tables tables{p::data(axis),   p::data(column), p::data(first),
                                     p::data(stride), p::data(group),  p::data(start),
                                     p::data(values), count,           values.shape(1)};
              p::expect_shape({count + 1}, start);
              p::expect_shape({axes + 1}, first);
              p::expect_shape({axes}, stride);
              p::expect_shape({table.rows, values.shape(1)}, out);
              expect_tables(table, tables, axes, group.shape(0), values.shape(0));
              std::vector<std::int64_t> largest(table.columns);
              for (std::size_t j = 0; j < table.columns; ++j)
                  largest[j] = p::range(table.column(j), table.rows).largest;
              for (std::size_t a = 0; a < axes; ++a)
                  p::expect(largest[static_cast<std::size_t>(column(a))] < first(a + 1) - first(a),
                            "codes of cells");
              p::add_tables(table, tables, p::data(out));
          },
          "codes"_a.noconvert(), "axis"_a.noconvert(), "column"_a.noconvert(),
          "first"_a.noconvert(), "stride"_a.noconvert(), "group"_a.noconvert(),
          "start"_a.noconvert(), "values"_a.noconvert(), "out"_a.noconvert());
}
