// Is the first stage of the CPU ladder a fair baseline? Measures it beside the six loops that anyone would write,
// compiled with the same flags, and beside the last stage.
//
//   cmake --build build/release --target baseline_ratio && build/release/tests/benchmarks/baseline_ratio
//
// The candidates are interleaved in a random order. A round gives one ratio of times taken right after each other,
// which drift hardly touches; printed are the median of the rounds' ratios and its confidence interval.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "devices/device_registry.hpp"
#include "harness/measure/statistics/statistics.hpp"
#include "variants/convolution/conv_shape.hpp"
#include "variants/convolution/problem.hpp"

namespace convladder {
namespace {

constexpr int kFewestRounds = 15;
constexpr int kMostRounds = 61;
constexpr double kSecondsPerLayer = 20;

/// The convolution as a textbook has it. The sizes are arguments of a function that is compiled on its own, so that the
/// compiler knows none of them.
[[gnu::noinline, gnu::noclone]] void six_loops(int batch, int channels, int height, int width, int maps, int kernel,
                                               const float* x, const float* w, float* y) {
  const int out_height = height - kernel + 1;
  const int out_width = width - kernel + 1;
#pragma omp parallel for collapse(2) schedule(static)
  for (int b = 0; b < batch; ++b) {
    for (int m = 0; m < maps; ++m) {
      for (int oh = 0; oh < out_height; ++oh) {
        for (int ow = 0; ow < out_width; ++ow) {
          const std::size_t out = ((std::size_t(b) * maps + m) * out_height + oh) * out_width + ow;
          y[out] = 0;
          for (int c = 0; c < channels; ++c) {
            for (int p = 0; p < kernel; ++p) {
              for (int q = 0; q < kernel; ++q) {
                y[out] += x[((std::size_t(b) * channels + c) * height + oh + p) * width + ow + q] *
                          w[((std::size_t(m) * channels + c) * kernel + p) * kernel + q];
              }
            }
          }
        }
      }
    }
  }
}

double milliseconds(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

void print_ratio(const char* what, const std::vector<double>& numerator, const std::vector<double>& denominator) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < numerator.size(); ++i) ratios.push_back(numerator[i] / denominator[i]);
  const auto interval = median_interval(ratios);
  fmt::print("  {:<28} {:7.3f}  [{:.3f}, {:.3f}]\n", what, median(ratios), interval->low, interval->high);
}

void require_same(const char* name, const std::vector<float>& output, const std::vector<float>& expected) {
  for (std::size_t i = 0; i < output.size(); ++i) {
    if (!(std::abs(output[i] - expected[i]) <= 1e-3F + 1e-4F * std::abs(expected[i]))) {
      throw std::runtime_error(fmt::format("{}: element {} is {}, expected {}", name, i, output[i], expected[i]));
    }
  }
}

void compare(const char* title, const ConvShape& shape) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> x(static_cast<std::size_t>(shape.input_elements()));
  std::vector<float> w(static_cast<std::size_t>(shape.weight_elements()));
  for (float& value : x) value = uniform(random);
  for (float& value : w) value = uniform(random);
  const std::vector<float> empty(static_cast<std::size_t>(shape.output_elements()), NAN);
  std::array<std::vector<float>, 3> outputs{empty, empty, empty};

  std::vector<const ProblemVariant*> stages;
  for (const ProblemVariant& one : convolution_problem().variants()) {
    if (one.info.family == "cpu" && one.info.rung) stages.push_back(&one);
  }
  std::unique_ptr<Device> device;
  for (const DeviceKind& kind : device_kinds()) {
    if (kind.name == "cpu") device = kind.open();
  }
  const auto first =
      stages.front()->variant->prepare(*device, shape, conv_tensors(shape, x.data(), w.data(), outputs[1].data()));
  const auto last =
      stages.back()->variant->prepare(*device, shape, conv_tensors(shape, x.data(), w.data(), outputs[2].data()));
  const std::array<std::function<void()>, 3> work{[&] {
                                                    six_loops(shape.batch, shape.in_channels, shape.height, shape.width,
                                                              shape.out_channels, shape.kernel, x.data(), w.data(),
                                                              outputs[0].data());
                                                  },
                                                  [&] { first->run(); }, [&] { last->run(); }};

  for (const auto& one : work) one();
  require_same("the first stage", outputs[1], outputs[0]);
  require_same("the last stage", outputs[2], outputs[0]);

  std::array<std::vector<double>, 3> times;
  std::array<int, 3> order{0, 1, 2};
  const auto begin = std::chrono::steady_clock::now();
  for (int round = 0; round < kMostRounds; ++round) {
    std::ranges::shuffle(order, random);
    for (const int candidate : order) times[candidate].push_back(milliseconds(work[candidate]));
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    if (round + 1 >= kFewestRounds && passed.count() > kSecondsPerLayer) break;
  }
  fmt::print("{}, {} rounds; medians: six loops {:.1f} ms, {} {:.1f} ms, {} {:.1f} ms\n", title, times[0].size(),
             median(times[0]), stages.front()->info.name, median(times[1]), stages.back()->info.name, median(times[2]));
  print_ratio("first stage / six loops", times[1], times[0]);
  print_ratio("first stage / last stage", times[1], times[2]);
}

}  // namespace
}  // namespace convladder

int main() try {
  using convladder::compare;
  compare("lenet28.conv1, batch 1000",
          {.batch = 1000, .in_channels = 1, .height = 28, .width = 28, .out_channels = 50, .kernel = 5});
  compare("lenet72.conv1, batch 1000",
          {.batch = 1000, .in_channels = 1, .height = 72, .width = 72, .out_channels = 12, .kernel = 7});
  compare("lenet72.conv2, batch 100",
          {.batch = 100, .in_channels = 12, .height = 33, .width = 33, .out_channels = 24, .kernel = 7});
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "baseline_ratio: {}\n", error.what());
  return 1;
}
