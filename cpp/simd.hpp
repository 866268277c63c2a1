// Vectors of eight doubles, and loops compiled for several instruction sets, one of them chosen when
// the module is loaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

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

// One build serves any x86-64: what the machine has, or less if POSTERIOR_SIMD asks for less.
enum class Level { baseline, avx2, avx512 };
extern const Level simd_level;
const char* name_of(Level);

#if defined(__x86_64__)
#define POSTERIOR_AVX2 __attribute__((target("arch=x86-64-v3")))
#define POSTERIOR_AVX512 __attribute__((target("arch=x86-64-v4")))
#endif

// An inline function, compiled for each level: simd<loop>(arguments) runs the one chosen. A loop
// that wants to know how long the machine's vectors are is given three times:
// simd<loop<16>, loop<32>, loop<64>>.
template <auto Baseline, auto Avx2, auto Avx512>
struct Simd;
template <typename R, typename... A, R (*Baseline)(A...), R (*Avx2)(A...), R (*Avx512)(A...)>
struct Simd<Baseline, Avx2, Avx512> {
    static R baseline(A... a) { return Baseline(a...); }
#if defined(__x86_64__)
    POSTERIOR_AVX2 static R avx2(A... a) { return Avx2(a...); }
    POSTERIOR_AVX512 static R avx512(A... a) { return Avx512(a...); }
#endif
    R operator()(A... a) const {
#if defined(__x86_64__)
        if (simd_level == Level::avx512) return avx512(a...);
        if (simd_level == Level::avx2) return avx2(a...);
#endif
        return baseline(a...);
    }
};
template <auto Baseline, auto Avx2 = Baseline, auto Avx512 = Baseline>
constexpr Simd<Baseline, Avx2, Avx512> simd{};

}  // namespace posterior
