// Sorting by digits, the last one first: no comparison has to be guessed (Knuth 1973, 5.2.5).
#pragma once

#include <cstddef>
#include <cstdint>

namespace posterior {

// Copies items in the order of one digit, which is below 2^bits; equal ones keep their order.
template <int bits, typename Item, typename Digit>
void sort_by_digit(const Item* from, std::size_t n, Item* to, Digit digit) {
    std::uint32_t place[std::size_t{1} << bits] = {};
    for (std::size_t i = 0; i < n; ++i) ++place[digit(from[i])];
    std::uint32_t before = 0;
    for (std::uint32_t& one : place) {
        const std::uint32_t count = one;
        one = before;
        before += count;
    }
    for (std::size_t i = 0; i < n; ++i) to[place[digit(from[i])]++] = from[i];
}

}  // namespace posterior
