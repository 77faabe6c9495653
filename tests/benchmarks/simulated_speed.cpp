// How fast the simulated device executes: thread-instructions per second of each CUDA stage on lenet72 conv2, and of
// kernels as others write them, with one host thread and with two, with the cache model and without, with nothing
// counted, and with all checkers. Each figure is the best of three rounds that take all configurations in turn; ratios
// are of the best figures. Multiply-adds are of the first column: a product of matrices is one instruction, and many.
// With one host thread it is the process's CPU time that counts, which other programs disturb less. The stages, kernels
// and configurations ("no caches") that are named on the command line are all that is measured.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <ctime>
#include <span>
#include <string_view>
#include <vector>

#include "devices/ptx_images.hpp"
#include "simulator/device/simulated_device.hpp"
#include "simulator/instructions/matrix/matrix_fragment.hpp"
#include "simulator/ptx/parser.hpp"
#include "support/file_bytes.hpp"
#include "support/seeded_random.hpp"
#include "variants/convolution/conv_shape.hpp"
#include "variants/convolution/problem.hpp"

namespace convladder {
namespace {

constexpr ConvShape kShape{8, 12, 33, 33, 24, 7};
constexpr int kRounds = 3;

struct Configuration {
  std::string_view title;
  simulated::SimulatedDeviceOptions options;
  bool is_counted = true;
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
      {"uncounted", options_with(1, false, false), false},
      {"uncounted 2", options_with(2, false, false), false},
      {"checked", options_with(1, true, true)},
  };
  return all;
}

/// Seconds since some moment: of the process's CPU time with one host thread, which is then all that it has.
double seconds(const simulated::SimulatedDeviceOptions& options) {
  std::timespec now{};
  clock_gettime(options.host_threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

/// What the launches of a kernel do.
struct Work {
  std::uint64_t instructions = 0;  ///< of threads; 0: not known yet
  double multiply_adds = 0;        ///< in single precision or by tensor cores, of all threads
};

Work work_of(simulated::SimulatedDevice& device) {
  Work work;
  for (const simulated::RecordedLaunch& launch : device.take_launches()) {
    for (std::size_t i = 0; i < launch.result.counters.size(); ++i) {
      const simulated::InstructionCounters& counters = launch.result.counters[i];
      const std::string_view opcode = launch.program->kernel->instructions[i].opcode;
      work.instructions += counters.lanes;
      if (const auto product = simulated::matrix_product(opcode)) {
        work.multiply_adds += static_cast<double>(counters.warps * product->operations) / 2;
      } else if (opcode.starts_with("fma.") && opcode.ends_with(".f32")) {
        work.multiply_adds += static_cast<double>(counters.lanes);
      }
    }
  }
  return work;
}

/// 10^9 thread-instructions per second of what `run` launches. `work` is what these do, if that is known.
template <typename Run>
double speed_of(const Configuration& configuration, Work& work, simulated::SimulatedDevice& device, const Run& run) {
  device.set_grid_window(GridWindow{0, 1});
  run();  // decodes the kernel
  device.set_grid_window(std::nullopt);
  static_cast<void>(device.take_launches());
  if (!configuration.is_counted && work.instructions == 0) {
    run();
    work = work_of(device);
  }
  device.set_counting(configuration.is_counted);
  const double begin = seconds(configuration.options);
  run();
  const double elapsed = seconds(configuration.options) - begin;
  if (configuration.is_counted) work = work_of(device);
  return static_cast<double>(work.instructions) / elapsed / 1e9;
}

double speed_of(const ProblemVariant& registered, const Configuration& configuration, Work& work) {
  simulated::SimulatedDevice device(configuration.options);
  SeededRandom random(1, 0);
  std::vector<float> input(static_cast<std::size_t>(kShape.input_elements()));
  std::vector<float> weights(static_cast<std::size_t>(kShape.weight_elements()));
  for (float& x : input) x = static_cast<float>(random.between(-100, 100)) / 100.0F;
  for (float& w : weights) w = static_cast<float>(random.between(-100, 100)) / 100.0F;
  const DeviceBuffer x = device.allocate(input.size() * sizeof(float), "input");
  const DeviceBuffer y = device.allocate(static_cast<std::size_t>(kShape.output_elements()) * sizeof(float), "output");
  device.copy_to_device(x.address(), input.data(), x.bytes());
  const auto prepared =
      registered.variant->prepare(device, kShape, conv_tensors(kShape, x.floats(), weights.data(), y.floats()));
  return speed_of(configuration, work, device, [&] { prepared->run(); });
}

#ifdef CONVLADDER_EVERYDAY_PTX
/// A kernel of everyday_kernels.cu: its parameters are out, in, perhaps as many weights, and sizes.
struct EverydayKernel {
  std::string_view name;
  Dim3 grid;
  Dim3 block;
  std::size_t out_words = 0;
  std::size_t in_words = 0;
  std::vector<int> sizes;
  bool takes_weights = false;
};

/// In the order of the file.
const EverydayKernel kEverydayKernels[] = {
    {"matmul-8x8", {4, 3}, {16, 16}, 512 * 384, 512 * 384, {384, 384}, true},
    {"transpose", {64, 64}, {32, 8}, 2048 * 2048, 2048 * 2048, {2048}},
    {"mandelbrot", {32, 32}, {16, 16}, 512 * 512, 1, {512}},
    {"block-sums", {128}, {256}, 128, 1 << 22, {1 << 22}},
    {"histogram", {128}, {256}, 256, 1 << 22, {1 << 22}},
    {"softmax-rows", {256}, {256}, 2048 * 1024, 2048 * 1024, {1024}},
    {"spmv", {256}, {256}, 1 << 16, 17 << 16, {1 << 16}, true},
    {"matmul-uncoalesced", {8, 32}, {32, 8}, 256 * 256, 256 * 256, {256}, true},
    {"bitonic-sort", {256}, {512}, 1 << 17, 1 << 17, {1 << 17}},
    {"fft", {256}, {256}, 1 << 18, 1 << 18, {1 << 17}},
    {"tree-sums", {4096}, {256}, 4096, 1 << 20, {1 << 20}},
    {"arithmetic", {256}, {256}, 1 << 16, 1 << 16, {256}},
};

double speed_of(std::size_t number, const Configuration& configuration, Work& work) {
  static const ptx::Module module = ptx::parse_module(read_file_text(CONVLADDER_EVERYDAY_PTX), CONVLADDER_EVERYDAY_PTX);
  const EverydayKernel& kernel = kEverydayKernels[number];
  simulated::SimulatedDevice device(configuration.options);
  SeededRandom random(1, 0);
  std::vector<float> numbers(kernel.in_words);
  for (float& x : numbers) x = static_cast<float>(random.between(-1'000'000, 1'000'000)) / 1e6F;
  const DeviceBuffer out = device.allocate(kernel.out_words * sizeof(float), "out");
  const DeviceBuffer in = device.allocate(numbers.size() * sizeof(float), "in");
  const DeviceBuffer weights = device.allocate(numbers.size() * sizeof(float), "weights");
  device.copy_to_device(in.address(), numbers.data(), in.bytes());
  device.copy_to_device(weights.address(), numbers.data(), weights.bytes());
  KernelLaunch launch;
  launch.kernel = device.load(module, module.kernels.at(number));
  launch.grid = kernel.grid;
  launch.block = kernel.block;
  const auto add = [&launch](const auto& value) {
    launch.arguments.emplace_back(sizeof value);
    std::memcpy(launch.arguments.back().data(), &value, sizeof value);
  };
  add(out.address());
  add(in.address());
  if (kernel.takes_weights) add(weights.address());
  for (const int size : kernel.sizes) add(size);
  return speed_of(configuration, work, device, [&] { device.launch(launch); });
}
#endif

using Measured = std::vector<const Configuration*>;

/// Ratios only where all are measured.
template <typename SpeedOf>
void print_speeds(std::string_view name, const Measured& measured, const SpeedOf& speed_of) {
  std::vector<double> best(measured.size(), 0.0);
  Work work;
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t i = 0; i < best.size(); ++i) best[i] = std::max(best[i], speed_of(*measured[i], work));
  }
  fmt::print("{:24}", name);
  for (const double speed : best) fmt::print("{:>12.2f}", speed);
  fmt::print("{:>15.2f}", best[0] * work.multiply_adds / static_cast<double>(work.instructions));
  if (best.size() == configurations().size()) {
    fmt::print("{:>14.2f}{:>19.2f}{:>18.2f}", best[1] / best[0], best[3] / best[0], best[0] / best[5]);
  }
  fmt::print("\n");
}

int run(std::span<const std::string_view> names) {
  if (ptx_images().empty()) {
    fmt::print("no PTX in this build: nothing to execute\n");
    return 0;
  }
  const auto is_named = [names](std::string_view name) { return std::ranges::find(names, name) != names.end(); };
  Measured measured;
  for (const Configuration& configuration : configurations()) {
    if (is_named(configuration.title)) measured.push_back(&configuration);
  }
  const bool all_kernels = names.size() == measured.size();
  const auto is_asked_for = [&](std::string_view name) { return all_kernels || is_named(name); };
  if (measured.empty()) {
    for (const Configuration& configuration : configurations()) measured.push_back(&configuration);
  }
  fmt::print("10^9 thread-instructions per second, lenet72 conv2, batch {}\n", kShape.batch);
  fmt::print("{:24}", "stage");
  for (const Configuration* configuration : measured) fmt::print("{:>12}", configuration->title);
  fmt::print("{:>15}", "multiply-adds");
  if (measured.size() == configurations().size()) {
    fmt::print("{:>14}{:>19}{:>18}", "2 / 1 threads", "uncounted/1 thread", "1 thread/checked");
  }
  fmt::print("\n");
  for (const ProblemVariant& registered : convolution_problem().variants()) {
    if (registered.info.family != "cuda" || !registered.info.rung || !is_asked_for(registered.info.name)) continue;
    print_speeds(registered.info.name, measured, [&](const Configuration& configuration, Work& work) {
      return speed_of(registered, configuration, work);
    });
  }
#ifdef CONVLADDER_EVERYDAY_PTX
  fmt::print("everyday kernels\n");
  for (std::size_t i = 0; i < std::size(kEverydayKernels); ++i) {
    if (!is_asked_for(kEverydayKernels[i].name)) continue;
    print_speeds(kEverydayKernels[i].name, measured,
                 [&](const Configuration& configuration, Work& work) { return speed_of(i, configuration, work); });
  }
#else
  fmt::print("everyday kernels: left out, nvcc is not there to compile them\n");
#endif
  return 0;
}

}  // namespace
}  // namespace convladder

int main(int count, char** words) {
  const std::vector<std::string_view> names(words + 1, words + count);
  return convladder::run(names);
}
