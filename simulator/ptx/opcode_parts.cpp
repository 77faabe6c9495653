#include "simulator/ptx/opcode_parts.hpp"

#include <algorithm>
#include <string>

namespace convladder::ptx {

bool has_part(const OpcodeParts& parts, std::string_view part) { return std::ranges::find(parts, part) != parts.end(); }

std::vector<Type> types_in(const OpcodeParts& parts) {
  std::vector<Type> types;
  for (const std::string_view part : parts) {
    if (const auto type = type_of_suffix('.' + std::string(part))) types.push_back(*type);
  }
  return types;
}

int moved_bytes(const OpcodeParts& parts) {
  int elements = 1;
  for (const std::string_view part : parts) {
    if (part == "v2" || part == "v4" || part == "v8") elements = part[1] - '0';
  }
  const std::vector<Type> types = types_in(parts);
  return types.empty() ? 0 : elements * types.back().bytes();
}

}  // namespace convladder::ptx
