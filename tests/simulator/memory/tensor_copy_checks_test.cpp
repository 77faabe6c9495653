// What is said of copies by tensor map that are wrong, and what the checkers see of others.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "simulator/checkers/initialization_checker.hpp"
#include "simulator/checkers/race_checker.hpp"
#include "simulator/checkers/written_allocations.hpp"
#include "simulator/memory/tensor_case.hpp"

namespace convladder::simulated::tensor_copies {
namespace {

using testing::HasSubstr;

/// The message of the fault that a load of this box ends with.
std::string fault_of(const Case& box, std::uint64_t bytes_there = 20 * 208, bool garbage = false) {
  KernelRun run(tensor_kernel(fmt::format("add.u32 %r8, %r3, {}; cp.async.bulk.tensor.2d{} [%r8], {}, [%r7];", box.at,
                                          kTile, box.place("%rd3")),
                              ""));
  Case here = box;
  here.tensor.address = run.array(Bytes(bytes_there), "tensor");
  run.set(0, std::uint64_t{0});
  if (!garbage) run.set(1, here.map());
  set_numbers(run, here);
  try {
    run.launch({1}, {32});
  } catch (const KernelFault& fault) {
    return fault.what();
  }
  return "no fault";
}

TEST(TensorCopy, FindsWhatIsWrong) {
  const Case box = plain_case();
  EXPECT_EQ(fault_of(box), "no fault");
  EXPECT_THAT(fault_of(box, 20 * 208, true), HasSubstr("these 128 bytes are no tensor map"));
  EXPECT_THAT(fault_of(box, 10 * 208), HasSubstr("bytes past the end of 'tensor'"));
  Case other = box;
  other.at = 64;
  EXPECT_THAT(fault_of(other), HasSubstr("misaligned"));
  other = box;
  other.at = kShared - 128;
  EXPECT_THAT(fault_of(other), HasSubstr("of shared memory"));
  other = box;
  other.tensor.sizes = {100, 20, 1};
  other.tensor.strides = {208, 4160};
  other.box = {64, 8, 1};
  other.first = {3, 5, 0};
  Case named = other;
  named.first = {3, 5};  // what the instruction names
  KernelRun run(
      tensor_kernel("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd3, {%r10, %r11}], [%r3];", ""));
  other.tensor.address = run.array(Bytes(20 * 208), "tensor");
  run.set(1, other.map());
  EXPECT_THROW(run.launch({1}, {32}), KernelFault);
  other = box;
  other.tensor.sizes = {256, 256};
  other.tensor.strides = {512};
  other.box = {256, 256};
  EXPECT_THAT(fault_of(other), HasSubstr("a box of 131072 bytes, but the block has 12296 bytes of shared memory"));
  Case far = box;  // coordinates times strides leave 64 bits
  far.tensor.sizes = {100, 0x7fffffff};
  far.tensor.strides = {(std::uint64_t{1} << 40) - 16};
  far.first = {0, 0x7ffffff0};
  EXPECT_THAT(fault_of(far), HasSubstr("read of 128 bytes"));
}

/// What the checkers find. The tensor has so many bytes, of which the first `written` hold values.
std::vector<std::string> problems(const std::string& copy, const std::string& after, std::uint64_t written,
                                  std::uint64_t there = 20 * 208) {
  Case box = plain_case();
  box.box = {8, 8};  // 16 bytes a row
  KernelRun run(tensor_kernel(copy, after));
  box.tensor.address = run.array(noise_bytes(there), "tensor");
  run.set(0, run.array(Bytes(kShared), "out"));
  run.set(1, box.map());
  set_numbers(run, box);
  std::optional<RaceChecker> race;
  std::optional<InitializationChecker> initialization;
  WrittenMemory memory;
  memory.allocated(box.tensor.address, there);
  memory.written(box.tensor.address, written);
  LaunchConfiguration configuration;
  configuration.block = {32};
  configuration.collect_findings = true;
  const auto allocations = written_allocations(run.program(), run.parameters(), run.memory());
  const LaunchResult result = run.launch(configuration, [&](FindingLog& findings) {
    return std::vector<AccessObserver*>{&race.emplace(run.program(), allocations, findings),
                                        &initialization.emplace(memory, findings)};
  });
  std::vector<std::string> texts;
  for (const Finding& finding : result.findings.findings()) texts.push_back(to_text(finding));
  return texts;
}

TEST(TensorCopy, CheckersSeeWhatIsRead) {
  const std::string load = fmt::format("cp.async.bulk.tensor.2d{} [%r3], [%rd3, {{%r10, %r11}}], [%r7];", kTile);
  const std::string touch = "st.shared.u32 [%r3], %r1;\n";
  const std::string wait = "wait: mbarrier.try_wait.parity.shared.b64 %p3, [%r7], 0; @!%p3 bra wait;\n";
  EXPECT_THAT(problems(load, kWaitAndShow, 20 * 208), testing::IsEmpty());
  const std::uint64_t last_row = 12 * 208 + 6 + 16;
  EXPECT_THAT(problems(load, kWaitAndShow, last_row), testing::IsEmpty());
  EXPECT_THAT(problems(load, kWaitAndShow, last_row - 1),
              testing::ElementsAre(HasSubstr("initcheck: read of 16 bytes at byte 2502 of 'tensor'")));
  EXPECT_THAT(problems(load, "@%p2 " + touch + wait, 20 * 208), testing::Contains(HasSubstr("racecheck: write after")));
  EXPECT_THAT(problems(load, wait + "@%p2 " + touch, 20 * 208), testing::IsEmpty());
  const std::string store =
      "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd3, {%r10, %r11}], [%r3]; "
      "cp.async.bulk.commit_group;\n";
  const std::string wait_group = "@%p2 cp.async.bulk.wait_group 0; bar.sync 0;\n";
  EXPECT_THAT(problems(store, wait_group + "@%p2 " + touch, 0), testing::IsEmpty());
  EXPECT_THAT(problems(store, "@%p2 " + touch + wait_group, 0),
              testing::Contains(HasSubstr("racecheck: write after read at offset 0 of shared memory")));
}

TEST(TensorCopy, ACopyOfWhatThreadsHaveStoredNeedsAFence) {
  const std::string copy =
      "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd3, {%r10, %r11}], [%r3]; "
      "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n";
  const std::string meet = "bar.sync 0; @!%p2 bra end;\n";
  const auto found = [&](const std::string& before) {
    return problems("", "@%p2 st.shared.u32 [%r3], %r1;\n" + before + copy + "end:\n", 0);
  };
  EXPECT_THAT(found("fence.proxy.async.shared::cta; " + meet), testing::IsEmpty());
  EXPECT_THAT(found(meet + "fence.proxy.async;"), testing::IsEmpty());
  EXPECT_THAT(found(meet + "fence.proxy.async.global;"),
              testing::Contains(HasSubstr("racecheck: read after write, without fence.proxy.async")));
  EXPECT_THAT(found(meet), testing::Contains(HasSubstr("racecheck: read after write, without fence.proxy.async")));
}

TEST(TensorCopy, NobodyWaitsForeverForWhatCannotBeRead) {
  const std::string load = fmt::format("cp.async.bulk.tensor.2d{} [%r3], [%rd3, {{%r10, %r11}}], [%r7];", kTile);
  EXPECT_THAT(problems(load, kWaitAndShow, 10 * 208, 10 * 208),
              testing::ElementsAre(HasSubstr("memcheck: read of 16 bytes")));
  const std::string plain =
      "mov.u32 %r8, 128; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1+12288], %r8, "
      "[%r7];";
  EXPECT_THAT(problems(plain, kWaitAndShow, 20 * 208), testing::Contains(HasSubstr("memcheck: read of 128 bytes")));
  EXPECT_THAT(problems(plain, kWaitAndShow, 20 * 208), testing::Not(testing::Contains(HasSubstr("waits forever"))));
}

}  // namespace
}  // namespace convladder::simulated::tensor_copies
