#include "devices/cuda/cuda_versions.hpp"

#include <fmt/format.h>

#include <charconv>

#include "support/text.hpp"

namespace convladder {
namespace {

std::string version_text(int number) { return fmt::format("{}.{}", number / 1000, number % 1000 / 10); }

/// The oldest driver of a CUDA generation: CUDA Toolkit Release Notes, "CUDA Toolkit and Minimum Required Driver
/// Version for CUDA Minor Version Compatibility". 0 for one that is not known here.
int oldest_driver(int cuda_major) {
  if (cuda_major == 11) return 450;
  if (cuda_major == 12) return 525;
  return cuda_major == 13 ? 580 : 0;
}

}  // namespace

std::string driver_too_old(int driver_cuda, int runtime_cuda, std::string_view driver) {
  const int oldest = oldest_driver(runtime_cuda / 1000);
  const std::string needed = fmt::format("this program needs CUDA {}{}", version_text(runtime_cuda),
                                         oldest == 0 ? "" : fmt::format(", driver {} or later", oldest));
  if (driver_cuda == 0 && driver.empty()) return "no NVIDIA driver here; " + needed;
  std::string has = driver.empty() ? "the driver" : fmt::format("driver {}", driver);
  if (driver_cuda != 0) has += fmt::format(" runs CUDA up to {}", version_text(driver_cuda));
  return fmt::format("{}; {}", has, needed);
}

bool has_machine_code(std::string_view architectures, int major, int minor) {
  for (const std::string_view one : split(architectures, ',')) {
    int number = 0;
    const auto [end, error] = std::from_chars(one.data(), one.data() + one.size(), number);
    if (error != std::errc()) continue;
    const std::string_view kind(end, static_cast<std::size_t>(one.data() + one.size() - end));
    if (kind.ends_with("-virtual") || number / 10 != major) continue;
    // "90a" is for 9.0 alone, "100f" for its family; "90" for later GPUs of that generation too.
    const bool alone = kind.starts_with('a');
    if (alone ? number % 10 == minor : number % 10 <= minor) return true;
  }
  return false;
}

}  // namespace convladder
