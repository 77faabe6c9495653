// Mutants: what each kind of fault does to a kernel, what the device says of it, and that every mutant of real kernels
// can run.
#include "simulator/device/mutants.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

#include "simulator/marked_kernels.hpp"
#include "simulator/mutations/mutation.hpp"
#include "simulator/ptx_kernels.hpp"

namespace convladder::simulated {
namespace {

using testing::HasSubstr;
using Effect = MutantOutcome::Effect;

/// A kernel `test(in, out, n)` on arrays of 64 words; two blocks of 32 threads. In the body: %r1 = the index of the
/// thread in the grid, %r2 = n, %rd3 and %rd4 = where its words of in and out are, %rd1 and %rd2 = the arrays.
class TestedKernel {
 public:
  struct Whole {};
  TestedKernel(const std::string& text, Whole /*as_it_is*/) : module_(ptx::parse_module(text, "test.ptx")) {}
  explicit TestedKernel(const std::string& body)
      : module_(ptx::parse_module(
            kernel_text(
                ".param .u64 in, .param .u64 out, .param .u32 n",
                ".reg .pred %p<9>; .reg .b32 %r<40>; .reg .b64 %rd<20>; .reg .f32 %f<40>; .reg .f64 %d<9>;\n"
                ".reg .b16 %h<9>; .shared .align 4 .b8 room[512];\n"
                "mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x; mad.lo.s32 %r1, %r3, %r4, %r5;\n"
                "ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; ld.param.u32 %r2, [n];\n"
                "mul.wide.u32 %rd5, %r1, 4; add.s64 %rd3, %rd1, %rd5; add.s64 %rd4, %rd2, %rd5;\n" +
                    body),
            "test.ptx")) {}

  struct Result {
    std::vector<std::uint32_t> words;
    MutantOutcome outcome;
    std::string fault;
    std::string host_reads;
    std::vector<float> floats() const {
      std::vector<float> values(words.size());
      std::memcpy(values.data(), words.data(), words.size() * sizeof(float));
      return values;
    }
  };

  /// Runs the kernel `launches` times with one of its mutants; none where `id` is empty.
  Result run(const std::string& id, const std::vector<std::uint32_t>& in, int launches = 1,
             std::uint64_t orders = 20) const {
    SimulatedDeviceOptions options;
    options.host_threads = 1;
    if (!id.empty()) options.mutants = {.kernel = "test", .id = id, .orders = orders};
    SimulatedDevice device(options);
    const std::size_t bytes = in.size() * sizeof(std::uint32_t);
    const DeviceBuffer from = device.allocate(bytes, "in");
    const DeviceBuffer to = device.allocate(bytes, "out");
    KernelLaunch launch;
    launch.kernel = device.load(module_, module_.kernels.at(0));
    launch.grid = {2};
    launch.block = {32};
    const auto pass = [&launch](auto value) {
      const auto* const first = reinterpret_cast<const std::byte*>(&value);
      launch.arguments.emplace_back(first, first + sizeof value);
    };
    pass(from.address());
    pass(to.address());
    pass(static_cast<std::uint32_t>(in.size()));
    Result result;
    std::vector<std::uint32_t> content = in;
    device.copy_to_device(to.address(), std::vector<std::uint32_t>(in.size(), 7).data(), bytes);
    try {
      for (int i = 0; i < launches; ++i) {
        device.copy_to_device(from.address(), content.data(), bytes);
        device.launch(launch);
        for (std::uint32_t& word : content) ++word;
      }
    } catch (const KernelFaulted& fault) {
      result.fault = fault.what();
    }
    result.words.resize(in.size());
    device.copy_to_host(result.words.data(), to.address(), bytes);
    const MutantsSeen seen = device.take_mutants();
    result.outcome = seen.outcome;
    result.host_reads = seen.host_reads;
    return result;
  }

