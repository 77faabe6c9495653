// A kernel as a side of a duel: a process of one build with one case, which is verified and then measures slots.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "harness/judge/duel/duel.hpp"
#include "harness/measure/cases/case_verifier.hpp"
#include "harness/measure/cases/time_judge.hpp"
#include "harness/measure/isolation/claimed_times.hpp"

namespace convladder {

/// The task of a side's process.
struct KernelSetting {
  std::string role;     ///< "base" or "new": for messages
  std::string program;  ///< path
  const PlannedCase& planned;
  const Workload& workload;
  double timeout_seconds = 60;
  std::uint64_t seed = 1;      ///< for the contents of inputs and outputs before calls: the same for both sides
  TimeJudge* judge = nullptr;  ///< judges the times that the side claims, if not null
  int extra_percent = 0;       ///< work that is added to every slot, to see whether it is found
};

class KernelSide : public DuelSide {
 public:
  /// Starts the process and verifies it, on integers and on the real input. `length` is that of every slot, and has to
  /// live as long as this; it may change between slots. Throws SideFailure.
  KernelSide(const KernelSetting& setting, const SlotLength& length);

  /// The length of slots: on a processor sub-runs of about 1 ms, at most 5 and fewer where a call takes longer than 20
  /// ms; on a GPU as many calls as last 10 ms, one where its clock is virtual. There a sub-run is one call, or about
  /// 0.2 ms of calls where both sides' are replayed, as many as `replayed_calls` says. The iterations are a multiple of
  /// what `extra_percent` needs.
  SlotLength calibrated(int extra_percent, int replayed_calls = 0);
  /// The number of calls of a recording that last as long as a sub-run on a processor; 0 where they cannot be recorded,
  /// or where launches cost nothing.
  int replayed_calls();
  /// Measures a slot: on a processor the fastest sub-run, which no neighbour disturbed; on a GPU the median.
  SlotValues slot() override { return slot_of(length_); }
  /// Compares the output of the last call of the last slot, and that of one more call where slots consist of one call.
  void verify_after() override;

 private:
  /// Does one step; throws SideFailure where the case fails.
  template <typename Step>
  auto attempt(const Step& step) const;
  SlotValues slot_of(const SlotLength& length);
  std::int64_t calls_of_slot(const SlotLength& length) const;
  to_case::SlotTaken ask_for_slot(const SlotLength& length);
  void require(const char* when, const Check& check) const;
  SideFailure failure(const Refusal& refusal) const;
  SideFailure failure_by_time(Status status, const std::string& reason) const;

  std::string role_;
  const SlotLength& length_;
  bool on_processor_;
  bool virtual_clock_;  ///< then every call takes the same time
  int extra_percent_;
  PlannedCase planned_;
  TimeJudge* judge_;
  std::vector<double> slots_ns_;  ///< of one call, for each slot
  std::int64_t last_call_ = 0;
  SlotLength last_length_;  ///< of the last slot
  CaseVerifier verifier_;
  ClaimedTimes claimed_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace convladder
