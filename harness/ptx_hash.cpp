#include "harness/ptx_hash.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "datasets/sha256.hpp"
#include "devices/kernel_resources.hpp"

namespace convladder {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

bool holds(const EmbeddedFile& file, const KernelLaunch& launch) {
  const std::string name = kernel_mangled_name(launch.kernel);
  return !name.empty() && file.content.find(fmt::format(".entry {}(", name)) != std::string::npos;
}

}  // namespace

std::string ptx_without_positions(std::string_view ptx) {
  std::string kept;
  while (!ptx.empty()) {
    const std::size_t end = std::min(ptx.find('\n'), ptx.size());
    std::string_view line = ptx.substr(0, end);
    ptx.remove_prefix(std::min(end + 1, ptx.size()));
    line = trimmed(line.substr(0, line.find("//")));
    if (line.empty() || line.starts_with(".loc\t") || line.starts_with(".loc ") || line.starts_with(".file\t") ||
        line.starts_with(".file ")) {
      continue;
    }
    kept += line;
    kept += '\n';
  }
  return kept;
}

std::string ptx_sha256(const PtxImages& images, const std::vector<KernelLaunch>& plan) {
  std::string text;
  for (const EmbeddedFile& file : images.files) {
    if (std::ranges::any_of(plan, [&](const KernelLaunch& launch) { return holds(file, launch); })) {
      text += ptx_without_positions(file.content);
    }
  }
  if (text.empty()) return {};
  return sha256_hex({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

}  // namespace convladder
