// The kernels of a PTX text and their parameters, as a launch needs them. Nothing else of the text is looked at:
// whether it is valid is for the driver to say.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace convladder {

struct PtxParameter {
  std::string type;       ///< ".u64", or ".b8[32]" for an array
  std::size_t bytes = 0;  ///< of all its elements; 0 where the type is unknown
};

struct PtxEntry {
  std::string name;
  std::vector<PtxParameter> parameters;
};

/// The kernels in the order of the text; a declaration without a body counts as well.
std::vector<PtxEntry> ptx_entries(std::string_view text);

}  // namespace convladder
