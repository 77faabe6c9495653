// The options that measuring commands have in common: how long is measured, and where a case runs.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "harness/commands/option_checks.hpp"
#include "harness/measure/plan/options.hpp"

namespace convladder {

/// --wait-until-quiet
inline void add_quiet_option(CLI::App& command, double& seconds) {
  command
      .add_option("--wait-until-quiet", seconds,
                  "before each group of cases, wait so many seconds at most until other programs leave the machine "
                  "alone")
      ->check(number_between(0.0, kMostOptionSeconds))
      ->group("How");
}

/// The texts of a command's help for --budget, --repetitions and --timeout.
struct MeasuringHelp {
  const char* budget;
  const char* repetitions;
  const char* timeout;
};

/// Adds --budget, --repetitions, --timeout and --wait-until-quiet.
inline void add_measuring_options(CLI::App& command, MeasuringOptions& options, const MeasuringHelp& help) {
  command.add_option("--budget", options.budget_seconds, help.budget)
      ->check(number_between(0.0, kMostOptionSeconds))
      ->group("How");
  command.add_option("--repetitions", options.repetitions, help.repetitions)
      ->check(CLI::Range(1, kMostRepetitions))
      ->group("How");
  command.add_option("--timeout", options.timeout_seconds, help.timeout)
      ->check(number_between(kShortestTimeout, kMostOptionSeconds))
      ->group("How");
  add_quiet_option(command, options.wait_until_quiet_seconds);
}

/// --isolate
inline void add_isolation_option(CLI::App& command, bool& isolate) {
  const auto set = [&isolate](const std::string& how) { isolate = how == "process"; };
  command
      .add_option_function<std::string>("--isolate", set,
                                        "'process': every case in a process of its own (default); 'none': all in this "
                                        "one, for debuggers and profilers")
      ->check(CLI::IsMember({"process", "none"}))
      ->group("How");
}

/// --no-checkers, --schedules
inline void add_checkers_options(CLI::App& command, bool& checkers, std::uint64_t& schedules) {
  add_schedules_option(command, schedules)->group("How");
  command
      .add_flag_function(
          "--no-checkers", [&checkers](std::int64_t) { checkers = false; },
          "do not look for races, uninitialised reads, wrong accesses and barriers in CUDA stages of yours")
      ->group("How");
}

}  // namespace convladder
