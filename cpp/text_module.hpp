#pragma once

#include <nanobind/nanobind.h>

// Adds the counters of terms to the module.
void bind_text(nanobind::module_& m);
