// A document becomes UTF-8, lower-cased if wanted, with a mark at each byte of one class.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "buffer.hpp"
#include "letters.hpp"
#include "simd.hpp"

namespace posterior {

static_assert(std::endian::native == std::endian::little, "bytes are compared eight at a time");

constexpr std::size_t kPadding = 32;  // bytes behind a text that may be read

// UTF-8, or characters of four bytes: a Python string that has no UTF-8, with half a surrogate pair.
enum class Encoding { utf8, utf32 };

struct Document {
    const void* data;
    std::size_t size;  // characters, or bytes of UTF-8
    Encoding encoding;

    // Asks for its first lines: where a document starts is more than the CPU can foresee.
    POSTERIOR_INLINE void prefetch() const {
        const std::size_t all = encoding == Encoding::utf8 ? size : 4 * size;
        const std::size_t bytes = all < kAhead ? all : kAhead;
        for (std::size_t b = 0; b < bytes; b += 64)
            __builtin_prefetch(static_cast<const char*>(data) + b, 0, 2);
    }

    static constexpr std::size_t kAhead = 1 << 12;
};

enum class Marked { word, space };
enum class Reading {
    done,
    hard,  // Python must lower-case this one first
    bad,   // not UTF-8
};

class Lowered {
public:
    Reading read(const Document& document, const Alphabet& alphabet, bool lowercase, Marked marked);

    const char* bytes() const { return bytes_.data(); }
    std::size_t size() const { return size_; }
    bool ascii() const { return ascii_; }

    // Calls found(start, end) for each run of marked bytes.
    template <typename Found>
    void each_run(Found found) const {
        std::uint64_t before = 0;
        std::size_t start = 0;
        bool open = false;
        for (std::size_t w = 0; w < marks_.size(); ++w) {
            const std::uint64_t now = marks_[w];
            std::uint64_t turns = now ^ (now << 1 | before);  // where a run starts or has ended
            before = now >> 63;
            while (turns != 0) {
                const std::size_t at = 64 * w + static_cast<std::size_t>(std::countr_zero(turns));
                turns &= turns - 1;
                if (open) {
                    found(start, at);
                } else {
                    start = at;
                }
                open = !open;
            }
        }  // the last word has room for the end of the last run
    }

private:
    template <typename Units>
    Reading read_units(Units units, const Alphabet& alphabet, bool lowercase, Marked marked);

    Buffer<char> bytes_;
    Buffer<std::uint64_t> marks_;
    std::size_t size_ = 0;
    bool ascii_ = true;
};

}  // namespace posterior
