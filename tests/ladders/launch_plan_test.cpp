#include "ladders/launch_plan.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <stdexcept>

#include "ladders/compilers.hpp"
#include "ladders/ptx_entries.hpp"
#include "ladders/stage_build.hpp"
#include "support/errors.hpp"

namespace convladder {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kScaled = R"({
  "name": "scale", "dimensions": {"N": {"name": "elements"}, "B": {"name": "batch", "usual": 3}},
  "derived": {"HALF": "N / 2"}, "sizes": ["N10"], "work": {"flop": "N"}, "tensors": [
  {"name": "x", "role": "in", "type": "f32", "shape": ["N"]},
  {"name": "y", "role": "out", "type": "f32", "shape": ["N"], "compare": "exact"}],
  "scalars": [{"name": "factor", "type": "f16", "value": "2"}]})";

constexpr const char* kScalePtx = R"(
/* .entry hidden( */
.version 7.0
.target sm_80
.address_size 64
.visible .entry scale(  // .entry other
  .param .u64 .ptr .global .align 4 x, .param .u64 y, .param .align 2 .b8 factor[2],
  .param .u32 n, .param .u32 b)
{ ret; }
.entry $nothing() { ret; }
)";

std::string parse_error(const std::string& text, LaunchedLanguage language = LaunchedLanguage::cuda) {
  try {
    static_cast<void>(parse_launch(text, language));
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

TEST(LaunchLine, IsTakenApart) {
  const StageLaunch launch =
      parse_launch("of::tile<16, float> block(32,min(N, 8)) grid( div(N + 31, 32) , B ,1) shared(4 * N) args(x, N)",
                   LaunchedLanguage::cuda);
  EXPECT_EQ(launch.kernel, "of::tile<16, float>");
  EXPECT_THAT(launch.grid, ElementsAre("div(N + 31, 32)", "B", "1"));
  EXPECT_THAT(launch.block, ElementsAre("32", "min(N, 8)"));
  EXPECT_EQ(launch.shared, "4 * N");
  ASSERT_TRUE(launch.arguments.has_value());
  EXPECT_THAT(*launch.arguments, ElementsAre("x", "N"));
  const StageLaunch least = parse_launch("_Z5scalePKf$1 grid(1) block(1)", LaunchedLanguage::ptx);
  EXPECT_EQ(least.shared, "0");
  EXPECT_FALSE(least.arguments.has_value());
  EXPECT_TRUE(parse_launch("k grid(1) block(1) args()", LaunchedLanguage::ptx).arguments->empty());
}

TEST(LaunchLine, SaysWhatIsWrong) {
  const std::map<std::string, std::string> wrong{
      {"", "expected the name of a kernel, found \"\""},
      {"grid(1) block(1)", "expected the name of a kernel, found \"grid(1)\""},
      {"7k grid(1) block(1)", "expected the name of a kernel"},
      {"k;abort() grid(1) block(1)", "expected the name of a kernel"},
      {"k<\"x\"> grid(1) block(1)", "expected the name of a kernel"},
      {"k", "there is no grid(…)"},
      {"k grid(1)", "there is no block(…)"},
      {"k grid() block(1)", "grid: expected one to three sizes, found 0"},
      {"k grid(1, 2, 3, 4) block(1)", "grid: expected one to three sizes, found 4"},
      {"k grid(1) block(1) block(1)", "block stands there twice"},
      {"k grid(1) block(1", "block( is not closed"},
      {"k grid(1,,2) block(1)", "grid: nothing stands between two commas"},
      {"k grid(1) block(1) shared(1, 2)", "shared: expected one number of bytes, found 2"},
      {"k grid(1) blokc(1)", "unknown word 'blokc'; known: block"},
      {"k grid 1 block(1)", "expected grid(…), block(…), shared(…) or args(…), found \"grid\""},
      {"k grid(1) block(1) )", "found \")\""}};
  for (const auto& [text, message] : wrong) EXPECT_THAT(parse_error(text), HasSubstr(message)) << text;
  EXPECT_THAT(parse_error("tile<16> grid(1) block(1)", LaunchedLanguage::ptx),
              HasSubstr("expected the name of a kernel"));
}

TEST(LaunchLine, OfPythonNeedsNoBlock) {
  const StageLaunch launch = parse_launch("scale grid(N)", LaunchedLanguage::python);
  EXPECT_THAT(launch.grid, ElementsAre("N"));
  EXPECT_TRUE(launch.block.empty());
  EXPECT_THAT(parse_launch("scale threads(N, B)", LaunchedLanguage::python).threads, ElementsAre("N", "B"));
  const std::map<std::string, std::string> wrong{
      {"scale", "there is no grid(…)"},
      {"scale grid(1) threads(N)", "threads(…) stands there instead of grid(…) and block(…)"},
      {"scale threads(N) threads(N)", "threads stands there twice"},
      {"scale<4> grid(1)", "expected the name of a kernel"}};
  for (const auto& [text, message] : wrong) {
    EXPECT_THAT(parse_error(text, LaunchedLanguage::python), HasSubstr(message)) << text;
  }
  EXPECT_THAT(parse_error("k threads(N)"), HasSubstr("unknown word 'threads'"));
}

TEST(PtxEntries, AreFoundWithWhatTheyTake) {
  const std::vector<PtxEntry> entries = ptx_entries(kScalePtx);
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].name, "scale");
  std::vector<std::size_t> bytes;
  for (const PtxParameter& one : entries[0].parameters) bytes.push_back(one.bytes);
  EXPECT_THAT(bytes, ElementsAre(8U, 8U, 2U, 4U, 4U));
  EXPECT_EQ(entries[0].parameters[2].type, ".b8[2]");
  EXPECT_EQ(entries[1].name, "$nothing");
  EXPECT_TRUE(entries[1].parameters.empty());
  EXPECT_TRUE(ptx_entries("").empty());
  EXPECT_EQ(ptx_entries(".entry").size(), 1U);
  EXPECT_EQ(ptx_entries(".entry k(.param .u32").at(0).parameters.size(), 1U);
  EXPECT_TRUE(ptx_entries(".entry k(.param [5] x)").at(0).parameters.empty());
}

