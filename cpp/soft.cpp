#include "soft.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "products.hpp"
#include "soft_panel.hpp"

namespace posterior {

// A part below 2^-70 of the mean part is left out, on trial: see Products::complete.
constexpr double kLeast = 0x1p-70, kRounding = 0x1p-53;
constexpr double kSmallest = std::numeric_limits<double>::denorm_min();  // zeros are left out

// Some rows of one group, less its origin, one below the other, and the parts r it receives.
struct Gathered {
    std::size_t rows, width;
    const double *u, *r;
};

// Columns i .. i + Columns with vectors of columns from j on: the sums stay in registers. The first
// vectors of a line of tiles also give Σ r u, of their first vector.
template <std::size_t Columns, std::size_t Vectors>
POSTERIOR_INLINE void add_tile(const Gathered& g, std::size_t i, std::size_t j, double* Q,
                               double* s) {
    Lanes sum[Columns][Vectors] = {}, total = {}, v[Vectors];
    const double *a = g.u + i, *b = g.u + j;
    for (std::size_t n = 0; n < g.rows; ++n, a += g.width, b += g.width) {
        for (std::size_t t = 0; t < Vectors; ++t) {
            load(v[t], b + t * kLanes);
            v[t] *= g.r[n];
        }
        if (s != nullptr) total += v[0];
        for (std::size_t c = 0; c < Columns; ++c)
            for (std::size_t t = 0; t < Vectors; ++t) sum[c][t] += v[t] * a[c];
    }
    Lanes before;
    for (std::size_t c = 0; c < Columns; ++c)
        for (std::size_t t = 0; t < Vectors; ++t) {
            double* to = Q + (i + c) * g.width + j + t * kLanes;
            load(before, to);
            store(to, before + sum[c][t]);
        }
    if (s == nullptr) return;
    load(before, s + j);
    store(s + j, before + total);
}

// s ← s + Σ r u and Q ← Q + Σ r u uᵀ: of each vector of lines the vectors from the diagonal on.
POSTERIOR_INLINE void add_gathered(const Gathered& g, double* s, double* Q) {
    for (std::size_t i = 0; i < g.width; i += kLanes) {
        std::size_t j = i;
        double* first = s;
        for (; j + 2 * kLanes <= g.width; j += 2 * kLanes, first = nullptr) {
            add_tile<4, 2>(g, i, j, Q, first);
            add_tile<4, 2>(g, i + 4, j, Q, nullptr);
        }
        if (j < g.width) add_tile<8, 1>(g, i, j, Q, first);
    }
}

POSTERIOR_INLINE void center(const double* x, const std::uint32_t* index, std::size_t n,
                             std::size_t width, const double* origin, double* u) {
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < width; j += kLanes) {
            Lanes a, o;
            load(a, x + index[i] * width + j);
            load(o, origin + j);
            store(u + i * width + j, a - o);
        }
}

template <typename T>
class Products {
  public:
    Products(Matrix<T> X, Shares shares, const double* origin, double* s, double* Q)
        : X_(X), shares_(shares), width_(whole_lanes(X.columns)),
          origin_(padded(origin, shares.groups, X.columns)), s_(s), Q_(Q), low_(width_),
          high_(width_), least_(shares.groups), left_out_(shares.groups),
          x_(kSharedRows * width_), u_(kSharedRows * width_) {}

    bool add() {
        std::vector<std::size_t> groups(shares_.groups);
        for (std::size_t k = 0; k < groups.size(); ++k) groups[k] = k;
        add_shares(shares_.R, X_.rows, shares_.groups, least_.data());
        for (double& least : least_)
            least = std::max(kLeast * least / static_cast<double>(X_.rows), kSmallest);
        if (!add(groups)) return false;
        std::erase_if(groups, [&](std::size_t k) { return complete(k); });
        for (const std::size_t k : groups) {
            least_[k] = 0;
            std::fill_n(s_ + k * width_, width_, 0.0);
            std::fill_n(Q_ + k * width_ * width_, width_ * width_, 0.0);
        }
        return groups.empty() || add(groups);
    }

  private:
    bool add(const std::vector<std::size_t>& groups) {
        std::fill(low_.begin(), low_.end(), std::numeric_limits<double>::infinity());
        std::fill(high_.begin(), high_.end(), -std::numeric_limits<double>::infinity());
        for (std::size_t first = 0; first < X_.rows; first += kSharedRows) {
            const std::size_t rows = std::min(kSharedRows, X_.rows - first);
            copy_rows(X_, first, rows, width_, x_.data());
            if (!widen(x_.data(), rows, width_, low_.data(), high_.data())) return false;
            for (const std::size_t k : groups)
                add(k, shares_.R + first * shares_.groups + k, rows);
        }
        return true;
    }

    // The rows of a panel that group k has, side by side with each other.
    void add(std::size_t k, const double* r, std::size_t rows) {
        std::uint32_t index[kSharedRows];
        double part[kSharedRows];
        std::size_t n = 0;
        for (std::size_t i = 0; i < rows; ++i, r += shares_.groups) {
            index[n] = static_cast<std::uint32_t>(i);
            part[n] = *r;
            n += !(std::abs(*r) < least_[k]);
        }
        left_out_[k] += rows - n;
        if (n == 0) return;
        simd<center>(x_.data(), index, n, width_, origin_.data() + k * width_, u_.data());
        simd<add_gathered>({n, width_, u_.data(), part}, s_ + k * width_, Q_ + k * width_ * width_);
    }

    // How many of the parts that group k was not given are not zero.
    std::size_t lost(std::size_t k) const {
        std::size_t n = 0;
        for (std::size_t i = 0; i < X_.rows; ++i) {
            const double size = std::abs(shares_.R[i * shares_.groups + k]);
            n += size < least_[k] && size > 0;
        }
        return n;
    }

    // Whether the parts that group k was not given are less than the rounding of what it was:
    //     Σ r (xⱼ - oⱼ)² over the lost  <=  lost · least · furthestⱼ²  <=  2^-53 Q_jj
    // By Cauchy and Schwarz then also |Σ r (xᵢ - oᵢ)(xⱼ - oⱼ)| <= 2^-53 √(Q_ii Q_jj), and as
    // Q_jj <= w furthestⱼ², Σ r <= 2^-53 w and |Σ r (xⱼ - oⱼ)| <= 2^-53 √(w Q_jj).
    bool complete(std::size_t k) const {
        return complete(k, left_out_[k]) || complete(k, lost(k));
    }
    bool complete(std::size_t k, std::size_t lost) const {
        const double r = static_cast<double>(lost) * least_[k];
        for (std::size_t j = 0; j < X_.columns && r > 0; ++j) {
            const double o = origin_[k * width_ + j], furthest = std::max(high_[j] - o, o - low_[j]);
            const double square = Q_[(k * width_ + j) * width_ + j];
            if (!(r * furthest * furthest <= kRounding * square)) return false;
        }
        return true;
    }

    Matrix<T> X_;
    Shares shares_;
    std::size_t width_;
    std::vector<double> origin_;
    double *s_, *Q_;
    std::vector<double> low_, high_;     // of the cells of each column
    std::vector<double> least_;          // part of a row that a group is given
    std::vector<std::size_t> left_out_;  // how many parts it was not given
    Lines x_, u_;
};

bool soft_products(Matrix<double> X, Shares shares, const double* origin, double* s, double* Q) {
    return Products<double>(X, shares, origin, s, Q).add();
}
bool soft_products(Matrix<float> X, Shares shares, const double* origin, double* s, double* Q) {
    return Products<float>(X, shares, origin, s, Q).add();
}

}  // namespace posterior
