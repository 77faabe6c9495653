// `convladder show`: the table of a recorded run again, sorted, cut or in other columns.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "harness/commands/command.hpp"
#include "harness/commands/option_checks.hpp"
#include "harness/commands/printed.hpp"
#include "harness/measure/runs/derived_ladders.hpp"
#include "harness/measure/runs/ladder_summary.hpp"
#include "harness/measure/runs/run_record.hpp"
#include "harness/measure/runs/run_report.hpp"
#include "harness/measure/runs/verdicts.hpp"
#include "support/errors.hpp"
#include "support/nearest_name.hpp"
#include "support/terminal.hpp"

namespace convladder {
namespace {

constexpr const char* kInOrder = "ladder";
constexpr const char* kByTime = "time";
constexpr const char* kByName = "name";

struct ShowArguments {
  CLI::App* command = nullptr;
  std::string run;
  std::vector<std::string> layers;
  std::vector<std::string> devices;
  std::vector<int> batches;
  std::vector<std::string> stages;
  std::vector<std::string> columns;
  std::string sort = kInOrder;
  std::size_t top = std::numeric_limits<std::size_t>::max();
  bool intervals = false;
  Printed printed;
};

constexpr const char* kShowFooter = R"(examples:
  convladder show results/tonight/run.json                       the tables that 'run' has printed
  convladder show run.json --layer lenet72.conv2 --sort time     one layer, the fastest stage first
  convladder show run.json --batch 100 --top 3 --sort time       the three fastest of each layer
  convladder show run.json --stage my-conv                       a stage in words, on every layer
  convladder show run.json --columns stage,median,'% floor' --format markdown > table.md
  convladder show run.json --format csv --output run.csv         every row of every layer in one table

exit codes: 0 printed - 3 bad input: one line says what)";

void add_show_options(CLI::App& show, ShowArguments& a) {
  a.command = &show;
  show.add_option("RUN.json", a.run, "a run")->required();
  add_list(show, "--layer", a.layers, "only these layers or sizes: lenet72.conv2");
  add_list(show, "--device", a.devices, "only these devices: cpu, cuda, simulated");
  show.add_option("--batch", a.batches, "only these batches")->delimiter(',')->allow_extra_args(false);
  add_list(show, "--stage", a.stages, "these stages in words: their place, what binds them, what to look at next");
  show.add_option("--sort", a.sort, "rows by ladder (default), time or name")
      ->check(one_of({kInOrder, kByTime, kByName}));
  show.add_option("--top", a.top, "only so many rows of each table")->check(CLI::PositiveNumber);
  add_list(show, "--columns", a.columns, "only these columns, by their titles, in this order");
  show.add_flag("--intervals", a.intervals, "ratios as intervals, every table");
  add_printed_options(show, a.printed, {"text", "markdown", "csv", "json"});
}

std::string layer_of(const RecordedCase& one) { return fmt::format("{}.{}", one.network, one.layer); }

/// Whether the place was asked for.
bool is_asked(const ShowArguments& a, const RecordedCase& of) {
  const auto has = [](const auto& list, const auto& value) {
    return list.empty() || std::ranges::find(list, value) != list.end();
  };
  return has(a.devices, of.device) && has(a.batches, of.batch) &&
         (has(a.layers, layer_of(of)) || has(a.layers, of.layer));
}

/// Throws UserError for a word that the record lacks.
void require_there(const ShowArguments& a, const std::vector<RecordedCase>& cases) {
  std::vector<std::string> layers;
  std::vector<std::string> devices;
  std::vector<std::string> stages;
  const auto note = [](std::vector<std::string>& list, const std::string& word) {
    if (std::ranges::find(list, word) == list.end()) list.push_back(word);
  };
  for (const RecordedCase& one : cases) {
    note(layers, layer_of(one));
    note(layers, one.layer);
    note(devices, one.device);
    note(stages, one.variant);
  }
  require_known("--layer", a.layers, layers);
  require_known("--device", a.devices, devices);
  require_known("--stage", a.stages, stages);
  for (const int batch : a.batches) {
    if (std::ranges::find(cases, batch, &RecordedCase::batch) == cases.end()) {
      throw UserError(fmt::format("--batch {}: no case has it", batch));
    }
  }
}

/// Sorts rows and drops all but the first. Those without a figure come last.
template <typename Row, typename Time, typename Name>
void arrange(std::vector<Row>& rows, const ShowArguments& a, const Time& time_of, const Name& name_of) {
  if (a.sort == kByTime) std::ranges::stable_sort(rows, {}, time_of);
  if (a.sort == kByName) std::ranges::stable_sort(rows, {}, name_of);
  if (rows.size() > a.top) rows.resize(a.top);
}

double none_last(const std::optional<double>& value) { return value.value_or(std::numeric_limits<double>::max()); }

std::vector<Ladder> ladders_shown(const RunFigures& run, const ShowArguments& a) {
  std::vector<Ladder> ladders = ladders_of(run.cases, run.variants, run.ceilings);
  std::erase_if(ladders, [&](const Ladder& one) { return !is_asked(a, *one.rows.front().of); });
  for (Ladder& ladder : ladders) {
    arrange(
        ladder.rows, a,
        [](const LadderRow& row) { return none_last(row.time ? std::optional(row.time->median) : std::nullopt); },
        [](const LadderRow& row) { return row.of->variant; });
  }
  return ladders;
}

std::vector<CountedLadder> counted_shown(const RunFigures& run, const ShowArguments& a) {
  std::vector<CountedLadder> ladders = counted_ladders_of(run.cases, run.variants);
  std::erase_if(ladders, [&](const CountedLadder& one) { return !is_asked(a, *one.cases.front()); });
  return ladders;
}

/// Counted cases have the middle of the time predicted for the usual GPU for their time.
void arrange_counted(std::vector<const RecordedCase*>& cases, const ShowArguments& a) {
  arrange(
      cases, a, [](const RecordedCase* one) { return none_last(kByPredictions.time_of(*one)); },
      [](const RecordedCase* one) { return one->variant; });
}

/// Refuses options that only tables have.
void require_tables(const ShowArguments& a) {
  if (a.printed.format != "csv" && a.printed.format != "json") return;
  std::vector<const char*> tables_only = {"--columns", "--stage", "--intervals"};
  if (a.printed.format == "json") tables_only.insert(tables_only.end(), {"--sort", "--top"});
  for (const char* const option : tables_only) {
    if (a.command->count(option) > 0) {
      throw UserError(
          fmt::format("{}: --format {} has every column and the record's own order", option, a.printed.format));
    }
  }
}

/// Keeps the columns that were asked for, of every table that has one of them. Throws UserError where none has it.
void choose_columns(Report& report, const std::vector<std::string>& wanted) {
  if (wanted.empty()) return;
  std::vector<std::string> known;
  for (ReportSection& section : report.sections) {
    for (auto& block : section.blocks) {
      auto* const table = std::get_if<ReportTable>(&block);
      if (table == nullptr) continue;
      for (const TextColumn& column : table->columns) known.push_back(column.title);
    }
  }
  require_known("--columns", wanted, known);
  for (ReportSection& section : report.sections) {
    for (auto& block : section.blocks) {
      auto* const table = std::get_if<ReportTable>(&block);
      if (table == nullptr) continue;
      ReportTable chosen{{}, std::vector<std::vector<std::string>>(table->rows.size()), table->indent};
      for (const std::string& title : wanted) {
        const auto column = std::ranges::find(table->columns, title, &TextColumn::title);
        if (column == table->columns.end()) continue;
        chosen.columns.push_back(*column);
        const auto index = static_cast<std::size_t>(column - table->columns.begin());
        for (std::size_t row = 0; row < table->rows.size(); ++row) chosen.rows[row].push_back(table->rows[row][index]);
      }
      if (!chosen.columns.empty()) *table = std::move(chosen);
    }
  }
}

/// All rows as one table, each with its place: measured times, and what was counted and predicted from that.
std::string rows_as_csv(const std::vector<Ladder>& ladders, const std::vector<CountedLadder>& counted,
                        const ShowArguments& a) {
  ReportTable all{
      {left("device"), left("network"), left("layer"), right("batch"), left("stage"), left("status"),
       right("median_ns"), right("low_ns"), right("high_ns"), right("gflop_per_s"), right("x_previous"),
       right("x_baseline"), right("percent_of_library"), right("percent_of_floor"), right("warp_instructions"),
       left("predicted_for"), right("predicted_low_ns"), right("predicted_high_ns")},
      {}};
  const auto number = [](const std::optional<double>& value) { return value ? fmt::format("{}", *value) : ""; };
  const auto ratio = [](const std::optional<Ratio>& x) { return x ? fmt::format("{}", x->value) : ""; };
  const auto begin_row = [&all](const RecordedCase& of) -> std::vector<std::string>& {
    return all.rows.emplace_back(std::vector<std::string>{of.device, of.network, of.layer, fmt::format("{}", of.batch),
                                                          of.variant, fmt::format("{}", of.status)});
  };
  const auto add = [](std::vector<std::string>& row, std::vector<std::string> cells) {
    std::ranges::move(cells, std::back_inserter(row));
  };
  for (const Ladder& ladder : ladders) {
    for (const LadderRow& row : ladder.rows) {
      const auto time = [&](auto field) { return row.time == nullptr ? "" : number(field(*row.time)); };
      add(begin_row(*row.of),
          {time([](const TimeFigure& one) { return std::optional(one.median); }),
           time([](const TimeFigure& one) { return one.low; }), time([](const TimeFigure& one) { return one.high; }),
           number(row.gflop_per_s), ratio(row.x_previous), ratio(row.x_baseline), ratio(row.percent_of_library),
           ratio(row.percent_of_floor), "", "", "", ""});
    }
  }
  for (const CountedLadder& ladder : counted) {
    std::vector<const RecordedCase*> cases = ladder.cases;
    cases.insert(cases.end(), ladder.failed.begin(), ladder.failed.end());
    arrange_counted(cases, a);
    for (const RecordedCase* const one : cases) {
      const PredictedFigure* const predicted = one->prediction_for(kUsualGpu);
      add(begin_row(*one),
          {"", "", "", "", "", "", "", "", number(warp_instructions(*one)), predicted == nullptr ? "" : kUsualGpu,
           predicted == nullptr ? "" : number(predicted->low_ns),
           predicted == nullptr ? "" : number(predicted->high_ns)});
    }
  }
  return as_csv(all, "\n");
}

int show_command(ShowArguments& a, const CommandLine& /*command_line*/) {
  check_printed(a.printed);
  require_tables(a);
  require_known("--sort", std::vector<std::string>{a.sort}, std::vector<std::string>{kInOrder, kByTime, kByName});
  const RunFigures run = read_run_figures(a.run);
  require_there(a, run.cases);
  std::vector<DerivedLadder> derived = derived_ladders(run.cases, run.variants, run.ceilings);
  std::erase_if(derived, [&](const DerivedLadder& one) { return !is_asked(a, *one.of); });
  if (a.printed.format == "json") {
    print_as(a.printed, ladders_json_text(derived));
    return kExitOk;
  }
  const std::vector<Ladder> ladders = ladders_shown(run, a);
  if (a.printed.format == "csv") {
    print_as(a.printed, rows_as_csv(ladders, counted_shown(run, a), a));
    return kExitOk;
  }
  const bool is_cut = a.sort != kInOrder || a.top < run.cases.size() || !a.columns.empty();
  Report report;
  if (a.stages.empty()) {
    report = run_report(run, ladders, counted_shown(run, a),
                        {.all = a.intervals || is_cut || !a.layers.empty(),
                         .intervals = a.intervals,
                         .arrange_counted = [&a](auto& cases) { arrange_counted(cases, a); }});
    choose_columns(report, a.columns);
  }
  std::vector<std::string> verdicts;
  for (const std::string& stage : a.stages) {
    std::ranges::move(verdicts_on(stage, derived, run.cases, run.variants, derived.size()),
                      std::back_inserter(verdicts));
  }
  if (a.stages.empty() && derived.size() == 1) verdicts.push_back(verdict_on_best(derived.front()));
  ReportSection& last = report.section();
  for (std::string& line : verdicts) {
    if (!line.empty()) last.paragraph(std::move(line));
  }
  if (a.printed.file.empty()) a.printed.columns = std::min(terminal_columns(STDOUT_FILENO, kTextColumns), kTextColumns);
  print_as(a.printed, report);
  return kExitOk;
}

const CommandRegistration show_registration(
    {.name = "show",
     .group = CommandGroup::judge,
     .help = "the table of a recorded run again: sorted, cut, as CSV; a stage in words",
     .footer = kShowFooter,
     .add = command_of<ShowArguments, add_show_options, show_command>});

}  // namespace
}  // namespace convladder
