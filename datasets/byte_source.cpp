#include "datasets/byte_source.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "support/errors.hpp"

namespace convladder {
namespace {

class PlainSource final : public ByteSource {
 public:
  PlainSource(std::span<const std::uint8_t> file, std::string file_name)
      : file_(file), file_name_(std::move(file_name)) {}

  std::size_t read(std::span<std::uint8_t> out) override {
    const std::size_t size = std::min(out.size(), file_.size() - position_);
    std::copy_n(file_.begin() + static_cast<std::ptrdiff_t>(position_), size, out.begin());
    position_ += size;
    return size;
  }

  std::uint64_t size_limit() const override { return file_.size(); }

  bool packed() const override { return false; }

  std::string place(std::uint64_t position) const override {
    return fmt::format("{}: byte {}: ", file_name_, position);
  }

 private:
  std::span<const std::uint8_t> file_;
  std::string file_name_;
  std::size_t position_ = 0;
};

/// Reads every member of a gzip file (RFC 1952 allows several, one after the other).
class GzipSource final : public ByteSource {
 public:
  GzipSource(std::span<const std::uint8_t> file, std::string file_name)
      : file_(file), file_name_(std::move(file_name)) {
    // 16 more than the window bits: zlib then expects a gzip header and checks CRC and length at the end.
    if (inflateInit2(&stream_, MAX_WBITS + 16) != Z_OK) throw UserError(file_name_ + ": zlib cannot be started");
  }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;
  ~GzipSource() override { inflateEnd(&stream_); }

  std::size_t read(std::span<std::uint8_t> out) override {
    std::size_t size = 0;
    while (size < out.size() && !at_end_) size += inflate_some(out.subspan(size));
    return size;
  }

  // Deflate spends at least two bits on its longest match, 258 bytes: 1032 bytes out of one.
  std::uint64_t size_limit() const override { return std::uint64_t{1032} * file_.size(); }

  bool packed() const override { return true; }

  std::string place(std::uint64_t position) const override {
    return fmt::format("{}: byte {} of the unpacked data: ", file_name_, position);
  }

 private:
  static constexpr std::size_t most_at_once = std::numeric_limits<uInt>::max();

  std::size_t inflate_some(std::span<std::uint8_t> out) {
    const auto given = static_cast<uInt>(std::min(file_.size() - consumed_, most_at_once));
    const auto wanted = static_cast<uInt>(std::min(out.size(), most_at_once));
    stream_.next_in = const_cast<Bytef*>(file_.data() + consumed_);  // zlib reads only
    stream_.avail_in = given;
    stream_.next_out = out.data();
    stream_.avail_out = wanted;
    const int status = inflate(&stream_, Z_NO_FLUSH);
    consumed_ += given - stream_.avail_in;
    if (status == Z_STREAM_END) {
      begin_next_member();
    } else if (status == Z_BUF_ERROR || (status == Z_OK && given == 0 && stream_.avail_out == wanted)) {
      throw UserError(fmt::format("{}: byte {}: the file ends inside the gzip stream", file_name_, consumed_));
    } else if (status != Z_OK) {
      throw UserError(fmt::format("{}: byte {}: the gzip stream is corrupt ({})", file_name_, consumed_,
                                  stream_.msg != nullptr ? stream_.msg : zError(status)));
    }
    return wanted - stream_.avail_out;
  }

  void begin_next_member() {
    at_end_ = consumed_ == file_.size();
    if (at_end_) return;
    if (!is_gzip(file_.subspan(consumed_))) {
      throw UserError(fmt::format("{}: byte {}: expected the end of the file after the gzip stream, found {} bytes",
                                  file_name_, consumed_, file_.size() - consumed_));
    }
    inflateReset(&stream_);
  }

  std::span<const std::uint8_t> file_;
  std::string file_name_;
  z_stream stream_{};
  std::size_t consumed_ = 0;
  bool at_end_ = false;
};

}  // namespace

bool is_gzip(std::span<const std::uint8_t> file) { return file.size() >= 2 && file[0] == 0x1f && file[1] == 0x8b; }

std::unique_ptr<ByteSource> open_byte_source(std::span<const std::uint8_t> file, const std::string& file_name) {
  if (is_gzip(file)) return std::make_unique<GzipSource>(file, file_name);
  return std::make_unique<PlainSource>(file, file_name);
}

}  // namespace convladder
