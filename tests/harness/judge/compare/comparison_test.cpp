#include "harness/judge/compare/comparison.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "harness/judge/compare/comparison_output.hpp"
#include "support/errors.hpp"
#include "tests/harness/recorded_runs.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kVectorId = "cpu/flat-vector/lenet28.conv1/10";

/// Three stages and a library on the CPU; `streams` draws the noise, `slower` stages take `factor` times as long.
ordered_json cpu_run(std::uint64_t stream, const std::vector<std::string>& slower = {}, double factor = 1.1) {
  std::vector<ordered_json> cases;
  const auto add = [&](const char* name, int rung, double median_ns) {
    const bool slow = std::ranges::find(slower, name) != slower.end();
    cases.push_back(
        timed_case_json("cpu", name, rung, noisy_samples(median_ns * (slow ? factor : 1), 0.01, 10 * stream + rung)));
  };
  add("memory-accumulation", 1, 4e6);
  add("local-accumulation", 2, 3e6);
  add("flat-vector", 4, 1e6);
  add("onednn", 0, 5e5);
  return recorded_run_json(std::move(cases));
}

struct Compared {
  RecordedRun base;
  RecordedRun now;
  Comparison comparison;

  Compared(const ordered_json& base_json, const ordered_json& new_json, const ComparisonOptions& options = {})
      : base(recorded_run(base_json, "base.json")),
        now(recorded_run(new_json, "new.json")),
        comparison(compare_runs(base, now, options)) {}
  Compared(const Compared&) = delete;
  Compared& operator=(const Compared&) = delete;

  const ComparedCase& operator[](const std::string& id) const {
    const auto found = std::ranges::find(comparison.cases, id, &ComparedCase::id);
    EXPECT_NE(found, comparison.cases.end()) << id;
    return *found;
  }
  CaseVerdict verdict(const std::string& id) const { return (*this)[id].verdict; }
};

ordered_json& case_of(ordered_json& run, const std::string& id) {
  for (ordered_json& one : run["cases"]) {
    if (one["id"] == id) return one;
  }
  throw std::out_of_range(id);
}

TEST(Comparison, OfARecordWithItselfPasses) {
  const Compared compared(cpu_run(1), cpu_run(1));
  EXPECT_EQ(compared.comparison.exit_code(), 0);
  EXPECT_EQ(compared.comparison.count(CaseVerdict::pass), 4);
}

TEST(Comparison, OfTwoRunsOfTheSameProgramPasses) {
  const Compared compared(cpu_run(1), cpu_run(2));
  EXPECT_EQ(compared.comparison.exit_code(), 0) << as_text(comparison_report(compared.comparison));
  EXPECT_EQ(compared[kVectorId].witness, "onednn");
}

TEST(Comparison, FindsTheOneThatIsSlower) {
  const Compared compared(cpu_run(1), cpu_run(2, {"flat-vector"}));
  EXPECT_EQ(compared.verdict(kVectorId), CaseVerdict::regressed);
  EXPECT_EQ(compared.comparison.count(CaseVerdict::regressed), 1);
  EXPECT_EQ(compared.comparison.count(CaseVerdict::pass), 3);
  EXPECT_EQ(compared.comparison.exit_code(), 1);
  const Compared back(cpu_run(2, {"flat-vector"}), cpu_run(1));
  EXPECT_EQ(back.verdict(kVectorId), CaseVerdict::improved);
  EXPECT_EQ(back.comparison.exit_code(), 0);
}

TEST(Comparison, DoesNotEraseAUniformRegression) {
  const std::vector<std::string> stages = {"memory-accumulation", "local-accumulation", "flat-vector"};
  EXPECT_EQ(Compared(cpu_run(1), cpu_run(2, stages)).comparison.count(CaseVerdict::regressed), 3);
}

TEST(Comparison, DoesNotCallADriftOfTheMachineARegression) {
  const Compared compared(cpu_run(1),
                          cpu_run(2, {"memory-accumulation", "local-accumulation", "flat-vector", "onednn"}));
  EXPECT_EQ(compared.comparison.count(CaseVerdict::regressed), 0);
  EXPECT_EQ(compared.comparison.exit_code(), 2);
  EXPECT_THAT(compared["cpu/onednn/lenet28.conv1/10"].reason, HasSubstr("contaminated"));
  EXPECT_THAT(compared[kVectorId].reason, HasSubstr("slower, but so is onednn"));
}

