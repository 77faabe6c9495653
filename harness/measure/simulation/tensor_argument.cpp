#include "harness/measure/simulation/tensor_argument.hpp"

#include <fmt/format.h>

#include <cstring>
#include <map>

#include "simulator/memory/tensor_map.hpp"
#include "support/errors.hpp"

namespace convladder {
namespace {

using simulated::TensorMap;
using simulated::TensorType;

/// Numbers of the API (cuda.h) by name.
using Names = std::map<std::string_view, int>;

const Names kTypes = {{"u8", 0},  {"u16", 1}, {"u32", 2}, {"i32", 3},  {"u64", 4},  {"i64", 5},
                      {"f16", 6}, {"f32", 7}, {"f64", 8}, {"bf16", 9}, {"tf32", 11}};
const Names kSwizzles = {
    {"none", 0}, {"32", 1}, {"64", 2}, {"128", 3}, {"128_atom_32", 4}, {"128_atom_32_flip_8", 5}, {"128_atom_64", 6}};
const Names kFills = {{"zero", 0}, {"nan", 1}};

class TensorParser {
 public:
  TensorParser(std::string_view what, std::string_view text) : what_(what), rest_(text) {}

  StructureValue parse() {
    BufferAddress address = parse_buffer_address(what_, take_field(rest_));
    tensor_.type = number_of(kTypes, "a type", take_field(rest_));
    tensor_.address = address.offset;  // the buffer's own beginning has every alignment that is needed
    tensor_.sizes = numbers<std::uint64_t>("sizes", take_field(rest_));
    while (!rest_.empty()) option(take_field(rest_));
    if (!has_strides_) side_by_side();
    const TensorMap map = encoded();
    StructureValue value;
    value.bytes.resize(sizeof map);
    std::memcpy(value.bytes.data(), &map, sizeof map);
    address.at = offsetof(TensorMap, address);
    value.addresses = {std::move(address)};
    value.alignment = 64;
    return value;
  }

 private:
  [[noreturn]] void fail(std::string_view what) const { throw UserError(fmt::format("{}: {}", what_, what)); }

  int number_of(const Names& names, std::string_view expected, std::string_view name) const {
    if (const auto found = names.find(name); found != names.end()) return found->second;
    std::string list;
    for (const auto& [each, number] : names) list += fmt::format("{}{}", list.empty() ? "" : ", ", each);
    fail(fmt::format("expected {} ({}), got '{}'", expected, list, name));
  }

  template <typename Number>
  std::vector<Number> numbers(std::string_view name, std::string_view text) const {
    if (auto values = parse_sizes<Number>(text)) return *std::move(values);
    fail(fmt::format("{}: expected whole numbers with x between them, got '{}'", name, text));
  }

  std::uint32_t single(std::string_view name, std::string_view text) const {
    const std::vector<std::uint32_t> values = numbers<std::uint32_t>(name, text);
    if (values.size() != 1) fail(fmt::format("{}: expected one number, got '{}'", name, text));
    return values[0];
  }

  void option(std::string_view text) {
    const std::size_t equals = text.find('=');
    const std::string_view name = text.substr(0, equals);
    const std::string_view value = equals == std::string_view::npos ? "" : text.substr(equals + 1);
    if (name == "box") {
      box_ = numbers<std::uint32_t>(name, value);
    } else if (name == "strides") {
      tensor_.strides = numbers<std::uint64_t>(name, value);
      has_strides_ = true;
    } else if (name == "steps") {
      tensor_.element_strides = numbers<std::uint32_t>(name, value);
    } else if (name == "swizzle") {
      tensor_.swizzle = number_of(kSwizzles, "a swizzle", value);
    } else if (name == "fill") {
      tensor_.fill = number_of(kFills, "a fill", value);
    } else if (name == "lower") {
      lower_ = numbers<int>(name, value);
    } else if (name == "upper") {
      upper_ = numbers<int>(name, value);
    } else if (name == "channels") {
      channels_ = single(name, value);
    } else if (name == "pixels") {
      pixels_ = single(name, value);
    } else {
      fail(fmt::format(
          "expected box=, strides=, steps=, swizzle=, fill=, lower=, upper=, channels= or pixels=, got '{}'", text));
    }
  }

  void side_by_side() {
    auto bytes = static_cast<std::uint64_t>(bits_of(static_cast<TensorType>(tensor_.type))) / 8;
    for (std::size_t i = 0; i + 1 < tensor_.sizes.size(); ++i) {
      if (__builtin_mul_overflow(bytes, tensor_.sizes[i], &bytes)) fail("the tensor is larger than 2^64 bytes");
      tensor_.strides.push_back(bytes);
    }
  }

  TensorMap encoded() const {
    const bool is_im2col = pixels_ > 0 || channels_ > 0 || !lower_.empty() || !upper_.empty();
    if (box_.empty() && !is_im2col) fail("box= is missing");
    if (!box_.empty() && is_im2col) fail("box= is for tiles; lower=, upper=, channels= and pixels= are for im2col");
    try {
      return is_im2col ? encode_im2col(tensor_, lower_, upper_, channels_, pixels_) : encode_tiled(tensor_, box_);
    } catch (const simulated::TensorMapError& error) {
      fail(error.what());
    }
  }

  std::string_view what_;
  std::string_view rest_;
  simulated::TensorDescription tensor_;
  bool has_strides_ = false;
  std::vector<std::uint32_t> box_;
  std::vector<int> lower_;
  std::vector<int> upper_;
  std::uint32_t channels_ = 0;
  std::uint32_t pixels_ = 0;
};

}  // namespace

StructureValue parse_tensor(std::string_view what, std::string_view text) { return TensorParser(what, text).parse(); }

}  // namespace convladder
