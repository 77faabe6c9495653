// NVIDIA's libraries by name: they hold machine code only.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace convladder::stand_in {

class Report;

/// Notes each loaded library of NVIDIA's that holds only machine code.
void note_libraries_without_ptx(Report& report);

/// Whether a library, given by its path or name, holds only machine code.
inline bool holds_no_ptx(std::string_view library) {
  constexpr std::array<std::string_view, 13> kBegins = {
      "libcublas", "libcudnn", "libcufft",  "libcusparse", "libcusolver", "libcurand",    "libcutensor",
      "libnccl",   "libnpp",   "libnvjpeg", "libnvinfer",  "libcudss",    "libcusparseLt"};
  library.remove_prefix(library.rfind('/') + 1);
  return std::ranges::any_of(kBegins, [library](std::string_view begin) { return library.starts_with(begin); });
}

inline std::string without_ptx_text(std::string_view library) {
  library.remove_prefix(library.rfind('/') + 1);
  return fmt::format("the program uses {}: NVIDIA's libraries hold no PTX, so what they launch cannot run here",
                     library);
}

}  // namespace convladder::stand_in