TEST(Comparison, DoesNotTrustAControlThatScatters) {
  ordered_json now = cpu_run(2);
  case_of(now, "cpu/onednn/lenet28.conv1/10")["time"]["samples"] = noisy_samples(5e5, 0.3, 99);
  const Compared compared(cpu_run(1), now);
  EXPECT_EQ(compared.verdict("cpu/onednn/lenet28.conv1/10"), CaseVerdict::inconclusive);
  EXPECT_THAT(compared["cpu/onednn/lenet28.conv1/10"].reason, HasSubstr("scatter too much"));
  EXPECT_EQ(compared.verdict(kVectorId), CaseVerdict::inconclusive);
}

TEST(Comparison, ProvesNothingBesideAWitnessThatMoved) {
  // Slower by a third, and its witness by a tenth: both bounds alone would call it a regression.
  const Compared compared(cpu_run(1), [] {
    ordered_json run = cpu_run(2, {"onednn"});
    case_of(run, kVectorId)["time"]["samples"] = noisy_samples(1.33e6, 0.01, 98);
    return run;
  }());
  EXPECT_GT(compared[kVectorId].change->low, 0.1);
  EXPECT_GT(compared[kVectorId].beside->low, 0.1);
  EXPECT_EQ(compared.verdict(kVectorId), CaseVerdict::inconclusive);
  EXPECT_THAT(compared[kVectorId].reason, HasSubstr("onednn is not steady"));
}

TEST(Comparison, WithoutAControlLooksAtTheMiddleOfTheOthers) {
  const auto without = [](ordered_json run) {
    run["cases"].erase(3);
    run["planned"].erase(3);
    return run;
  };
  const Compared one(without(cpu_run(1)), without(cpu_run(2, {"flat-vector"})));
  EXPECT_EQ(one.verdict(kVectorId), CaseVerdict::regressed);
  const Compared all(without(cpu_run(1)),
                     without(cpu_run(2, {"memory-accumulation", "local-accumulation", "flat-vector"})));
  EXPECT_EQ(all.comparison.count(CaseVerdict::inconclusive), 3);
  EXPECT_EQ(all.comparison.exit_code(), 2);
  const Compared named(without(cpu_run(1)), without(cpu_run(2, {"local-accumulation", "flat-vector"})),
                       {.limits = {}, .case_filter = {}, .controls = {"memory-accumulation"}});
  EXPECT_EQ(named.comparison.count(CaseVerdict::regressed), 2);
  EXPECT_EQ(named[kVectorId].witness, "memory-accumulation");
}

TEST(Comparison, SaysThatNothingWasMeasuredBeside) {
  const auto alone = [](std::uint64_t stream, double factor) {
    return recorded_run_json({timed_case_json("cpu", "flat-vector", 4, noisy_samples(1e6 * factor, 0.01, stream))});
  };
  const Compared compared(alone(1, 1), alone(2, 1.3));
  EXPECT_EQ(compared.comparison.exit_code(), 2);
  EXPECT_THAT(compared[kVectorId].reason, HasSubstr("nothing was measured beside it"));
}

TEST(Comparison, SaysHowManySamplesAreNeeded) {
  ordered_json base = cpu_run(1);
  ordered_json& samples = case_of(base, kVectorId)["time"]["samples"];
  while (samples.size() > 6) samples.erase(samples.size() - 1);
  const Compared compared(base, cpu_run(2));
  EXPECT_EQ(compared.verdict(kVectorId), CaseVerdict::inconclusive);
  EXPECT_EQ(compared[kVectorId].reason, "only 6 samples; 8 are needed at 1%: run with --repetitions 8 or more");
  const Compared witness(cpu_run(2), [] {
    ordered_json run = cpu_run(3);
    ordered_json& few = case_of(run, "cpu/onednn/lenet28.conv1/10")["time"]["samples"];
    while (few.size() > 7) few.erase(few.size() - 1);
    return run;
  }());
  EXPECT_THAT(witness[kVectorId].reason, HasSubstr("7 rounds beside onednn"));
}

