#include "harness/measure/sweep/sweep_score.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "harness/measure/statistics/statistics.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

std::optional<Score> measured_score(const CaseOutcome& outcome) {
  if (outcome.times.empty() || outcome.times.front().samples.empty()) return std::nullopt;
  const std::vector<double>& samples = outcome.times.front().samples;
  const auto interval = median_interval(samples);
  const auto [fastest, slowest] = std::ranges::minmax_element(samples);
  return Score{median(samples), interval ? interval->low : *fastest, interval ? interval->high : *slowest};
}

std::optional<Score> predicted_score(const std::string& gpu, const ordered_json& prediction) {
  if (prediction.is_null()) return std::nullopt;
  for (const ordered_json& one : prediction.at("gpus")) {
    if (one.at("gpu") != gpu || one.at("low").is_null()) continue;
    const double low = one.at("low").get<double>();
    const double high = one.at("high").get<double>();
    return Score{std::sqrt(low * high), low, high};
  }
  return std::nullopt;
}

}  // namespace

const char* kind_text(ScoreKind kind) {
  if (kind == ScoreKind::measured) return "measured";
  return kind == ScoreKind::counted ? "counted" : "predicted";
}

double multiprocessor_cycles(const ordered_json& totals) {
  constexpr double kInstructionsPerCycle = 4;
  constexpr double kSectorsPerCycle = 4;
  const auto counted = [&totals](const char* name) { return totals.value(name, 0.0); };
  return counted("smsp__inst_executed.sum") / kInstructionsPerCycle +
         counted("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum") +
         counted("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum") +
         (counted("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum") +
          counted("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum")) /
             kSectorsPerCycle;
}

std::optional<Score> score_of(ScoreKind kind, const std::string& gpu, const CaseOutcome& outcome,
                              const ordered_json& recorded) {
  if (outcome.status != Status::ok) return std::nullopt;
  if (kind == ScoreKind::measured) return measured_score(outcome);
  if (kind == ScoreKind::predicted) return predicted_score(gpu, recorded.at("prediction"));
  const double cycles = multiprocessor_cycles(recorded.at("counters").at("totals"));
  return Score{cycles, cycles, cycles};
}

bool surely_better(ScoreKind kind, const Score& one, const Score& other) {
  constexpr double kRounding = 1e-9;
  if (kind == ScoreKind::measured) return one.high < other.low;
  return one.value < other.value * (1 - kRounding);
}

}  // namespace convladder
