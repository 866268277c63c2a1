// Vectors of eight doubles, compiled for several instruction sets and chosen at load time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

// One build serves any x86-64: GCC compiles a marked function three times and picks one when the
// module is loaded. Elsewhere (ARM, other compilers) the plain function is already what is wanted.
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__)
#define POSTERIOR_CLONES \
    __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define POSTERIOR_CLONES
#endif

#define POSTERIOR_INLINE inline __attribute__((always_inline))

namespace posterior {

constexpr std::size_t kLanes = 8;

// A narrower machine runs these in two or four steps. Sums cross lanes in one fixed order only, so
// the width of the machine's vectors does not change a bit.
typedef double Lanes __attribute__((vector_size(kLanes * sizeof(double))));
typedef float Floats __attribute__((vector_size(kLanes * sizeof(float))));
typedef std::int64_t Integers __attribute__((vector_size(kLanes * sizeof(std::int64_t))));
typedef std::uint64_t Bits __attribute__((vector_size(kLanes * sizeof(std::uint64_t))));

POSTERIOR_INLINE void load(Lanes& v, const double* p) { std::memcpy(&v, p, sizeof v); }
POSTERIOR_INLINE void load(Lanes& v, const float* p) {
    for (std::size_t l = 0; l < kLanes; ++l) v[l] = static_cast<double>(p[l]);  // one instruction
}
POSTERIOR_INLINE void store(double* p, const Lanes& v) { std::memcpy(p, &v, sizeof v); }

POSTERIOR_INLINE bool any(const Integers& mask) {
    std::int64_t lane[kLanes], seen = 0;
    std::memcpy(lane, &mask, sizeof lane);
    for (std::size_t l = 0; l < kLanes; ++l) seen |= lane[l];
    return seen != 0;
}

}  // namespace posterior
