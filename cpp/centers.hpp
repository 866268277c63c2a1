// Which center is nearest to each row, with and without bounds that save the search.
// Twins in posterior.kernels.reference.search.
#pragma once

#include <cstddef>
#include <cstdint>

#include "matrix.hpp"

namespace posterior {

constexpr std::size_t kGroup = 16;  // centers that are looked at together

// Centers in groups of sixteen that lie near each other, numbers ascending inside a group. Where a
// group has fewer, half is infinite. Rows and centers are taken around an origin.
template <typename T>
struct Centers {
    std::size_t groups, columns;
    const T* origin;             // (columns,)
    const T* point;              // (k, columns)
    const T* table;              // (groups, columns, 16)
    const T* half;               // (groups, 16)  |c|² / 2
    const std::int32_t* number;  // (groups, 16)
};

// What is known of distances, and stays known while centers move. `way` is how far each center
// has come, `farthest` how far any center of a group may have come.
//   |x - c_own| <= upper + way_own      |x - c| >= lower_g - farthest_g  for the others of group g
struct Bounds {
    std::size_t width;            // groups, and room up to four, eight, twelve, or whole sixteens
    float *upper, *lower;         // (rows,), (rows, width)
    const float *way, *farthest;  // (k,), (width,)
    const std::int32_t* place;    // (k,)  16 group + place in the group
    double radius;                // no center is farther from the origin
    bool fresh;                   // nothing is known yet
};

struct Search {
    std::int64_t moved;   // rows that have another center than before
    std::int64_t looked;  // groups that were looked at, times rows
};

// Label of the center with the smallest  |c|² / 2 - x·c,  the first of equals.
template <typename T>
std::int64_t nearest(Matrix<T> X, const Centers<T>& centers, std::int32_t* label);

// The same labels to the last bit, found by looking only at groups that may hold a nearer center.
// Labels before are those for other centers, or a guess.
template <typename T>
Search nearest_bounded(Matrix<T> X, const Centers<T>& centers, const Bounds& bounds,
                       std::int32_t* label);

// |x - c|² from the center of each row's label, (k, columns), by the differences themselves.
template <typename T>
void own_distances(Matrix<T> X, const double* center, const std::int32_t* label, double* out);

}  // namespace posterior
