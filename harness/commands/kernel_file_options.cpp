#include "harness/commands/kernel_file_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <vector>

#include "harness/measure/plan/arguments.hpp"
#include "support/errors.hpp"
#include "support/text.hpp"

namespace convladder {
namespace {

// As kMostSharedBytes.
constexpr std::array<int, 3> kBlockLimits = {1024, 1024, 64};
constexpr unsigned kMostBlockThreads = 1024;

}  // namespace

void add_compiler_options(CLI::App& command, CudaCompiler& compiler) {
  command.add_option("--compiler", compiler.name,
                     "of a .cu file: nvcc, clang, or the path of one (default: who is there)");
  command.add_option("--compiler-flags", compiler.flags, "further flags for it, as in '-arch=sm_90 -DN=3'");
}

Dim3 parse_dim(const char* option, const std::string& text, const std::array<int, 3>& limits) {
  const std::vector<std::string> parts = split(text, ',');
  if (parts.empty() || parts.size() > 3) throw UserError(fmt::format("{} {}: expected X[,Y[,Z]]", option, text));
  std::array<unsigned, 3> sizes = {1, 1, 1};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    sizes[i] = static_cast<unsigned>(parse_whole_number(fmt::format("{} {}", option, text), parts[i], 1, limits[i]));
  }
  return {sizes[0], sizes[1], sizes[2]};
}

Dim3 parse_block(const std::string& text) {
  const Dim3 block = parse_dim("--block", text, kBlockLimits);
  const unsigned threads = block.x * block.y * block.z;
  if (threads > kMostBlockThreads) {
    throw UserError(fmt::format("--block {}: {} threads, a block has at most {}", text, threads, kMostBlockThreads));
  }
  return block;
}

}  // namespace convladder
