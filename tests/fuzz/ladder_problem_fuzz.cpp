// libFuzzer target for problem.json and the heads of stages. Whatever the text is, it is a problem whose sizes have
// values or say why not, or a UserError that names the file in one line.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include "ladders/problem_file.hpp"
#include "ladders/stage_source.hpp"
#include "support/errors.hpp"

namespace convladder {
namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void check(const LadderProblem& problem) {
  require(!problem.name.empty() && !problem.sizes.empty() && !problem.signature(true).empty());
  for (const int value : {1, 2, 7, 1000}) {
    try {
      const SizeValues size = problem.size_values(std::vector<int>(problem.dimensions.size(), value));
      for (const LadderTensor& one : problem.tensors) require(problem.elements(one, size) > 0);
      require(problem.flop.value(size) > 0);
    } catch (const std::invalid_argument& error) {
      require(std::string_view(error.what()).find('\n') == std::string_view::npos);
    }
  }
}

template <typename Read>
void read_one(const Read& read) {
  try {
    read();
  } catch (const UserError& error) {
    const std::string_view message = error.what();
    require(message.starts_with("fuzzed:") && message.find('\n') == std::string_view::npos);
  }
}

}  // namespace
}  // namespace convladder

// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  convladder::read_one([&] { convladder::check(convladder::parse_problem(text, "fuzzed")); });
  convladder::read_one([&] { static_cast<void>(convladder::parse_stage(text, "01_fuzzed.cu", "fuzzed")); });
  return 0;
}
