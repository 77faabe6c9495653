// libFuzzer target for the lanes of a warp: a random program with branches, loops, early returns, barriers and votes
// gives what an interpreter gives that runs one thread at a time, and no checker finds anything.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "ptx_fuzzing.hpp"
#include "simulator/execution/random_programs.hpp"
#include "simulator/lane_kernel.hpp"

namespace convladder {
namespace {

/// The fuzzer's bytes, then zeros.
class Bytes {
 public:
  explicit Bytes(std::span<const std::uint8_t> bytes) : left_(bytes) {}
  unsigned next() {
    std::uint32_t value = 0;
    const std::size_t taken = std::min(left_.size(), sizeof value);
    std::memcpy(&value, left_.data(), taken);
    left_ = left_.subspan(taken);
    return value;
  }

 private:
  std::span<const std::uint8_t> left_;
};

}  // namespace
}  // namespace convladder

// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace convladder;
  using namespace convladder::simulated;
  using random_programs::kThreads;
  const auto program = random_programs::Generator(Bytes({data, size})).program();
  LaneKernel kernel(random_programs::Compiler().compile(program), Words(kThreads), kThreads);
  ptx::require(kernel.findings(kThreads, 512).empty());
  ptx::require(kernel.result() == random_programs::Interpreter().run(program));
  return 0;
}
