// Large memory in huge pages. A walk over megabytes in pages of 4 KiB waits for address translation, and the
// processor's prefetching ends at each page; where the system gives huge pages only on request
// (/sys/kernel/mm/transparent_hugepage/enabled: madvise), the standard allocator gets none.
#pragma once

#include <cstddef>
#include <new>

namespace convladder {

constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;

/// Memory of at least `bytes` zeros that begins at a huge page; the system backs it with huge pages if it has any.
/// Throws std::bad_alloc.
void* allocate_huge(std::size_t bytes);
/// `bytes` is the size that was asked for.
void free_huge(void* memory, std::size_t bytes) noexcept;

/// An allocator for containers: huge pages from `kLeastBytes` on, and the standard allocator below. A sanitized build
/// uses the standard allocator for all sizes, as it watches the borders.
template <typename T>
struct HugePageAllocator {
  using value_type = T;
#ifdef __SANITIZE_ADDRESS__
  static constexpr bool kHuge = false;
#else
  static constexpr bool kHuge = true;
#endif
  static constexpr std::size_t kLeastBytes = kHugePageBytes / 4;

  HugePageAllocator() = default;
  template <typename Other>
  HugePageAllocator(const HugePageAllocator<Other>& /*other*/) noexcept {}  // NOLINT(google-explicit-constructor)

  T* allocate(std::size_t count) {
    if (count > static_cast<std::size_t>(-1) / 2 / sizeof(T)) throw std::bad_array_new_length();
    const std::size_t bytes = count * sizeof(T);
    if (kHuge && bytes >= kLeastBytes) return static_cast<T*>(allocate_huge(bytes));
    return static_cast<T*>(::operator new (bytes, std::align_val_t{alignof(T)}));
  }
  void deallocate(T* memory, std::size_t count) noexcept {
    const std::size_t bytes = count * sizeof(T);
    if (kHuge && bytes >= kLeastBytes) return free_huge(memory, bytes);
    ::operator delete (memory, std::align_val_t{alignof(T)});
  }
  bool operator==(const HugePageAllocator& /*other*/) const { return true; }
};

}  // namespace convladder
