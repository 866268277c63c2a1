// A k-d tree of eight branches: how it grows, and which of its rows are nearest to a query.
// Twins in posterior.kernels.reference.tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "matrix.hpp"

namespace posterior {

constexpr std::size_t kBranches = 8;  // boxes of a node, and rows of a block, that lie side by side
constexpr std::size_t kLeaf = 40;     // rows that are not parted further

// Leaf l has the rows of blocks start[l] .. start[l + 1]. A leaf of more than kLeaf rows has equal
// rows only, their numbers ascending. Where there are fewer than eight, boxes and points are NaN.
template <typename T>
struct Tree {
    std::size_t columns;
    const T* boxes;             // (nodes, columns, 2, 8)  lower and upper ends of the branches
    const std::int32_t* child;  // (nodes, 8)  a node, or -1 - leaf
    const std::int32_t* start;  // (leaves + 1,)
    const T* points;            // (blocks, columns, 8)
    const std::int32_t* number; // (blocks, 8)  of the rows, as they were given
};

template <typename T>
struct GrownTree {
    std::vector<T> boxes, points;
    std::vector<std::int32_t> child, start, number;
};

template <typename T>
GrownTree<T> grow_tree(Matrix<T> X);

// The leaf to which each query is nearest, or nearly so: queries of one leaf have the same way.
template <typename T>
void find_leaves(const Tree<T>& tree, Matrix<double> Q, std::int32_t* leaf);

// Queries order[0] .. order[count - 1] of Q, by Minkowski's distance of order p in [1, ∞]: the k
// nearest rows, by (distance, number), in lines of `distance` and `number` (queries, k).
struct Neighbors {
    std::size_t k;
    double p;
    double* distance;
    std::int64_t* number;
};

template <typename T>
void search_tree(const Tree<T>& tree, Matrix<double> Q, const std::int32_t* leaf,
                 const std::int64_t* order, std::size_t count, const Neighbors& out);

}  // namespace posterior
