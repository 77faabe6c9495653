// The tuning tables: every entry is possible and right, and what they say is what is launched.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <optional>
#include <vector>

#include "devices/cpu/cpu_device.hpp"
#include "devices/ptx_images.hpp"
#include "sanitized.hpp"
#include "simulator/device/simulated_device.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "variants/convolution/conv_shape.hpp"
#include "variants/convolution/conv_test_data.hpp"
#include "variants/convolution/problem.hpp"
#include "variants/convolution/reference.hpp"
#include "variants/tuned_variant.hpp"

namespace convladder {

const std::vector<EmbeddedFile>& embedded_tuning();  // variants/tuning/*.json

namespace {

TEST(TuningTable, TheProgramsOwnAreWrittenAsTheyAreRead) {
  ASSERT_FALSE(embedded_tuning().empty());
  for (const EmbeddedFile& file : embedded_tuning()) {
    EXPECT_EQ(tuning_table_text(parse_tuning_table(file.content, file.name)), file.content) << file.name;
  }
}

TEST(TuningTable, SaysWhatIsWrongWithAFile) {
  const auto error_of = [](const std::string& entries) {
    const std::string text =
        R"({"schema_version": "1.0", "family": "cuda", "variant": "v", "entries": [)" + entries + "]}";
    try {
      parse_tuning_table(text, "t.json");
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const std::string good = R"({"shape": "C1H8W8M2K3", "batch": null, "configuration": "maps=8", "found": 1})";
  EXPECT_EQ(error_of(good), "");
  EXPECT_EQ(error_of(good + "," + good), "t.json: entries[1]: C1H8W8M2K3 with this batch occurs twice");
  EXPECT_EQ(error_of("7"), "t.json: entries[0]: expected an object, found 7");
  EXPECT_EQ(error_of(R"({"shape": 1})"), "t.json: entries[0]: shape: expected a string, found 1");
  EXPECT_TRUE(error_of(R"({"shape": "C1", "batch": null, "configuration": "maps=8"})")
                  .starts_with("t.json: entries[0]: shape: C1: H is missing; a size of convolution is "));
  EXPECT_EQ(error_of(R"({"shape": "C1H8W8M2K3", "batch": 0, "configuration": "maps=8"})"),
            "t.json: entries[0]: batch: expected a whole number above 0, or null for every batch, found 0");
  EXPECT_EQ(error_of(R"({"shape": "C1H8W8M2K3", "batch": 8, "configuration": "maps"})"),
            "t.json: entries[0]: configuration: expected NAME=NUMBER, got 'maps'");
  const auto with_threads = [](const char* threads) {
    return std::string(R"({"shape": "C1H8W8M2K3", "batch": 8, "threads": )") + threads +
           R"(, "configuration": "maps=8"})";
  };
  EXPECT_EQ(error_of(with_threads("2") + "," + with_threads("4")), "");
  EXPECT_EQ(error_of(with_threads("2") + "," + with_threads("2")),
            "t.json: entries[1]: C1H8W8M2K3 with this batch occurs twice");
  EXPECT_EQ(error_of(with_threads("\"two\"")),
            "t.json: entries[0]: threads: expected a whole number above 0, or null for every number of threads, "
            "found \"two\"");
  EXPECT_THROW(parse_tuning_table("{", "t.json"), UserError);
  EXPECT_THROW(parse_tuning_table(R"({"schema_version": "2.0"})", "t.json"), UserError);
}

#if CONVLADDER_HAS_CUDA_FAMILY

TEST(TuningTable, AChangedEntryChangesTheLaunch) {
  const ConvShape shape{8, 12, 33, 33, 24, 7};
  const ProblemVariant& registered = *find_variant(convolution_problem(), "cuda", "many-images");
  const auto launch = [&](const std::string& entries) {
    const TuningTable table = parse_tuning_table(
        R"({"schema_version": "1.0", "family": "cuda", "variant": "many-images", "entries": [)" + entries + "]}", "t");
    return tuned_variant(*registered.variant, table)->launch_plan(shape).at(0);
  };
  const std::string name = shape_name(shape);
  const auto entry = [&](const std::string& batch, const std::string& configuration) {
    return R"({"shape": ")" + name + R"(", "batch": )" + batch + R"(, "configuration": ")" + configuration + R"("})";
  };
  const KernelLaunch by_table = launch(entry("null", "maps=4,pixels=16,rows=9,images=1"));
  EXPECT_EQ(by_table.grid.x, 8U);
  EXPECT_EQ(by_table.grid.z, 3U);
  const KernelLaunch changed = launch(entry("null", "maps=8,pixels=9,rows=27,images=1"));
  EXPECT_NE(changed.kernel, by_table.kernel);
  EXPECT_EQ(changed.grid.z, 1U);
  // The batch's own entry counts, and another batch's does not.
  EXPECT_EQ(launch(entry("null", "images=1") + "," + entry("8", "images=4")).grid.x, 2U);
  EXPECT_EQ(launch(entry("null", "images=1") + "," + entry("16", "images=4")).grid.x, 8U);
}

TEST(TuningTable, AnImpossibleEntryLeavesItToTheModel) {
  const ConvShape shape{8, 12, 33, 33, 20, 7};  // of no network
  const Variant& variant = *find_variant(convolution_problem(), "cuda", "register-tile")->variant;
  const auto grid = [&](const std::string& configuration) {
    const TuningTable table = parse_tuning_table(
        R"({"schema_version": "1.0", "family": "cuda", "variant": "register-tile", "entries":
            [{"shape": "C12H33W33M20K7", "batch": null, "configuration": ")" +
            configuration + R"("}]})",
        "t");
    return tuned_variant(variant, table)->launch_plan(shape).at(0).grid;
  };
  EXPECT_EQ(grid("maps=5"), variant.launch_plan(shape).at(0).grid);
  EXPECT_NE(grid("rows=1"), variant.launch_plan(shape).at(0).grid);
}

TEST(Configurations, CanAllBeLaunchedAndTheFirstIsWhatIsTaken) {
  for (const ConvShape& shape : {ConvShape{8, 12, 33, 33, 24, 7}, ConvShape{8, 1, 28, 28, 50, 5}}) {
    for (const ProblemVariant& registered : convolution_problem().variants()) {
      if (registered.info.family != "cuda" || !registered.variant->unsupported_reason(shape).empty()) continue;
      const Configurations found = registered.variant->configurations(shape, {}, 12);
      if (found.candidates.empty()) continue;
      SCOPED_TRACE(registered.info.name);
      EXPECT_LE(found.candidates.size(), 12U);
      EXPECT_LE(static_cast<long>(found.candidates.size()), found.possible);
      const auto launch = [&](const Configuration& one) {
        return registered.variant->configured(shape, one, ChosenBy::request)->launch_plan(shape).at(0);
      };
      EXPECT_EQ(launch(found.candidates[0]).arguments, registered.variant->launch_plan(shape).at(0).arguments);
      for (const Configuration& one : found.candidates) {
        EXPECT_LE(launch(one).block.count(), 1024U) << one.text();
        EXPECT_LE(launch(one).dynamic_shared_bytes, 48U * 1024) << one.text();
        const Configurations again = registered.variant->configurations(shape, one, 5);
        EXPECT_EQ(again.candidates, std::vector{one}) << "a complete configuration agrees with itself alone";
      }
    }
  }
}

TEST(Configurations, SayWhatIsPossible) {
  const Variant& variant = *find_variant(convolution_problem(), "cuda", "many-images")->variant;
  const ConvShape shape{8, 12, 33, 33, 24, 7};
  const auto why = [&](const char* text) {
    try {
      static_cast<void>(variant.configured(shape, Configuration::parse(text), ChosenBy::request));
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(why("maps=8,channels=2,images=8"), "");
  EXPECT_EQ(why("tiles=8"),
            "unknown parameter 'tiles'; known: maps, pixels, rows, strips, map_groups, channels, images");
  EXPECT_EQ(why("maps=5"), "maps=5 is not possible for C12H33W33M24K7; possible: 4, 8, 12");
  EXPECT_EQ(why("maps=8,pixels=6"), "pixels=6 is not possible for C12H33W33M24K7 with maps=8; possible: 9");
  EXPECT_EQ(why("images=16"), "images=16 is not possible; a block computes up to 8");
  EXPECT_EQ(why("rows=27,channels=12").substr(0, 49), "channels=12 is not possible for C12H33W33M24K7; p");
}

#endif  // CONVLADDER_HAS_CUDA_FAMILY

/// What a variant makes of small integers, which every order of sums adds up to the same.
std::vector<float> outputs_of(const Variant& variant, const ConvShape& shape, std::string& choice) {
  std::vector<float> input(static_cast<std::size_t>(shape.input_elements()));
  std::vector<float> weights(static_cast<std::size_t>(shape.weight_elements()));
  for (std::size_t i = 0; i < input.size(); ++i) input[i] = static_cast<float>((i * 7 + 3) % 11) - 5;
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>((i * 5 + 1) % 7) - 3;
  std::vector<float> output(static_cast<std::size_t>(shape.output_elements()), std::nanf(""));
  CpuDevice device;
  const std::unique_ptr<PreparedVariant> ready =
      variant.prepare(device, shape, conv_tensors(shape, input.data(), weights.data(), output.data()));
  ready->run();
  choice = ready->choice();
  return output;
}

TEST(Configurations, OfCpuStagesAllComputeTheSame) {
  for (const ConvShape& shape : {ConvShape{2, 1, 38, 38, 7, 7}, ConvShape{3, 4, 17, 13, 10, 3, 2, 1, 2},
                                 ConvShape{1, 3, 9, 9, 5, 2, 1, 0}, ConvShape{2, 12, 33, 33, 24, 7}}) {
    for (const ProblemVariant& registered : convolution_problem().variants()) {
      if (registered.info.family != "cpu" || !registered.variant->unsupported_reason(shape).empty()) continue;
      const Configurations found = registered.variant->configurations(shape, {}, 30);
      if (found.candidates.empty()) continue;
      SCOPED_TRACE(fmt::format("{} {}", registered.info.name, shape_name(shape)));
      EXPECT_LE(static_cast<long>(found.candidates.size()), found.possible);
      EXPECT_EQ(found.candidates.front(), found.by_model);
      std::string choice;
      const std::vector<float> expected = outputs_of(*registered.variant, shape, choice);
      for (const Configuration& one : found.candidates) {
        const std::unique_ptr<Variant> chosen = registered.variant->configured(shape, one, ChosenBy::request);
        EXPECT_EQ(outputs_of(*chosen, shape, choice), expected) << one.text();
        EXPECT_NE(choice.find("as asked for"), std::string::npos) << choice;
        EXPECT_EQ(registered.variant->configurations(shape, one, 5).candidates, std::vector{one})
            << "a complete configuration agrees with itself alone";
      }
    }
  }
}

TEST(Configurations, OfShiftedRowsSayWhatIsPossible) {
  const ConvShape shape{2, 1, 38, 38, 7, 7};  // 32 x 32 outputs: whole lines
  const auto why = [](const char* name, const ConvShape& layer, const char* text) {
    try {
      static_cast<void>(find_variant(convolution_problem(), "cpu", name)
                            ->variant->configured(layer, Configuration::parse(text), ChosenBy::request));
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(why("shifted-rows", shape, "maps=1,vectors=1,rows=3"), "");
  EXPECT_EQ(why("shifted-rows", shape, "streamed=1"), "unknown parameter 'streamed'; known: maps, vectors, rows");
  EXPECT_EQ(why("shifted-rows", shape, "rows=33"), "rows=33 is not possible for C1H38W38M7K7; possible: 1 to 32");
  EXPECT_EQ(why("shifted-rows", shape, "rows=0"), "rows=0 is not possible for C1H38W38M7K7; possible: 1 to 32");
  EXPECT_EQ(why("streamed-output", shape, "streamed=1,rows=32"), "");
  EXPECT_EQ(why("streamed-output", shape, "streamed=0,rows=5"), "");
  EXPECT_EQ(why("streamed-output", shape, "streamed=1,rows=5"),
            "streamed=1 is not possible for C1H38W38M7K7 with rows=5");
  EXPECT_NE(why("streamed-output", shape, "streamed=2"), "");
  EXPECT_NE(why("streamed-output", {2, 1, 33, 33, 7, 7}, "streamed=1"), "") << "27 x 27 outputs";
}

}  // namespace
}  // namespace convladder
