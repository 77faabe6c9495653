#include "harness/commands/check_files.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "harness/commands/command.hpp"
#include "harness/commands/kernel_file_options.hpp"
#include "harness/commands/option_checks.hpp"
#include "harness/measure/simulation/kernel_lints.hpp"
#include "support/errors.hpp"
#include "support/printable.hpp"
#include "support/progress.hpp"
#include "support/text.hpp"

namespace convladder {

std::string CheckFileArguments::given() const {
  for (const auto& [name, value] :
       {std::pair("--block", &block), std::pair("--shared", &shared), std::pair("--gpu", &gpu),
        std::pair("--kernel", &kernels), std::pair("--compiler", &compiler.name),
        std::pair("--compiler-flags", &compiler.flags)}) {
    if (!value->empty()) return name;
  }
  return "";
}

void add_check_file_options(CLI::App& command, CheckFileArguments& arguments) {
  command.add_option("--block", arguments.block,
                     "of a file: threads of a block, X[,Y[,Z]] (default: as the kernel says, or 256)");
  command.add_option("--shared", arguments.shared, "of a file: bytes of dynamic shared memory (default: not known)");
  command.add_option("--gpu", arguments.gpu, "of a file: the GPU whose occupancy is told (default h100)");
  command.add_option("--kernel", arguments.kernels,
                     "of a file: only kernels whose names match this regular expression");
  add_compiler_options(command, arguments.compiler);
}

bool is_kernel_file(const std::string& name) { return is_cuda_source(name) || name.ends_with(".ptx"); }

int check_files(const std::vector<std::string>& files, const CheckFileArguments& arguments, const Printed& printed) {
  LintOptions options;
  options.compiler = arguments.compiler;
  if (!arguments.block.empty()) options.block = parse_block(arguments.block);
  if (!arguments.shared.empty()) {
    options.dynamic_bytes =
        static_cast<std::uint64_t>(parse_whole_number("--shared", arguments.shared, 0, kMostSharedBytes));
  }
  const std::string gpu = arguments.gpu.empty() ? kUsualGpu : arguments.gpu;
  require_gpu(gpu);
  options.gpu = find_gpu(gpu);
  options.kernels = TextPattern("--kernel", arguments.kernels);
  std::vector<LintedFile> linted;
  std::size_t kernels = 0;
  std::size_t findings = 0;
  std::size_t not_looked_at = 0;
  {
    Progress progress(nullptr, static_cast<int>(files.size()));
    for (const std::string& file : files) {
      if (!is_kernel_file(file)) throw UserError(fmt::format("{}: neither a .cu nor a .ptx file", printable(file)));
      progress.show(printable(file));
      const LintedFile& one = linted.emplace_back(lint_file(file, options));
      kernels += one.kernels.size();
      findings += one.count(simulated::Severity::finding);
      for (const simulated::LintedKernel& kernel : one.kernels) not_looked_at += kernel.not_looked_at.empty() ? 0 : 1;
      progress.finished();
    }
  }
  if (kernels == 0) {
    throw UserError(arguments.kernels.empty()
                        ? fmt::format("{}: no kernel in it", printable(files.front()))
                        : fmt::format("no kernel remains: --kernel '{}' matches none", printable(arguments.kernels)));
  }
  print_as(printed, lint_report(linted, printed.verbose), [&] { return lints_json(linted); });
  if (findings > 0) return kExitCasesFailed;
  return not_looked_at == kernels ? kExitInconclusive : kExitOk;
}

}  // namespace convladder
