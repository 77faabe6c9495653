// Other orders of a launch's work: which kernels are the same in all of them, and what is said of those that are not.
#include "simulator/device/other_orders.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <vector>

#include "simulator/marked_kernels.hpp"

namespace convladder::simulated {
namespace {

struct Tried {
  OrdersTried orders;
  std::vector<Finding> findings;
  std::map<std::string,std::string> why;
};

/// What other orders of the kernel's launch come to, without other checkers; none without PTX.
std::optional<Tried> tried(const MarkedKernel& marked, SchedulesWanted wanted) {
  SimulatedDeviceOptions options;
  options.host_threads = 1;
  options.schedules = wanted;
  options.checkers.memory = true;
  SimulatedDevice device(options);
  if (!run_marked(device, marked)) return std::nullopt;
  const auto orders = device.take_orders_tried();
  return Tried{orders.empty() ? OrdersTried() : orders.begin()->second, device.take_findings(), device.take_orders_not_tried()};
}

TEST(OtherOrders, Explore) {
  for (const char* const files : {"unsteady", "right", "lucky"}) {
    for (const MarkedKernel& kernel : marked_kernels(files)) {
      const auto found = tried(kernel, {static_cast<std::uint64_t>(std::atoi(std::getenv("N"))), 1});
      std::printf("%s %s: %lu orders, %lu differ, %lu fail, %lu sums, %lu complete, %.3f s\n", files,
                  kernel.name.c_str(), found->orders.orders, found->orders.differing, found->orders.failing,
                  found->orders.sums_only, found->orders.complete, found->orders.seconds);
      for (auto& [a,b]: found->why) std::printf("   !! %s\n", b.c_str());
      for (const Finding& one : found->findings) std::printf("    %s\n", to_text(one).c_str());
    }
  }
}

}  // namespace
}  // namespace convladder::simulated