class LaunchPlanTest : public testing::Test {
 protected:
  LaunchPlanTest()
      : path_(testing::TempDir() + "launch_plan_" + testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_ / "folder");
    write("problem.json", kScaled);
    write("reference.cpp", "");
  }
  ~LaunchPlanTest() override { std::filesystem::remove_all(path_); }

  void write(const std::string& file, const std::string& text) const { std::ofstream(path_ / "folder" / file) << text; }
  StageBuild build(const std::string& file, const std::string& text) const {
    write(file, text);
    const LadderFolder folder = read_ladder_folder(path_ / "folder");
    const auto stage = std::ranges::find(folder.stages, file, &StageSource::file);
    return StageBuilder(path_ / "cache").build(folder, *stage, {});
  }
  std::string error(const std::string& head, const std::string& file = "01_plan.cu") const {
    write(file, head);
    try {
      static_cast<void>(read_ladder_folder(path_ / "folder"));
    } catch (const UserError& error) {
      return error.what();
    }
    return "no error";
  }
  /// What a call with N and B fails with; nothing reaches a device.
  static std::string failure(const StageBuild& build, int n, int b) {
    void* const library = dlopen(build.library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return "it cannot be loaded";
    const auto solve =
        reinterpret_cast<void (*)(const float*, float*, std::uint16_t, int, int)>(dlsym(library, "solve"));
    const auto why = reinterpret_cast<const char* (*)()>(dlsym(library, kLaunchFailure));
    EXPECT_EQ(why(), nullptr);
    solve(nullptr, nullptr, 0, n, b);
    const std::string found = why() == nullptr ? "no failure" : why();
    dlclose(library);
    return found;
  }

  std::filesystem::path path_;
};

