#include "network/safetensors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>

#include "network/safetensors_header.hpp"
#include "support/half.hpp"
#include "support/json_text.hpp"

namespace convladder {
namespace {

static_assert(std::endian::native == std::endian::little, "values are copied as they lie in the file");

using Bytes = std::span<const std::uint8_t>;

constexpr std::size_t kLengthBytes = 8;
constexpr std::uint64_t kLongestHeader = 10'000'000;  // its JSON takes up to 40 times as much memory

template <typename Element>
void append_as_float(Bytes data, std::vector<float>& values) {
  if constexpr (std::is_same_v<Element, float>) {  // most of what is read, by every process of a network's case
    const std::size_t before = values.size();
    values.resize(before + data.size() / sizeof(float));
    if (!data.empty()) std::memcpy(values.data() + before, data.data(), data.size());
    return;
  }
  for (std::size_t at = 0; at < data.size(); at += sizeof(Element)) {
    Element element;
    std::memcpy(&element, data.data() + at, sizeof element);
    if constexpr (std::is_arithmetic_v<Element>) {
      values.push_back(static_cast<float>(element));
    } else {
      values.push_back(simulated::to_float(element));
    }
  }
}

void append_as_half(const std::vector<float>& values, std::string& content) {
  for (const float value : values) {
    const auto half = simulated::round_to<simulated::Half>(value);
    content.append(reinterpret_cast<const char*>(&half), sizeof half);
  }
}

/// A type of element that can be read.
struct ElementFormat {
  std::string_view name;
  std::uint64_t bytes;
  void (*append)(Bytes, std::vector<float>&);
};
constexpr ElementFormat kFormats[] = {{"F32", 4, append_as_float<float>},
                                      {"F64", 8, append_as_float<double>},
                                      {"F16", 2, append_as_float<simulated::Half>},
                                      {"BF16", 2, append_as_float<simulated::Bfloat16>}};

/// The product of the shape, or none if it is larger than `limit`.
std::optional<std::uint64_t> elements_up_to(std::span<const std::int64_t> shape, std::uint64_t limit) {
  if (std::ranges::find(shape, 0) != shape.end()) return 0;
  std::uint64_t elements = 1;
  for (const std::int64_t size : shape) {
    if (static_cast<std::uint64_t>(size) > limit / elements) return std::nullopt;
    elements *= static_cast<std::uint64_t>(size);
  }
  return elements;
}

class Reader {
 public:
  Reader(Bytes bytes, const std::string& file) : bytes_(bytes), file_(file) {}

  TensorFile read() {
    TensorHeader header = parse_tensor_header(header_text(), file_);
    check_places(header.entries);
    TensorFile content;
    for (const TensorEntry& entry : header.entries) content.tensors.push_back(read_tensor(entry));
    std::ranges::sort(content.tensors, {}, &Tensor::name);
    content.metadata = std::move(header.metadata);
    return content;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw UserError(fmt::format("{}: {}", file_, what)); }
  [[noreturn]] void fail(const TensorEntry& entry, const std::string& what) const {
    fail(fmt::format("{}: {}", tensor_text(entry.name), what));
  }

  std::string_view header_text() {
    if (bytes_.size() < kLengthBytes) {
      fail(fmt::format("byte 0: expected the 8 bytes of the header's length, the file has {}", bytes_.size()));
    }
    std::uint64_t length = 0;
    std::memcpy(&length, bytes_.data(), sizeof length);
    const std::uint64_t rest = bytes_.size() - kLengthBytes;
    if (length > kLongestHeader) {
      fail(fmt::format("byte 0: a header of {} bytes, expected at most {}", length, kLongestHeader));
    }
    if (length > rest) {
      fail(fmt::format("byte 0: a header of {} bytes, expected at most the {} that follow it in the file", length,
                       rest));
    }
    const std::string_view text(reinterpret_cast<const char*>(bytes_.data()) + kLengthBytes, length);
    if (!text.starts_with('{')) fail("byte 8: expected the header to start with '{'");
    data_ = bytes_.subspan(kLengthBytes + length);
    return text;
  }

