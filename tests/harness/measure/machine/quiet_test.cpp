// Waiting for a quiet machine, on this one: as busy as the test makes it.
#include "harness/measure/machine/quiet.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <string>

#include "devices/cpu/cpu_facts.hpp"
#include "harness/measure/machine/machine_load.hpp"

namespace convladder {
namespace {

/// A process that keeps a core busy and is nobody's child: what a program's own children use is the program's.
class Spinner {
 public:
  Spinner() {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    const pid_t between = fork();
    if (between == 0) {
      const pid_t spinner = fork();
      if (spinner == 0) {
        for (;;) asm volatile("");
      }
      static_cast<void>(!write(ends[1], &spinner, sizeof spinner));
      _exit(0);
    }
    EXPECT_EQ(read(ends[0], &process_, sizeof process_), static_cast<ssize_t>(sizeof process_));
    close(ends[0]);
    close(ends[1]);
    waitpid(between, nullptr, 0);
  }
  Spinner(const Spinner&) = delete;
  Spinner& operator=(const Spinner&) = delete;
  ~Spinner() { kill(process_, SIGKILL); }

 private:
  pid_t process_ = 0;
};

TEST(WaitUntilQuiet, EndsWhenItsTimeIsUpAndSaysWhatOthersUse) {
  if (!machine_times()) GTEST_SKIP() << "the system does not tell the load of others";
  const Spinner spinner;
  int asked = 0;
  double left = 0;
  const auto begin = std::chrono::steady_clock::now();
  const std::string busy = wait_until_quiet(usable_cores(), 1.5, [&](const std::string& others, double seconds) {
    EXPECT_NE(others, "");
    ++asked;
    left = seconds;
  });
  EXPECT_NE(busy, "");
  EXPECT_GE(asked, 1);
  EXPECT_LT(left, 1.5);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST(WaitUntilQuiet, DoesNotWaitForLoadThatTakesNothingFromTheCase) {
  if (!machine_times()) GTEST_SKIP() << "the system does not tell the load of others";
  // A case without threads leaves all cores idle: whatever others use is none of its own. Steal may still be there.
  const auto begin = std::chrono::steady_clock::now();
  wait_until_quiet(-1000, 3, [](const std::string&, double) {});
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

}  // namespace
}  // namespace convladder
