#pragma once

#include <nanobind/nanobind.h>

// Adds the kernels of boosting to the module.
void bind_boosting(nanobind::module_& m);
