// libFuzzer target for safetensors. Whatever the bytes are, they are tensors that fill their shapes or a UserError in
// one line; what was read is written, and read back, the same.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "network/safetensors.hpp"

namespace convladder {
namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

void check(const TensorFile& content, std::size_t file_size) {
  std::uint64_t all = 0;
  for (const Tensor& tensor : content.tensors) {
    std::uint64_t elements = 1;
    for (const std::int64_t size : tensor.shape) elements *= static_cast<std::uint64_t>(size);
    require(tensor.values.size() == elements);
    all += elements;
  }
  require(all * 2 <= file_size);  // two bytes an element are the least

  const std::string written = safetensors_content(content.tensors, content.metadata);
  const TensorFile again =
      parse_safetensors({reinterpret_cast<const std::uint8_t*>(written.data()), written.size()}, "written");
  require(again.metadata == content.metadata && again.tensors.size() == content.tensors.size());
  for (std::size_t i = 0; i < content.tensors.size(); ++i) {
    require(again.tensors[i].name == content.tensors[i].name && again.tensors[i].shape == content.tensors[i].shape);
    require(same_bits(again.tensors[i].values, content.tensors[i].values));
  }
}

}  // namespace
}  // namespace convladder

// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    convladder::check(convladder::parse_safetensors({data, size}, "fuzzed"), size);
  } catch (const convladder::UserError& error) {
    const std::string_view message = error.what();
    convladder::require(message.starts_with("fuzzed: ") && message.find('\n') == std::string_view::npos);
  }
  return 0;
}
