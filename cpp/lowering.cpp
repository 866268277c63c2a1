#include "lowering.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "simd.hpp"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace posterior {
namespace {

constexpr std::size_t kBlock = 32;  // characters that are looked at together

// Bit l tells whether byte l is not zero; bytes are 0 or 1.
POSTERIOR_INLINE std::uint32_t bits(const std::uint8_t* flags) {
    std::uint32_t all = 0;
#ifdef __SSE2__
    for (std::size_t k = 0; k < kBlock; k += 16) {
        __m128i some;
        std::memcpy(&some, flags + k, 16);
        all |= static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_slli_epi16(some, 7))) << k;
    }
#else
    for (std::size_t k = 0; k < kBlock; k += 8) {
        std::uint64_t eight;
        std::memcpy(&eight, flags + k, 8);
        all |= static_cast<std::uint32_t>(eight * 0x0102040810204080u >> 56) << k;
    }
#endif
    return all;
}

// The marks of a block that was written, and which of its characters are not ASCII.
struct Block {
    std::uint32_t marks, others;
};

template <typename Unit>
POSTERIOR_INLINE Block write_ascii(const Unit* in, char* out, bool lowercase, Marked marked) {
    std::uint8_t c[kBlock], flag[kBlock];
    Unit all = 0;
    for (std::size_t l = 0; l < kBlock; ++l) {
        all = static_cast<Unit>(all | in[l]);
        c[l] = static_cast<std::uint8_t>(in[l]);
    }
    const std::uint8_t step = lowercase ? 0x20 : 0;
    for (std::size_t l = 0; l < kBlock; ++l) {
        const bool upper = static_cast<std::uint8_t>(c[l] - 'A') < 26;
        out[l] = static_cast<char>(c[l] | (upper ? step : 0));
    }
    if (marked == Marked::word) {
        for (std::size_t l = 0; l < kBlock; ++l) {
            const bool letter = static_cast<std::uint8_t>((c[l] | 0x20) - 'a') < 26;
            const bool digit = static_cast<std::uint8_t>(c[l] - '0') < 10;
            flag[l] = static_cast<std::uint8_t>(letter | digit | (c[l] == '_'));
        }
    } else {
        for (std::size_t l = 0; l < kBlock; ++l) {
            const bool line = static_cast<std::uint8_t>(c[l] - '\t') < 5;    // \t \n \v \f \r
            const bool blank = static_cast<std::uint8_t>(c[l] - 0x1C) < 5;  // separators and space
            flag[l] = static_cast<std::uint8_t>(line | blank);
        }
    }
    const std::uint32_t marks = bits(flag);
    if (all < 0x80) return {marks, 0};
    for (std::size_t l = 0; l < kBlock; ++l) flag[l] = in[l] >= 0x80;
    return {marks, bits(flag)};
}

constexpr std::uint32_t kNotUtf8 = 0xFFFFFFFF;

// Each unit is a character.
struct Utf32 {
    const std::uint32_t* at;
    const std::uint32_t* end;
    static constexpr std::size_t kWidest = 4;  // bytes in UTF-8

    std::uint32_t next() { return *at++; }
};

// UTF-8, checked: no overlong forms, no surrogates, nothing beyond U+10FFFF, nothing cut off.
struct Utf8 {
    const std::uint8_t* at;
    const std::uint8_t* end;
    static constexpr std::size_t kWidest = 2;  // U+023A takes two bytes, its lower case three

    std::uint32_t next() {
        const std::uint32_t lead = *at++;
        if (lead < 0x80) return lead;
        if (lead < 0xC2 || lead > 0xF4) return kNotUtf8;
        const int more = lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
        if (end - at < more) return kNotUtf8;
        std::uint32_t c = lead & (0x3Fu >> more);
        for (int k = 0; k < more; ++k) {
            if ((*at & 0xC0) != 0x80) return kNotUtf8;
            c = c << 6 | (*at++ & 0x3Fu);
        }
        constexpr std::uint32_t kLeast[] = {0, 0x80, 0x800, 0x10000};
        const bool surrogate = c - 0xD800 < 0x800;
        return c < kLeast[more] || c > 0x10FFFF || surrogate ? kNotUtf8 : c;
    }
};

// Bits one behind the other. It lives in registers: bytes written through a char* may be anywhere.
struct MarkWriter {
    std::uint64_t* at;
    std::uint64_t open = 0;  // the last word, of which `filled` bits are known
    std::size_t filled = 0;

    void append(std::uint64_t marks, std::size_t n) {
        open |= marks << filled;
        filled += n;
        if (filled < 64) return;
        *at++ = open;
        filled -= 64;
        open = marks >> (n - filled);
    }
    std::size_t finish(const std::uint64_t* first) {
        *at++ = open;
        return static_cast<std::size_t>(at - first);
    }
};

template <typename Units>
Units units(const Document& document) {
    const auto* at = static_cast<decltype(Units::at)>(document.data);
    return {at, at + document.size};
}

}  // namespace

template <typename Units>
Reading Lowered::read_units(Units units, const Alphabet& alphabet, bool lowercase, Marked marked) {
    const auto left = [&] { return static_cast<std::size_t>(units.end - units.at); };
    const std::size_t most = left() * Units::kWidest;
    bytes_.resize(most + kPadding);
    marks_.resize(most / 64 + 1);
    char* out = bytes_.data();
    MarkWriter marks{marks_.data()};
    bool ascii = true;
    while (units.at < units.end) {
        const std::size_t n = std::min(left(), kBlock);
        auto* block = units.at;
        using Unit = std::remove_cvref_t<decltype(*block)>;
        Unit last[kBlock] = {};
        if (n < kBlock) block = std::copy_n(units.at, n, last) - n;
        const auto [some, others] = simd<write_ascii<Unit>>(block, out, lowercase, marked);
        const std::size_t run = std::min(n, static_cast<std::size_t>(std::countr_zero(others)));
        marks.append(some & ((std::uint64_t{1} << run) - 1), run);
        out += run;
        units.at += run;
        for (; units.at < units.end && *units.at >= 0x80; ascii = false) {
            const std::uint32_t c = units.next();
            if (c == kNotUtf8) return Reading::bad;
            const Letter it = alphabet[c];
            if (it.hard) return Reading::hard;
            std::memcpy(out, it.bytes, 4);
            out += it.size;
            const bool wanted = marked == Marked::word ? it.word : it.space;
            marks.append(wanted ? (1u << it.size) - 1 : 0, it.size);
        }
    }
    size_ = static_cast<std::size_t>(out - bytes_.data());
    ascii_ = ascii;
    marks_.resize(marks.finish(marks_.data()));
    std::memset(out, 0, kPadding);
    return Reading::done;
}

Reading Lowered::read(const Document& document, const Alphabet& alphabet, bool lowercase,
                      Marked marked) {
    if (document.encoding == Encoding::utf32)
        return read_units(units<Utf32>(document), alphabet, lowercase, marked);
    return read_units(units<Utf8>(document), alphabet, lowercase, marked);
}

}  // namespace posterior
