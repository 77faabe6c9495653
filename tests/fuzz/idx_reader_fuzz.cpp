// libFuzzer target for the IDX parser. Whatever the bytes are, it returns well-formed content or throws UserError; and
// bytes that are not gzip are judged the same whether they come as they are or packed.
#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "datasets/byte_source.hpp"
#include "datasets/idx_reader.hpp"
#include "support/errors.hpp"

namespace {

using Bytes = std::span<const std::uint8_t>;

void require(bool condition) {
  if (!condition) std::abort();
}

void check_message(const convladder::UserError& error) {
  const std::string_view message = error.what();
  require(message.starts_with("fuzzed: byte "));
  require(message.find('\n') == std::string_view::npos);
}

std::optional<convladder::IdxImages> parse_images(Bytes file) {
  try {
    convladder::IdxImages images = convladder::parse_idx_images(file, "fuzzed");
    require(images.count > 0 && images.height > 0 && images.width > 0);
    require(images.pixels.size() == static_cast<std::uint64_t>(images.count) *
                                        static_cast<std::uint64_t>(images.height) *
                                        static_cast<std::uint64_t>(images.width));
    return images;
  } catch (const convladder::UserError& error) {
    check_message(error);
    return std::nullopt;
  }
}

std::optional<convladder::IdxLabels> parse_labels(Bytes file) {
  try {
    convladder::IdxLabels labels = convladder::parse_idx_labels(file, "fuzzed");
    require(!labels.labels.empty());
    return labels;
  } catch (const convladder::UserError& error) {
    check_message(error);
    return std::nullopt;
  }
}

std::vector<std::uint8_t> packed(Bytes data) {
  z_stream stream{};
  require(deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, MAX_WBITS + 16, 1, Z_DEFAULT_STRATEGY) == Z_OK);
  std::vector<std::uint8_t> result(deflateBound(&stream, data.size()));
  stream.next_in = const_cast<Bytef*>(data.data());
  stream.avail_in = static_cast<uInt>(data.size());
  stream.next_out = result.data();
  stream.avail_out = static_cast<uInt>(result.size());
  require(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  result.resize(stream.total_out);
  deflateEnd(&stream);
  return result;
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes file(data, size);
  const std::optional<convladder::IdxImages> images = parse_images(file);
  const std::optional<convladder::IdxLabels> labels = parse_labels(file);
  require(!(images && labels));  // the magic numbers differ
  if (convladder::is_gzip(file)) return 0;

  const std::vector<std::uint8_t> gzip = packed(file);
  const std::optional<convladder::IdxImages> unpacked_images = parse_images(gzip);
  const std::optional<convladder::IdxLabels> unpacked_labels = parse_labels(gzip);
  require(images.has_value() == unpacked_images.has_value() && labels.has_value() == unpacked_labels.has_value());
  if (images) require(images->pixels == unpacked_images->pixels && images->sha256 == unpacked_images->sha256);
  if (labels) require(labels->labels == unpacked_labels->labels && labels->sha256 == unpacked_labels->sha256);
  return 0;
}
