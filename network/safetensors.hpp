// The safetensors format: named tensors in one file, which cannot hold code.
//
//   8 bytes            length of the header, little-endian
//   header             JSON: {"<tensor>": {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}, …,
//                             "__metadata__": {"<name>": "<text>", …}}, may end in spaces
//   the rest           the tensors' values, row by row, little-endian, without gaps; offsets count from here
//
// Source: "Format" in https://github.com/huggingface/safetensors. Nothing that a file says of itself is believed before
// its true size was asked: a lying length costs no memory.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "support/errors.hpp"

namespace convladder {

/// A tensor of any number of dimensions, none for a single value. `values` holds the product of `shape`, row by row.
struct Tensor {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<float> values;
  bool half = false;  ///< to be written as F16, rounded; never set by reading
};

/// A file's content: the tensors in the order of their names, which differ, and the "__metadata__".
struct TensorFile {
  std::vector<Tensor> tensors;
  std::map<std::string, std::string> metadata;
};

/// Parses a whole file that is already in memory. F32 is taken as it is, F64, F16 and BF16 become float; every other
/// type is refused. `file` is what messages call it.
/// Throws UserError, one line that names the file, the tensor or the byte, and what was expected there.
TensorFile parse_safetensors(std::span<const std::uint8_t> bytes, const std::string& file);

/// The bytes of a file with these tensors, as F32 or F16. The same content gives the same bytes, whatever the tensors'
/// order. The names must differ; metadata that is no UTF-8 gets replacement characters.
std::string safetensors_content(std::vector<Tensor> tensors, const std::map<std::string, std::string>& metadata);

/// "[50, 1, 5, 5]", as messages show a shape.
std::string shape_text(std::span<const std::int64_t> shape);

}  // namespace convladder
