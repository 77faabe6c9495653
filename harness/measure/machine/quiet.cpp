#include "harness/measure/machine/quiet.hpp"

#include <chrono>
#include <optional>
#include <thread>

#include "harness/measure/machine/machine_load.hpp"
#include "harness/measure/machine/quality.hpp"

namespace convladder {

std::string wait_until_quiet(int threads, double most_seconds,
                             const std::function<void(const std::string& busy, double seconds_left)>& wait) {
  using Clock = std::chrono::steady_clock;
  constexpr auto kLook = std::chrono::milliseconds(500);
  constexpr int kQuietLooks = 2;
  const auto end = Clock::now() + std::chrono::duration<double>(most_seconds);
  std::optional<MachineTimes> before = machine_times();
  for (int quiet = 0; before;) {
    std::this_thread::sleep_for(kLook);
    const std::optional<MachineTimes> now = machine_times();
    if (!now) break;
    const std::string busy = busy_text(load_between(*before, *now), threads);
    quiet = busy.empty() ? quiet + 1 : 0;
    if (quiet >= kQuietLooks) return {};
    if (Clock::now() >= end) return busy;
    if (!busy.empty()) wait(busy, std::chrono::duration<double>(end - Clock::now()).count());
    before = now;
  }
  return {};
}

}  // namespace convladder
