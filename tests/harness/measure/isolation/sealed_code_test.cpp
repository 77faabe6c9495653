#include "harness/measure/isolation/sealed_code.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdint>
#include <ctime>

#include "support/confinement/confined_child.hpp"

namespace convladder {
namespace {

/// A page with a function's code, made writable.
std::string opened(void* function) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  auto* const at = static_cast<char*>(function) - reinterpret_cast<std::uintptr_t>(function) % page;
  return outcome(mprotect(at, page, PROT_READ | PROT_WRITE | PROT_EXEC));
}

void our_own() {}

ConfinementWish reading_all() {
  ConfinementWish wish;
  wish.files.read = {"/"};
  return wish;
}

TEST(SealedCode, CannotBeMadeWritable) {
  EXPECT_EQ(in_confined_child(reading_all(), [] { return opened(reinterpret_cast<void*>(&our_own)); }), "done");
  const std::string found = in_confined_child(reading_all(), [] {
    const std::string missing = seal_code();
    if (!missing.empty()) return missing;
    return opened(reinterpret_cast<void*>(&our_own)) + ", " + opened(dlsym(RTLD_DEFAULT, "clock_gettime"));
  });
  if (found.find("older than 6.10") != std::string::npos) GTEST_SKIP() << found;
  EXPECT_EQ(found, kNotPermitted + ", " + kNotPermitted);
}

}  // namespace
}  // namespace convladder
