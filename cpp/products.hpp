// Products of rows: columns of a table with each other, and rows with the axes of normal
// densities. Twins in posterior.kernels.reference: add_products, square_distances.
#pragma once

#include <cstddef>
#include <vector>

#include "matrix.hpp"
#include "simd.hpp"

namespace posterior {

// Zeros from the beginning of a line of the cache on: a vector among them never touches two lines.
class Lines {
  public:
    explicit Lines(std::size_t size) : lines_(size / kLanes + 1) {}
    double* data() { return lines_.data()->lane; }

  private:
    struct alignas(64) Line {
        double lane[kLanes] = {};
    };
    std::vector<Line> lines_;
};

// Rows of `width` numbers, a whole number of lanes, of which the first `columns` mean something.
struct Panel {
    std::size_t rows, columns, width;
};

// out_ij ← out_ij + Σᵣ x_ri y_rj for i <= j of out (columns, width). What lies below is undefined.
void add_products(Panel panel, const double* x, const double* y, double* out);

// Axes of normal densities: lanes of eight axes, and for each the weight of every column. There is
// a set of axes for each group, or one for all.
struct Axes {
    std::size_t sets, groups, vectors;
    const double *origin;  // (columns)
    const double *weight;  // (sets, vectors, columns, 8)
    const double *center;  // (groups, vectors, 8)
    const double *constant;  // (groups), or null
};

// d_ik = Σₐ (Σⱼ (x_ij - origin_j) weight_aj - center_ka)², a over the axes of group k's set; or,
// with constants, constant_k - ½ d_ik
void square_distances(Matrix<double> X, const Axes& axes, double* out);
void square_distances(Matrix<float> X, const Axes& axes, double* out);

}  // namespace posterior
