#include "harness/measure/machine/ptx_hash.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "devices/ptx_images.hpp"
#include "variants/convolution/conv_shape.hpp"
#include "variants/convolution/problem.hpp"

namespace convladder {
namespace {

TEST(ExecutedPtx, LeavesOutWhereItCameFrom) {
  EXPECT_EQ(executed_ptx("// a comment\n.version 7.0\n\n\t.file\t1 \"/home/x.cu\"\n\t.loc\t1 3 0\n"
                         "\tadd.u32 %r1, %r2, %r3;\n\t.section\t.debug_loc\t{\t}\n\tret;\n"
                         "\t.section .debug_str\n\t{\n.b8 1\n\t}\n.local .b32 x;"),
            ".version 7.0\nadd.u32 %r1, %r2, %r3;\nret;\n.local .b32 x;\n");
  EXPECT_EQ(executed_ptx(""), "");
  EXPECT_NE(executed_ptx("add.u32 %r1, %r2, %r3;"), executed_ptx("add.u32 %r1, %r2, %r4;"));
}

TEST(ExecutedPtx, PositionsAndCommentsAreNoPartOfIt) {
  constexpr const char* here =
      "// by A\n.version 9.0\n\n\t.loc\t1 18 0\n\tadd.s32 \t%r1, %r2, 1;\n\t.file\t1 \"/a/b.cu\"\n";
  constexpr const char* there = ".version 9.0\n.loc 1 19 7\n\tadd.s32 \t%r1, %r2, 1;   // by B\n.file 1 \"/c.cu\"";
  EXPECT_EQ(executed_ptx(here), executed_ptx(there));
  EXPECT_NE(executed_ptx(here).find("add.s32 \t%r1, %r2, 1;\n"), std::string::npos);
  EXPECT_NE(executed_ptx(here), executed_ptx(".version 9.0\nadd.s32 \t%r1, %r2, 2;\n"));
  EXPECT_EQ(executed_ptx(""), "");
}

TEST(PtxHash, AVariantsImagesAreThoseOfItsKernels) {
  if (ptx_images().empty()) GTEST_SKIP() << "no PTX in this build";
  for (const PtxImages& images : ptx_images()) {
    std::vector<std::string> hashes;
    for (const ProblemVariant& registered : convolution_problem().variants()) {
      if (registered.info.family != "cuda" || !registered.info.rung) continue;
      hashes.push_back(ptx_sha256(images, registered.variant->launch_plan(ConvShape{1, 1, 28, 28, 50, 5})));
      EXPECT_EQ(hashes.back().size(), 64U) << registered.info.name;
    }
    std::ranges::sort(hashes);
    EXPECT_EQ(std::ranges::adjacent_find(hashes), hashes.end()) << "each has a source of its own";
    EXPECT_EQ(ptx_sha256(images, {}), "");
  }
}

TEST(CompiledPtxOfTheBuild, NamesEveryCompiler) {
  const std::vector<CompiledPtx> all = compiled_ptx();
  ASSERT_EQ(all.size(), ptx_images().size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].compiler, ptx_images()[i].compiler);
    EXPECT_EQ(all[i].version, ptx_images()[i].version);
    EXPECT_EQ(all[i].sha256.size(), 64U);
    EXPECT_EQ(all[i].sha256, compiled_ptx()[i].sha256);
  }
}

}  // namespace
}  // namespace convladder
