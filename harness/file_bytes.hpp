// Whole files as bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace convladder {

/// More than any record, table or index has: what a document may have at most, in bytes.
inline constexpr std::uint64_t kLargestDocument = std::uint64_t{256} << 20;

/// Reads a file, or a pipe such as a shell's <(command), of at most `most` bytes. Throws UserError "FILE: cannot be
/// read: why": also for a device or a folder, for what is larger, and for a pipe that nobody writes into.
std::vector<std::byte> read_file_bytes(const std::string& file, std::uint64_t most = kLargestDocument);
/// Writes a file so that it is either the old or the new one, never half of it: beside it, synchronised, renamed into
/// place. Throws UserError.
void write_file_atomically(const std::filesystem::path& path, const std::string& content);
/// The same for bytes.
void write_file_bytes(const std::string& file, std::span<const std::byte> bytes);

}  // namespace convladder
