#include "harness/measure/runs/summary_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "harness/measure/statistics/ratio_text.hpp"
#include "simulator/gpus/gpu_facts.hpp"
#include "support/units.hpp"
#include "variants/problem.hpp"

namespace convladder {
namespace {

constexpr std::size_t kMostRows = 12;  // of a table, before only the largest batches are shown

/// A row of a table: a ladder's place, its summary, and the figures by which its stages are compared.
struct Told {
  const RecordedCase* place = nullptr;
  LadderSummary summary;
  bool counted = false;
};

/// Microseconds of an image, or of one item of the batch.
std::string microseconds_of(const RecordedCase* one) {
  const TimeFigure* const time = one == nullptr ? nullptr : one->layer_time();
  return time == nullptr ? "-" : short_number(time->median / one->batch / 1e3);
}

/// Thousands of warp instructions of an image.
std::string instructions_of(const RecordedCase* one) {
  const std::optional<double> all = one == nullptr ? std::nullopt : warp_instructions(*one);
  return all ? short_number(*all / one->batch / 1e3) : "-";
}

std::string predicted_of(const RecordedCase* one, const std::string& gpu) {
  if (one == nullptr) return "-";
  const PredictedFigure* const found = one->prediction_for(gpu);
  if (found == nullptr) return "-";
  return fmt::format("{}-{}", short_number(*found->low_ns / one->batch / 1e3),
                     short_number(*found->high_ns / one->batch / 1e3));
}

/// Whether the case is of a problem's size, which has its own name; a layer is its network's.
bool is_size(const RecordedCase& one) { return one.size && one.size->problem->name() == one.network; }

std::string place_name(const RecordedCase& one) {
  return is_size(one) || one.network == "shape" ? one.layer : one.network + "." + one.layer;
}

/// One column: its title, and its cell in a row.
struct LadderColumn {
  TextColumn column;
  std::function<std::string(const Told&)> cell;
};

std::string best_name(const Told& told) {
  const std::string sign(told.summary.best->quality ? quality_sign(told.summary.best->quality->mark) : "");
  return told.summary.best->variant + (sign.empty() ? "" : " " + sign);
}

std::vector<LadderColumn> columns_for(const std::vector<Told>& rows) {
  const Told& first = rows.front();
  const auto any = [&rows](auto has) { return std::ranges::any_of(rows, has); };
  const auto with_sixth = std::ranges::find_if(rows, [](const Told& told) { return told.summary.sixth != nullptr; });
  const bool has_sixth = with_sixth != rows.end();
  const bool has_library = any([](const Told& told) { return told.summary.library != nullptr; });
  const bool has_floor = any([](const Told& told) { return told.summary.best_percent_of_floor.has_value(); });
  std::string (*const figure)(const RecordedCase*) = first.counted ? instructions_of : microseconds_of;
  const int rungs = has_sixth ? *with_sixth->summary.sixth->rung : 0;

  std::vector<LadderColumn> columns = {
      {left(is_size(*first.place) ? "size" : "layer"), [](const Told& t) { return place_name(*t.place); }},
      {right("batch"), [](const Told& t) { return std::to_string(t.place->batch); }},
      {right("stage 1", "", true), [figure](const Told& t) { return figure(t.summary.baseline); }}};
  if (has_sixth)
    columns.push_back(
        {right(fmt::format("stage {}", rungs), "", true), [figure](const Told& t) { return figure(t.summary.sixth); }});
  columns.push_back({right("best"), [figure](const Told& t) { return figure(t.summary.best); }});
  columns.push_back({left("which"), best_name});
  if (has_library) {
    columns.push_back({right("library", "", true), [figure](const Told& t) { return figure(t.summary.library); }});
  }
  if (first.counted) {
    columns.push_back(
        {right("µs", "", true), [](const Told& t) { return predicted_of(t.summary.best, t.summary.gpu); }});
  }
  columns.push_back({right("x 1"), [](const Told& t) { return ratio_text(t.summary.best_x_baseline); }});
  if (has_sixth) {
    columns.push_back(
        {right(fmt::format("x {}", rungs)), [](const Told& t) { return ratio_text(t.summary.best_x_sixth); }});
  }
  if (has_library) {
    columns.push_back({right("%lib"), [](const Told& t) { return share_text(t.summary.best_percent_of_library); }});
  }
  if (has_floor) {
    columns.push_back({right("floor"), [](const Told& t) { return share_text(t.summary.best_percent_of_floor); }});
  }
  return columns;
}

/// The row with the largest batch for each layer.
std::vector<Told> largest_batches(const std::vector<Told>& rows) {
  std::vector<Told> largest;
  for (const Told& told : rows) {
    const auto same = std::ranges::find_if(largest, [&told](const Told& one) {
      return one.place->network == told.place->network && one.place->layer == told.place->layer;
    });
    if (same == largest.end()) {
      largest.push_back(told);
    } else if (same->place->batch < told.place->batch) {
      *same = told;
    }
  }
  return largest;
}

std::string heading(const std::vector<Told>& rows, const DeviceTitle& title_of) {
  const Told& first = rows.front();
  const std::string item = is_size(*first.place) ? "item" : "image";
  std::string text =
      fmt::format("{}: {}; ", first.place->family == "cpu" ? "CPU" : "CUDA", title_of(first.place->device));
  if (first.counted) {
    text += fmt::format("1000 warp instructions per {} (counted); µs, x N (predicted, {})", item, first.summary.gpu);
  } else {
    text += fmt::format("{}: µs per {}; x N: speedup over stage N", first.summary.best_by, item);
  }
  return text;
}

/// The column with the rung of the stage that it shows: the lowest that was run is the first only where all were. "low"
/// stands for several.
TextColumn with_lowest_rung(TextColumn column, const std::vector<Told>& rows) {
  std::set<int> rungs;
  for (const Told& told : rows) {
    if (told.summary.baseline != nullptr) rungs.insert(told.summary.baseline->rung.value_or(1));
  }
  const std::string rung = rungs.size() > 1 ? "low" : fmt::format("{}", rungs.empty() ? 1 : *rungs.begin());
  if (column.title == "stage 1") column.title = "stage " + rung;
  if (column.title == "x 1") column.title = "x " + rung;
  return column;
}

void add_family(Report& report, std::vector<Told> rows, const DeviceTitle& title_of) {
  const std::size_t all_rows = rows.size();
  if (rows.size() > kMostRows) rows = largest_batches(rows);
  const std::vector<LadderColumn> columns = columns_for(rows);
  ReportTable table{{}, std::vector<std::vector<std::string>>(rows.size())};
  for (const LadderColumn& one : columns) {
    table.columns.push_back(with_lowest_rung(one.column, rows));
    for (std::size_t i = 0; i < rows.size(); ++i) table.rows[i].push_back(one.cell(rows[i]));
  }
  ReportSection& section = report.section(heading(rows, title_of));
  const std::string legend = ratio_legend(table.rows);
  section.blocks.emplace_back(std::move(table));
  if (!legend.empty()) section.paragraph(legend);
  if (rows.size() < all_rows) {
    section.paragraph(
        fmt::format("the largest batch of each layer; {} more with --verbose", plural(all_rows - rows.size(), "row")));
  }
}

/// "at least 2.8 times as long", of the stage that surely loses least.
std::string loss_text(const std::vector<double>& bounds) {
  const std::string bound = bound_text(std::ranges::min(bounds));
  return bound.empty() ? "slightly longer than" : fmt::format("at least {} times as long as", bound);
}

/// "a, b or c", "a, b, c or 2 others".
std::string some_of(const std::set<std::string>& names) {
  constexpr std::size_t kMostNamed = 3;
  std::vector<std::string> named(names.begin(), names.end());
  if (named.size() > kMostNamed + 1) {
    const std::size_t others = named.size() - kMostNamed;
    named.resize(kMostNamed);
    named.push_back(fmt::format("{} others", others));
  }
  const std::string last = named.back();
  named.pop_back();
  return named.empty() ? last : fmt::format("{} or {}", fmt::join(named, ", "), last);
}

}  // namespace

Report summary_report(const std::vector<Ladder>& ladders, const std::vector<CountedLadder>& counted,
                      const DeviceTitle& title_of) {
  std::map<std::tuple<bool, std::string, std::string>, std::vector<Told>> families;
  for (const Ladder& ladder : ladders) {
    const RecordedCase& first = *ladder.rows.front().of;
    LadderSummary summary = summary_of(ladder);
    if (summary.best != nullptr) families[{false, first.device, first.family}].push_back({&first, std::move(summary)});
  }
  for (const CountedLadder& ladder : counted) {
    const RecordedCase& first = *ladder.cases.front();
    if (ladder.summary.best != nullptr)
      families[{true, first.device, first.family}].push_back({&first, ladder.summary, true});
  }
  Report report;
  for (const auto& [key, rows] : families) add_family(report, rows, title_of);
  return report;
}

std::vector<std::string> summary_notes(const std::vector<Ladder>& ladders, const std::vector<CountedLadder>& counted) {
  std::map<std::pair<std::string, std::string>, std::vector<double>>
      losers;                        // by the stage and the one it builds on:
                                     // how many times as long it takes at least
  std::vector<std::string> unknown;  // why there is no headline
  std::set<std::string> level;
  std::set<std::string> less_accurate;
  std::size_t told = 0;
  std::size_t shared = 0;
  std::vector<double> half_widths;
  std::vector<double> half_widths_of_ratios;
  std::vector<double> sample_counts;
  const auto take = [&](const LadderSummary& summary) {
    for (const StageThatLoses& one : summary.loses) {
      if (one.no_headline.empty()) losers[{one.variant, one.builds_on}].push_back(1 / *one.x.high);
    }
    if (!summary.no_headline.empty()) unknown.push_back(summary.no_headline);
    less_accurate.insert(summary.faster_less_accurate.begin(), summary.faster_less_accurate.end());
    told += summary.best != nullptr ? 1 : 0;
    shared += summary.not_told_from_best.empty() ? 0 : 1;
    level.insert(summary.not_told_from_best.begin(), summary.not_told_from_best.end());
  };
  for (const Ladder& ladder : ladders) {
    take(summary_of(ladder));
    for (const LadderRow& row : ladder.rows) {
      if (row.time == nullptr || row.time->is_predicted) continue;
      sample_counts.push_back(static_cast<double>(row.time->samples.size()));
      if (row.time->low && row.time->high) {
        half_widths.push_back((*row.time->high - *row.time->low) / 2 / row.time->median * 100);
      }
      for (const auto* const x : {&row.x_previous, &row.x_baseline, &row.percent_of_library}) {
        const std::optional<double> half = *x ? (*x)->half_width() : std::nullopt;
        if (half && *half > 0) half_widths_of_ratios.push_back(*half * 100);
      }
    }
  }
  for (const CountedLadder& ladder : counted) take(ladder.summary);

  std::vector<std::string> notes;
  for (const auto& [stages, factors] : losers) {
    const std::string where = told <= 1 ? "" : fmt::format(" on {} of {} sizes", factors.size(), told);
    notes.push_back(fmt::format("{} takes {} {}{}", stages.first, loss_text(factors), stages.second, where));
  }
  if (shared > 0) {
    notes.push_back(
        fmt::format("on {} of {} the best stage cannot be told from {}", shared, plural(told, "size"), some_of(level)));
  }
  if (!unknown.empty()) {
    notes.push_back(fmt::format("on {} of {} the best stage's factors are too uncertain to build on: {}",
                                unknown.size(), plural(told, "size"), unknown.front()));
  }
  if (!less_accurate.empty()) {
    notes.push_back(fmt::format("faster at the cost of accuracy: {}", some_of(less_accurate)));
  }
  if (!half_widths.empty()) {
    const auto [least, most] = std::ranges::minmax(sample_counts);
    const auto [sharpest, widest] = std::ranges::minmax(half_widths);
    std::string note = fmt::format("medians of {:.0f} to {:.0f} samples, known to ±{:.1f}% to ±{:.1f}%", least, most,
                                   sharpest, widest);
    if (!half_widths_of_ratios.empty()) {
      const auto [surest, vaguest] = std::ranges::minmax(half_widths_of_ratios);
      note += fmt::format(", ratios to ±{:.1f}% to ±{:.1f}%", surest, vaguest);
    }
    notes.push_back(std::move(note));
  }
  return notes;
}

}  // namespace convladder
