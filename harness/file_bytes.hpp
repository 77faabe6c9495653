// Whole files as bytes.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace convladder {

/// Throws UserError "FILE: cannot be read: why".
std::vector<std::byte> read_file_bytes(const std::string& file);
/// Throws UserError "FILE: cannot be written: why".
void write_file_bytes(const std::string& file, std::span<const std::byte> bytes);

}  // namespace convladder
