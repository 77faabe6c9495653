// How fast the simulated device executes: thread-instructions per second of each CUDA stage on lenet72 conv2, with
// one host thread and with two, with the cache model and without, and with all checkers. Each figure is the best of
// three rounds that take all configurations in turn; ratios are of the same round's neighbours.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>
#include <vector>

#include "devices/ptx_images.hpp"
#include "devices/simulated/simulated_device.hpp"
#include "support/seeded_random.hpp"
#include "variants/convolution/registry.hpp"

namespace convladder {
namespace {

constexpr ConvShape kShape{8, 12, 33, 33, 24, 7};
constexpr int kRounds = 3;

struct Configuration {
  std::string_view title;
  simulated::SimulatedDeviceOptions options;
};

simulated::SimulatedDeviceOptions options_with(int host_threads, bool with_caches, bool checked) {
  simulated::SimulatedDeviceOptions options;
  if (checked) options.checkers = simulated::CheckerSet::all();
  options.host_threads = host_threads;
  options.with_caches = with_caches;
  return options;
}

const std::vector<Configuration>& configurations() {
  static const std::vector<Configuration> all = {
      {"1 thread", options_with(1, true, false)},
      {"2 threads", options_with(2, true, false)},
      {"no caches", options_with(1, false, false)},
      {"checked", options_with(1, true, true)},
  };
  return all;
}

/// 10^9 thread-instructions per second of one launch of the variant.
double speed_of(const RegisteredVariant& registered, const simulated::SimulatedDeviceOptions& options) {
  simulated::SimulatedDevice device(options);
  SeededRandom random(1, 0);
  std::vector<float> input(static_cast<std::size_t>(kShape.input_elements()));
  std::vector<float> weights(static_cast<std::size_t>(kShape.weight_elements()));
  for (float& x : input) x = static_cast<float>(random.between(-100, 100)) / 100.0F;
  for (float& w : weights) w = static_cast<float>(random.between(-100, 100)) / 100.0F;
  const DeviceBuffer x = device.allocate(input.size() * sizeof(float), "input");
  const DeviceBuffer y = device.allocate(static_cast<std::size_t>(kShape.output_elements()) * sizeof(float), "output");
  device.copy_to_device(x.address(), input.data(), x.bytes());
  const auto prepared = registered.variant->prepare(device, kShape, weights.data(), {x.floats(), y.floats()});
  device.set_grid_window(GridWindow{0, 1});
  prepared->convolve();  // decodes the kernel
  device.set_grid_window(std::nullopt);
  static_cast<void>(device.take_launches());
  const auto begin = std::chrono::steady_clock::now();
  prepared->convolve();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  std::uint64_t instructions = 0;
  for (const simulated::RecordedLaunch& launch : device.take_launches()) {
    for (const simulated::InstructionCounters& counters : launch.result.counters) instructions += counters.lanes;
  }
  return static_cast<double>(instructions) / elapsed.count() / 1e9;
}

int run() {
  if (ptx_images().empty()) {
    fmt::print("no PTX in this build: nothing to execute\n");
    return 0;
  }
  fmt::print("10^9 thread-instructions per second, lenet72 conv2, batch {}\n", kShape.batch);
  fmt::print("{:24}", "stage");
  for (const Configuration& configuration : configurations()) fmt::print("{:>12}", configuration.title);
  fmt::print("{:>14}{:>18}\n", "2 / 1 threads", "1 thread/checked");
  for (const RegisteredVariant& registered : registered_variants()) {
    if (registered.info.family != "cuda" || !registered.info.rung) continue;
    std::vector<double> best(configurations().size(), 0.0);
    for (int round = 0; round < kRounds; ++round) {
      for (std::size_t i = 0; i < best.size(); ++i) {
        best[i] = std::max(best[i], speed_of(registered, configurations()[i].options));
      }
    }
    fmt::print("{:24}", registered.info.name);
    for (const double speed : best) fmt::print("{:>12.2f}", speed);
    fmt::print("{:>14.2f}{:>18.2f}\n", best[1] / best[0], best[0] / best[3]);
  }
  return 0;
}

}  // namespace
}  // namespace convladder

int main() { return convladder::run(); }
