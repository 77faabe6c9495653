// `convladder list`: the variants and ladders that can be run, the machine, published figures, and a stage's launches.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/catalogue.hpp"
#include "harness/commands/command.hpp"
#include "harness/commands/list/topics.hpp"
#include "harness/commands/option_checks.hpp"
#include "harness/commands/printed.hpp"
#include "harness/measure/machine/build_information.hpp"
#include "harness/measure/machine/environment.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "harness/measure/records/listing.hpp"
#include "simulator/counters/metrics.hpp"
#include "support/errors.hpp"
#include "support/printable.hpp"
#include "support/report.hpp"

namespace convladder {
namespace {

constexpr const char* kListFooter = R"(examples:
  convladder list                               variants, operators, layers and devices
  convladder list my-ladder                     a folder's stages, parameters and sizes
  convladder list --machine --format json       the machine, in the format of a run's record
  convladder list --metrics                     what the simulated device counts
  convladder list --published                   figures that others published; their names
  convladder list --published fa17-ladder       all its tables; profiles as nvprof printed them
  convladder list --published fa18-batches --format csv --output fa18.csv
  convladder list --launches --variant shared-memory --layer lenet72.conv2 --batch 100

Published figures were measured by others on their machines; they are printed as in their reports.)";

struct ListArguments {
  std::string ladder;
  bool metrics = false;
  bool machine = false;
  bool launches = false;
  std::string published;
  const CLI::Option* published_option = nullptr;
  PublishedLayout layout;
  LaunchesOf of;
  Printed printed;
};

/// Several metrics share a note: each is printed once, below, and named by its number.
Report metrics_report() {
  Report report;
  std::vector<std::string_view> notes;
  report.section("metrics of the simulated device, by Nsight Compute's names; [n] is a note below");
  for (const simulated::Metric& metric : simulated::metrics()) {
    auto note = std::ranges::find(notes, metric.note);
    if (note == notes.end()) note = notes.insert(note, metric.note);
    ReportSection& section = report.section();
    section.paragraph(metric.name, "  ");
    section.paragraph(fmt::format("{}, in {}{}: {} [{}]", metric.title, metric.unit,
                                  metric.modelled ? " (modelled)" : "", metric.definition, note - notes.begin() + 1),
                      "    ");
  }
  ReportSection& section = report.section("notes");
  for (std::size_t i = 0; i < notes.size(); ++i) {
    section.paragraph(std::string(notes[i]), fmt::format("  [{}] ", i + 1));
  }
  return report;
}

/// Program, host, processor, devices and libraries, as the record of a run would hold them, and what is missing.
std::string machine_text() {
  std::string text = environment_text();
  if (*build::cuda_compiler == '\0') {
    text += "not in this build: the cuda family (configuration found neither nvcc nor clang)\n";
  }
  const auto cached = find_cached_folder();
  text += fmt::format(
      "images on this machine\n  {}\n",
      cached ? cached->string() : "only the built-in synthetic set; scripts/fetch_datasets.sh downloads more");
  return text;
}

void add_list_options(CLI::App& list, ListArguments& a) {
  const char* const what = "What";
  list.add_option("LADDER", a.ladder, kLadderHelp)->group(what);
  list.add_flag("--machine", a.machine, "processor, devices, libraries, image sets of this machine")->group(what);
  list.add_flag("--metrics", a.metrics, "the metrics of the simulated device")->group(what);
  list.add_flag("--launches", a.launches, "the kernels that one call of a CUDA variant launches for a layer")
      ->group(what);
  a.published_option = list.add_option("--published", a.published, "figures that others published, or those of NAME")
                           ->type_name("[NAME]")
                           ->expected(0, 1)
                           ->group(what);
  const char* const launches = "With --launches";
  const auto names = [&](const char* name, std::vector<std::string>& values, const char* help) {
    add_list(list, name, values, help)->group(launches);
  };
  names("--variant", a.of.variants, "a variant of the cuda family");
  names("--layer", a.of.layers, "lenet72.conv1");
  list.add_option("--shape", a.of.shapes, "your own layer shape C,H,W,M,K[,stride[,padding]]")
      ->allow_extra_args(false)
      ->group(launches);
  names("--batch", a.of.batches, "images per call (default 1)");
  const char* const published = "With --published";
  list.add_option("--layout", a.layout.layout, "layout of profiles: nvprof (default) or nsys")->group(published);
  list.add_option("--cut", a.layout.cut_percent,
                  "print rows of a profile until they reach this share of the time in percent (default 100)")
      ->check(number_between(0.1, 100.0))
      ->group(published);
  list.add_flag("--full-names", a.layout.full_names, "do not shorten kernel names")->group(published);
  add_printed_options(list, a.printed, {"text", "json", "csv"});
}

int list_command(ListArguments& a, const CommandLine& /*command_line*/) {
  const bool published = a.published_option->count() > 0;
  const int topics = int{a.metrics} + int{a.machine} + int{a.launches} + int{published};
  if (topics > 1) throw UserError("--machine, --metrics, --launches, --published: only one of them");
  if (topics == 1 && !a.ladder.empty()) {
    throw UserError(
        fmt::format("{}: none of --machine, --metrics, --launches, --published is of a ladder", printable(a.ladder)));
  }
  if (a.printed.format == "csv" && !a.launches && !published) {
    throw UserError("--format csv: only with --published NAME and --launches");
  }
  check_printed(a.printed);
  const std::string& format = a.printed.format;
  const bool json = format == "json";
  print_as(a.printed, a.metrics           ? (json ? metrics_json_text() : as_text(metrics_report()))
                      : a.machine         ? (json ? environment_json_text() : machine_text())
                      : a.launches        ? launches_listing(a.of, format)
                      : published         ? published_listing(a.published, format, a.layout)
                      : !a.ladder.empty() ? ladder_listing(a.ladder, format)
                                          : variants_listing(format));
  return kExitOk;
}

const CommandRegistration list_registration({.name = "list",
                                             .group = CommandGroup::look,
                                             .help = "variants, layers, devices; the machine; published figures",
                                             .footer = kListFooter,
                                             .add = command_of<ListArguments, add_list_options, list_command>});

}  // namespace
}  // namespace convladder
