// Parses PTX text into a module.
#pragma once

#include <string>
#include <string_view>

#include "simulator/ptx/module.hpp"

namespace convladder::ptx {

/// Reads a whole PTX file. `file` is its name in messages. Throws PtxError for text that is not PTX. An error or an
/// unsupported thing within the body of a kernel is kept as that kernel's refusal.
Module parse_module(std::string_view source, const std::string& file);

}  // namespace convladder::ptx