TEST_F(LaunchPlanTest, NamesHaveToBeThere) {
  EXPECT_EQ(
      error("// @parameter TILE 8 16\n// @launch k grid(div(HALF, TILE)) block(TILE, B) args(x, factor, HALF, TILE)"),
      "no error");
  const std::map<std::string, std::string> wrong{
      {"//\n// @launch k grid(M) block(1)", "01_plan.cu:2: @launch k: grid: unknown name 'M'; known: N"},
      {"// @launch k grid(1) block(factor)", ":1: @launch k: block: unknown name 'factor'"},
      {"// @launch k grid(1) block(1) shared(4 *)", ":1: @launch k: shared: expected a number"},
      {"// @launch k grid(1) block(1) args(z)", ":1: @launch k: args: unknown name 'z'; known: x"},
      {"// @launch k grid(1) block(1) args(2 * z)", ":1: @launch k: args: unknown name 'z'"},
      {"// @launch k grid(1)", ":1: @launch: there is no block(…)"},
      {"// @parameter N 8\n// @launch k grid(1) block(1)", "the parameter N has the name of something else"}};
  for (const auto& [head, message] : wrong) EXPECT_THAT(error(head), HasSubstr(message)) << head;
  std::filesystem::remove(path_ / "folder/01_plan.cu");
  EXPECT_THAT(error("// @launch k grid(1) block(1)", "01_plan.cpp"),
              HasSubstr("01_plan.cpp:1: @launch: a stage in C++"));
}

TEST_F(LaunchPlanTest, KernelsHaveToBeInThePtx) {
  const auto error_of = [this](const std::string& head) { return build("01_plan.ptx", head + kScalePtx).error; };
  EXPECT_EQ(error_of("// @launch scale grid(1) block(1)"), "");
  EXPECT_THAT(error_of(""), HasSubstr("01_plan.ptx:1: no @launch"));
  EXPECT_THAT(error_of("//\n// @launch sclae grid(1) block(1)"),
              HasSubstr("01_plan.ptx:2: @launch sclae: unknown kernel 'sclae'; known: scale, $nothing"));
  EXPECT_THAT(error_of("// @launch scale grid(1) block(1) args(x, y)"), HasSubstr("takes 5 parameters, and gets 2"));
  EXPECT_THAT(error_of("// @launch scale grid(1) block(1) args(x, N, factor, N, B)"),
              HasSubstr("parameter 2 is .u64 (8 bytes), but N has 4"));
  EXPECT_THAT(build("01_plan.ptx", "// @launch k grid(1) block(1)\n.version 8.0").error,
              HasSubstr("no kernel (.entry)"));
}

TEST_F(LaunchPlanTest, SizesThatAreNoneAreTheReasonOfTheCall) {
  const StageBuild halves = build("01_plan.ptx", std::string("// @launch scale grid(N / 4) block(1)") + kScalePtx);
  ASSERT_EQ(halves.error, "");
  EXPECT_EQ(failure(halves, 10, 1),
            "01_plan.ptx:1: @launch scale: grid: 'N / 4' is 2.5, it must be a whole number from 1 to 2147483647");
  const StageBuild zero = build("01_plan.ptx", std::string("// @launch scale grid(1) block(1, B - 3)") + kScalePtx);
  EXPECT_THAT(failure(zero, 10, 3), HasSubstr("block: 'B - 3' is 0"));
  const StageBuild shared =
      build("01_plan.ptx", std::string("// @launch scale grid(1) block(1) shared(1 / (N - N))") + kScalePtx);
  EXPECT_THAT(failure(shared, 10, 3), HasSubstr("shared: '1 / (N - N)' is inf"));
  const StageBuild argument =
      build("01_plan.ptx", std::string("// @launch scale grid(1) block(1) args(x, y, factor, HALF, B)") + kScalePtx);
  EXPECT_THAT(failure(argument, 5, 3), HasSubstr("args: 'HALF' is 2.5"));
}

