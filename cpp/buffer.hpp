// Memory that grows, for elements that need no constructor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace posterior {

// Large blocks come from the system itself: they start as zeros, grow without being copied, and go
// back as soon as they are freed. They wish for huge pages: there are fewer faults, and the CPU
// knows where few pages are when a table is read at random.
namespace blocks {

#ifdef __linux__
constexpr std::size_t kMapped = std::size_t{1} << 19, kHuge = std::size_t{1} << 21;

inline std::size_t whole(std::size_t bytes) { return (bytes + kHuge - 1) & ~(kHuge - 1); }

inline void* map(std::size_t bytes) {
    constexpr int kAccess = PROT_READ | PROT_WRITE, kKind = MAP_PRIVATE | MAP_ANONYMOUS;
    const std::size_t size = whole(bytes);
    void* place = mmap(nullptr, size + kHuge, kAccess, kKind, -1, 0);
    if (place == MAP_FAILED) return nullptr;
    char* const first = static_cast<char*>(place);
    const std::size_t before = whole(reinterpret_cast<std::uintptr_t>(place)) -
                               reinterpret_cast<std::uintptr_t>(place);
    if (before > 0) munmap(first, before);
    if (before < kHuge) munmap(first + before + size, kHuge - before);
    madvise(first + before, size, MADV_HUGEPAGE);
    return first + before;
}

inline void release(void* block, std::size_t bytes) {
    bytes >= kMapped ? static_cast<void>(munmap(block, whole(bytes))) : std::free(block);
}

inline void* zeros(std::size_t bytes) {
    return bytes >= kMapped ? map(bytes) : std::calloc(bytes, 1);
}

inline void* grow(void* block, std::size_t before, std::size_t bytes) {
    if (bytes < kMapped) return std::realloc(block, bytes);
    void* made = map(bytes);
    if (made == nullptr) return nullptr;
    if (before >= kMapped) {
        constexpr int kHow = MREMAP_MAYMOVE | MREMAP_FIXED;
        if (mremap(block, whole(before), whole(bytes), kHow, made) == MAP_FAILED) return nullptr;
    } else if (before > 0) {
        std::memcpy(made, block, before);
        std::free(block);
    }
    return made;
}
#else
inline void release(void* block, std::size_t) { std::free(block); }
inline void* zeros(std::size_t bytes) { return std::calloc(bytes, 1); }
inline void* grow(void* block, std::size_t, std::size_t bytes) {
    return std::realloc(block, bytes);
}
#endif

}  // namespace blocks

// Unlike std::vector, it does not write new elements: pages that nobody needs take no memory.
template <typename T>
class Buffer {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    Buffer() = default;
    Buffer(Buffer&& other) noexcept { *this = std::move(other); }
    Buffer& operator=(Buffer&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
        return *this;
    }
    ~Buffer() {
        if (capacity_ > 0) blocks::release(data_, capacity_ * sizeof(T));
    }

    static Buffer zeros(std::size_t n) {
        Buffer made;
        if (n == 0) return made;
        made.data_ = static_cast<T*>(blocks::zeros(n * sizeof(T)));
        if (made.data_ == nullptr) throw std::bad_alloc();
        made.size_ = made.capacity_ = n;
        return made;
    }

    T* data() { return data_; }
    const T* data() const { return data_; }
    std::size_t size() const { return size_; }
    T& operator[](std::size_t i) { return data_[i]; }
    const T& operator[](std::size_t i) const { return data_[i]; }

    void reserve(std::size_t n) {
        if (n > capacity_) grow(n);
    }
    void resize(std::size_t n) {  // new elements are not set
        reserve(n);
        size_ = n;
    }
    void clear() { size_ = 0; }
    void push(const T& value) {
        reserve(size_ + 1);
        data_[size_++] = value;
    }

private:
    __attribute__((noinline)) void grow(std::size_t n) {
        const std::size_t grown = capacity_ + capacity_ / 2 + 64;
        const std::size_t capacity = n > grown ? n : grown;
        if (capacity > SIZE_MAX / 2 / sizeof(T)) throw std::bad_alloc();
        void* moved = blocks::grow(data_, capacity_ * sizeof(T), capacity * sizeof(T));
        if (moved == nullptr) throw std::bad_alloc();
        data_ = static_cast<T*>(moved);
        capacity_ = capacity;
    }

    T* data_ = nullptr;
    std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace posterior