  /// Together the tensors are the data: none reaches beyond them, no two overlap, and nothing lies between.
  void check_places(const std::vector<TensorEntry>& entries) const {
    std::vector<const TensorEntry*> ordered;
    for (const TensorEntry& entry : entries) {
      if (entry.begin > entry.end || entry.end > data_.size()) {
        fail(entry, fmt::format("data_offsets [{}, {}]: expected them within the {} bytes of data", entry.begin,
                                entry.end, data_.size()));
      }
      ordered.push_back(&entry);
    }
    std::ranges::sort(ordered, [](const TensorEntry* a, const TensorEntry* b) {
      return std::pair(a->begin, a->end) < std::pair(b->begin, b->end);
    });
    std::uint64_t end = 0;
    for (const TensorEntry* entry : ordered) {
      if (entry->begin != end) {
        fail(*entry, fmt::format("its data begins at {}, expected {}, where the previous data ends ({})", entry->begin,
                                 end, entry->begin < end ? "they overlap" : "there is a gap"));
      }
      end = entry->end;
    }
    if (end != data_.size()) {
      fail(fmt::format("the tensors end at byte {} of the data, expected {}, the end of the file", end, data_.size()));
    }
  }

  Tensor read_tensor(const TensorEntry& entry) const {
    const auto* const format = std::ranges::find(kFormats, entry.dtype, &ElementFormat::name);
    if (format == std::end(kFormats)) {
      fail(entry, fmt::format("dtype {} is not supported for weights; expected F32, F64, F16 or BF16",
                              in_quotes(entry.dtype)));
    }
    const std::uint64_t bytes = entry.end - entry.begin;
    const auto elements = elements_up_to(entry.shape, data_.size() / format->bytes);
    if (!elements) {
      fail(entry, fmt::format("shape {} of {} needs more than the {} bytes of data", shape_text(entry.shape),
                              format->name, data_.size()));
    }
    if (*elements * format->bytes != bytes) {
      fail(entry,
           fmt::format("shape {} of {} needs {} bytes, data_offsets [{}, {}] give it {}", shape_text(entry.shape),
                       format->name, *elements * format->bytes, entry.begin, entry.end, bytes));
    }
    Tensor tensor{.name = entry.name, .shape = entry.shape, .values = {}};
    tensor.values.reserve(*elements);
    format->append(data_.subspan(entry.begin, bytes), tensor.values);
    return tensor;
  }

  Bytes bytes_;
  Bytes data_;
  const std::string& file_;
};

}  // namespace

std::string shape_text(std::span<const std::int64_t> shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

TensorFile parse_safetensors(std::span<const std::uint8_t> bytes, const std::string& file) {
  return Reader(bytes, file).read();
}

std::string safetensors_content(std::vector<Tensor> tensors, const std::map<std::string, std::string>& metadata) {
  std::ranges::sort(tensors, {}, &Tensor::name);
  TensorHeader header;
  header.metadata = metadata;
  std::uint64_t end = 0;
  for (const Tensor& tensor : tensors) {
    const std::uint64_t begin = end;
    end += tensor.values.size() * (tensor.half ? sizeof(simulated::Half) : sizeof(float));
    header.entries.push_back({tensor.name, tensor.half ? "F16" : "F32", tensor.shape, begin, end});
  }
  std::string json = tensor_header_json(header);
  json.append(-json.size() % kLengthBytes, ' ');  // so that the values are aligned in a file that is mapped
  const std::uint64_t length = json.size();
  std::string content(reinterpret_cast<const char*>(&length), kLengthBytes);
  content += json;
  for (const Tensor& tensor : tensors) {
    if (tensor.half) {
      append_as_half(tensor.values, content);
      continue;
    }
    content.append(reinterpret_cast<const char*>(tensor.values.data()), tensor.values.size() * sizeof(float));
  }
  return content;
}

}  // namespace convladder
