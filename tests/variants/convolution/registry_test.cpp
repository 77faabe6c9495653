#include "variants/convolution/conv_shape.hpp"
#include "variants/convolution/problem.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <set>
#include <stdexcept>
#include <string>

#include "variants/convolution/cpu_variant.hpp"

namespace convladder {
namespace {

void no_convolution(const ConvShape& /*shape*/, const float* /*input*/, const float* /*weights*/, float* /*output*/) {}

TEST(Registry, OrdersByFamilyAndRungThenLibrariesThenWhatLeavesAnIdeaOut) {
  const std::vector<ProblemVariant>& variants = convolution_problem().variants();
  ASSERT_FALSE(variants.empty());
  for (std::size_t i = 1; i < variants.size(); ++i) {
    const VariantInfo& before = variants[i - 1].info;
    const VariantInfo& after = variants[i].info;
    if (before.family != after.family) {
      EXPECT_LT(before.family, after.family);
    } else if (after.rung) {
      ASSERT_TRUE(before.rung) << before.name << " is a library and stands before " << after.name;
      EXPECT_LT(*before.rung, *after.rung);
    } else if (!before.rung && before.is_library() == after.is_library()) {
      EXPECT_LT(before.name, after.name);
    } else {
      EXPECT_FALSE(!before.leaves_out.empty() && after.is_library()) << before.name;
    }
  }
}

TEST(Registry, FindsEveryVariantByFamilyAndName) {
  for (const ProblemVariant& registered : convolution_problem().variants()) {
    const ProblemVariant* const found =
        find_variant(convolution_problem(), registered.info.family, registered.info.name);
    ASSERT_NE(found, nullptr) << registered.info.name;
    EXPECT_EQ(found->variant, registered.variant);
    EXPECT_NE(found->variant, nullptr);
  }
  EXPECT_EQ(find_variant(convolution_problem(), "cpu", "no-such-variant"), nullptr);
  EXPECT_EQ(find_variant(convolution_problem(), "cpu", ""), nullptr);
  const std::string_view name = convolution_problem().variants().front().info.name;
  EXPECT_EQ(find_variant(convolution_problem(), "no-such-family", name), nullptr);
}

TEST(Registry, EveryStageBuildsOnTheOneBelowAndLibrariesOnNone) {
  for (const ProblemVariant& registered : convolution_problem().variants()) {
    const VariantInfo& info = registered.info;
    if (info.is_library()) {
      EXPECT_EQ(info.builds_on, "") << info.name;
      continue;
    }
    if (!info.leaves_out.empty()) continue;  // the registry itself wants a stage below
    if (info.builds_on.empty()) {
      EXPECT_EQ(*info.rung, 1) << info.name << " builds on nothing but is not the first stage";
      continue;
    }
    const ProblemVariant* const base = find_variant(convolution_problem(), info.family, info.builds_on);
    ASSERT_NE(base, nullptr) << info.name;
    ASSERT_TRUE(base->info.rung) << info.name << " builds on a library";
    EXPECT_LT(*base->info.rung, *info.rung) << info.name;
  }
}

TEST(Registry, EveryFamilyHasTheSixStagesOfTheMission) {
  std::map<std::string_view, std::set<int>> rungs;
  for (const ProblemVariant& registered : convolution_problem().variants()) {
    if (registered.info.rung) rungs[registered.info.family].insert(*registered.info.rung);
  }
  EXPECT_TRUE(rungs.contains("cpu"));
#if CONVLADDER_HAS_CUDA_FAMILY
  EXPECT_TRUE(rungs.contains("cuda"));
#endif
  for (const auto& [family, found] : rungs) {
    for (int rung = 1; rung <= 6; ++rung) EXPECT_TRUE(found.contains(rung)) << family << " has no rung " << rung;
  }
}

#if CONVLADDER_HAS_ONEDNN
TEST(Registry, ALibraryStandsBesideTheCpuLadder) {
  int libraries = 0;
  for (const ProblemVariant& registered : convolution_problem().variants()) {
    if (registered.info.family == "cpu" && registered.info.is_library()) ++libraries;
  }
  EXPECT_GE(libraries, 1);
}
#endif

TEST(Registry, NamesCanBeTypedAndTextsCanBeRead) {
  for (const ProblemVariant& registered : convolution_problem().variants()) {
    const VariantInfo& info = registered.info;
    SCOPED_TRACE(std::string(info.name));
    EXPECT_TRUE(info.family == "cpu" || info.family == "cuda") << info.family;
    EXPECT_FALSE(info.name.empty());
    EXPECT_EQ(info.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-"), std::string_view::npos);
    EXPECT_FALSE(info.title.empty());
    EXPECT_LE(info.title.size(), 40U) << "too long for a chart's axis";
    EXPECT_EQ(info.title.find('\n'), std::string_view::npos);
  }
}

TEST(Registry, EveryHypothesisIsOneSentence) {
  for (const ProblemVariant& registered : convolution_problem().variants()) {
    const std::string_view hypothesis = registered.info.hypothesis;
    SCOPED_TRACE(std::string(registered.info.name));
    ASSERT_FALSE(hypothesis.empty());
    EXPECT_EQ(hypothesis.back(), '.');
    EXPECT_EQ(hypothesis.find('\n'), std::string_view::npos);
    EXPECT_EQ(hypothesis.find("  "), std::string_view::npos);
    EXPECT_EQ(hypothesis.find(". "), std::string_view::npos) << hypothesis;
  }
}

TEST(Registry, EveryVariantHasAToleranceThatFloat32Needs) {
  for (const ProblemVariant& registered : convolution_problem().variants()) {
    EXPECT_GT(registered.variant->tolerance(), 0) << registered.info.name;
    if (registered.info.rung && *registered.info.rung <= 6) {
      EXPECT_LE(registered.variant->tolerance(), 1e-6) << registered.info.name;
    }
  }
}

/// Registers one more variant in a fresh process and exits with 3 and the message if the registry refuses it, with 0
/// if it does not.
[[noreturn]] void exit_with_the_verdict_on(const VariantInfo& info) {
  const VariantRegistration extra("convolution", info, cpu_variant(no_convolution));
  try {
    convolution_problem().variants();
  } catch (const std::logic_error& error) {
    std::fputs(error.what(), stderr);
    std::exit(3);
  }
  std::exit(0);
}

// Threadsafe death tests run their statement in a new process, where nothing has asked for the registry yet.
class RegistryDeathTest : public testing::Test {
 protected:
  RegistryDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
  static VariantInfo extra() {
    return {.family = "cpu",
            .rung = 1000,
            .name = "extra-variant",
            .title = "Extra",
            .builds_on = "",
            .hypothesis = "It is there."};
  }
};

TEST_F(RegistryDeathTest, TakesAVariantThatFits) {
  EXPECT_EXIT(exit_with_the_verdict_on(extra()), testing::ExitedWithCode(0), "");
}

TEST_F(RegistryDeathTest, RefusesANameThatIsTaken) {
  VariantInfo info = extra();
  info.name = "memory-accumulation";
  EXPECT_EXIT(exit_with_the_verdict_on(info), testing::ExitedWithCode(3),
              "there are two: variant 'memory-accumulation' of convolution, family cpu");
}

TEST_F(RegistryDeathTest, RefusesARungThatIsTaken) {
  VariantInfo info = extra();
  info.rung = 2;
  EXPECT_EXIT(exit_with_the_verdict_on(info), testing::ExitedWithCode(3), "extra-variant.*share a rung");
}

TEST_F(RegistryDeathTest, RefusesToBuildOnNothing) {
  VariantInfo info = extra();
  info.builds_on = "no-such-stage";
  EXPECT_EXIT(exit_with_the_verdict_on(info), testing::ExitedWithCode(3),
              "'extra-variant' builds on 'no-such-stage', which is not a variant of convolution, family cpu");
}

TEST_F(RegistryDeathTest, WhatLeavesAnIdeaOutIsAStageWithoutIt) {
  VariantInfo info = extra();
  info.leaves_out = "an idea";
  info.builds_on = "memory-accumulation";
  EXPECT_EXIT(exit_with_the_verdict_on(info), testing::ExitedWithCode(3), "extra-variant.*no rung of its own");
  info.rung = std::nullopt;
  EXPECT_EXIT(exit_with_the_verdict_on(info), testing::ExitedWithCode(0), "");
  info.builds_on = "";
  EXPECT_EXIT(exit_with_the_verdict_on(info), testing::ExitedWithCode(3), "it needs a stage to build on");
}

TEST_F(RegistryDeathTest, DoesNotLetAStageBuildOnAnotherFamily) {
  VariantInfo info = extra();
  info.family = "other";
  info.builds_on = "memory-accumulation";
  EXPECT_EXIT(exit_with_the_verdict_on(info), testing::ExitedWithCode(3), "not a variant of convolution, family other");
}

TEST_F(RegistryDeathTest, LetsFamiliesUseTheSameNamesAndRungs) {
  VariantInfo info = extra();
  info.family = "other";
  info.name = "memory-accumulation";
  info.rung = 1;
  EXPECT_EXIT(exit_with_the_verdict_on(info), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace convladder
