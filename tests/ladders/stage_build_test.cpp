#include "ladders/stage_build.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "ladders/compilers.hpp"
#include "ladders/small_problem.hpp"

namespace convladder {
namespace {

using testing::HasSubstr;

constexpr const char* kSolve = R"(
#include "factor.hpp"
extern "C" void solve(const float* x, float* y, int N) { for (int i = 0; i < N; ++i) y[i] = FACTOR * x[i]; }
)";

class StageBuildTest : public testing::Test {
 protected:
  StageBuildTest()
      : path_(testing::TempDir() + "stage_build_" + testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_ / "a folder");
    write("problem.json", kSmallProblem);
    write("reference.cpp", "");
    write("factor.hpp", "#ifndef FACTOR\n#define FACTOR 2\n#endif\n");
  }
  ~StageBuildTest() override { std::filesystem::remove_all(path_); }

  void write(const std::string& file, const std::string& text) const {
    std::ofstream(path_ / "a folder" / file) << text;
  }
  StageBuild build(const std::string& file, const std::string& text, const StageDefinitions& definitions = {}) const {
    write(file, text);
    const LadderFolder folder = read_ladder_folder(path_ / "a folder");
    const auto stage = std::ranges::find(folder.stages, file, &StageSource::file);
    return StageBuilder(path_ / "cache").build(folder, *stage, definitions);
  }
  /// What it makes of 3.
  static float result(const StageBuild& build) {
    void* const library = dlopen(build.library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return -1;
    const auto solve = reinterpret_cast<void (*)(const float*, float*, int)>(dlsym(library, "solve"));
    const float x = 3;
    float y = -2;
    if (solve != nullptr) solve(&x, &y, 1);
    dlclose(library);
    return y;
  }

  std::filesystem::path path_;
};

TEST_F(StageBuildTest, OnlyWhatChangedIsBuiltAgain) {
  const StageBuild first = build("01_plain.cpp", kSolve);
  ASSERT_EQ(first.error, "");
  EXPECT_FALSE(first.was_built_before);
  EXPECT_EQ(result(first), 6);
  EXPECT_TRUE(build("01_plain.cpp", kSolve).was_built_before);
  const StageBuild defined = build("01_plain.cpp", kSolve, {{"FACTOR", 5}});
  EXPECT_FALSE(defined.was_built_before);
  EXPECT_EQ(result(defined), 15);
  write("factor.hpp", "#define FACTOR 400\n");
  const StageBuild edited = build("01_plain.cpp", kSolve);
  EXPECT_FALSE(edited.was_built_before);
  EXPECT_EQ(result(edited), 1200);
}

TEST_F(StageBuildTest, HeadersOfAnIncludeFolderAreFoundAndWatched) {
  std::string problem = kSmallProblem;
  write("problem.json", problem.insert(problem.find('{') + 1, "\"include_folders\": [\"../tiles\"], "));
  std::filesystem::create_directory(path_ / "tiles");
  const std::string text = std::string("#include \"tile.hpp\"\n") + kSolve;
  std::ofstream(path_ / "tiles/tile.hpp") << "#define FACTOR 7\n";
  const StageBuild first = build("01_plain.cpp", text);
  ASSERT_EQ(first.error, "");
  EXPECT_EQ(result(first), 21);
  EXPECT_TRUE(build("01_plain.cpp", text).was_built_before);
  std::ofstream(path_ / "tiles/tile.hpp") << "#define FACTOR 700\n";
  const StageBuild edited = build("01_plain.cpp", text);
  EXPECT_FALSE(edited.was_built_before);
  EXPECT_EQ(result(edited), 2100);
  if (find_nvcc().empty()) GTEST_SKIP() << "of the rest: nvcc was not found";
  EXPECT_EQ(build("01_kernel.cu",
                  "#include \"tile.hpp\"\n"
                  "__global__ void scale(const float* x, float* y) { *y = FACTOR * *x; }\n"
                  "extern \"C\" void solve(const float* x, float* y, int) { scale<<<1, 1>>>(x, y); }")
                .error,
            "");
}

TEST_F(StageBuildTest, WhatDoesNotCompileSaysWhyInOneLine) {
  EXPECT_THAT(build("01_plain.cpp", "#include \"factor.hpp\"\nint broken = \n").error, HasSubstr("01_plain.cpp:"));
  EXPECT_THAT(build("01_plain.cpp", "extern \"C\" void solve(float*, float*, int) {}").error, HasSubstr("solve"));
  EXPECT_THAT(build("01_plain.cpp", "void other() {}").error,
              HasSubstr("it does not define extern \"C\" void solve(const float* x, float* y, int N)"));
  EXPECT_THAT(build("01_plain.ptx", ".version 8.0").error, HasSubstr("01_plain.ptx:1: no @launch"));
  for (const auto& entry : std::filesystem::directory_iterator(path_ / "cache")) {
    EXPECT_EQ(entry.path().extension(), ".hpp") << "left behind: " << entry.path();
  }
}

TEST_F(StageBuildTest, CudaIsCompiledByNvcc) {
  if (find_nvcc().empty()) GTEST_SKIP() << "nvcc was not found";
  const StageBuild built = build("01_kernel.cu", R"(
__global__ void scale(const float* x, float* y, int N) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < N) y[i] = 2 * x[i]; }
extern "C" void solve(const float* x, float* y, int N) { scale<<<(N + 255) / 256, 256>>>(x, y, N); })");
  EXPECT_EQ(built.error, "");
  EXPECT_TRUE(std::filesystem::exists(built.library));
  EXPECT_THAT(build("01_kernel.cu", "__global__ void broken() { int i = j; }").error, HasSubstr("\"j\" is undefined"));
}

}  // namespace
}  // namespace convladder
