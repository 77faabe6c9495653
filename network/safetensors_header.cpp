#include "network/safetensors_header.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "support/json_place.hpp"
#include "support/json_text.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kMetadata = "__metadata__";
constexpr std::size_t kMostDimensions = 8;

TensorEntry read_entry(const std::string& name, const JsonPlace& place) {
  TensorEntry entry{.name = name, .dtype = place.at("dtype").text(), .shape = {}};
  entry.shape = place.at("shape").wholes<std::int64_t>(0, INT64_MAX);
  if (entry.shape.size() > kMostDimensions) {
    place.at("shape").expected(fmt::format("at most {} dimensions", kMostDimensions));
  }
  const auto offsets = place.at("data_offsets").wholes<std::uint64_t>(0, UINT64_MAX, 2);
  entry.begin = offsets[0];
  entry.end = offsets[1];
  place.refuse_others();
  return entry;
}

}  // namespace

std::string tensor_text(const std::string& name) { return fmt::format("tensor {}", in_quotes(name)); }

TensorHeader parse_tensor_header(std::string_view text, const std::string& file) {
  const std::string place = file + ": header";
  const ordered_json json = parse_json(text, place, "that of tensors");
  TensorHeader header;
  for (const auto& [name, value] : JsonPlace(json, place).fields()) {
    if (name != kMetadata) {
      header.entries.push_back(read_entry(name, value));
      continue;
    }
    for (const auto& [key, what] : value.fields()) header.metadata[key] = what.text();
  }
  return header;
}

std::string tensor_header_json(const TensorHeader& header) {
  ordered_json json = ordered_json::object();
  if (!header.metadata.empty()) json[std::string(kMetadata)] = header.metadata;
  for (const TensorEntry& entry : header.entries) {
    json[entry.name] = {{"dtype", entry.dtype}, {"shape", entry.shape}, {"data_offsets", {entry.begin, entry.end}}};
  }
  return json_line(json);
}

}  // namespace convladder
