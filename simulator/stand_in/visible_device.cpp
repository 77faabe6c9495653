#include "simulator/stand_in/visible_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>

namespace convladder::stand_in {

std::string uuid_text() {
  std::string text = "GPU-";
  for (std::size_t i = 0; i < kDeviceUuid.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(kDeviceUuid[i]));
  }
  return text;
}

bool is_device_visible(const char* list) {
  if (list == nullptr) return true;
  std::string_view first = list;
  first = first.substr(0, first.find(','));
  first.remove_prefix(std::min(first.find_first_not_of(' '), first.size()));
  first = first.substr(0, first.find_last_not_of(' ') + 1);
  if (first.size() > 4 && first.starts_with("GPU-")) return uuid_text().starts_with(first);
  return !first.empty() && first.find_first_not_of('0') == std::string_view::npos;
}

}  // namespace convladder::stand_in
