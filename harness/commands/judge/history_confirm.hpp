// `convladder history --confirm`: alarms are measured again before they are reported.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/judge/duel/duel.hpp"
#include "harness/judge/history/alarms.hpp"

namespace CLI {
class App;
}

namespace convladder {

struct ConfirmArguments {
  bool confirm = false;
  double suspect = kSuspect;  ///< series without a mark are measured again as well if their p is at most this
  std::string repository;     ///< holds the runs' commits
  std::vector<std::string> build_options;
  std::string base;  ///< programs, instead of the runs' commits; empty for none
  std::string now;
};

/// Adds --confirm and the options that go with it.
void add_confirm_options(CLI::App& history, ConfirmArguments& arguments);
/// Throws UserError for options that contradict each other.
void check_confirm_arguments(const ConfirmArguments& arguments);

/// Duels the build before each alarm's change with that of the latest run, with the settings of that run: one duel for
/// all alarms with the same two builds. Suspicions that cannot be measured again are counted in a note. Throws
/// UserError where nothing can be built at all, or the two programs cannot be compared.
ConfirmedAlarms confirm_alarms(const History& history, const ConfirmArguments& arguments);

/// The settings of a confirming duel: a share of kConfirmAlpha, with the history's tau.
DuelSettings confirming_settings(const History& history, int shares);

/// `convladder history --selftest`: histories whose answer is known, measured on this machine, now.
struct HistorySelftestArguments {
  bool selftest = false;
  bool full = false;
  std::vector<int> levels;
  int runs = 0;
  double budget = 0;
  std::string neighbour = "none";
  std::string output;
};
void add_history_selftest_options(CLI::App& history, HistorySelftestArguments& arguments);
/// Returns the exit code, with the meaning that duel_selftest's has.
int history_selftest(const HistorySelftestArguments& arguments);

}  // namespace convladder
