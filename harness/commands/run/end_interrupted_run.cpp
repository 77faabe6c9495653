#include "harness/commands/run/end_interrupted_run.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <string>

#include "harness/commands/command.hpp"
#include "harness/measure/runs/run_record.hpp"
#include "support/errors.hpp"
#include "support/interruption.hpp"
#include "support/standard_streams.hpp"

namespace convladder {
namespace {

struct EndArguments {
  std::string folder;
};

void add_end_options(CLI::App& end, EndArguments& a) {
  end.add_option("FOLDER", a.folder, "of a run that was interrupted")->required();
}

int end_interrupted_run(EndArguments& a, const CommandLine& /*command_line*/) {
  be_silent_on_interrupt();
  try {
    RunRecord record(Record::open(a.folder, kRunKind, RunRecord::check));
    const std::size_t cases = record.figures().cases.size();
    if (cases > 0 && !record.is_complete()) {
      record.derive();
      print_error(
          fmt::format("{} has the ladders of {} of its {} cases", record.file().string(), cases, record.planned()));
    }
  } catch (const std::exception& error) {
    print_error(error.what());
  }
  return kExitInterrupted;
}

const CommandRegistration end_registration({.name = kEndInterruptedRun,
                                            .group = CommandGroup::hidden,
                                            .help = "write what is derived from an interrupted run's cases",
                                            .footer = "",
                                            .add = command_of<EndArguments, add_end_options, end_interrupted_run>});

}  // namespace
}  // namespace convladder
