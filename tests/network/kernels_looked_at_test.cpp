// This build's own kernels, looked at without running them: nothing is wrong in any, whichever compiler made them. Many
// divide the thread's number by a parameter, and of such addresses nothing is known.
#include <gtest/gtest.h>

#include "devices/kernel_resources.hpp"
#include "devices/ptx_images.hpp"
#include "simulator/lints/lint.hpp"
#include "simulator/ptx/parser.hpp"

namespace convladder {
namespace {

TEST(KernelsLookedAt, HaveNoFindings) {
  if (ptx_images().empty()) GTEST_SKIP() << "no compiler for kernels in this build";
  for (const PtxImages& images : ptx_images()) {
    std::uint64_t accesses = 0;
    std::uint64_t understood = 0;
    for (const EmbeddedFile& file : images.files) {
      const ptx::Module module = ptx::parse_module(file.content, file.name);
      for (const ptx::Kernel& kernel : module.kernels) {
        const simulated::LintedKernel looked_at = simulated::lint(module, kernel, {.gpu = find_gpu(kUsualGpu)});
        EXPECT_EQ(looked_at.not_looked_at, "");
        accesses += looked_at.accesses;
        understood += looked_at.understood;
        for (const simulated::Lint& lint : looked_at.lints) {
          EXPECT_EQ(lint.severity, simulated::Severity::note) << images.compiler << ", " << display_name(kernel.name)
                                                              << ", PTX line " << lint.ptx_line << ": " << lint.problem;
        }
      }
    }
    EXPECT_GT(accesses, 0U);
    EXPECT_GT(understood, accesses / 4) << images.compiler << " of " << accesses;
  }
}

}  // namespace
}  // namespace convladder
