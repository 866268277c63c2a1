#include "simd.hpp"

#include <cstdlib>
#include <initializer_list>

namespace posterior {

namespace {

Level level_of_machine() {
#if defined(__x86_64__)
    __builtin_cpu_init();
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                      __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma");
    const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                        __builtin_cpu_supports("avx512vl");
    return !avx2 ? Level::baseline : avx512 ? Level::avx512 : Level::avx2;
#else
    return Level::baseline;
#endif
}

// A wish for more than the machine has is a wish for all that it has.
Level chosen() {
    const Level most = level_of_machine();
    const char* wish = std::getenv("POSTERIOR_SIMD");
    if (wish == nullptr) return most;
    for (const Level less : {Level::baseline, Level::avx2})
        if (less < most && std::strcmp(wish, name_of(less)) == 0) return less;
    return most;
}

}  // namespace

const char* name_of(Level level) {
    return level == Level::avx512 ? "avx512" : level == Level::avx2 ? "avx2" : "baseline";
}

const Level simd_level = chosen();

}  // namespace posterior
