#include "harness/ptx_hash.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "devices/ptx_images.hpp"

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

TEST(PtxJson, NamesEveryCompilerOfTheBuild) {
  const nlohmann::ordered_json json = ptx_json();
  ASSERT_EQ(json.size(), ptx_images().size());
  for (std::size_t i = 0; i < json.size(); ++i) {
    EXPECT_EQ(json[i]["compiler"], ptx_images()[i].compiler);
    EXPECT_EQ(json[i]["version"], ptx_images()[i].version);
    EXPECT_EQ(json[i]["sha256"].get<std::string>().size(), 64U);
  }
  EXPECT_EQ(json, ptx_json());
}

}  // namespace
}  // namespace convladder
