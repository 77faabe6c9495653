// `convladder duel`: two builds of this program, or two variants, measured in turns.
#pragma once

#include <string>
#include <vector>

#include "harness/plan/case_selection.hpp"
#include "harness/plan/options.hpp"
#include "harness/regression/duel/duel.hpp"

namespace CLI {
class App;
}

namespace convladder {

/// The command line, not checked yet.
struct DuelArguments {
  RunOptions options;
  CaseSelection selection;
  std::string base = kThisProgram;
  std::string now = kThisProgram;
  std::string base_variant;
  std::string new_variant;
  DuelSettings settings;
  const CLI::App* command = nullptr;
  double timeout = 0;
  std::string json;      ///< file; empty for none
  std::string markdown;  ///< likewise
  bool quiet = false;
};

void add_duel_options(CLI::App& duel, DuelArguments& arguments);

/// Returns the exit code of the duel. Throws UserError.
int duel_command(DuelArguments& arguments, const std::vector<std::string>& command_line);

/// Steps that `duel` and `selftest` share. The largest batch decides how many images are drawn.
ImageSet duel_images(const std::vector<DuelGroup>& plan, const RunOptions& options);

/// The seed of the coins: the one of --seed if it was given, otherwise a new one. With the same coins in every duel, an
/// unlucky sequence of them would be unlucky each time.
std::uint64_t coin_seed(const CLI::App& command, const RunOptions& options);

/// Idle OpenMP threads of all children spin for so short a time that they sleep before the other side works, whatever
/// the environment says; the same for both sides. Returns a note if the environment had asked for something else.
std::string make_idle_threads_sleep();

/// Throws UserError, before anything is measured, if a file could not be written there. Empty is fine.
void check_output_file(const std::string& option, const std::string& file);

/// `context` of a duel's or a selftest's JSON: the machine, the command line and the date.
nlohmann::ordered_json duel_context(const std::vector<std::string>& command_line, const ImageSet& images);

}  // namespace convladder