TEST(Comparison, ListsWhatIsMissingNewFailedAndSkipped) {
  ordered_json base = cpu_run(1);
  ordered_json now = cpu_run(2);
  now["cases"].erase(0);
  now["planned"].erase(0);
  case_of(now, "cpu/local-accumulation/lenet28.conv1/10")
      .update({{"status", "incorrect"}, {"reason", "wrong"}, {"time", nullptr}});
  now["cases"].push_back(timed_case_json("cpu", "another", 7, {1, 2, 3}));
  for (ordered_json* run : {&base, &now}) {
    ordered_json skipped = recorded_case_json("cuda", "shared", 3);
    skipped.update({{"status", "skipped"}, {"reason", "no GPU"}});
    (*run)["cases"].push_back(skipped);
  }
  const Compared compared(base, now);
  EXPECT_EQ(compared.verdict("cpu/memory-accumulation/lenet28.conv1/10"), CaseVerdict::missing);
  EXPECT_EQ(compared.verdict("cpu/local-accumulation/lenet28.conv1/10"), CaseVerdict::failed);
  EXPECT_EQ(compared.verdict("cpu/another/lenet28.conv1/10"), CaseVerdict::added);
  EXPECT_EQ(compared.verdict("cuda/shared/lenet28.conv1/10"), CaseVerdict::skipped);
  EXPECT_EQ(compared.comparison.exit_code(), 1);
  const std::string text = as_text(comparison_report(compared.comparison));
  for (const ComparedCase& one : compared.comparison.cases) EXPECT_THAT(text, HasSubstr(one.variant));
}

TEST(Comparison, OfNothingInCommonIsNoPass) {
  const Compared compared(recorded_run_json({}), cpu_run(1));
  EXPECT_EQ(compared.comparison.exit_code(), 4);
  EXPECT_EQ(Compared(recorded_run_json({}), recorded_run_json({})).comparison.exit_code(), 4);
}

TEST(Comparison, MissesWhatWasPlannedAndNotRun) {
  ordered_json now = cpu_run(2);
  now["complete"] = false;
  now["cases"].erase(2);
  const Compared compared(cpu_run(1), now);
  EXPECT_EQ(compared.verdict(kVectorId), CaseVerdict::missing);
  EXPECT_THAT(compared.comparison.notes, testing::Contains(HasSubstr("new.json is not complete")));
  ordered_json half = cpu_run(1);
  half["planned"].push_back("cpu/never/lenet28.conv1/10");
  EXPECT_EQ(Compared(half, cpu_run(2)).verdict("cpu/never/lenet28.conv1/10"), CaseVerdict::missing);
}

TEST(Comparison, NamesWhatMakesItImpossible) {
  const auto reason = [](const char* pointer, const ordered_json& value) {
    ordered_json now = cpu_run(2);
    now["context"][ordered_json::json_pointer(pointer)] = value;
    const Compared compared(cpu_run(1), now);
    EXPECT_EQ(compared.comparison.exit_code(), 4) << pointer;
    EXPECT_EQ(compared.verdict(kVectorId), CaseVerdict::incomparable) << pointer;
    return compared[kVectorId].reason;
  };
  EXPECT_EQ(reason("/program/compiler", "Clang 14"), "compiler changed: \"GNU 12.2.0\", now \"Clang 14\"");
  EXPECT_THAT(reason("/program/sanitized", true), HasSubstr("sanitizers differ: false, now true"));
  EXPECT_THAT(reason("/program/cpu_variant_flags", "-O1"), HasSubstr("flags of the CPU variants differ"));
  EXPECT_THAT(reason("/cpu/model", "another"), HasSubstr("processor differs"));
  EXPECT_THAT(reason("/cpu/threads", 1), HasSubstr("threads differ: 2, now 1"));
  EXPECT_THAT(reason("/dataset/sha256", "c"), HasSubstr("images differ: other data by their SHA-256"));
  EXPECT_THAT(reason("/seed", 2), HasSubstr("seed differs"));
  EXPECT_THAT(reason("/options/sample_milliseconds", 1.0), HasSubstr("length of a sample differs: 5.0, now 1.0"));
  EXPECT_THAT(reason("/cpu/instruction_sets", {"avx", "avx2"}),
              HasSubstr(R"(sets differ: not recorded, now "avx", "avx2")"));
  const ordered_json caches = ordered_json::array({{{"level", 1}, {"type", "Data"}, {"bytes", 49152}}});
  EXPECT_THAT(reason("/cpu/caches", caches), HasSubstr("caches differ: not recorded, now level 1 Data of 49152 bytes"));
}

