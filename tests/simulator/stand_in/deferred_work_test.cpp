#include "simulator/stand_in/deferred_work.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <string>

#include "simulator/ptx/parser.hpp"

namespace convladder::stand_in {
namespace {

constexpr std::uint32_t kCount = 64;

constexpr const char* kKernels = R"(
.version 8.0
.target sm_75
.address_size 64
.visible .entry twice(.param .u64 in, .param .u64 out)
{
  .reg .b64 %a<4>;
  .reg .b32 %r<4>;
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %a1, %r1, 4;
  ld.param.u64 %a2, [in];
  add.u64 %a2, %a2, %a1;
  ld.global.u32 %r2, [%a2];
  add.u32 %r2, %r2, %r2;
  ld.param.u64 %a3, [out];
  add.u64 %a3, %a3, %a1;
  st.global.u32 [%a3], %r2;
  ret;
}
.visible .entry count(.param .u64 out)
{
  .reg .b64 %a<2>;
  .reg .b32 %r<2>;
  ld.param.u64 %a1, [out];
  atom.global.add.u32 %r1, [%a1], 1;
  ret;
}
)";

/// A device with an array that goes in, one that comes out, and a third; and kernels on them that are put off.
class Deferred : public testing::Test {
 protected:
  Deferred() : in_(array("in")), out_(array("out")), other_(array("other")) {
    std::vector<std::uint32_t> values(kCount);
    std::iota(values.begin(), values.end(), 1U);
    write(in_, values);
  }

  DeviceBuffer array(const char* label) { return device_.allocate(kCount * sizeof(std::uint32_t), label); }

  /// The host writes past what is put off.
  void write(const DeviceBuffer& to, const std::vector<std::uint32_t>& values) {
    work_.settle();
    device_.copy_to_device(to.address(), values.data(), values.size() * sizeof values[0]);
    work_.wrote(begin_of(to));
  }
  std::vector<std::uint32_t> read(const DeviceBuffer& from) {
    work_.settle();
    std::vector<std::uint32_t> values(kCount);
    device_.copy_to_host(values.data(), from.address(), kCount * sizeof values[0]);
    return values;
  }
  static std::uint64_t begin_of(const DeviceBuffer& buffer) {
    return reinterpret_cast<std::uint64_t>(buffer.address());
  }

  std::shared_ptr<const DeferredOperation> kernel(const std::string& name, const std::vector<const DeviceBuffer*>& at) {
    KernelLaunch launch;
    launch.kernel = device_.load(module_, *module_.find_kernel(name));
    launch.block = {kCount};
    std::vector<std::uint64_t> words = {std::hash<std::string>()(name)};
    for (const DeviceBuffer* buffer : at) {
      const std::uint64_t address = begin_of(*buffer);
      words.push_back(address);
      std::vector<std::byte>& argument = launch.arguments.emplace_back(sizeof address);
      std::memcpy(argument.data(), &address, sizeof address);
    }
    return std::make_shared<const DeferredOperation>(
        DeferredOperation{.name = content_name(words.data(), words.size() * sizeof words[0]),
                          .carry_out = [this, launch] { device_.launch(launch); },
                          .depends_on = std::nullopt,
                          .may_write = [this, launch] { return device_.may_be_written_by(launch); }});
  }
  void add(const std::shared_ptr<const DeferredOperation>& operation, int times) {
    for (int i = 0; i < times; ++i) work_.add(operation);
  }

