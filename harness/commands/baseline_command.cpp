// `convladder baseline`: the counter gate. The simulated device counts exactly, so its counters are compared exactly
// with those recorded in the repository, and a changed compiler is reported as such.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "harness/commands/command.hpp"
#include "harness/commands/option_checks.hpp"
#include "harness/commands/printed.hpp"
#include "harness/judge/gate/baseline_report.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/folder_lock.hpp"
#include "support/nearest_name.hpp"
#include "support/printable.hpp"
#include "support/progress.hpp"

namespace convladder {
namespace {

/// The command line, not checked yet.
struct BaselineArguments {
  std::string action;  ///< "check" or "update"
  std::string ladder;  ///< a folder whose stages are counted
  std::string folder;  ///< holds the baseline files
  std::vector<std::string> networks;
  std::vector<std::string> variants;
  std::vector<std::string> compilers;
  bool all = false;
  Printed printed;
};

constexpr const char* kBaselineFooter = R"(examples:
  convladder baseline check                            every variant and layer, both compilers' PTX, some seconds
  convladder baseline check --all                      AlexNet as well: minutes
  convladder baseline check --variant shared-memory --network lenet72 --format json
  convladder baseline check my-ladder                  the CUDA stages of a folder, against my-ladder/baseline
  convladder baseline update                           makes the current counters the baseline

exit codes: 0 all counters are the same (update: the files hold the current counters) - 1 a counter moved -
2 a case has nothing to compare with: it is new, missing, or from another compiler - 3 bad input)";

/// A network's recorded cases in the folder, and those that are counted now.
struct CountedNetwork {
  std::string name;
  Baseline recorded;
  std::vector<CountedCase> counted;
};

/// The networks as typed, or the built-in ones; those that take minutes are left out unless they are asked for.
std::vector<std::string> networks_of(const BaselineArguments& arguments, std::vector<std::string>& notes) {
  if (!arguments.networks.empty()) return arguments.networks;
  std::vector<std::string> names;
  for (const Network& network : built_in_networks()) {
    if (convolution_layers(network).empty()) continue;
    if (arguments.all || !counts_slowly(network)) {
      names.push_back(network.name);
    } else {
      notes.push_back(fmt::format("{} is left out: {:.1f} GFLOP per image; --all or --network {} includes it",
                                  network.name, convolution_flop(network) / 1e9, network.name));
    }
  }
  return names;
}

bool selected(const std::vector<std::string>& filter, const std::string& name) {
  return filter.empty() || std::ranges::find(filter, name) != filter.end();
}

bool counted_now(const CountedNetwork& network, const BaselineCase& recorded) {
  return std::ranges::any_of(network.counted,
                             [&](const CountedCase& one) { return same_place(one.baseline, recorded); });
}

/// Whether a recorded case is one of those that are counted now, if it still exists.
bool in_selection(const BaselineCase& recorded, const BaselineArguments& arguments,
                  const std::vector<const PtxImages*>& compilers) {
  return selected(arguments.variants, recorded.variant) && std::ranges::any_of(compilers, [&](const PtxImages* images) {
           return images->compiler == recorded.compiler && images->version == recorded.version;
         });
}

void compare_network(const CountedNetwork& network, const BaselineArguments& arguments,
                     const std::vector<const PtxImages*>& compilers, BaselineReport& report) {
  for (const CountedCase& one : network.counted) {
    report.cases.push_back(compare_case(network.name, one, network.recorded.cases));
  }
  for (const BaselineCase& one : network.recorded.cases) {
    if (in_selection(one, arguments, compilers) && !counted_now(network, one)) {
      report.cases.push_back(missing_case(network.name, one));
    }
  }
}

/// Notes recorded compilers that are not in this build: their PTX is not here to be counted.
void note_absent_compilers(const std::vector<CountedNetwork>& networks, std::vector<std::string>& notes) {
  std::set<std::string> absent;
  for (const CountedNetwork& network : networks) {
    for (const BaselineCase& one : network.recorded.cases) {
      if (std::ranges::find(ptx_images(), one.compiler, &PtxImages::compiler) == ptx_images().end()) {
        absent.insert(printable(one.compiler));
      }
    }
  }
  for (const std::string& compiler : absent) {
    notes.push_back(fmt::format("{} is skipped: it is in the baseline, but this build has no such compiler", compiler));
  }
}

/// Reports a compiler none of whose PTX is as recorded: it was probably changed itself.
void note_changed_compilers(const std::vector<const PtxImages*>& compilers, BaselineReport& report) {
  for (const PtxImages* const images : compilers) {
    std::size_t all = 0;
    std::size_t changed = 0;
    for (const ComparedCounters& one : report.cases) {
      const bool compared = one.verdict == BaselineVerdict::same || one.verdict == BaselineVerdict::moved;
      if (one.compiler != images->compiler || !compared) continue;
      ++all;
      if (one.ptx_changed) ++changed;
    }
    if (changed < 2 || changed < all) continue;
    report.notes.push_back(
        fmt::format("all PTX of {} {} differs from the recorded PTX: if no source changed, another build "
                    "of this compiler or other flags are the cause",
                    images->compiler, images->version));
  }
}

/// Reports files of networks that this program does not have.
void note_stray_files(const std::filesystem::path& folder, BaselineReport& report) {
  std::error_code error;
  std::set<std::string> strays;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().stem().string();
    if (entry.path().extension() != ".json") continue;
    if (std::ranges::find(built_in_networks(), name, &Network::name) == built_in_networks().end()) strays.insert(name);
  }
  for (const std::string& name : strays) {
    report.cases.push_back({.id = fmt::format("{}.json", printable(name, kShortText)),
                            .compiler = "any",
                            .version = "compiler",
                            .verdict = BaselineVerdict::missing,
                            .ptx_changed = false,
                            .reason = "there is a baseline, but no built-in network has this name",
                            .moves = {}});
  }
}

