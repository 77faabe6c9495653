// Runs the commands of one side of a duel between programs.
#pragma once

#include <chrono>
#include <set>
#include <string>
#include <utility>

#include "harness/judge/duel/duel.hpp"
#include "harness/judge/duel/programs/command_words.hpp"
#include "harness/judge/duel/programs/program_duel.hpp"
#include "harness/judge/duel/programs/temporary_folder.hpp"
#include "harness/judge/duel/programs/worker_process.hpp"
#include "harness/measure/machine/machine_load.hpp"

namespace convladder {

/// The figures and the output of a run.
struct ProgramRun {
  double wall_ns = 0;
  double cpu_ns = 0;
  std::string output;

  /// Whether it used more processor time than one thread can: the system's account is no finer than some milliseconds.
  bool has_several_threads() const { return cpu_ns > kOneThread * wall_ns + kAccountNs; }

 private:
  static constexpr double kOneThread = 1.05;
  static constexpr double kAccountNs = 5e6;
};

/// Whether the sides of a pair have been seen to work with one thread.
struct SeenThreads {
  bool any_seen = false;
  bool several = false;
};

/// Shared by all pairs of a duel.
struct ProgramRing {
  ProgramRing(const ProgramDuelOptions& duel_options, const DuelSettings& duel_settings)
      : options(duel_options), settings(duel_settings) {}

  const ProgramDuelOptions& options;
  const DuelSettings& settings;
  TemporaryFolder scratch;  ///< for what programs write and checks read
  MachineWatch machine;
  std::set<std::string> notes;

  const ProgramSide& side(Role role) const { return role == Role::base ? options.base : options.now; }
};

/// Commands of one case on one side.
class CommandRunner {
 public:
  CommandRunner(ProgramRing& ring, SeenThreads& seen, Role role, std::string one_case)
      : ring_(&ring), seen_(&seen), role_(role), case_(std::move(one_case)) {}

  Role role() const { return role_; }
  const std::string& one_case() const { return case_; }
  ProgramRing& ring() const { return *ring_; }
  /// The file that "{json}" stands for.
  std::string json_file() const;

  /// The worker that this side's command starts. Throws SideFailure if there is no such program.
  WorkerStart worker() const;
  /// Runs the command of this side. Throws SideFailure.
  ProgramRun run() const;
  /// Runs the command of an option, for this side. `what` begins the text of a failure. Throws SideFailure.
  ProgramRun run(const char* option, const std::string& command, const std::string& what) const;
  void seen(bool several_threads) const;

  using Clock = std::chrono::steady_clock;
  [[noreturn]] void fail(const std::string& reason, bool is_the_machines = false) const;
  [[noreturn]] void fail_as_killed(const std::string& what) const;
  /// A failure that a busy machine may explain.
  [[noreturn]] void fail_by_time(const std::string& reason, Clock::time_point begin) const;

 private:
  const ProgramSide& side() const { return ring_->side(role_); }
  double timeout() const { return ring_->options.timeout_seconds; }
  CommandWords words(const char* option, const std::string& command) const;
  CommandWords words() const;
  std::string program_of(const CommandWords& taken) const;
  ProgramRun run(const CommandWords& command, const std::string& what) const;

  ProgramRing* ring_;
  SeenThreads* seen_;
  Role role_;
  std::string case_;
};

}  // namespace convladder
