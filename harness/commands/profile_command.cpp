// `convladder profile`: where the time of a network run goes, in the layouts of nvprof and nsys.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "harness/commands/command.hpp"
#include "harness/commands/network_choice.hpp"
#include "harness/commands/option_checks.hpp"
#include "harness/commands/printed.hpp"
#include "harness/measure/networks/network_record.hpp"
#include "harness/measure/networks/network_session.hpp"
#include "harness/measure/networks/network_verifier.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "harness/measure/plan/plan.hpp"
#include "harness/measure/plan/run_material.hpp"
#include "harness/measure/profile/profile_text.hpp"
#include "ladders/ladder_folder.hpp"
#include "support/errors.hpp"
#include "support/printable.hpp"

namespace convladder {
namespace {

/// The command line, not checked yet.
struct ProfileArguments {
  NetworkOptions network;  ///< of the run to be made now
  NetworkSelection selection;
  std::string record;  ///< a network.json whose profiles are printed instead
  std::string layout = "nvprof";
  Printed printed;
  double cut_percent = 90;
  bool full_names = false;
};

constexpr const char* kProfileFooter = R"(examples:
  convladder profile --network lenet72 --batch 1000                   the last CPU stage, layers and host phases
  convladder profile --network lenet72 --batch 1000 --variant flat-vector --layout nsys --cut 100
  convladder profile --network lenet86 --device cuda --batch 10000    kernels and API calls, by CUPTI
  convladder profile --network alexnet --batch 16 --format csv > alexnet.csv
  convladder profile results/tonight/network.json --case onednn/lenet72/1000

The network runs in this process: one pass to warm up, then the profiled one. docs/use/profiling.md explains the columns.
exit codes: 0 printed - 1 the run was incorrect or could not be launched - 3 bad input: one line says what)";

/// Runs the case here, so that a profiler around this program sees it: verified, warmed up, and then recorded. Throws
/// CaseFailure.
TitledProfile profile_of(const NetworkCase& planned, const NetworkOptions& options) {
  const int count = images_in_turn(planned);
  const ImageSet images = network_images(options, count);
  const ChosenWeights weights = network_weights(options, *planned.network, images);
  const NetworkWorkload workload(*planned.network, planned.network_argument, images, count, weights.weights);
  const std::vector<ReferencePrediction> predictions =
      ReferenceNetwork(*planned.network, weights.weights).predictions(count, workload.images());
  const NetworkTruth truth{predictions, {}, &weights.weights};
  const OpenNetwork open = start_network_here(planned, workload, {.chunk = options.chunk, .overlap = options.overlap});
  NetworkVerifier verifier(planned, workload, truth, open, options.seed);
  verifier.verify();
  const auto pass = [&](bool record) {
    verifier.change_images();
    const to_network::PassTimes times = open.ask(to_network::Pass{record});
    verifier.compare_scores();
    return times.program;
  };
  // Costs of the first pass only, such as a library's start, are not the network's.
  if (planned.has_clock) pass(false);
  const ProgramTime program = pass(true);
  const std::vector<Activity> activities = open.ask(to_network::Activities()).activities;
  if (const std::string why = open.ask(to_network::Recorder()).cannot_record_because; !why.empty()) {
    fmt::print(stderr, "convladder: {}: kernels and API calls are not listed: {}\n", planned.id, why);
  }
  return {planned.id, make_profile(activities), program, find_device_kind(planned.device).clock_is_virtual()};
}

void add_profile_options(CLI::App& profile, ProfileArguments& a) {
  add_network_choice_options(profile, a.network, a.selection);
  profile.add_option("NETWORK.json", a.record, "print the profiles of this record of 'network' instead of running");
  profile.add_option("--layout", a.layout, "nvprof (default) or nsys")->group("How it is printed");
  add_printed_options(profile, a.printed, {"text", "csv", "json"});
  profile
      .add_option("--cut", a.cut_percent,
                  "print rows until they reach this share of the time in percent (default 90; 100: all)")
      ->check(number_between(0.1, 100.0))
      ->group("How it is printed");
  profile.add_flag("--full-names", a.full_names, "do not shorten kernel names")->group("How it is printed");
}

int profile_command(ProfileArguments& arguments, const CommandLine& /*command_line*/) {
  const ProfileFormat format{.layout = parse_profile_layout("--layout", arguments.layout),
                             .encoding = parse_profile_encoding("--format", arguments.printed.format),
                             .cut_percent = arguments.cut_percent,
                             .full_names = arguments.full_names};
  check_printed(arguments.printed);
  if (arguments.record.empty() == arguments.network.networks.empty()) {
    throw UserError("expected either --network for a new run, or NETWORK.json, a record");
  }
  if (is_ladder_folder(arguments.record)) {
    throw UserError(
        fmt::format("{}: a profile is of a network; what a stage's kernels do 'convladder run' counts on the "
                    "simulated device",
                    printable(arguments.record)));
  }
  if (!arguments.record.empty()) {
    print_as(arguments.printed,
             profiles_text(recorded_profiles(arguments.record, arguments.network.case_filter), format));
    return kExitOk;
  }
  NetworkOptions options = arguments.network;
  apply_network_selection(arguments.selection, options);
  std::vector<TitledProfile> profiles;
  for (const NetworkCase& planned : planned_networks(options)) {
    if (!planned.runs()) {
      throw UserError(fmt::format("{}: {}", planned.id, why_not_run(planned).reason));
    }
    try {
      profiles.push_back(profile_of(planned, options));
    } catch (const CaseFailure& failure) {
      fmt::print(stderr, "convladder: {}: {}: {}\n", planned.id, failure.status, failure.what());
      return kExitCasesFailed;
    }
  }
  print_as(arguments.printed, profiles_text(profiles, format));
  return kExitOk;
}

const CommandRegistration profile_registration(
    {.name = "profile",
     .group = CommandGroup::measure,
     .help = "where the time of a network run goes",
     .footer = kProfileFooter,
     .add = command_of<ProfileArguments, add_profile_options, profile_command>,
     .needs_proc = true});

}  // namespace
}  // namespace convladder
