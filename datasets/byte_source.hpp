// The bytes of a file in memory, unpacked on the way if it is gzip. Only the requested part is unpacked, so a
// file that would unpack to far more than its header promises costs no memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace convladder {

class ByteSource {
 public:
  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource() = default;

  /// Fills `out` and returns how many bytes that took; fewer than its size only at the end of the data.
  /// Throws UserError where a gzip stream is corrupt, fails its CRC or ends too early.
  virtual std::size_t read(std::span<std::uint8_t> out) = 0;

  /// No more than this many bytes can come out in all. Exact for a file that is not packed.
  virtual std::uint64_t size_limit() const = 0;

  /// Whether the data are unpacked on the way.
  virtual bool packed() const = 0;

  /// The start of a message about the data at that position: "file.gz: byte 16 of the unpacked data: ".
  virtual std::string place(std::uint64_t position) const = 0;
};

/// Whether the bytes begin as a gzip file does (RFC 1952). The file's name does not matter.
bool is_gzip(std::span<const std::uint8_t> file);

/// Opens a source of the file's bytes. `file` must outlive it; `file_name` is what messages call it.
std::unique_ptr<ByteSource> open_byte_source(std::span<const std::uint8_t> file, const std::string& file_name);

}  // namespace convladder
