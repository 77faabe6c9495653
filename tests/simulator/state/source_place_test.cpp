// Lines of inlined code, and findings of one statement.
#include "simulator/state/source_place.hpp"

#include <gtest/gtest.h>

#include "simulator/ptx/module.hpp"
#include "simulator/state/finding.hpp"

namespace convladder::simulated {
namespace {

std::string text_of(const std::vector<SourcePlace>& places) {
  std::string text;
  for (const SourcePlace& place : places) text += (text.empty() ? "" : ", ") + place_text(place);
  return text;
}

TEST(SourcePlaces, LeaveOutTheToolkitUnlessThereIsNothingElse) {
  ptx::Module module;
  module.source_files = {{1, "/home/me/a.cu"},
                         {2, "/usr/local/cuda/bin/../targets/x86_64-linux/include/cuda_pipeline_helpers.h"},
                         {3, "/home/me/cutlass/include/cute/copy.hpp"},
                         {4, "/usr/include/c++/12/bits/move.h"},
                         {5, "sm_30_intrinsics.hpp"}};
  module.inlined_calls = {{1, 10, -1}, {3, 20, 0}, {2, 30, 1}, {4, 40, -1}};
  EXPECT_EQ(text_of(places_of(module, {1, 5, -1})), "a.cu line 5");
  EXPECT_EQ(text_of(places_of(module, {3, 21, 0})), "copy.hpp line 21, a.cu line 10");
  EXPECT_EQ(text_of(places_of(module, {2, 31, 2})), "copy.hpp line 20, a.cu line 10");
  EXPECT_EQ(text_of(places_of(module, {2, 31, -1})), "cuda_pipeline_helpers.h line 31");
  EXPECT_EQ(text_of(places_of(module, {2, 31, 3})), "cuda_pipeline_helpers.h line 31, move.h line 40");
  EXPECT_EQ(text_of(places_of(module, {1, 10, 0})), "a.cu line 10");  // a call whose line is its own
  EXPECT_EQ(text_of(places_of(module, {5, 99, 0})), "a.cu line 10");
  EXPECT_EQ(text_of(places_of(module, {0, 0, -1})), "");
}

TEST(Findings, AreOfOneStatementIfTheySayTheSameOfItsLine) {
  Finding one;
  one.kernel = "k";
  one.source_file = "a.cu";
  one.source_line = 5;
  one.opcode = "ld.shared.f32";
  one.problem =
      "read after write at offset 512 of shared memory: not ordered with 'cp.async.cg.shared.global' at line 9";
  Finding other = one;
  other.opcode = "ld.shared.v4.f32";
  other.ptx_line = 7;
  other.problem =
      "read after write at offset 16 of shared memory: not ordered with 'cp.async.cg.shared.global' at line 9";
  EXPECT_TRUE(are_of_one_statement(one, other));
  other.problem.back() = '8';  // another copy
  EXPECT_FALSE(are_of_one_statement(one, other));
  other.problem = one.problem;
  other.callers = {{"a.cu", 20}};
  EXPECT_FALSE(are_of_one_statement(one, other));
  other.callers.clear();
  one.source_line = other.source_line = 0;
  EXPECT_FALSE(are_of_one_statement(one, other));  // two instructions
  one.ptx_line = 3;
  one.problem = "read of 4 bytes";
  other = one;
  EXPECT_TRUE(are_of_one_statement(one, other));
  other.problem = "misaligned read of 4 bytes";
  EXPECT_FALSE(are_of_one_statement(one, other));
  other.problem = one.problem;
  other.severity = Severity::note;
  EXPECT_FALSE(are_of_one_statement(one, other));
}

}  // namespace
}  // namespace convladder::simulated
