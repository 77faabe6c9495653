#include "harness/measure/isolation/one_cpu.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <string>

namespace convladder {
namespace {

int allowed_cpus() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}

/// OMP_NUM_THREADS as asked for, until the end of a test.
class Threads {
 public:
  explicit Threads(const char* count) {
    if (const char* const now = std::getenv("OMP_NUM_THREADS")) before_ = now;
    setenv("OMP_NUM_THREADS", count, 1);
  }
  ~Threads() {
    if (before_.empty()) {
      unsetenv("OMP_NUM_THREADS");
    } else {
      setenv("OMP_NUM_THREADS", before_.c_str(), 1);
    }
  }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  std::string before_;
};

TEST(OneCpu, IsOneAndEachInTurnAndGivenBack) {
  const Threads one("1");
  const int all = allowed_cpus();
  std::set<int> seen;
  for (int which = 0; which < all; ++which) {
    const OneCpu chosen(static_cast<std::uint64_t>(which));
    EXPECT_EQ(allowed_cpus(), 1);
    seen.insert(sched_getcpu());
  }
  EXPECT_EQ(static_cast<int>(seen.size()), all);
  EXPECT_EQ(allowed_cpus(), all);
}

TEST(OneCpu, SeveralThreadsKeepAll) {
  const Threads two("2");
  const int all = allowed_cpus();
  const OneCpu chosen(1);
  EXPECT_EQ(allowed_cpus(), all);
}

}  // namespace
}  // namespace convladder
