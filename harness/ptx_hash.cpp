#include "harness/ptx_hash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>

#include "datasets/sha256.hpp"
#include "devices/ptx_images.hpp"

namespace convladder {
namespace {

void update(Sha256& sum, std::string_view text) {
  sum.update({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

}  // namespace

std::string executed_ptx(std::string_view ptx) {
  std::string kept;
  bool in_debug_section = false;
  while (!ptx.empty()) {
    const std::size_t end = std::min(ptx.find('\n'), ptx.size());
    const std::string_view line = ptx.substr(0, end);
    ptx.remove_prefix(std::min(end + 1, ptx.size()));
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) continue;
    const std::string_view text = line.substr(first);
    if (in_debug_section) {
      in_debug_section = !text.starts_with('}');
    } else if (text.starts_with(".section") && text.find(".debug") != std::string_view::npos) {
      in_debug_section = text.find('}') == std::string_view::npos;  // clang ends empty ones in the same line
    } else if (!text.starts_with("//") && !text.starts_with(".file") && !text.starts_with(".loc\t") &&
               !text.starts_with(".loc ")) {
      kept += text;
      kept += '\n';
    }
  }
  return kept;
}

nlohmann::ordered_json ptx_json() {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const PtxImages& images : ptx_images()) {
    Sha256 sum;
    for (const EmbeddedFile& file : images.files) {
      update(sum, fmt::format("{}\n", file.name));
      update(sum, executed_ptx(file.content));
    }
    list.push_back({{"compiler", images.compiler}, {"version", images.version}, {"sha256", sum.hex()}});
  }
  return list;
}

}  // namespace convladder
