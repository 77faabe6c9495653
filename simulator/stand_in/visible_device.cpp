#include "simulator/stand_in/visible_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <numeric>
#include <optional>

namespace convladder::stand_in {

std::string uuid_text(int gpu) {
  const std::string uuid = device_uuid(gpu);
  std::string text = "GPU-";
  for (std::size_t i = 0; i < uuid.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(uuid[i]));
  }
  return text;
}

std::string bus_text(int gpu) { return fmt::format("0000:{:02x}:00.0", bus_of(gpu)); }

namespace {

/// The GPU that an entry of the list names.
std::optional<int> named(std::string_view entry, int gpus) {
  entry.remove_prefix(std::min(entry.find_first_not_of(' '), entry.size()));
  entry = entry.substr(0, entry.find_last_not_of(' ') + 1);
  if (entry.size() > 4 && entry.starts_with("GPU-")) {
    std::optional<int> found;
    for (int gpu = 0; gpu < gpus; ++gpu) {
      if (!uuid_text(gpu).starts_with(entry)) continue;
      if (found) return std::nullopt;  // it has to name one alone
      found = gpu;
    }
    return found;
  }
  int number = -1;
  const auto [end, error] = std::from_chars(entry.data(), entry.data() + entry.size(), number);
  const bool is_whole = error == std::errc() && end == entry.data() + entry.size();
  return is_whole && number >= 0 && number < gpus ? std::optional(number) : std::nullopt;
}

}  // namespace

std::string device_uuid(int gpu) { return std::string("convladder-gpu-") + "0123456789abcdef"[gpu]; }

std::vector<int> visible_devices(const char* list, int gpus) {
  std::vector<int> devices;
  if (list == nullptr) {
    devices.resize(static_cast<std::size_t>(gpus));
    std::iota(devices.begin(), devices.end(), 0);
    return devices;
  }
  std::string_view left = list;
  while (true) {
    const std::size_t comma = left.find(',');
    const std::optional<int> gpu = named(left.substr(0, comma), gpus);
    if (!gpu) return devices;
    if (std::ranges::find(devices, *gpu) != devices.end()) return {};
    devices.push_back(*gpu);
    if (comma == std::string_view::npos) return devices;
    left.remove_prefix(comma + 1);
  }
}

}  // namespace convladder::stand_in
