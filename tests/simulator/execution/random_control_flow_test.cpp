#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "sanitized.hpp"
#include "simulator/execution/random_programs.hpp"
#include "simulator/lane_kernel.hpp"

namespace convladder::simulated {
namespace {

struct Seeded {
  explicit Seeded(unsigned seed) : random(seed) {}
  unsigned next() { return static_cast<unsigned>(random()); }
  std::mt19937 random;
};

TEST(SimulatedConvergence, RandomControlFlowIsWhatEachThreadComputesAlone) {
  constexpr unsigned kPrograms = kSanitized ? 60 : 600;
  for (unsigned seed = 0; seed < kPrograms; ++seed) {
    const auto program = random_programs::Generator(Seeded(seed)).program();
    const std::string text = random_programs::Compiler().compile(program);
    LaneKernel kernel(text, Words(random_programs::kThreads), random_programs::kThreads);
    LaunchConfiguration configuration;
    configuration.block = {random_programs::kThreads};
    configuration.dynamic_shared_bytes = 512;
    configuration.collect_findings = true;
    const std::vector<Finding> findings = kernel.run.launch(configuration).findings.findings();
    const bool diverged = std::ranges::any_of(
        findings, [](const Finding& finding) { return finding.checker == Checker::synchronization; });
    ASSERT_FALSE(diverged) << to_text(findings.front()) << " in program " << seed << ":\n" << text;
    const auto expected = random_programs::Interpreter().run(program);
    ASSERT_EQ(kernel.result(), expected) << "program " << seed << ":\n" << text;
    LaneKernel uncounted(text, Words(random_programs::kThreads),
                         random_programs::kThreads);  // the warps go in lockstep
    configuration.collect_findings = false;
    configuration.is_counted = false;
    uncounted.run.launch(configuration);
    ASSERT_EQ(uncounted.result(), expected) << "with nothing counted, program " << seed << ":\n" << text;
  }
}

}  // namespace
}  // namespace convladder::simulated