  /// The id of the only mutant of that kind.
  std::string only(MutationKind kind) const {
    std::vector<std::string> ids;
    for (const Mutation& one : mutations_of(module_, module_.kernels.at(0))) {
      if (one.kind == kind) ids.push_back(one.id(module_.kernels.at(0)));
    }
    EXPECT_EQ(ids.size(), 1U) << words_of(kind).word;
    return ids.empty() ? "" : ids.front();
  }
  Result run(MutationKind kind, const std::vector<std::uint32_t>& in, int launches = 1) const {
    return run(only(kind), in, launches);
  }

 private:
  ptx::Module module_;
};

std::vector<std::uint32_t> numbers() {
  std::vector<std::uint32_t> values(64);
  for (std::uint32_t i = 0; i < 64; ++i) values[i] = 100 + 4 * i;
  return values;
}

std::vector<std::uint32_t> bits(const std::vector<float>& values) {
  std::vector<std::uint32_t> words(values.size());
  std::memcpy(words.data(), values.data(), values.size() * sizeof(float));
  return words;
}

std::vector<float> fractions() {
  std::vector<float> values(64);
  for (int i = 0; i < 64; ++i) values[static_cast<std::size_t>(i)] = 1.0F + 0.001F * static_cast<float>(i);
  return values;
}

const std::string kCopy = "ld.global.u32 %r6, [%rd3]; st.global.u32 [%rd4], %r6; ret;";
const std::string kDouble = "ld.global.f32 %f1, [%rd3]; add.f32 %f2, %f1, %f1; st.global.f32 [%rd4], %f2; ret;";

TEST(Mutants, StoresAreLeftOutOrOfOtherValues) {
  const TestedKernel copy(kCopy);
  EXPECT_EQ(copy.run("", numbers()).words, numbers());
  EXPECT_EQ(copy.run(MutationKind::store_out, numbers()).words, std::vector<std::uint32_t>(64, 7));
  EXPECT_EQ(copy.run(MutationKind::zeros, numbers()).words, std::vector<std::uint32_t>(64, 0));
  const auto negative = copy.run(MutationKind::sign, numbers());
  const auto scaled = copy.run(MutationKind::scaled, numbers());
  for (std::size_t i = 0; i < 64; ++i) {
    EXPECT_EQ(negative.words[i], -numbers()[i]);
    EXPECT_EQ(scaled.words[i], numbers()[i] / 4 * 3);
  }
  EXPECT_EQ(scaled.outcome.effect, Effect::results);
  EXPECT_THAT(scaled.outcome.text, HasSubstr(" of 256 bytes of 'out'"));
  const TestedKernel twice(kDouble);
  const std::vector<float> values = fractions();
  const std::vector<float> negated = twice.run(MutationKind::sign, bits(values)).floats();
  const std::vector<float> factored = twice.run(MutationKind::scaled, bits(values)).floats();
  for (std::size_t i = 0; i < 64; ++i) {
    EXPECT_EQ(negated[i], -2 * values[i]);
    EXPECT_EQ(factored[i], 2 * values[i] * 0.72F);
  }
}

TEST(Mutants, SumsAreRounded) {
  const TestedKernel twice(kDouble);
  const std::vector<float> rounded = twice.run(MutationKind::low_precision, bits(fractions())).floats();
  EXPECT_EQ(rounded[0], 2.0F);
  EXPECT_EQ(rounded[1], 2.001953125F);  // the nearest number with 11 bits
  const TestedKernel of_doubles(
      "ld.global.f32 %f1, [%rd3]; cvt.f64.f32 %d1, %f1; add.f64 %d2, %d1, 0d3FF0000000000001;\n"
      "sub.f64 %d3, %d2, %d1; cvt.rn.f32.f64 %f2, %d3; st.global.f32 [%rd4], %f2; ret;");
  const auto outcome = of_doubles.run(MutationKind::low_precision, bits(std::vector<float>(64, 1e8F)));
  EXPECT_EQ(outcome.floats()[0], 0.0F) << "a float32 has no 1e8 + 1";
}

TEST(Mutants, IndicesGoToTheNeighbour) {
  for (const MutationKind kind : {MutationKind::load_index, MutationKind::store_index}) {
    const auto moved = TestedKernel(kCopy).run(kind, numbers());
    for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(moved.words[i], numbers()[i ^ 1U]);
  }
  const TestedKernel of_pairs(
      "and.b32 %r7, %r1, 31; mul.wide.u32 %rd6, %r7, 8; add.s64 %rd7, %rd1, %rd6; add.s64 %rd8, %rd2, %rd6;\n"
      "ld.global.v2.u32 {%r8, %r9}, [%rd7]; st.global.v2.u32 [%rd8], {%r8, %r9}; ret;");
  const auto moved = of_pairs.run(MutationKind::load_index, numbers());
  for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(moved.words[i], numbers()[i ^ 2U]) << "pairs stay aligned";
}

TEST(Mutants, AnotherOrderOfASumIsARounding) {
  const TestedKernel sum(
      "mov.f32 %f1, 0f00000000; mov.u32 %r7, 0; mov.u64 %rd6, %rd1;\nloop: ld.global.f32 %f2, [%rd6];\n"
      "add.f32 %f1, %f1, %f2; add.s64 %rd6, %rd6, 4; add.s32 %r7, %r7, 1; setp.lt.s32 %p1, %r7, 64;\n"
      "@%p1 bra loop; st.global.f32 [%rd4], %f1; ret;");
  std::vector<float> values = fractions();
  for (std::size_t i = 0; i < 64; ++i) values[i] = 0.1F * static_cast<float>(i * 37 % 64 + 1);
  EXPECT_EQ(sum.run(MutationKind::load_index, bits(values)).outcome.effect, Effect::rounding);
  EXPECT_EQ(sum.run(MutationKind::scaled, bits(values)).outcome.effect, Effect::results);
  // Whole numbers are not rounded: where two have changed places, the results are others.
  const TestedKernel whole("ld.global.u32 %r6, [%rd3]; add.u32 %r7, %r6, 1000000; st.global.u32 [%rd4], %r7; ret;");
  EXPECT_EQ(whole.run(MutationKind::load_index, numbers()).outcome.effect, Effect::results);
}

TEST(Mutants, TheLastBlockOrALaterCallDoesNothing) {
  const auto last = TestedKernel(kCopy).run(MutationKind::last_block, numbers());
  for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(last.words[i], i < 32 ? numbers()[i] : 7);
  const TestedKernel copy(kCopy);
  EXPECT_EQ(copy.run(MutationKind::stale, numbers(), 1).outcome.effect, Effect::none);
  const auto stale = copy.run(MutationKind::stale, numbers(), 3);
  EXPECT_EQ(stale.words, numbers()) << "the second call's were one larger";
  EXPECT_EQ(stale.outcome.effect, Effect::results);
  EXPECT_EQ(stale.outcome.first_launch, 2U);
  EXPECT_EQ(stale.outcome.launches, 3U);
}

TEST(Mutants, LoopsEndOneTripEarly) {
  const std::string sum = "add.s32 %r9, %r9, 1; add.s32 %r6, %r6, %r9;";
  const std::string store = "st.global.u32 [%rd4], %r6; ret;";
  const std::string begin =
      "mov.u32 %r6, 0; mov.u32 %r9, 0; mov.u32 %r7, 0; mov.u32 %r8, 5; neg.s32 %r10, %r8;\nloop:\n";
  for (const char* const end :
       {"add.s32 %r7, %r7, 1; setp.lt.s32 %p1, %r7, %r8; @%p1 bra loop;",   // up to a bound
        "add.s32 %r8, %r8, -1; setp.ne.s32 %p1, %r8, 0; @%p1 bra loop;",    // down to zero
        "add.s32 %r7, %r7, 1; setp.ge.s32 %p1, %r7, %r8; @!%p1 bra loop;",  // unless it is reached
        "add.s32 %r7, %r7, 1; add.s32 %r11, %r10, %r7; setp.ne.s32 %p1, %r11, 0; @%p1 bra loop;",  // as nvcc does it
        "add.s32 %r12, %r7, 1; setp.gt.s32 %p1, %r8, %r12; mov.u32 %r7, %r12; @%p1 bra loop;"}) {
    const TestedKernel kernel(begin + sum + end + store);
    EXPECT_EQ(kernel.run("", numbers()).words[5], 15U) << end;
    EXPECT_EQ(kernel.run(MutationKind::last_trip, numbers()).words[5], 10U) << end;
  }
  const TestedKernel once(
      "mov.u32 %r7, 0; mov.u32 %r8, 1; mov.u32 %r6, 0;\nloop: add.s32 %r6, %r6, 3;\n"
      "add.s32 %r7, %r7, 1; setp.ne.s32 %p1, %r7, %r8; @%p1 bra loop;" +
      store);
  EXPECT_EQ(once.run(MutationKind::last_trip, numbers()).outcome.effect, Effect::none)
      << "a single trip cannot be left out";
}

const std::string kExchange = R"(
  shl.b32 %r7, %r5, 2; mov.u32 %r8, room; add.s32 %r9, %r8, %r7; ld.global.u32 %r6, [%rd3];
  st.shared.u32 [%r9], %r6; bar.warp.sync 0xffffffff; xor.b32 %r10, %r7, 4; add.s32 %r11, %r8, %r10;
  ld.shared.u32 %r12, [%r11]; st.global.u32 [%rd4], %r12; ret;)";

TEST(Mutants, ABarrierThatIsMissedOnlyInAnotherOrderOrByACheckerIsToldSo) {
  // Two warps would show it; the lanes of one store together, and only racecheck sees that nothing orders them.
  const auto left_out = TestedKernel(kExchange).run(MutationKind::barrier_out, numbers());
  EXPECT_EQ(left_out.outcome.effect, Effect::finding) << left_out.outcome.text;
  EXPECT_THAT(left_out.outcome.text, HasSubstr("racecheck"));
  // A barrier behind which nothing is read changes nothing at all.
  const auto useless = TestedKernel("bar.sync 0; " + kCopy).run(MutationKind::barrier_out, numbers());
  EXPECT_EQ(useless.outcome.effect, Effect::none) << useless.outcome.text;
}

TEST(Mutants, AtomicsAreLeftOutAndOfOtherValues) {
  const TestedKernel sum("mov.u32 %r6, 4; red.global.add.u32 [%rd2], %r6; ret;");
  EXPECT_EQ(sum.run("", numbers()).words[0], 7U + 64 * 4);
  EXPECT_EQ(sum.run(MutationKind::store_out, numbers()).words[0], 7U);
  EXPECT_EQ(sum.run(MutationKind::sign, numbers()).words[0], 7U - 64 * 4);
  EXPECT_EQ(sum.run(MutationKind::scaled, numbers()).words[0], 7U + 64 * 3);
  const TestedKernel used("mov.u32 %r6, 4; atom.global.add.u32 %r7, [%rd2], %r6; st.global.u32 [%rd4+0], %r7; ret;");
  EXPECT_EQ(used.run("store-out@11", numbers()).outcome.effect, Effect::results);
}

TEST(Mutants, AFaultIsToldAsSuch) {
  const TestedKernel guarded("setp.ge.u32 %p1, %r1, %r2; @%p1 exit; " + kCopy);
  std::vector<std::uint32_t> odd = numbers();
  odd.pop_back();  // the last word has no neighbour
  EXPECT_EQ(guarded.run("", odd).words, odd);
  const auto moved = guarded.run(MutationKind::load_index, odd);
  EXPECT_EQ(moved.outcome.effect, Effect::fault);
  EXPECT_THAT(moved.fault, HasSubstr("'in'"));
}

TEST(Mutants, AnOtherTextOfAKernelIsReadByTheHost) {
  const std::string text =
      ".version 8.0\n.target sm_75\n.address_size 64\n.global .align 1 .b8 format[4] = {37, 100, 10, 0};\n"
      ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);\n"
      ".visible .entry test(.param .u64 in, .param .u64 out, .param .u32 n) {\n"
      ".reg .b64 %rd<9>; .reg .b32 %r<9>; .local .align 8 .b8 room[8]; .reg .pred %p<3>;\n"
      "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; or.b32 %r3, %r1, %r2; setp.ne.u32 %p1, %r3, 0; @%p1 exit;\n"
      "ld.param.u64 %rd1, [in]; ld.global.u32 %r4, [%rd1]; st.local.u32 [room], %r4;\n"
      "mov.u64 %rd2, room; cvta.local.u64 %rd3, %rd2; mov.u64 %rd4, format; cvta.global.u64 %rd5, %rd4;\n"
      "{ .param .b64 f; st.param.b64 [f], %rd5; .param .b64 a; st.param.b64 [a], %rd3; .param .b32 r;\n"
      "call.uni (r), vprintf, (f, a); } ret; }";
  const TestedKernel prints(text, TestedKernel::Whole());
  const auto usual = prints.run("stale", numbers());
  const auto neighbour = prints.run(prints.only(MutationKind::load_index), numbers());
  EXPECT_EQ(neighbour.outcome.effect, Effect::results);
  EXPECT_EQ(neighbour.words, usual.words) << "only the text is another";
  EXPECT_NE(neighbour.host_reads, usual.host_reads);
}

