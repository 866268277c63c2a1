// What kernels take on trust, looked at where arrays come in: that memory is aligned, that sizes
// agree, and that places point inside. A loop behind these looks cannot leave its arrays, whatever
// Python hands over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>

#include "matrix.hpp"

namespace posterior {

inline void expect(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(std::string("Expected ") + what + ", got others.");
}

// The memory of an array, or null if there is none.
template <typename Array>
auto* data(const Array& array) {
    auto* memory = array.data();
    expect(reinterpret_cast<std::uintptr_t>(memory) % alignof(decltype(*memory)) == 0,
           "arrays at addresses that are multiples of their numbers' size");
    return memory;
}

template <typename Array>
auto data(const std::optional<Array>& array) -> decltype(data(*array)) {
    return array ? data(*array) : nullptr;
}

template <typename Array>
bool has_shape(const Array& array, std::initializer_list<std::size_t> shape) {
    bool same = array.ndim() == shape.size();
    for (std::size_t axis = 0; same && axis < shape.size(); ++axis)
        same = array.shape(axis) == shape.begin()[axis];
    return same;
}

template <typename Array>
bool has_shape(const std::optional<Array>& array, std::initializer_list<std::size_t> shape) {
    return !array || has_shape(*array, shape);
}

template <typename... Arrays>
void expect_shape(std::initializer_list<std::size_t> shape, const Arrays&... arrays) {
    expect((has_shape(arrays, shape) && ...), "arrays whose sizes agree");
}

// The smallest and the largest of some whole numbers; of none, one that is inside any range.
struct Range {
    std::int64_t smallest, largest;
};

template <typename T>
Range range(const T* x, std::size_t n) {
    if (n == 0) return {0, -1};
    T low = x[0], high = x[0];  // in their own type: as many at a time as vectors hold
    for (std::size_t i = 1; i < n; ++i) {
        low = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
    }
    return {static_cast<std::int64_t>(low), static_cast<std::int64_t>(high)};
}

// Places 0 .. size - 1; codes may be negative too, which leaves their rows out.
template <typename T>
void expect_places(const T* place, std::size_t n, std::size_t size) {
    const Range found = range(place, n);
    expect(found.smallest >= 0 && found.largest < static_cast<std::int64_t>(size),
           "places inside what they point into");
}

template <typename T>
void expect_codes(const T* code, std::size_t n, std::size_t size) {
    expect(range(code, n).largest < static_cast<std::int64_t>(size), "codes of groups");
}

// Parts start[i] .. start[i + 1] of `size` things, i < n, one after the other.
template <typename T>
bool ascending(const T* start, std::size_t n) {
    bool ascend = true;
    for (std::size_t i = 0; i < n; ++i) ascend &= start[i] <= start[i + 1];
    return ascend;
}

template <typename T>
void expect_parts(const T* start, std::size_t n, std::size_t size) {
    expect(ascending(start, n) && start[0] >= 0 && static_cast<std::size_t>(start[n]) <= size,
           "parts one after the other, inside what they are parts of");
}

inline std::size_t one_less(std::size_t size) {
    expect(size > 0, "a start and an end");
    return size - 1;
}

}  // namespace posterior
