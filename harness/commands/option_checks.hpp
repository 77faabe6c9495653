// Checks of an option's text that several commands need.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "simulator/gpus/gpu_facts.hpp"
#include "simulator/state/orders_tried.hpp"
#include "support/errors.hpp"
#include "support/nearest_name.hpp"

namespace convladder {

/// Empty if the text is a seed. (The conversion alone would take -1 for a very large number.)
inline std::string seed_error(const std::string& text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size()) return {};
  return fmt::format("expected a whole number from 0 to {}, got '{}'", UINT64_MAX, text);
}

/// A check for numbers that also refuses "nan", which CLI::Range lets pass.
inline CLI::Validator number_between(double smallest, double largest) {
  const auto error = [smallest, largest](const std::string& text) -> std::string {
    double value = 0;
    if (CLI::detail::lexical_cast(text, value) && value >= smallest && value <= largest) return {};
    return fmt::format("expected a number from {} to {}, got '{}'", smallest, largest, text);
  };
  return {error, fmt::format("FLOAT in [{} - {}]", smallest, largest), "number_between"};
}

/// The names of the GPUs that the simulator models, in the order of their files.
inline std::vector<std::string> gpu_names() {
  std::vector<std::string> names;
  for (const GpuFacts& gpu : gpu_facts()) names.push_back(gpu.name);
  return names;
}

/// Throws UserError for the value of --gpu if there is no such GPU.
inline void require_gpu(const std::string& name) {
  if (find_gpu(name) == nullptr) {
    throw UserError(fmt::format("--gpu: {}", unknown_name_message("GPU", name, gpu_names())));
  }
}

/// --schedules
inline CLI::Option* add_schedules_option(CLI::App& command, std::uint64_t& count) {
  return command
      .add_option(
          "--schedules", count,
          "run each CUDA launch in so many other orders as well, and compare the results bit for bit (default none)")
      ->check(CLI::Range(std::uint64_t{0}, simulated::kMostSchedules));
}

/// --schedules, --seed
inline void add_schedule_options(CLI::App& command, simulated::SchedulesWanted& wanted) {
  CLI::Option* const schedules = add_schedules_option(command, wanted.count);
  command
      .add_option("--seed", wanted.first_seed, "the seed of the first of these orders; 0 is the usual one (default 1)")
      ->check(CLI::Range(std::uint64_t{0}, simulated::kMostSchedules))
      ->needs(schedules);
}

/// A check that refuses what `error` refuses, or nothing: from its name, completion knows the words that an option
/// takes where the help describes them in its own way.
inline CLI::Validator one_of(const std::vector<std::string>& words,
                             const std::function<std::string(const std::string&)>& error = {}) {
  const auto check = [error](std::string& text) { return error ? error(text) : std::string(); };
  return {check, "", fmt::format("{{{}}}", fmt::join(words, ","))};
}

/// Adds an option that takes a list of values, with commas between them.
inline CLI::Option* add_list(CLI::App& command, const std::string& name, std::vector<std::string>& values,
                             const std::string& help) {
  return command.add_option(name, values, help)->delimiter(',')->allow_extra_args(false);
}

}  // namespace convladder