TEST(Mutants, OfAKernelThatNobodyLaunchesNothingIsTold) {
  const auto none = TestedKernel(kCopy).run("zeros@999", numbers());
  EXPECT_EQ(none.words, numbers());
  EXPECT_EQ(none.outcome.launches, 0U);
}

TEST(Mutants, AreListedWithTheirExecutions) {
  const ptx::Module module = ptx::parse_module(
      kernel_text(".param .u64 out",
                  ".reg .b64 %rd<3>; .reg .b32 %r<3>; .reg .pred %p;\nld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x;\n"
                  "setp.eq.u32 %p, %r1, 77; @%p bra never; st.global.u32 [%rd1], 1; ret;\n"
                  "never: st.global.u32 [%rd1], 2; ret;"),
      "test.ptx");
  SimulatedDeviceOptions options;
  options.mutants.lists = true;
  SimulatedDevice device(options);
  device.set_counting(false);
  const DeviceBuffer out = device.allocate(64, "out");
  KernelLaunch launch;
  launch.kernel = device.load(module, module.kernels.at(0));
  launch.grid = {3};
  launch.block = {32};
  const void* const address = out.address();
  const auto* const first = reinterpret_cast<const std::byte*>(&address);
  launch.arguments.emplace_back(first, first + sizeof address);
  device.launch(launch);
  device.unload(module);
  const auto possible = device.take_mutants().possible.at("test");
  std::set<std::string> ids;
  std::vector<std::uint64_t> executions;
  for (const PossibleMutant& one : possible) {
    EXPECT_TRUE(ids.insert(one.id).second) << one.id;
    if (one.kind == MutationKind::store_out) executions.push_back(one.executions);
    if (one.kind == MutationKind::stale) {
      EXPECT_EQ(one.executions, 0U) << "it was launched once";
    }
    if (one.kind == MutationKind::last_block) {
      EXPECT_EQ(one.executions, 1U);
    }
  }
  EXPECT_EQ(executions, (std::vector<std::uint64_t>{3, 0}));
}

/// Real kernels, with calls, barriers, copies, atomics and matrices.
class CheckedKernel : public testing::TestWithParam<std::string> {};

TEST_P(CheckedKernel, EveryMutantOfItCanRun) {
  const std::filesystem::path path = std::filesystem::path(CONVLADDER_CHECKED_PTX) / (GetParam() + ".ptx");
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no nvcc in this build";
  const ptx::Module module = ptx::parse_module(text_of_file(path), path.string());
  std::size_t mutants = 0;
  for (const ptx::Kernel& kernel : module.kernels) {
    for (const Mutation& mutation : mutations_of(module, kernel)) {
      ++mutants;
      EXPECT_NO_THROW(decode(
          module, kernel, [](const ptx::Symbol&) { return std::uint64_t{1} << 30; }, &mutation))
          << kernel.name << ' ' << mutation.id(kernel);
    }
  }
  EXPECT_GT(mutants, module.kernels.size() * 3);
}

INSTANTIATE_TEST_SUITE_P(Mutants, CheckedKernel,
                         testing::Values("right", "right_groups", "right_lock_free", "right_pipelines", "right_proxies",
                                         "lucky", "unsteady"));

}  // namespace
}  // namespace convladder::simulated
