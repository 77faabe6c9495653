// libFuzzer target for the PTX reader. Whatever the bytes are, they are a module or a PtxError with its place; and each
// kernel of a module can be decoded or is refused the same way, and is looked at without running it.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "ptx_fuzzing.hpp"
#include "simulator/gpus/gpu_facts.hpp"
#include "simulator/instructions/decoder.hpp"
#include "simulator/lints/lint.hpp"
#include "simulator/ptx/parser.hpp"
#include "simulator/state/program.hpp"

namespace convladder {
namespace {

void decode_kernel(const ptx::Module& module, const ptx::Kernel& kernel) {
  try {
    const simulated::Program program =
        simulated::decode(module, kernel, [](const ptx::Symbol& /*symbol*/) { return std::uint64_t{1} << 44; });
    ptx::require(program.block_of_operation.size() > program.operations.size());
    ptx::require(program.parameter_offsets.size() == kernel.parameters.size());
    int end = 0;
    for (const simulated::ProgramBlock& block : program.blocks) {
      ptx::require(block.first == end && block.end >= block.first);
      ptx::require(block.reconvergence >= 0 && block.reconvergence <= static_cast<int>(program.operations.size()));
      end = block.end;
    }
    ptx::require(end == static_cast<int>(program.operations.size()));
  } catch (const ptx::PtxError& error) {
    ptx::require_place_and_one_line(error.what());
  }
}

}  // namespace
}  // namespace convladder

// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace convladder;
  try {
    const ptx::Module module = ptx::parse_module({reinterpret_cast<const char*>(data), size}, "fuzzed");
    for (const ptx::Kernel& kernel : module.kernels) {
      decode_kernel(module, kernel);
      static_cast<void>(simulated::lint(module, kernel, {.gpu = find_gpu(kUsualGpu)}));
    }
  } catch (const ptx::PtxError& error) {
    ptx::require_place_and_one_line(error.what());
  }
  return 0;
}
