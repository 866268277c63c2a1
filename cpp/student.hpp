// Student's t by EM.
#pragma once

#include <cstddef>

namespace posterior {

// Values x (n) in any order with weights W (k, n), and what groups are pulled to.
struct Pulled {
    const double *x, *W;
    std::size_t n, k;
    double rows;  // of the prior
    const double *mean, *square;  // (k) of it
    double least;  // squared scale
};

// When to stop, and the degrees of freedom that are allowed.
struct StudentStop {
    int steps;
    double tolerance, heaviest, lightest;
};

// Takes mean, square and say (k) and nu from a start to the most probable parameters.
double student_fit(const Pulled& data, const StudentStop& stop, double* mean, double* square,
                   double* say, double nu);

}  // namespace posterior
