// Reads whole files as bytes, and writes them so that nobody ever sees half of one.
//
// New content is written to a file beside the target that did not exist before, under a name that nobody else takes. It
// is synchronised and renamed, then the folder is synchronised. The old file stays whole until then, even on a full
// disk. Its mode and owner are kept; a new file has the mode that the umask allows. If the target is a link, the file
// that it names is replaced, and the link stays; a link to nothing is refused. A device or a pipe is written to
// directly, and so is a file that is this program's standard output.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace convladder {

/// The largest size of a document in bytes: more than any record, table or index has.
inline constexpr std::uint64_t kLargestDocument = std::uint64_t{256} << 20;

/// Reads a file, or a pipe such as a shell's <(command), of at most `most` bytes. Throws UserError "FILE: cannot be
/// read: why", also for a device or a folder, for a larger file, and for a pipe that nobody writes into.
std::vector<std::byte> read_file_bytes(const std::string& file, std::uint64_t most = kLargestDocument);
/// As `read_file_bytes`, with a text as the result.
std::string read_file_text(const std::string& file, std::uint64_t most = kLargestDocument);
/// Replaces a file or creates it, as the head of this file describes. Throws UserError.
void write_file_atomically(const std::filesystem::path& path, const std::string& content);
/// Creates a file that does not exist yet, not even as a link. Throws UserError; FileIsThere if it exists.
void create_file_atomically(const std::filesystem::path& path, const std::string& content);
/// As `write_file_atomically`, for bytes.
void write_file_bytes(const std::string& file, std::span<const std::byte> bytes);

/// As `write_file_atomically`, for content that is never in memory at once.
class GrowingFile {
 public:
  /// Throws UserError as `write_file_atomically` does, and for a target that is not a plain file.
  explicit GrowingFile(const std::filesystem::path& path);
  GrowingFile(const GrowingFile&) = delete;
  GrowingFile& operator=(const GrowingFile&) = delete;
  /// Without a call of `place`, nothing is written.
  ~GrowingFile();

  void write(std::string_view text);
  /// Puts the complete file in the old one's place. Called once, last.
  void place();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// Throws as `write_file_atomically` would if the file cannot be written; leaves nothing behind. For asking before work
/// that takes minutes.
void require_writable(const std::filesystem::path& path);

/// Removes files that writers of this file left beside it when they were killed. To be called only while holding the
/// lock that all its writers take.
void remove_unfinished_files(const std::filesystem::path& path) noexcept;

/// Removes the file that is being written, if one is. For a signal handler that ends the program.
void remove_file_being_written() noexcept;

/// A file that is built into the program by cmake/EmbedFiles.cmake.
struct EmbeddedFile {
  std::string name;  ///< base name, "lenet28.json"
  std::string content;
};

}  // namespace convladder
