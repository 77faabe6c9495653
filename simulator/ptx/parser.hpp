// PTX text to a module.
#pragma once

#include <string>
#include <string_view>

#include "simulator/ptx/module.hpp"

namespace convladder::ptx {

/// Reads a whole PTX file. `file` is what messages call it. Throws PtxError for text that is not PTX. What is wrong or
/// not supported within the body of a kernel is kept as that kernel's refusal.
Module parse_module(std::string_view source, const std::string& file);

}  // namespace convladder::ptx
