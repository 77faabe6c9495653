// libFuzzer target for network files. Whatever the text is, it is a network whose layers fit together, or a
// UserError that names the file in one line.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string_view>

#include "network/network.hpp"
#include "network/weights.hpp"
#include "support/errors.hpp"

namespace convladder {
namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void check(const Network& network) {
  require(!network.name.empty() && !network.title.empty() && !network.layers.empty());
  ActivationShape shape = network.input;
  std::set<std::string> names;
  for (const Layer& layer : network.layers) {
    require(names.insert(layer.name).second);
    require(layer.input == shape);
    shape = layer.output;
    require(shape.channels > 0 && shape.height > 0 && shape.width > 0);
    if (layer.type == LayerType::convolution) require(size_error(layer.size).empty());
    if (!has_weights(layer)) continue;
    // As many weights as can be counted.
    std::int64_t elements = 1;
    for (const std::int64_t size : weight_shape(layer)) {
      require(size > 0 && !__builtin_mul_overflow(elements, size, &elements));
    }
  }
}

}  // namespace
}  // namespace convladder

// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    convladder::check(convladder::parse_network({reinterpret_cast<const char*>(data), size}, "fuzzed"));
  } catch (const convladder::UserError& error) {
    const std::string_view message = error.what();
    convladder::require(message.starts_with("fuzzed: ") && message.find('\n') == std::string_view::npos);
  }
  return 0;
}
