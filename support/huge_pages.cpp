#include "support/huge_pages.hpp"

#include <sys/mman.h>

#include <cstdint>

namespace convladder {
namespace {

std::size_t whole_pages(std::size_t bytes) { return (bytes + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes; }

}  // namespace

void* allocate_huge(std::size_t bytes) {
  const std::size_t wanted = whole_pages(bytes);
  if (wanted < bytes) throw std::bad_alloc();
  const std::size_t mapped = wanted + kHugePageBytes;  // contains the beginning of a huge page
  void* const anywhere = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (anywhere == MAP_FAILED) throw std::bad_alloc();
  auto* const begin = static_cast<std::byte*>(anywhere);
  const std::size_t before =
      whole_pages(reinterpret_cast<std::uintptr_t>(begin)) - reinterpret_cast<std::uintptr_t>(begin);
  if (before > 0) munmap(begin, before);
  munmap(begin + before + wanted, mapped - before - wanted);
  madvise(begin + before, wanted, MADV_HUGEPAGE);  // a system without them gives small pages
  return begin + before;
}

void free_huge(void* memory, std::size_t bytes) noexcept { munmap(memory, whole_pages(bytes)); }

}  // namespace convladder
