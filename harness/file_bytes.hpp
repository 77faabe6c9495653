// Whole files as bytes.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace convladder {

/// Throws UserError "FILE: cannot be read: why".
std::vector<std::byte> read_file_bytes(const std::string& file);
/// Writes a file so that it is either the old or the new one, never half of it: beside it, synchronised, renamed into
/// place. Throws UserError.
void write_file_atomically(const std::filesystem::path& path, const std::string& content);
/// The same for bytes.
void write_file_bytes(const std::string& file, std::span<const std::byte> bytes);

}  // namespace convladder
