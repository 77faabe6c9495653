// The files of named GPUs: those of the program, and files that are wrong in one place each.
#include "simulator/gpus/gpu_facts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "expect_error.hpp"
#include "simulator/caches/gpu_model.hpp"
#include "support/errors.hpp"

namespace convladder {
namespace {

std::string file_of(const std::string& name) {
  std::ifstream file(std::string(CONVLADDER_SOURCE_DIR) + "/simulator/gpus/" + name + ".json");
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? text : text.replace(at, what.size(), with);
}

TEST(GpuFacts, KnowsTheNamedGpus) {
  std::vector<std::string> names;
  for (const GpuFacts& gpu : gpu_facts()) names.push_back(gpu.name);
  EXPECT_THAT(names, testing::ElementsAre("k80", "v100", "a100", "h100", "h200"));
  EXPECT_EQ(find_gpu("h1000"), nullptr);
}

TEST(GpuFacts, AgreesWithThePeaksOfTheDataSheets) {
  // NVIDIA's data sheets, fp32 without tensor cores: TFLOP/s at the highest clock; one die of a K80.
  for (const auto& [name, tflops] : {std::pair{"k80", 4.37}, {"v100", 15.7}, {"a100", 19.5}, {"h100", 67.0}}) {
    const GpuFacts& gpu = *find_gpu(name);
    const double peak = 2 * gpu.fp32_lanes * gpu.multiprocessors * gpu.clock_mhz.high * 1e-6;
    EXPECT_NEAR(peak, tflops, 0.005 * tflops) << name;
  }
}

TEST(GpuFacts, AgreesWithThePeaksOfTheDataSheetsInFp64) {
  struct Sheet {
    const char* name;
    double tflops;  // without tensor cores
    double on_tensor_cores;
  };
  for (const auto& [name, tflops, on_tensor_cores] :
       {Sheet{"k80", 1.455, 1.455}, {"v100", 7.8, 7.8}, {"a100", 9.7, 19.5}, {"h100", 33.5, 67}}) {
    const GpuFacts& gpu = *find_gpu(name);
    const double of_lane = 2 * gpu.multiprocessors * gpu.clock_mhz.high * 1e-6;
    EXPECT_NEAR(of_lane * gpu.fp64_lanes.low, tflops, 0.01 * tflops) << name;
    EXPECT_NEAR(of_lane * gpu.fp64_lanes.high, on_tensor_cores, 0.01 * on_tensor_cores) << name;
  }
}

TEST(GpuFacts, AreWhatTheSimulatedDeviceModels) {
  const simulated::GpuModel& model = simulated::default_gpu_model();
  EXPECT_EQ(model.name, "h100");
  EXPECT_EQ(model.l2_bytes, find_gpu("h100")->l2_bytes);
  for (const simulated::GpuModel& one : simulated::gpu_models()) EXPECT_NE(one.name, "k80");
}

TEST(GpuFacts, NamesFilePlaceAndWhatWasExpected) {
  const std::string good = file_of("h100");
  EXPECT_EQ(parse_gpu_facts(good, "h100.json").multiprocessors, 132);
  const struct {
    const char* what;
    const char* with;
    const char* message;
  } wrong[] = {
      {"\"year\": 2022,", "", "h100.json: year: expected a whole number from 2000 to 2100, found nothing"},
      {"\"h100\"", "\"x\"", "h100.json: name: expected the file's, found \"x\""},
      {"\"year\": 2022", "\"year\": \"2022\"",
       "h100.json: year: expected a whole number from 2000 to 2100, found \"2022\""},
      {"\"value\": 132,", "\"value\": 0,",
       "h100.json: parameters: multiprocessors: value: expected a whole number from 1"},
      {"\"value\": 132,", "\"value\": 1.5,", "multiprocessors: value: expected a whole number from 1"},
      {"\"value\": 132,", "\"value\": -1,",
       "h100.json: parameters: multiprocessors: value: expected a whole number from 1"},
      {"\"value\": 132,", "\"value\": 1e999,",
       "h100.json: parameters: multiprocessors: value: a number beyond the range of a double"},
      {"\"low\": 1782", "\"low\": 2782",
       "h100.json: parameters: clock: high: expected a number from 2782 MHz, found 1980"},
      {"\"low\": 1782", "\"low\": 0", "h100.json: parameters: clock: low: expected a number above 0 MHz, found 0"},
      {"\"unit\": \"MHz\"", "\"unit\": \"GHz\"", "h100.json: parameters: clock: unit: expected \"MHz\""},
      {"\"source\": \"luo\"", "\"source\": \"me\"", "source: expected one of \"sources\", found \"me\""},
      {"\"source\": \"l2\"", "\"source\": \"luo\"", "h100.json: parameters: no parameter has the source \"l2\""},
      {"[0, 8192", "[9000, 8192", "h100.json: parameters: shared_splits: value: expected ascending numbers"},
      {"\"clock\": {", "\"clok\": {", "h100.json: parameters: clock: expected an object, found nothing"},
      {"\"clock\": {", "\"clok\": 1, \"clock\": {", "h100.json: parameters: unknown field \"clok\""},
      {"\"clock\": {", "\"clock\": 1, \"clock\": {", "h100.json: parameters: clock: occurs twice"},
      {"}\n}", "}", ", expected a GPU"},
  };
  for (const auto& one : wrong) {
    expect_error<UserError>([&] { parse_gpu_facts(replaced(good, one.what, one.with), "h100.json"); }, {one.message});
  }
}

}  // namespace
}  // namespace convladder