/// The new content of the file: the recorded cases, with those of the selection replaced by the cases counted now.
Baseline updated(const CountedNetwork& network, const BaselineArguments& arguments,
                 const std::vector<const PtxImages*>& compilers) {
  Baseline baseline{network.name, {}};
  for (const BaselineCase& one : network.recorded.cases) {
    if (!in_selection(one, arguments, compilers)) baseline.cases.push_back(one);
  }
  for (const CountedCase& one : network.counted) baseline.cases.push_back(one.baseline);
  return baseline;
}

/// Checks that everything can be written. Throws UserError if a case could not be counted, or the folder cannot be
/// made.
void begin_writing(const std::string& folder, const BaselineReport& report) {
  for (const ComparedCounters& one : report.cases) {
    if (one.verdict != BaselineVerdict::failed) continue;
    throw UserError(fmt::format("{}, {}: {}; nothing was written", one.id, one.compiler, one.reason));
  }
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw UserError(fmt::format("cannot create {}: {}", folder, error.message()));
}

void write_if_changed(const std::filesystem::path& path, const Baseline& baseline, BaselineReport& report) {
  const std::string text = baseline_text(baseline);
  const bool same = std::filesystem::exists(path) && text == read_file_text(path.string());
  if (!same) write_file_atomically(path, text);
  report.notes.push_back(fmt::format("{}: {}", path.string(), same ? "unchanged" : "written"));
}

/// Writes the recorded cases that stay, and the counted ones.
void write_folder(const CountedNetwork& counted, const std::string& folder, BaselineReport& report) {
  begin_writing(folder, report);
  const std::filesystem::path path = baseline_path(folder, counted.name);
  const FolderLock lock = FolderLock::of_file(path, WhileLocked::wait);
  remove_unfinished_files(path);
  Baseline baseline = counted.recorded;
  for (const CountedCase& one : counted.counted) baseline.cases.push_back(one.baseline);
  write_if_changed(path, baseline, report);
}

/// Writes what is not there yet; reports for each file whether it was written. Cases that another program has written
/// since the counting began stay, unless they are of this selection.
void write_baselines(std::vector<CountedNetwork> networks, const BaselineArguments& arguments,
                     const std::vector<const PtxImages*>& compilers, BaselineReport& report) {
  begin_writing(arguments.folder, report);
  for (CountedNetwork& network : networks) {
    const std::filesystem::path path = baseline_path(arguments.folder, network.name);
    const FolderLock lock = FolderLock::of_file(path, WhileLocked::wait);
    remove_unfinished_files(path);
    network.recorded = load_baseline(arguments.folder, network.name).value_or(Baseline{network.name, {}});
    write_if_changed(path, updated(network, arguments, compilers), report);
  }
}

std::vector<CountedNetwork> counted_networks(const BaselineArguments& arguments,
                                             const std::vector<const PtxImages*>& compilers,
                                             std::vector<std::string>& notes) {
  std::vector<CountedNetwork> networks;
  const std::vector<std::string> selection = networks_of(arguments, notes);
  for (const std::string& argument : selection) {  // reads the files first, so that a typing error is reported at once
    const std::string& name = find_network(argument).name;
    if (std::ranges::find(networks, name, &CountedNetwork::name) != networks.end()) {
      throw UserError(fmt::format("--network: '{}' is given twice", printable(name, kShortText)));
    }
    networks.push_back({name, load_baseline(arguments.folder, name).value_or(Baseline{name, {}}), {}});
  }
  std::size_t layers = 0;
  for (const std::string& argument : selection) layers += convolution_layers(find_network(argument)).size();
  Progress progress(nullptr, static_cast<int>(layers));
  for (std::size_t i = 0; i < networks.size(); ++i) {
    bool first = true;
    const auto begin = [&](const std::string& layer) {
      if (!first) progress.finished("");
      first = false;
      progress.show(fmt::format("counting {}", layer));
    };
    networks[i].counted = count_network(selection[i], arguments.variants, compilers, begin);
    progress.finished("");
  }
  return networks;
}

