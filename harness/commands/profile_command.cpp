#include "harness/commands/profile_command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "harness/networks/network_session.hpp"
#include "harness/networks/network_verifier.hpp"
#include "harness/plan/option_checks.hpp"
#include "harness/plan/run_material.hpp"
#include "harness/profile/profile_text.hpp"
#include "harness/profile/program_time.hpp"
#include "harness/records/recorded_run.hpp"
#include "support/errors.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

constexpr const char* kProfileFooter = R"(examples:
  convladder profile --network lenet72 --batch 1000                   the last CPU stage, layers and host phases
  convladder profile --network lenet72 --batch 1000 --variant flat-vector --layout nsys --cut 100
  convladder profile --network lenet86 --device cuda --batch 10000    kernels and API calls, by CUPTI
  convladder profile --network alexnet --batch 16 --format csv > alexnet.csv
  convladder profile --record results/tonight/network.json --case onednn/lenet72/1000

The network runs in this process: one pass to warm up, then the profiled one. docs/profiling.md explains the columns.
exit codes: 0 printed - 1 the run was incorrect or could not be launched - 3 bad input: one line says what)";

/// What a profile is of, and the table.
struct TitledProfile {
  std::string id;
  ProfileTable table;
  ordered_json program;
};

/// Runs the case here, so that a profiler around this program sees it: verified, warmed up, and then recorded.
/// Throws CaseFailure.
TitledProfile profile_of(const NetworkCase& planned, const NetworkOptions& options) {
  const int count = images_in_turn(planned);
  const ImageSet images = network_images(options, count);
  const ChosenWeights weights = network_weights(options, *planned.network, images);
  const NetworkWorkload workload(*planned.network, planned.network_argument, images, count, weights.weights);
  const std::vector<ReferencePrediction> predictions =
      ReferenceNetwork(*planned.network, weights.weights).predictions(count, workload.images());
  const NetworkTruth truth{predictions, {}, &weights.weights};
  const OpenCase open = start_network_here(planned, workload, {.chunk = options.chunk, .overlap = options.overlap});
  NetworkVerifier verifier(planned, workload, truth, open, options.seed);
  verifier.verify();
  const auto pass = [&](bool record) {
    verifier.change_images();
    ordered_json reply = open.ask({{"do", "pass"}, {"record", record}});
    verifier.compare_scores();
    return reply;
  };
  // What only the first pass pays, a library's start for one, is not the network's.
  if (planned.has_clock) pass(false);
  const ordered_json program = pass(true).at("program");
  const ordered_json reply = open.ask({{"do", "activities"}});
  if (const std::string why = reply.at("cannot_record_because"); !why.empty()) {
    fmt::print(stderr, "convladder: {}: kernels and API calls are not listed: {}\n", planned.id, why);
  }
  return {planned.id, make_profile(activities_from_json(reply.at("activities"))), program};
}

std::vector<TitledProfile> recorded_profiles(const std::string& file, const std::string& filter) {
  std::vector<TitledProfile> profiles;
  std::vector<std::string> ids;
  const ordered_json record = read_record_json(file);
  try {
    for (const ordered_json& one_case : record.at("cases")) {
      const std::string id = one_case.at("id");
      if (one_case.at("profile").is_null()) continue;
      ids.push_back(id);
      if (id.find(filter) == std::string::npos) continue;
      profiles.push_back({id, profile_from_json(one_case.at("profile")), one_case.at("program")});
    }
  } catch (const ordered_json::exception& error) {
    throw UserError(fmt::format("{}: not a record of 'convladder network': {}", file, error.what()));
  } catch (const UserError& error) {
    throw UserError(fmt::format("{}: {}", file, error.what()));
  }
  if (profiles.empty()) {
    throw UserError(
        ids.empty() ? fmt::format("{}: no case has a profile", file)
                    : fmt::format("{}: no case has '{}' in its id; there are: {}", file, filter, fmt::join(ids, ", ")));
  }
  return profiles;
}

void print(const std::vector<TitledProfile>& profiles, const ProfileFormat& format) {
  if (format.encoding == ProfileEncoding::json) {
    ordered_json list = ordered_json::array();
    for (const TitledProfile& profile : profiles) {
      list.push_back({{"id", profile.id},
                      {"program", profile.program},
                      {"profile", profile_to_json(cut_profile(profile.table, format.cut_percent))}});
    }
    fmt::print("{}\n", list.dump(1));
    return;
  }
  for (const TitledProfile& profile : profiles) {
    if (format.encoding == ProfileEncoding::text) fmt::print("{}, measured\n", profile.id);
    fmt::print("{}", profile_text(profile.table, format));
    if (format.encoding == ProfileEncoding::text && !profile.program.is_null()) {
      fmt::print("\n{}\n", program_time_text(program_time_from_json(profile.program)));
    }
  }
}

}  // namespace

void add_profile_options(CLI::App& profile, ProfileArguments& a) {
  profile.footer(kProfileFooter);
  add_network_choice_options(profile, a.network);
  profile.get_option("--network")->required(false);
  profile.add_option("--record", a.record, "print the profiles of a network.json instead of running")
      ->group("Which cases");
  profile.add_option("--case", a.case_filter, "with --record: only cases whose id contains this text")
      ->group("Which cases");
  profile.add_option("--layout", a.layout, "nvprof (default) or nsys")->group("How it is printed");
  profile.add_option("--format", a.format, "text (default), csv or json")->group("How it is printed");
  profile
      .add_option("--cut", a.cut_percent,
                  "print rows until they reach this share of the time in percent (default 90; 100: all)")
      ->check(number_between(0.1, 100.0))
      ->group("How it is printed");
  profile.add_flag("--full-names", a.full_names, "do not shorten kernel names")->group("How it is printed");
}

int profile_command(const ProfileArguments& arguments) {
  const ProfileFormat format{.layout = parse_profile_layout("--layout", arguments.layout),
                             .encoding = parse_profile_encoding("--format", arguments.format),
                             .cut_percent = arguments.cut_percent,
                             .full_names = arguments.full_names};
  if (arguments.record.empty() == arguments.network.options.networks.empty()) {
    throw UserError("profile: use either --network for a new run, or --record FILE");
  }
  if (!arguments.record.empty()) {
    print(recorded_profiles(arguments.record, arguments.case_filter), format);
    return kExitOk;
  }
  const NetworkOptions options = network_options_of(arguments.network);
  std::vector<TitledProfile> profiles;
  for (const NetworkCase& planned : make_network_plan(options)) {
    if (!planned.runs()) {
      throw UserError(
          fmt::format("{}: {}", planned.id, planned.skipped.empty() ? planned.unsupported : planned.skipped));
    }
    try {
      profiles.push_back(profile_of(planned, options));
    } catch (const CaseFailure& failure) {
      fmt::print(stderr, "convladder: {}: {}: {}\n", planned.id, failure.status, failure.what());
      return kExitCasesFailed;
    }
  }
  print(profiles, format);
  return kExitOk;
}

}  // namespace convladder
