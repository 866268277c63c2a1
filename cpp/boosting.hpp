// Boosting of symmetric trees over cells, and sums of tables by cell.
// Twins in posterior.kernels.reference.boosting.
#pragma once

#include <cstddef>
#include <cstdint>

namespace posterior {

// Cells of rows, column after column: codes[j * rows + i].
struct Cells {
    const std::uint8_t* codes;
    std::size_t rows, columns;

    const std::uint8_t* column(std::size_t j) const { return codes + j * rows; }
};

// Where rows stand: scores (n, outputs), classes and weights. One output scores the second of two
// classes against the first; of more classes each has its own. Rows draw their own luck each round,
// by a key that is a function of what they say: a factor among 2^10, or none if `luck` is null.
struct Scored {
    const double* scores;
    const std::int32_t* labels;
    const double* weight;
    std::size_t rows, outputs;
    const std::uint64_t* key;
    const double* luck;
    std::uint64_t round;
};

// g = w (p - y) and h = w p (1 - p) of each row, (n, 2, outputs), as whole numbers of 1 / scale: sums
// of them do not depend on their order. Numbers are below 2^50.
void residuals(Scored rows, double scale, std::int64_t* out);

// Σ -w log p(y).
double log_loss(Scored rows);

// What a tree may be: candidates of each level (depth, count), the shrinkage of a sum in whole
// numbers, and noise on the square root of a gain, drawn by `seed` among 2^10 values.
struct Growth {
    const std::int32_t* sizes;     // cells of each column; cell 0 is that of missing values
    const std::uint8_t* ordered;   // whether a column is cut between cells, or one against the rest
    const std::int32_t* candidates;
    std::size_t depth, count, outputs;
    double unit, shrinkage, noise;
    const double* normal;
    std::uint64_t seed;
};

// The cuts whose sum over nodes, sides and outputs of G² / (H + λ) is largest, one level after the
// other, and the same for all nodes of a level. An ordered column is cut between two cells, and its
// missing values go to either side; of another, one cell stands against the rest. Out: the column
// of each level, (depth,); the side 0 or 1 of each of its cells, (depth, 256); and the sums G, H of
// the leaves in whole numbers, (2^depth, 2, outputs), the first level in the highest bit.
void symmetric_tree(Cells cells, const std::int64_t* residual, Growth growth, std::int32_t* columns,
               std::uint8_t* sides, std::int64_t* leaves);

// Tables over groups of cells: of table t the axes axis[t] .. axis[t + 1]. Axis a is of a column,
// whose cell c is of group[first[a] + c], and a group counts for stride[a] cells of the table.
struct Tables {
    const std::int64_t* axis;    // (count + 1,)
    const std::int32_t* column;  // (axes,)
    const std::int64_t* first;   // (axes + 1,)
    const std::int64_t* stride;  // (axes,)
    const std::uint8_t* group;
    const std::int64_t* start;   // (count + 1,): where the cells of each table begin
    const double* values;        // (cells, outputs)
    std::size_t count, outputs;
};

// out[i] ← out[i] + Σ_t T_t[groups of the cells of row i].
void add_tables(Cells cells, Tables tables, double* out);

}  // namespace posterior
