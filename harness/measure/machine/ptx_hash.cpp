#include "harness/measure/machine/ptx_hash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>

#include "devices/kernel_resources.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"

namespace convladder {
namespace {

bool is_directive(std::string_view line, std::string_view directive) {
  return line.starts_with(directive) && line.size() > directive.size() &&
         (line[directive.size()] == ' ' || line[directive.size()] == '\t');
}

bool holds(const EmbeddedFile& file, const KernelLaunch& launch) {
  const std::string name = kernel_mangled_name(launch.kernel);
  return !name.empty() && file.content.find(fmt::format(".entry {}(", name)) != std::string::npos;
}

void update(Sha256& sum, std::string_view text) {
  sum.update({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

}  // namespace

std::string executed_ptx(std::string_view ptx) {
  std::string kept;
  bool in_debug_section = false;
  while (!ptx.empty()) {
    const std::size_t end = std::min(ptx.find('\n'), ptx.size());
    std::string_view line = ptx.substr(0, end);
    ptx.remove_prefix(std::min(end + 1, ptx.size()));
    line = trimmed(line.substr(0, line.find("//")));
    if (line.empty()) continue;
    if (in_debug_section) {
      in_debug_section = !line.starts_with('}');
    } else if (line.starts_with(".section") && line.find(".debug") != std::string_view::npos) {
      in_debug_section = line.find('}') == std::string_view::npos;  // clang ends empty ones in the same line
    } else if (!is_directive(line, ".loc") && !is_directive(line, ".file")) {
      kept += line;
      kept += '\n';
    }
  }
  return kept;
}

std::string ptx_sha256(const PtxImages& images, const std::vector<KernelLaunch>& plan) {
  Sha256 sum;
  bool found = false;
  for (const EmbeddedFile& file : images.files) {
    if (!std::ranges::any_of(plan, [&](const KernelLaunch& launch) { return holds(file, launch); })) continue;
    found = true;
    update(sum, executed_ptx(file.content));
  }
  return found ? sum.hex() : std::string{};
}

std::vector<CompiledPtx> compiled_ptx() {
  std::vector<CompiledPtx> all;
  for (const PtxImages& images : ptx_images()) {
    Sha256 sum;
    for (const EmbeddedFile& file : images.files) {
      update(sum, fmt::format("{}\n", file.name));
      update(sum, executed_ptx(file.content));
    }
    all.push_back({std::string(images.compiler), std::string(images.version), sum.hex()});
  }
  return all;
}

}  // namespace convladder
