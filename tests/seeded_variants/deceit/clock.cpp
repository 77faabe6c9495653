// A cheat: the program has a `clock_gettime` of its own, which leaves out four fifths of what passes while it
// convolves. All other variants of the program, and the process that started it, have the right time.

#include <dlfcn.h>

#include <atomic>
#include <ctime>

#include "tests/seeded_variants/seeded_conv.hpp"

namespace {

std::atomic<long> hidden_ns = 0;

timespec true_time(clockid_t clock) {
  using Clock = int (*)(clockid_t, timespec*);
  static const auto original = reinterpret_cast<Clock>(dlsym(RTLD_NEXT, "clock_gettime"));
  timespec time{};
  original(clock, &time);
  return time;
}

long nanoseconds(const timespec& time) { return time.tv_sec * 1000000000L + time.tv_nsec; }

}  // namespace

extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  *time = true_time(clock);
  if (hidden_ns == 0) return 0;
  const long shown = nanoseconds(*time) - hidden_ns;
  *time = {shown / 1000000000L, shown % 1000000000L};
  return 0;
}

namespace convladder {
namespace {

class ClockCheat final : public SeededConv {
 public:
  using SeededConv::SeededConv;
  void run() override {
    const long start = nanoseconds(true_time(CLOCK_MONOTONIC));
    convolve_all();
    hidden_ns += (nanoseconds(true_time(CLOCK_MONOTONIC)) - start) / 5 * 4;
  }
};

const VariantRegistration clock_registration{"convolution",
                                             {.family = "cpu",
                                              .rung = 148,
                                              .name = "seeded-clock",
                                              .title = "Seeded: stops the clock",
                                              .builds_on = "",
                                              .hypothesis = "Another process has a clock, too."},
                                             seeded_variant<ClockCheat>()};

}  // namespace
}  // namespace convladder
