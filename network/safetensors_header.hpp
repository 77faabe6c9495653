// The JSON at the beginning of a safetensors file.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace convladder {

/// A tensor's entry in a header, not checked yet.
struct TensorEntry {
  std::string name;
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;  ///< in bytes, from the end of the header
  std::uint64_t end = 0;
};

struct TensorHeader {
  std::vector<TensorEntry> entries;  ///< in the file's order; their names differ
  std::map<std::string, std::string> metadata;
};

/// Parses `json`, the header of the file that messages call `file`. Throws UserError: no JSON, not this form, a name
/// twice, a field missing, a number that is not whole.
TensorHeader parse_tensor_header(std::string_view json, const std::string& file);

/// A tensor as messages name it: `tensor "conv1.weight"`.
std::string tensor_text(const std::string& name);

/// The header as JSON, in the order of the entries.
std::string tensor_header_json(const TensorHeader& header);

}  // namespace convladder
