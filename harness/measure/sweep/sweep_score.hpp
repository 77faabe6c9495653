// The score by which the configurations of a variant on one layer are ranked: a time where the device has a clock,
// otherwise counts, or the time that follows from them on a named GPU. Smaller is better.
#pragma once

#include <optional>
#include <string>

#include "harness/measure/records/recorded_case.hpp"

namespace convladder {

enum class ScoreKind { measured, counted, predicted };

/// "measured", "counted" or "predicted", as records have it.
const char* kind_text(ScoreKind kind);

struct Score {
  double value = 0;  ///< nanoseconds, or cycles if counted
  double low = 0;    ///< the interval of a measured median, or the range of a prediction; otherwise the value
  double high = 0;
};

/// Cycles of one multiprocessor for all counted work, if none of it overlaps and nothing waits: warp instructions / 4 +
/// wavefronts of shared memory + sectors of global memory / 4. Since Volta a multiprocessor issues for four warps a
/// cycle, and its load/store unit moves 128 bytes a cycle: a wavefront, or four sectors (simulator/gpus/*.json:
/// issue_per_cycle, shared_wavefronts_per_cycle, l1_bytes_per_cycle). `totals` is `counters.totals` of a case. It only
/// gives an order: it knows no tensor cores, no caches and no latency.
double multiprocessor_cycles(const CounterValues& totals);

/// The score of a case that has ended; none where it has not ended well, or where `gpu`, for a prediction, cannot
/// launch it. A measured score is that of the case's time, a predicted one the geometric mean of the range's ends.
std::optional<Score> score_of(ScoreKind kind, const std::string& gpu, const RecordedCase& one);

}  // namespace convladder