void add_baseline_options(CLI::App& baseline, BaselineArguments& arguments) {
  baseline.add_option("action", arguments.action, "check, or update")->required();
  baseline.add_option("LADDER", arguments.ladder, "a folder of yours with a problem.json");
  baseline.add_option(
      "--folder", arguments.folder,
      "folder of the baseline files (default results/baseline below the current folder, and baseline in "
      "a ladder's)");
  add_list(baseline, "--network", arguments.networks, "only these: lenet28, ..., or a network file");
  add_list(baseline, "--variant", arguments.variants, "only these, from 'convladder list'");
  add_list(baseline, "--compiler", arguments.compilers, "only these compilers' PTX: nvcc, clang");
  baseline.add_flag("--all", arguments.all, "also the built-in networks that take minutes");
  add_printed_options(baseline, arguments.printed, {"text", "markdown", "json"});
}

/// The options for counting a folder. Throws UserError for options that a folder does not have.
RunOptions folder_options(const BaselineArguments& arguments) {
  RunOptions options;
  choose_ladder(options, arguments.ladder);
  if (options.ladder.empty()) {
    throw UserError(fmt::format("{}: expected a folder; of what is built in the networks' layers are counted",
                                printable(arguments.ladder)));
  }
  if (!arguments.networks.empty()) throw UserError("--network: a folder has no networks");
  if (!arguments.compilers.empty()) throw UserError("--compiler: the stages of a folder are compiled by nvcc");
  options.variants = arguments.variants;
  return options;
}

/// Compares the stages of a folder with its file, or writes them into it.
int folder_baseline(const BaselineArguments& arguments, const RunOptions& options, BaselineReport& report) {
  CountedNetwork folder{options.problem, {}, {}};
  folder.recorded = load_baseline(arguments.folder, folder.name).value_or(Baseline{folder.name, {}});
  {
    Progress progress(nullptr, 1);
    folder.counted =
        count_folder(options, [&](const std::string& size) { progress.show(fmt::format("counting {}", size)); });
  }
  for (const CountedCase& one : folder.counted) {
    report.cases.push_back(compare_case(folder.name, one, folder.recorded.cases));
  }
  std::vector<BaselineCase> kept;  // not in the selection
  for (const BaselineCase& one : folder.recorded.cases) {
    if (!selected(arguments.variants, one.variant)) {
      kept.push_back(one);
    } else if (std::ranges::none_of(folder.counted, [&one](const CountedCase& counted) {
                 return counted.baseline.layer == one.layer && counted.baseline.variant == one.variant;
               })) {
      report.cases.push_back(missing_case(folder.name, one));
    }
  }
  report.sort();
  const bool update = arguments.action == "update";
  if (update) {
    folder.recorded.cases = std::move(kept);
    write_folder(folder, arguments.folder, report);
  }
  print_as(arguments.printed, baseline_report(report), [&] { return baseline_report_json(report); });
  return update ? kExitOk : report.exit_code();
}

int baseline_command(BaselineArguments& arguments, const CommandLine& /*command_line*/) {
  require_known("action", arguments.action, {"check", "update"});
  check_printed(arguments.printed);
  const bool update = arguments.action == "update";
  RunOptions options;
  if (!arguments.ladder.empty()) options = folder_options(arguments);
  if (arguments.folder.empty()) {
    const bool is_own = options.ladder.starts_with('/');  // not a ladder that comes with the program
    arguments.folder = is_own ? options.ladder + "/baseline" : "results/baseline";
  }
  std::error_code error;
  if (!update && !std::filesystem::is_directory(arguments.folder, error)) {
    throw UserError(
        fmt::format("--folder {}: no such folder; the source tree has its baseline in results/baseline, 'baseline "
                    "update' makes one",
                    arguments.folder));
  }
  BaselineReport report;
  if (!options.ladder.empty()) return folder_baseline(arguments, options, report);
  const std::vector<const PtxImages*> compilers = selected_compilers(arguments.compilers);
  const std::vector<CountedNetwork> networks = counted_networks(arguments, compilers, report.notes);
  for (const CountedNetwork& network : networks) compare_network(network, arguments, compilers, report);
  if (arguments.networks.empty()) note_stray_files(arguments.folder, report);
  if (arguments.compilers.empty()) note_absent_compilers(networks, report.notes);
  note_changed_compilers(compilers, report);
  report.sort();
  if (update) write_baselines(networks, arguments, compilers, report);
  print_as(arguments.printed, baseline_report(report), [&] { return baseline_report_json(report); });
  return update ? kExitOk : report.exit_code();
}

const CommandRegistration baseline_registration(
    {.name = "baseline",
     .group = CommandGroup::without_a_gpu,
     .help = "check or update the recorded counters of every variant",
     .footer = kBaselineFooter,
     .add = command_of<BaselineArguments, add_baseline_options, baseline_command>});

}  // namespace
}  // namespace convladder