TEST(Comparison, OfAnotherShapeIsImpossible) {
  ordered_json now = cpu_run(2);
  for (ordered_json& one : now["cases"]) one["shape"] = {{"height", 28}, {"width", 5}};
  EXPECT_EQ(Compared(cpu_run(1), now)[kVectorId].reason, "shape differs: width not there, now 5");
}

TEST(Comparison, OfAnotherLibraryIsImpossibleForItsVariantsOnly) {
  ordered_json now = cpu_run(2);
  now["context"]["libraries"]["oneDNN"] = "3.1";
  const Compared compared(cpu_run(1), now);
  EXPECT_THAT(compared["cpu/onednn/lenet28.conv1/10"].reason, HasSubstr("oneDNN differs: \"2.6.3\", now \"3.1\""));
  EXPECT_EQ(compared.verdict(kVectorId), CaseVerdict::pass);
  EXPECT_NE(compared[kVectorId].witness, "onednn");
}

TEST(Comparison, KnowsALibraryThatIsTypedOtherwise) {
  const auto run = [](std::uint64_t stream, const char* version) {
    ordered_json json =
        recorded_run_json({timed_case_json("cpu", "flat-vector", 4, noisy_samples(1e6, 0.01, 10 * stream)),
                           timed_case_json("cpu", "onnxruntime", 0, noisy_samples(4e5, 0.01, 10 * stream + 1))});
    json["context"]["libraries"]["ONNX Runtime"] = version;
    return json;
  };
  const Compared compared(run(1, "1.29.0"), run(2, "1.30.0"));
  EXPECT_THAT(compared["cpu/onnxruntime/lenet28.conv1/10"].reason,
              HasSubstr("ONNX Runtime differs: \"1.29.0\", now \"1.30.0\""));
  EXPECT_NE(compared.verdict(kVectorId), CaseVerdict::incomparable);
}

/// A CUDA variant timed on a GPU beside a library, and counted.
ordered_json cuda_run(std::uint64_t stream, double factor, double instructions, double sectors) {
  return recorded_run_json({timed_case_json("cuda", "shared", 3, noisy_samples(1e6 * factor, 0.01, 10 * stream)),
                            timed_case_json("cuda", "cudnn", 0, noisy_samples(4e5, 0.01, 10 * stream + 1)),
                            counted_case_json("shared", 3, instructions, sectors)});
}

constexpr const char* kCountedId = "simulated/shared/lenet28.conv1/10";
constexpr const char* kTimedId = "cuda/shared/lenet28.conv1/10";

TEST(ComparedCounters, AreExact) {
  const auto verdict = [](double instructions, double sectors) {
    return Compared(recorded_run_json({counted_case_json("shared", 3, 1000, 500)}),
                    recorded_run_json({counted_case_json("shared", 3, instructions, sectors)}))
        .verdict(kCountedId);
  };
  EXPECT_EQ(verdict(1000, 500), CaseVerdict::pass);
  EXPECT_EQ(verdict(1001, 500), CaseVerdict::regressed);
  EXPECT_EQ(verdict(1000, 499), CaseVerdict::improved);
  EXPECT_EQ(verdict(1001, 499), CaseVerdict::inconclusive);
}

