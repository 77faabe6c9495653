#include "harness/measure/sweep/sweep_score.hpp"

#include <algorithm>

namespace convladder {
namespace {

std::optional<Score> measured_score(const TimeFigure& time) {
  if (time.samples.empty()) return std::nullopt;
  const auto [fastest, slowest] = std::ranges::minmax_element(time.samples);
  return Score{time.median, time.low.value_or(*fastest), time.high.value_or(*slowest)};
}

std::optional<Score> predicted_score(const std::string& gpu, const std::vector<PredictedFigure>& predictions) {
  const auto found = std::ranges::find(predictions, gpu, &PredictedFigure::gpu);
  if (found == predictions.end() || !found->runs()) return std::nullopt;
  return Score{found->middle_ns(), *found->low_ns, *found->high_ns};
}

}  // namespace

const char* kind_text(ScoreKind kind) {
  if (kind == ScoreKind::measured) return "measured";
  return kind == ScoreKind::counted ? "counted" : "predicted";
}

double multiprocessor_cycles(const CounterValues& totals) {
  constexpr double kInstructionsPerCycle = 4;
  constexpr double kSectorsPerCycle = 4;
  const auto counted = [&totals](const char* name) { return counter_of(totals, name).value_or(0); };
  return counted("smsp__inst_executed.sum") / kInstructionsPerCycle +
         counted("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum") +
         counted("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum") +
         (counted("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum") +
          counted("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum")) /
             kSectorsPerCycle;
}

std::optional<Score> score_of(ScoreKind kind, const std::string& gpu, const RecordedCase& one) {
  if (!one.ok()) return std::nullopt;
  if (kind == ScoreKind::measured) return one.time ? measured_score(*one.time) : std::nullopt;
  if (kind == ScoreKind::predicted) return predicted_score(gpu, one.predictions);
  const double cycles = one.counters ? multiprocessor_cycles(one.counters->totals) : 0;
  return Score{cycles, cycles, cycles};
}

}  // namespace convladder
