// PTX text to a module.
#pragma once

#include <string>
#include <string_view>

#include "devices/simulated/ptx/module.hpp"

namespace convladder::ptx {

/// Reads a whole PTX file. `file` is what messages call it. Throws PtxError for text that is not PTX, for names that
/// are not declared, and for what PTX has but this reader does not (device functions that are called, textures).
Module parse_module(std::string_view source, const std::string& file);

}  // namespace convladder::ptx
