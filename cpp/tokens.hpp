// From a document to its terms. Twin: posterior.kernels.reference.text.analyze.
#pragma once

#include <cstddef>
#include <cstring>
#include <utility>

#include "buffer.hpp"
#include "lowering.hpp"
#include "terms.hpp"

namespace posterior {

enum class Unit { word, character, character_in_word };

struct Rule {
    Unit unit;
    std::size_t least, most;  // units of a term
    bool lowercase;
    std::size_t min_length;  // characters of a word
    Alphabet alphabet;
    Table stop_words;
};

// Reads documents and calls sink(data, size) for each of their terms. What was handed over stays
// where it is until the next document is read, and kPadding bytes behind it may be read.
class Tokenizer {
public:
    explicit Tokenizer(const Rule& rule) : rule_(rule) {}

    template <typename Sink>
    Reading read(const Document& document, Sink&& sink) {
        const Marked marked = rule_.unit == Unit::word ? Marked::word : Marked::space;
        const Reading reading = text_.read(document, rule_.alphabet, rule_.lowercase, marked);
        if (reading != Reading::done) return reading;
        buffer_.clear();
        starts_.clear();
        switch (rule_.unit) {
            case Unit::word: rule_.most == 1 ? words(sink) : runs_of_words(sink); break;
            case Unit::character: characters(sink); break;
            case Unit::character_in_word: characters_in_words(sink); break;
        }
        return reading;
    }

private:
    // Calls sink for each word that is long enough and not a stop word.
    template <typename Sink>
    void words(Sink&& sink) const {
        text_.each_run([&](std::size_t start, std::size_t end) {
            const char* word = text_.bytes() + start;
            const std::size_t size = end - start;
            if (size < rule_.min_length) return;
            if (!text_.ascii() && (rule_.min_length > 8 || load8(word) & kHighBits) &&
                n_characters(word, size) < rule_.min_length)
                return;
            if (rule_.stop_words.size() > 0 && rule_.stop_words.find(make_key(word, size)) != kNone)
                return;
            sink(word, size);
        });
    }

    // Words are written one behind the other with a space between, and terms are slices of that.
    template <typename Sink>
    void runs_of_words(Sink& sink) {
        words([&](const char* word, std::size_t size) {
            starts_.push(buffer_.size());
            append(word, size);
            append(" ", 1);
        });
        starts_.push(buffer_.size());
        pad();
        const std::size_t n = starts_.size() - 1;
        for (std::size_t length = rule_.least; length <= rule_.most && length <= n; ++length)
            for (std::size_t i = 0; i + length <= n; ++i)
                sink(buffer_.data() + starts_[i], starts_[i + length] - 1 - starts_[i]);
    }

    // Two and more white spaces become one space.
    template <typename Sink>
    void characters(Sink& sink) {
        std::size_t copied = 0;
        text_.each_run([&](std::size_t start, std::size_t end) {
            if (n_characters(text_.bytes() + start, end - start) < 2) return;
            append(text_.bytes() + copied, start - copied);
            append(" ", 1);
            copied = end;
        });
        append(text_.bytes() + copied, text_.size() - copied);
        const std::size_t size = buffer_.size();
        pad();
        for (std::size_t length = rule_.least; length <= rule_.most; ++length)
            if (!windows(buffer_.data(), size, length, sink)) break;
    }

    // Words between white space get a space on either side; short ones count once, as they are.
    template <typename Sink>
    void characters_in_words(Sink& sink) {
        std::size_t word = 0;
        const auto copy = [&](std::size_t start, std::size_t end) {
            if (start > word) {
                starts_.push(buffer_.size());
                append(" ", 1);
                append(text_.bytes() + word, start - word);
                append(" ", 1);
            }
            word = end;
        };
        text_.each_run(copy);
        copy(text_.size(), text_.size());
        starts_.push(buffer_.size());
        pad();
        for (std::size_t i = 0; i + 1 < starts_.size(); ++i) {
            const char* first = buffer_.data() + starts_[i];
            const std::size_t size = starts_[i + 1] - starts_[i];
            if (!windows(first, size, rule_.least, sink)) {
                sink(first, size);
                continue;
            }
            for (std::size_t length = rule_.least + 1; length <= rule_.most; ++length)
                if (!windows(first, size, length, sink)) break;
        }
    }

    static constexpr std::uint64_t kHighBits = 0x8080808080808080u;  // of bytes that are not ASCII

    static bool continues(char byte) { return (byte & 0xC0) == 0x80; }

    // Bytes that do not continue a character; eight are looked at together.
    POSTERIOR_INLINE static std::size_t n_characters(const char* data, std::size_t size) {
        std::size_t n = size;
        for (std::size_t i = 0; i < size; i += 8) {
            const std::uint64_t word = load_part(data + i, size - i);
            const std::uint64_t continued = word & ~(word << 1) & kHighBits;
            n -= (continued >> 7) * 0x0101010101010101u >> 56;
        }
        return n;
    }

    // All slices of so many characters; false if there is none.
    template <typename Sink>
    static bool windows(const char* first, std::size_t size, std::size_t length, Sink& sink) {
        const char* const last = first + size;
        const auto step = [](const char* at) {
            do ++at;
            while (continues(*at));
            return at;
        };
        const char* end = first;
        for (std::size_t k = 0; k < length; ++k) {
            if (end == last) return false;
            end = step(end);
        }
        for (;; first = step(first), end = step(end)) {
            sink(first, static_cast<std::size_t>(end - first));
            if (end == last) return true;
        }
    }

    void append(const char* data, std::size_t size) {
        if (size == 0) return;
        const std::size_t before = buffer_.size();
        buffer_.resize(before + size);
        std::memcpy(buffer_.data() + before, data, size);
    }

    void pad() {
        buffer_.resize(buffer_.size() + kPadding);
        std::memset(buffer_.data() + buffer_.size() - kPadding, 0, kPadding);
    }

    const Rule& rule_;
    Lowered text_;
    Buffer<char> buffer_;
    Buffer<std::size_t> starts_;
};

}  // namespace posterior