  const ptx::Module module_ = ptx::parse_module(kKernels, "deferred.ptx");
  simulated::SimulatedDevice device_;
  DeferredWork work_{device_};
  DeviceBuffer in_;
  DeviceBuffer out_;
  DeviceBuffer other_;
};

TEST_F(Deferred, NothingIsExecutedUntilSomebodyLooks) {
  add(kernel("twice", {&in_, &out_}), 3);
  EXPECT_FALSE(work_.is_settled());
  EXPECT_EQ(work_.executed(), 0U);
  EXPECT_EQ(read(out_)[4], 10U);
  EXPECT_TRUE(work_.is_settled());
}

TEST_F(Deferred, AKernelThatFindsWhatItLeftIsExecutedTwice) {
  add(kernel("twice", {&in_, &out_}), 10'000);
  EXPECT_EQ(read(out_)[kCount - 1], 2 * kCount);
  EXPECT_EQ(work_.executed(), 2U);
  EXPECT_EQ(work_.left_out(), 9'998U);
  add(kernel("twice", {&in_, &out_}), 10'000);
  EXPECT_EQ(read(out_)[kCount - 1], 2 * kCount);
  EXPECT_EQ(work_.executed(), 2U) << "a look changes nothing";
}

TEST_F(Deferred, AKernelThatCountsIsExecutedEachTime) {
  add(kernel("count", {&out_}), 50);
  EXPECT_EQ(read(out_)[0], 50 * kCount);
  EXPECT_EQ(work_.executed(), 50U);
}

TEST_F(Deferred, AKernelIsExecutedAgainWhenWhatItReadsHasChanged) {
  const auto twice = kernel("twice", {&in_, &out_});
  add(twice, 100);
  EXPECT_EQ(read(out_)[3], 8U);
  std::vector<std::uint32_t> changed = read(in_);
  changed[3] = 100;
  write(in_, changed);
  add(twice, 100);
  EXPECT_EQ(read(out_)[3], 200U);
  EXPECT_EQ(work_.executed(), 4U);
  // What is written to the output is put right, which is the step from another content.
  write(out_, std::vector<std::uint32_t>(kCount, 7));
  add(twice, 100);
  EXPECT_EQ(read(out_)[3], 200U);
}

TEST_F(Deferred, AKernelIsNotExecutedAgainOnWhatIsAsItWas) {
  const auto twice = kernel("twice", {&in_, &out_});
  add(twice, 2);
  const std::vector<std::uint32_t> as_it_was = read(in_);
  write(in_, std::vector<std::uint32_t>(kCount, 1));
  write(in_, as_it_was);
  add(twice, 2);
  EXPECT_EQ(read(out_)[3], 8U);
  EXPECT_EQ(work_.executed(), 2U);
}

TEST_F(Deferred, PassesThatComeBackToWhereTheyBeganAreFewExecutions) {
  // Both write to one array, so each finds it changed: only the pass as a whole leaves it as it was.
  const auto first = kernel("twice", {&in_, &out_});
  const auto second = kernel("twice", {&other_, &out_});
  write(other_, std::vector<std::uint32_t>(kCount, 21));
  for (int pass = 0; pass < 1000; ++pass) {
    add(first, 1);
    add(second, 1);
  }
  EXPECT_EQ(read(out_)[0], 42U);
  EXPECT_LE(work_.executed(), 4U);
  // In the middle of a pass memory is as it is there.
  for (int pass = 0; pass < 10; ++pass) {
    add(second, 1);
    add(first, 1);
  }
  EXPECT_EQ(read(out_)[0], 2U);
}

TEST_F(Deferred, ChainsSeeEachOther) {
  // 1000 doublings of one number: no two find the same.
  const auto there = kernel("twice", {&out_, &other_});
  const auto back = kernel("twice", {&other_, &out_});
  write(out_, std::vector<std::uint32_t>(kCount, 3));
  for (int i = 0; i < 5; ++i) {
    add(there, 1);
    add(back, 1);
  }
  EXPECT_EQ(read(out_)[0], 3U << 10U);
  EXPECT_EQ(read(other_)[0], 3U << 9U);
  EXPECT_EQ(work_.executed(), 10U);
}

TEST_F(Deferred, WhatIsForgottenIsExecutedAgain) {
  const auto twice = kernel("twice", {&in_, &out_});
  add(twice, 5);
  work_.settle();
  work_.forget_steps();
  add(twice, 5);
  work_.settle();
  EXPECT_EQ(work_.executed(), 3U);
}

TEST_F(Deferred, OperationsThatDependOnOneArrayDoNotCareForOthers) {
  int carried_out = 0;
  const auto fill = std::make_shared<const DeferredOperation>(
      DeferredOperation{.name = {1, 2},
                        .carry_out =
                            [&] {
                              ++carried_out;
                              const std::vector<std::uint32_t> sevens(kCount, 7);
                              device_.copy_to_device(other_.address(), sevens.data(), kCount * sizeof sevens[0]);
                            },
                        .depends_on = std::vector{begin_of(other_)},
                        .may_write = [&] { return std::vector{begin_of(other_)}; }});
  add(fill, 2);
  EXPECT_EQ(read(other_)[1], 7U);
  write(in_, std::vector<std::uint32_t>(kCount, 1));
  add(fill, 2);
  EXPECT_EQ(read(other_)[1], 7U);
  EXPECT_EQ(carried_out, 2);
}

TEST_F(Deferred, WhatGoesToTheHostIsKnownWithoutAnExecution) {
  // A pass writes the output twice, and the host gets it after each: the second pass finds what the first found.
  write(other_, std::vector<std::uint32_t>(kCount, 21));
  const auto first = kernel("twice", {&in_, &out_});
  const auto second = kernel("twice", {&other_, &out_});
  std::vector<std::uint32_t> got;
  const auto to_host = std::make_shared<const DeferredOperation>(
      DeferredOperation{.name = {5, 6},
                        .depends_on = std::vector{begin_of(out_)},
                        .look =
                            [this] {
                              std::vector<std::byte> found(sizeof(std::uint32_t));
                              device_.copy_to_host(found.data(), out_.address(), found.size());
                              return found;
                            },
                        .deliver =
                            [&got](const std::vector<std::byte>& found) {
                              std::memcpy(&got.emplace_back(), found.data(), sizeof(std::uint32_t));
                            }});
  const auto pass = [&] {
    for (const auto& operation : {first, to_host, second, to_host}) work_.add(operation);
    EXPECT_TRUE(work_.goes_to_host());
    work_.deliver();
    EXPECT_FALSE(work_.goes_to_host());
  };
  for (int i = 0; i < 3; ++i) pass();
  const std::uint64_t executed = work_.executed();
  for (int i = 0; i < 100; ++i) pass();
  EXPECT_LE(work_.executed(), executed + 2);
  ASSERT_EQ(got.size(), 206U);
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], i % 2 == 0 ? 2U : 42U) << i;
  // What the last pass left, and not what was delivered, is what memory holds.
  EXPECT_EQ(read(out_)[0], 42U);
  work_.add(first);
  EXPECT_EQ(read(out_)[0], 2U);
}

TEST(ContentName, IsAnotherForAnotherByteLengthOrOrder) {
  std::vector<unsigned char> bytes(100'003, 0);
  const ContentName zeros = content_name(bytes.data(), bytes.size());
  EXPECT_EQ(zeros, content_name(bytes.data(), bytes.size()));
  EXPECT_NE(zeros, content_name(bytes.data(), bytes.size() - 1));
  for (const std::size_t at : {std::size_t{0}, std::size_t{31}, std::size_t{50'000}, std::size_t{100'002}}) {
    bytes[at] = 1;
    EXPECT_NE(zeros, content_name(bytes.data(), bytes.size())) << at;
    bytes[at] = 0;
  }
  EXPECT_NE(content_name({1, 2}, {3, 4}), content_name({3, 4}, {1, 2}));
}

}  // namespace
}  // namespace convladder::stand_in
