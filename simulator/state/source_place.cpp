#include "simulator/state/source_place.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "simulator/ptx/module.hpp"

namespace convladder::simulated {
namespace {

/// Headers of the toolkit with code for the device, as PTX names them whose folders were removed.
constexpr std::array<std::string_view, 9> kBareHeaders = {"cuda_bf16.hpp",
                                                          "cuda_fp16.hpp",
                                                          "cuda_fp8.hpp",
                                                          "device_atomic_functions.hpp",
                                                          "device_functions.hpp",
                                                          "math_functions.hpp",
                                                          "mma.hpp",
                                                          "surface_indirect_functions.h",
                                                          "texture_indirect_functions.h"};

/// Whether a source came with the toolkit or the compiler, wherever they are installed. Headers of other libraries hold
/// code that a reader of findings wants to see.
bool is_of_the_toolkit(std::string_view path) {
  if (path.find("/cuda_without_toolkit/") != std::string_view::npos) return true;
  if (path.find('/') == std::string_view::npos) {
    const bool is_of_architecture = path.starts_with("sm_") && path.ends_with("s.hpp");  // sm_30_intrinsics.hpp
    return is_of_architecture || std::ranges::find(kBareHeaders, path) != kBareHeaders.end();
  }
  if (path.find("/include/") == std::string_view::npos) return false;
  return path.starts_with("/usr/include/") || path.starts_with("/usr/lib/") ||
         path.find("/targets/") != std::string_view::npos || path.find("/cuda/include/") != std::string_view::npos;
}

}  // namespace

std::vector<SourcePlace> places_of(const ptx::Module& module, const ptx::SourceLocation& location) {
  constexpr std::size_t kMostPlaces = 12;
  std::vector<SourcePlace> all;
  std::vector<SourcePlace> own;
  ptx::SourceLocation at = location;
  while (at.line > 0 && all.size() < kMostPlaces) {
    const std::string path = module.source_name(at.file);
    const SourcePlace place{path.substr(path.find_last_of('/') + 1), at.line};
    if (all.empty() || !(all.back() == place)) {
      all.push_back(place);
      if (!is_of_the_toolkit(path)) own.push_back(place);
    }
    if (at.caller < 0) break;
    at = module.inlined_calls[static_cast<std::size_t>(at.caller)];
  }
  own.erase(std::unique(own.begin(), own.end()), own.end());
  return own.empty() ? all : own;
}

std::string place_text(const SourcePlace& place) { return fmt::format("{} line {}", place.file, place.line); }

}  // namespace convladder::simulated
