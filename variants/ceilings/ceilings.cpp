#include "variants/ceilings/ceilings.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>

#include "support/text.hpp"

namespace convladder {
namespace {

// A function-local static: registrars run before main in no particular order of files.
std::map<std::string_view, PrepareCeilings>& families() {
  static std::map<std::string_view, PrepareCeilings> all;
  return all;
}

}  // namespace

PrepareCeilings find_ceilings(std::string_view family) {
  const auto found = families().find(family);
  return found == families().end() ? nullptr : found->second;
}

CeilingRegistration::CeilingRegistration(std::string_view family, PrepareCeilings prepare) {
  families()[family] = prepare;
}

std::size_t ceiling_buffer_bytes(std::size_t cache_bytes, std::size_t free_bytes, std::size_t multiple) {
  constexpr std::size_t kFewest = std::size_t{64} << 20;
  std::size_t bytes = std::min(std::max(4 * cache_bytes, kFewest), free_bytes / 8);
  constexpr const char* kVariable = "CONVLADDER_CEILING_MIB";
  if (const char* const most = std::getenv(kVariable); most != nullptr && *most != '\0') {
    bytes = std::min(bytes, static_cast<std::size_t>(parse_whole_number(kVariable, most, 1, 1 << 20)) << 20);
  }
  return std::max(bytes / multiple, std::size_t{1}) * multiple;
}

}  // namespace convladder
