// `convladder history --confirm`: alarms are measured again before anything is said.
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
  double suspect = kSuspect;  ///< of series without a mark, those with a p of at most this are measured again as well
  std::string repository;     ///< that the runs' commits are of
  std::vector<std::string> build_options;
  std::string base;  ///< programs, instead of the runs' commits; empty for none
  std::string now;
};

/// --confirm and what belongs to it.
void add_confirm_options(CLI::App& history, ConfirmArguments& arguments);
/// Throws UserError for what contradicts itself.
void check_confirm_arguments(const ConfirmArguments& arguments);

/// Duels of the builds before each alarm's change and of the latest run, with the settings of that run: all alarms with
/// the same two builds in one. What is only suspected and cannot be measured again is counted in a note. Throws
/// UserError where nothing can be built at all, or both programs cannot be compared.
ConfirmedAlarms confirm_alarms(const History& history, const ConfirmArguments& arguments);

/// How a duel confirms: at a share of kConfirmAlpha, with the history's tau.
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
/// Returns the exit code, as duel_selftest does.
int history_selftest(const HistorySelftestArguments& arguments);

}  // namespace convladder
