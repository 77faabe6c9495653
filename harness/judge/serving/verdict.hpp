// The verdict on a submission: one word for a program to branch on, and what led to it.
#pragma once

#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/measure/cases/case_outcome.hpp"
#include "harness/measure/plan/plan.hpp"
#include "ladders/stage_build.hpp"

namespace convladder {

enum class VerdictStatus {
  ok,               ///< verified on every size, without a finding
  compile_error,    ///< its compiler refuses it, or it does not define what it has to
  wrong,            ///< a result differs from the reference's
  race,             ///< two threads of a kernel access memory in no defined order
  memory,           ///< it reads or writes where it may not, or reads what was never written
  synchronization,  ///< a barrier that not all of its threads reach
  cheat,            ///< it did what no submission may, or its times cannot be what they seem
  crashed,
  timeout,
  launch_failed,  ///< the device refused, or had no memory left
  unsupported,    ///< it says itself that it cannot run the size
  unavailable,    ///< this machine has no compiler or no device for it
  not_judged,     ///< the machine, and not the submission, is to blame
  bad_request,    ///< the request cannot be carried out
  cancelled       ///< the server ended before
};

inline constexpr std::array<std::string_view, 15> kVerdictNames{
    "OK",      "COMPILE_ERROR", "WRONG",       "RACE",        "MEMORY",     "SYNCHRONIZATION", "CHEAT",    "CRASHED",
    "TIMEOUT", "LAUNCH_FAILED", "UNSUPPORTED", "UNAVAILABLE", "NOT_JUDGED", "BAD_REQUEST",     "CANCELLED"};

constexpr std::string_view verdict_name(VerdictStatus status) {
  return kVerdictNames[static_cast<std::size_t>(status)];
}

/// Something that was found at a place of the source.
struct VerdictFinding {
  std::string kind;  ///< "compiler", or a checker's name: "racecheck"
  std::string text;  ///< in one line
  std::string file;  ///< empty where nobody knows
  int line = 0;      ///< 0 where nobody knows
};

struct ServedVerdict {
  VerdictStatus status = VerdictStatus::ok;
  std::string reason;  ///< in one line; empty for OK
  std::vector<VerdictFinding> findings;
  /// Each size that was run, by judged_size_json, since the case does not outlive its submission.
  nlohmann::ordered_json sizes = nlohmann::ordered_json::array();
  double waiting_seconds = 0;  ///< in the queue
  double compile_seconds = 0;
  double verdict_seconds = 0;  ///< from the end of compiling
};

/// The errors in the compiler's messages with their places, each once and not too many.
std::vector<VerdictFinding> compiler_findings(const StageBuild& build);

/// The findings of the checkers that are no notes.
std::vector<VerdictFinding> checker_findings(const StageFindings& found);

/// The status of a case that ended so; `found` is what the checkers have found in it.
VerdictStatus verdict_of(const CaseOutcome& outcome, const std::vector<simulated::Finding>& found);

/// A size's part of the answer: fields of the case as a run's record has them.
nlohmann::ordered_json judged_size_json(const PlannedCase& planned, const CaseOutcome& outcome, VerdictStatus status);

/// The answer without its id.
nlohmann::ordered_json verdict_json(const ServedVerdict& verdict);

}  // namespace convladder
