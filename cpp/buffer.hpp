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

// Memory that is read in order is left to realloc, which moves large blocks without copying.
// Tables that are read at random ask for huge pages: the CPU knows where few small ones are.
enum class Access { in_order, at_random };

// Unlike std::vector, it does not write new elements: pages that nobody needs take no memory.
template <typename T, Access access = Access::in_order>
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
    ~Buffer() { std::free(data_); }

    static Buffer zeros(std::size_t n) {
        Buffer made;
        made.data_ = static_cast<T*>(std::calloc(n + 1, sizeof(T)));
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
    static constexpr std::size_t kHuge = std::size_t{1} << 21;

    __attribute__((noinline)) void grow(std::size_t n) {
        const std::size_t grown = capacity_ + capacity_ / 2 + 64;
        const std::size_t capacity = n > grown ? n : grown;
        if (capacity > SIZE_MAX / 2 / sizeof(T)) throw std::bad_alloc();
        const std::size_t bytes = capacity * sizeof(T);
        void* moved = access == Access::at_random && bytes >= kHuge ? copy_to_huge_pages(bytes)
                                                                    : std::realloc(data_, bytes);
        if (moved == nullptr) throw std::bad_alloc();
        data_ = static_cast<T*>(moved);
        capacity_ = capacity;
    }
    void* copy_to_huge_pages(std::size_t bytes) {
        void* made = std::aligned_alloc(kHuge, (bytes + kHuge - 1) / kHuge * kHuge);
        if (made == nullptr) return nullptr;
#ifdef MADV_HUGEPAGE
        madvise(made, bytes, MADV_HUGEPAGE);  // a wish: nothing depends on it
#endif
        if (size_ > 0) std::memcpy(made, data_, size_ * sizeof(T));
        std::free(data_);
        return made;
    }

    T* data_ = nullptr;
    std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace posterior
