#include "harness/measure/records/case_json.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace convladder {
namespace {

using nlohmann::ordered_json;

SeenOfCase seen_beside_others() {
  return {.samples = {100, 104, 98, 101, 99, 103, 100, 102},
          .threads = 2,
          .load = MachineLoad{.cores = 2, .used = 1.6, .steal = 0.005},
          .anchors = AnchorSpread{"FMA peak", 1.2}};
}

TEST(CaseJson, AQualityIsReadAsItWasWritten) {
  const Quality quality = judge_quality(seen_beside_others());
  EXPECT_EQ(quality.mark, QualityMark::disturbed);
  const ordered_json json = quality_json(quality);
  EXPECT_EQ(json.at("mark"), "disturbed");
  EXPECT_DOUBLE_EQ(json.at("load_of_others").get<double>(), 0.8);
  EXPECT_EQ(read_quality(JsonPlace(json, "quality")), quality);
}

TEST(CaseJson, AFigureThatNobodyKnowsIsNull) {
  const SeenOfCase seen{.samples = {1000}, .threads = 2, .load = std::nullopt, .anchors = std::nullopt};
  EXPECT_EQ(quality_json(judge_quality(seen)), ordered_json({{"mark", "good"},
                                                             {"reasons", ordered_json::array()},
                                                             {"load_of_others", nullptr},
                                                             {"steal", nullptr},
                                                             {"drift", nullptr},
                                                             {"anchor_spread", nullptr}}));
  EXPECT_TRUE(quality_json(std::nullopt).is_null());
}

TEST(CaseJson, AnErrorThatIsNotANumberIsNull) {
  Check check;
  check.max_scaled_error = std::numeric_limits<double>::quiet_NaN();
  const ordered_json json = verification_json(Verification{.reference = "reference", .before = check});
  EXPECT_TRUE(ordered_json::parse(json.dump()).at("before").at("max_scaled_error").is_null());
  EXPECT_TRUE(json.at("after").is_null());
}

TEST(CaseJson, CeilingsAreReadAsTheyWereWritten) {
  const Ceilings ceilings = {{.device = "cpu",
                              .choice = "avx2",
                              .last_level_cache_bytes = 1 << 20,
                              .buffer_bytes = 1 << 24,
                              .limits = {{kMultiplyAddLimit, {1.5, 2.5}}, {kCopyLimit, {3}}}},
                             {.device = "cuda", .failure = "no memory"}};
  const ordered_json json = ceilings_json(ceilings);
  const Ceilings read = read_ceilings(JsonPlace(json, "ceilings"));
  EXPECT_EQ(ceilings_json(read), json);
  EXPECT_EQ(*read.at(0).samples(kMultiplyAddLimit), (std::vector<double>{1.5, 2.5}));
  EXPECT_EQ(read.at(0).samples(kStoreLimit), nullptr);
  EXPECT_EQ(read.at(1).failure, "no memory");
}

TEST(CaseJson, CeilingsOfAnotherKindAreRefused) {
  ordered_json json = ceilings_json({{.device = "cpu", .limits = {{kCopyLimit, {3}}}}});
  json[0]["limits"][0]["name"] = "speed";
  EXPECT_THROW(read_ceilings(JsonPlace(json, "ceilings")), std::exception);
  json[0]["limits"][0] = ceilings_json({{.device = "cpu", .limits = {{kCopyLimit, {3}}}}})[0]["limits"][0];
  json[0]["limits"][0]["samples"] = ordered_json::array();
  EXPECT_THROW(read_ceilings(JsonPlace(json, "ceilings")), std::exception);
}

}  // namespace
}  // namespace convladder
