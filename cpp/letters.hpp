// Case and class of code points, as Python knows them: str.lower, str.isalnum, str.isspace.
#pragma once

#include <cstddef>
#include <cstdint>

namespace posterior {

// A code point as it is written: UTF-8, lower-cased or not, and what class it then has.
struct Letter {
    char bytes[4];
    std::uint8_t size;
    bool word;   // a letter, a digit or _
    bool space;  // white space
    bool hard;   // its lower case depends on its neighbors, or is two code points
};

// A table of code points: what each becomes, and its classes as bits (posterior.kernels.letters).
// Those behind its end stay as they are, and have no class.
class Alphabet {
public:
    Alphabet(const std::uint32_t* known, std::size_t n) : known_(known), n_(n) {}

    Letter operator[](std::uint32_t c) const {
        const std::uint32_t entry = c < n_ ? known_[c] : c;
        Letter it{};
        it.word = entry & kWord;
        it.space = entry & kSpace;
        it.hard = entry & kHard;
        c = entry & kCodePoint;
        it.size = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
        for (int k = it.size - 1; k > 0; --k, c >>= 6)
            it.bytes[k] = static_cast<char>(0x80 | (c & 0x3F));
        constexpr std::uint32_t kLead[] = {0, 0x00, 0xC0, 0xE0, 0xF0};
        it.bytes[0] = static_cast<char>(kLead[it.size] | c);
        return it;
    }

private:
    static constexpr std::uint32_t kCodePoint = (1u << 21) - 1, kWord = 1u << 24,
                                   kSpace = 1u << 25, kHard = 1u << 26;
    const std::uint32_t* known_;
    std::size_t n_;
};

}  // namespace posterior