TEST(ComparedCounters, ExplainWhatTheTimeDoes) {
  const Compared explained(cuda_run(1, 1, 1000, 500), cuda_run(2, 1.1, 1500, 500));
  EXPECT_EQ(explained.verdict(kTimedId), CaseVerdict::regressed);
  EXPECT_EQ(explained[kTimedId].cause, "explained: instructions +50.0%");
  EXPECT_EQ(explained.verdict(kCountedId), CaseVerdict::regressed);
  const Compared environment(cuda_run(1, 1, 1000, 500), cuda_run(2, 1.1, 1000, 500));
  EXPECT_THAT(environment[kTimedId].cause, HasSubstr("environment or layout"));
  EXPECT_EQ(environment.comparison.exit_code(), 1);
  const Compared latent(cuda_run(1, 1, 1000, 500), cuda_run(2, 1, 1000, 600));
  EXPECT_THAT(latent[kTimedId].cause, HasSubstr("latent: not visible in the time, but global load sectors +20.0%"));
  EXPECT_EQ(latent.comparison.exit_code(), 0);
  EXPECT_THAT(as_text(comparison_report(latent.comparison)), HasSubstr("latent"));
}

TEST(ComparedCounters, OfAnotherCompilerReadAsThat) {
  ordered_json now = cuda_run(2, 1, 2000, 500);
  now["context"]["program"]["ptx"][0].update({{"version", "13.1"}, {"sha256", std::string(64, 'c')}});
  const Compared changed(cuda_run(1, 1, 1000, 500), now);
  EXPECT_EQ(changed.verdict(kCountedId), CaseVerdict::incomparable);
  EXPECT_THAT(changed[kCountedId].reason, HasSubstr("CUDA compiler changed: \"nvcc 13.0.88\", now \"nvcc 13.1\""));
  // The same compiler: what differs is the code, and that is what is asked about.
  now["context"]["program"]["ptx"][0]["version"] = "13.0.88";
  const Compared code(cuda_run(1, 1, 1000, 500), now);
  EXPECT_EQ(code.verdict(kCountedId), CaseVerdict::pass) << "latent";
  EXPECT_THAT(code.comparison.notes, testing::Contains(HasSubstr("their code changed")));
  // Another GPU in the model of caches.
  now["context"]["devices"][1]["facts"]["modelled GPU"] = "another";
  EXPECT_THAT(Compared(cuda_run(1, 1, 1000, 500), now)[kCountedId].reason, HasSubstr("device differs, modelled GPU"));
}

TEST(ComparisonOptions, ChooseCasesAndRefuseNonsense) {
  const Compared one(cpu_run(1), cpu_run(2, {"flat-vector"}), {.limits = {}, .case_filter = "memory", .controls = {}});
  EXPECT_EQ(one.comparison.cases.size(), 1);
  const RecordedRun run = recorded_run(cpu_run(1));
  EXPECT_THROW(compare_runs(run, run, {.limits = {}, .case_filter = "(", .controls = {}}), UserError);
  EXPECT_THROW(compare_runs(run, run, {.limits = {}, .case_filter = {}, .controls = {"onedn"}}), UserError);
}

ordered_json json_of(const Comparison& comparison) { return ordered_json::parse(comparison_json_text(comparison)); }

TEST(ComparisonOutput, SaysWhichCasesWereMeasuredOnABusyMachine) {
  const auto mark = [](ordered_json& run, std::size_t index, const char* name, std::vector<std::string> reasons) {
    run["cases"][index]["quality"] = {{"mark", name}, {"reasons", std::move(reasons)}};
  };
  ordered_json base = cpu_run(1);
  ordered_json now = cpu_run(2, {"flat-vector"});
  mark(base, 0, "disturbed", {"others used 1.6 of 2 cores", "steal 12%"});
  mark(base, 1, "good", {});
  mark(now, 2, "noisy", {"steal 3%"});
  const Compared compared(base, now);
  EXPECT_EQ(compared.verdict(kVectorId), Compared(cpu_run(1), cpu_run(2, {"flat-vector"})).verdict(kVectorId));
  EXPECT_EQ(compared.verdict(kVectorId), CaseVerdict::regressed);

  const std::string text = as_text(comparison_report(compared.comparison));
  EXPECT_THAT(text, HasSubstr("new: noisy: steal 3%"));
  EXPECT_THAT(text, HasSubstr("base: disturbed: others used 1.6 of 2 cores, steal 12%"));
  const std::string markdown = as_markdown(comparison_report(compared.comparison));
  EXPECT_THAT(markdown, HasSubstr("base: disturbed: others used 1.6 of 2 cores, steal 12%"));
  EXPECT_THAT(markdown, HasSubstr("new: noisy: steal 3%"));
  const ordered_json cases = json_of(compared.comparison)["cases"];
  EXPECT_EQ(cases[0]["base_quality"], "disturbed: others used 1.6 of 2 cores, steal 12%");
  EXPECT_TRUE(cases[0]["new_quality"].is_null());
  EXPECT_TRUE(cases[1]["base_quality"].is_null());
  EXPECT_EQ(cases[2]["new_quality"], "noisy: steal 3%");
  EXPECT_THAT(as_text(comparison_report(Compared(cpu_run(1), cpu_run(2)).comparison)), Not(HasSubstr("not quiet")));
}

