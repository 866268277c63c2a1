// Case and class of code points, as this Python knows them: str.lower, str.isalnum, str.isspace.
#pragma once

#include <Python.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace posterior {

// A code point as it is written: UTF-8, lower-cased or not, and what class it then has.
struct Letter {
    char bytes[4];
    std::uint8_t size;
    bool word;   // a letter, a digit or _
    bool space;  // white space
    bool hard;   // its lower case depends on its neighbors, or is two code points
};

inline Letter letter(std::uint32_t c, bool lowercase) {
    constexpr std::uint32_t kDottedI = 0x130, kSigma = 0x3A3;
    Letter it{};
    it.hard = lowercase && (c == kDottedI || c == kSigma);
    if (lowercase) c = static_cast<std::uint32_t>(Py_UNICODE_TOLOWER(c));
    it.word = c == '_' || Py_UNICODE_ISALNUM(c);
    it.space = Py_UNICODE_ISSPACE(c);
    it.size = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (int k = it.size - 1; k > 0; --k, c >>= 6)
        it.bytes[k] = static_cast<char>(0x80 | (c & 0x3F));
    constexpr std::uint32_t kLead[] = {0, 0x00, 0xC0, 0xE0, 0xF0};
    it.bytes[0] = static_cast<char>(kLead[it.size] | c);
    return it;
}

// The letters of the first plane come from a table, the others from Python's own.
class Alphabet {
public:
    explicit Alphabet(bool lowercase) : lowercase_(lowercase), first_(kFirst) {
        for (std::uint32_t c = 0; c < kFirst; ++c) first_[c] = letter(c, lowercase);
    }

    static const Alphabet& get(bool lowercase) {
        static const Alphabet lowered(true), plain(false);
        return lowercase ? lowered : plain;
    }

    Letter operator[](std::uint32_t c) const {
        return c < kFirst ? first_[c] : letter(c, lowercase_);
    }

private:
    static constexpr std::uint32_t kFirst = 0x10000;
    bool lowercase_;
    std::vector<Letter> first_;
};

}  // namespace posterior
