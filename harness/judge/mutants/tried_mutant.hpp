// A test and its mutants: each of a kernel's mutants, whether the test accepts it, and what it changes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "simulator/device/mutants.hpp"
#include "support/text_pattern.hpp"

namespace convladder {

enum class MutantVerdict : std::uint8_t {
  rejected,    ///< the test fails
  accepted,    ///< it passes, although results are others
  unread,      ///< it passes; results are others, and the host reads none of them
  hidden,      ///< it passes; results are the same, but a checker has a finding
  tolerated,   ///< it passes: results differ as rounding makes them
  equivalent,  ///< it passes: nothing is changed
  not_told,    ///< it passes, and what is changed is not known
  not_run,     ///< the test does not execute that line
  not_tried    ///< there was no time for it
};

/// In the order of MutantVerdict.
inline constexpr const char* kMutantVerdicts[] = {"rejected",   "accepted", "unread",  "hidden",   "tolerated",
                                                  "equivalent", "not told", "not run", "not tried"};

/// For json_fields.hpp.
inline const char* record_word(MutantVerdict verdict) {
  const auto index = static_cast<std::size_t>(verdict);
  return index < std::size(kMutantVerdicts) ? kMutantVerdicts[index] : nullptr;
}

/// A mutant, and what came of it.
struct TriedMutant {
  std::string of;      ///< the case that tests it, "simulated/… nvcc"; empty for a program
  std::string kernel;  ///< by its name in the PTX
  simulated::PossibleMutant mutant;
  MutantVerdict verdict = MutantVerdict::not_tried;
  std::string by{};  ///< of a rejected one: "exit code 1", "timeout", "incorrect"
  simulated::MutantOutcome outcome{};
  double seconds = 0;

  static void each_field(auto&& field, auto& its) {
    field("of", its.of, "kernel", its.kernel, "mutant", its.mutant, "verdict", its.verdict, "by", its.by, "outcome",
          its.outcome, "seconds", its.seconds);
  }
  /// Whether it is the same mutant of the same kernel, executed as often.
  bool is_same(const TriedMutant& other) const;
};

/// Which mutants are tried, and how.
struct MutantSettings {
  std::vector<simulated::MutationKind> kinds;  ///< none: all
  TextPattern kernels;                         ///< names as they are written
  std::uint64_t most = 0;                      ///< of all; 0: no limit
  double minutes = 0;                          ///< time after which no further one begins; 0: no limit
  int jobs = 1;                                ///< at a time
  std::uint64_t orders = 20;                   ///< see MutantsWanted
  double timeout = 0;                          ///< seconds after which a mutant has failed; 0: by the test's own

  simulated::MutantsWanted wanted(const TriedMutant& one) const {
    return {.kernel = one.kernel, .id = one.mutant.id, .orders = orders};
  }
  /// Seconds for a mutant of a test that takes `own_seconds` itself: a mutant's launches run twice and more, and it may
  /// never end.
  double timeout_for(double own_seconds) const {
    constexpr double kLeast = 30;
    constexpr double kTimesOwn = 20;
    return timeout > 0 ? timeout : std::max(kLeast, kTimesOwn * own_seconds);
  }
};

/// The verdict on a mutant that a test has passed, from what it has changed. `is_unread`: all that the host has read
/// from the device is as without any mutant.
MutantVerdict verdict_of_accepted(const simulated::PossibleMutant& mutant, const simulated::MutantOutcome& outcome,
                                  bool is_unread);

/// The outcome of several processes or calls: of the one that says most.
simulated::MutantOutcome combined(const std::vector<simulated::MutantOutcome>& outcomes);

/// The mutants that the settings select. Those that were not executed are `not_run`.
std::vector<TriedMutant> selected_mutants(const std::string& of,
                                          const std::map<std::string, std::vector<simulated::PossibleMutant>>& possible,
                                          const MutantSettings& settings);
/// Puts them in the order in which they are tried: every kernel has its turn, and so has every kind, before more of the
/// same.
void order_fairly(std::vector<TriedMutant>& mutants);

/// Tries those that are not tried yet, several at a time, until there is no time left. `run` fills in verdict, by,
/// outcome and seconds; `keep` is called after each, never by two threads at a time.
void try_mutants(std::vector<TriedMutant>& mutants, const MutantSettings& settings,
                 const std::function<void(TriedMutant&)>& run, const std::function<void()>& keep);

}  // namespace convladder