TEST(ComparisonOutput, ShowsDoubtsBesideTheVerdict) {
  // A neighbour that comes and goes: every second sample of one stage takes half as long again.
  ordered_json now = cpu_run(2, {"flat-vector"}, 1.3);
  ordered_json& samples = case_of(now, kVectorId)["time"]["samples"];
  for (std::size_t i = 0; i < samples.size(); i += 2) samples[i] = samples[i].get<double>() * 1.5;
  const Compared scattered(cpu_run(1), now);
  ASSERT_EQ(scattered.verdict(kVectorId), CaseVerdict::regressed);
  const std::string text = as_text(comparison_report(scattered.comparison));
  EXPECT_THAT(text, HasSubstr("regressed (scatter)"));
  EXPECT_THAT(scattered[kVectorId].caveats.at(0).text, HasSubstr("the samples of the new record lie"));
  const ordered_json document = json_of(scattered.comparison);
  for (const ordered_json& one : document.at("cases")) {
    EXPECT_EQ(one["caveat"].is_null(), one["id"] != kVectorId) << one["id"];
  }

  const Compared quiet(cpu_run(1), cpu_run(2, {"flat-vector"}));
  EXPECT_EQ(quiet[kVectorId].caveats.size(), 0);
  EXPECT_THAT(as_text(comparison_report(quiet.comparison)), HasSubstr("  regressed\n"));

  const auto without_library = [](ordered_json run) {
    run["cases"].erase(3);
    run["planned"] = ordered_json::array();
    return run;
  };
  const Compared alone(without_library(cpu_run(1)), without_library(cpu_run(2, {"flat-vector"})));
  ASSERT_EQ(alone.verdict(kVectorId), CaseVerdict::regressed);
  EXPECT_THAT(as_text(comparison_report(alone.comparison)), HasSubstr("regressed (no control)"));
}

TEST(ComparisonOutput, HasTheVerdictFirst) {
  const Compared compared(cpu_run(1), cpu_run(2, {"flat-vector"}));
  EXPECT_TRUE(
      as_text(comparison_report(compared.comparison)).starts_with("regressed (exit code 1): 1 regressed, 3 pass\n"));
}

TEST(ComparisonOutput, FitsATerminal) {
  ordered_json now = cpu_run(2, {"flat-vector"});
  now["cases"].push_back(timed_case_json("cpu", "another", 7, {1, 2, 3}));
  const Compared compared(cpu_run(1), now);
  std::istringstream lines(as_text(comparison_report(compared.comparison)));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
}

TEST(ComparisonOutput, ShowsHostileNamesAsText) {
  const auto hostile = [] {
    ordered_json run = recorded_run_json({timed_case_json("cpu", "<script>a|b`", 1, noisy_samples(1, 0.01, 1))});
    run["context"]["program"]["commit"] = "\x1b]0;x\x07<b>";
    return run;
  };
  const Compared compared(hostile(), hostile());
  const std::string markdown = as_markdown(comparison_report(compared.comparison));
  EXPECT_THAT(markdown, Not(HasSubstr("<script>")));
  EXPECT_THAT(markdown, HasSubstr("cpu/&lt;script\\>a\\|b\\`/lenet28.conv1/10"));
  EXPECT_THAT(as_text(comparison_report(compared.comparison)), Not(HasSubstr("\x1b")));
  EXPECT_EQ(json_of(compared.comparison)["cases"][0]["id"], "cpu/<script>a|b`/lenet28.conv1/10");
}

}  // namespace
}  // namespace convladder