TEST_F(LaunchPlanTest, ExpressionsMeanTheSameWhereTheyAreCompiled) {
  const std::vector<std::string> texts{"-N ^ 2 / 7 + B",
                                       "min(N, B) * 0.3",
                                       "max(N, -B) - 1 / 3",
                                       "div(-N, B) + 0.1",
                                       "mod(-N, B) + 1e-3",
                                       "ceil(N / B) + 0.5",
                                       "floor(-N / B) + 0.5",
                                       "sqrt(N) + log2(B)",
                                       "(N == 10) / 3 + (B != 3)",
                                       "(N < B) / 3 + (N <= 10)/7",
                                       "(N > B) / 3 + (N >= 11)/7",
                                       "2 ^ -B ^ 2 * 1e20 + HALF / 3"};
  for (const std::string& text : texts) {
    const StageBuild built = build("01_plan.ptx", fmt::format("// @launch scale grid({}) block(1){}", text, kScalePtx));
    ASSERT_EQ(built.error, "") << text;
    const double value = Expression(text, {"N", "B", "HALF"}).value(std::vector<double>{10, 3, 5});
    std::array<char, 40> shown{};
    snprintf(shown.data(), shown.size(), "%.10g", value);
    EXPECT_THAT(failure(built, 10, 3), HasSubstr(fmt::format("' is {},", shown.data()))) << text;
  }
}

TEST_F(LaunchPlanTest, AnyTextIsHeld) {
  std::string text = "// @launch scale grid(1) block(1)\n// \"quotes\" \\back \? \?\?/ \x01 \xff 7\r\n";
  text += kScalePtx + std::string(20000, '/');
  const StageBuild built = build("01_plan.ptx", text);
  ASSERT_EQ(built.error, "");
  EXPECT_EQ(stage_ptx(built), text);
  EXPECT_TRUE(build("01_plan.ptx", text).was_built_before);
  EXPECT_FALSE(build("01_plan.ptx", text + "\n").was_built_before);
}

constexpr const char* kKernel = R"(
#define y something_else
#include <cuda_fp16.h>
template <int count>
__global__ void scale(const float* in, float* out, __half factor, long n) {
  extern __shared__ float room[];
  for (long i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += count) out[i] = in[i] * __half2float(factor) + room[0];
}
)";

TEST_F(LaunchPlanTest, CudaIsLaunchedAsItsSourceDeclaresIt) {
  if (find_nvcc().empty()) GTEST_SKIP() << "nvcc was not found";
  const std::string head =
      "// @parameter TILE 8\n// @launch scale<TILE> grid(N / 4) block(TILE) shared(4) args(x, y, factor, N)\n";
  const StageBuild built = build("01_plan.cu", head + kKernel);
  ASSERT_EQ(built.error, "");
  EXPECT_THAT(stage_ptx(built), HasSubstr(".entry"));
  EXPECT_THAT(build("01_plan.cu", "// @launch sclae grid(1) block(1)\n__global__ void scale() {}").error,
              AllOf(HasSubstr("01_plan.cu(1)"), HasSubstr("sclae")));
  EXPECT_THAT(build("01_plan.cu", "//\n// @launch scale grid(1) block(1)\n__global__ void scale() {}").error,
              AllOf(HasSubstr("01_plan.cu(2)"), HasSubstr("arguments")));
  EXPECT_THAT(build("01_plan.cu",
                    "// @launch scale grid(1) block(1) args()\n__global__ void scale() {}\n"
                    "extern \"C\" void solve(const float* x, float* y, __half factor, int N, int B) {}")
                  .error,
              HasSubstr("01_plan.cu:1: @launch beside a function solve: which of them?"));
  EXPECT_THAT(build("01_plan.cu", "// @launch k grid(1) block(1) args()\n\n__global__ void k() { int i = j; }").error,
              HasSubstr("01_plan.cu(3)"));
}

}  // namespace
}  // namespace convladder
