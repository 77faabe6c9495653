#include "harness/measure/runs/summary_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

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

std::string factor_text(const std::optional<double>& x) { return x ? short_number(*x) : "-"; }
std::string percent_text(const std::optional<double>& share) { return share ? fmt::format("{:.0f}%", *share) : "-"; }

/// Microseconds of an image, or of one item of the batch.
std::string microseconds_of(const RecordedCase* one) {
  const TimeFigure* const time = one == nullptr ? nullptr : layer_time(*one);
  return time == nullptr ? "-" : short_number(time->median / one->batch / 1e3);
}

/// Thousands of warp instructions of an image.
std::string instructions_of(const RecordedCase* one) {
  const std::optional<double> all = one == nullptr ? std::nullopt : warp_instructions(*one);
  return all ? short_number(*all / one->batch / 1e3) : "-";
}

std::string predicted_of(const RecordedCase* one, const std::string& gpu) {
  if (one == nullptr) return "-";
  const auto found = std::ranges::find(one->predictions, gpu, &PredictedFigure::gpu);
  if (found == one->predictions.end() || !found->runs()) return "-";
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
  columns.push_back({right("x 1"), [](const Told& t) { return factor_text(t.summary.best_x_baseline); }});
  if (has_sixth) {
    columns.push_back(
        {right(fmt::format("x {}", rungs)), [](const Told& t) { return factor_text(t.summary.best_x_sixth); }});
  }
  if (has_library) {
    columns.push_back({right("%lib"), [](const Told& t) { return percent_text(t.summary.best_percent_of_library); }});
  }
  if (has_floor) {
    columns.push_back({right("floor"), [](const Told& t) { return percent_text(t.summary.best_percent_of_floor); }});
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
    text += fmt::format("{}: µs per {}; x N: times as fast as stage N", first.summary.best_by, item);
  }
  return text;
}

void add_family(Report& report, std::vector<Told> rows, const DeviceTitle& title_of) {
  const std::size_t all_rows = rows.size();
  if (rows.size() > kMostRows) rows = largest_batches(rows);
  const std::vector<LadderColumn> columns = columns_for(rows);
  ReportTable table{{}, std::vector<std::vector<std::string>>(rows.size())};
  for (const LadderColumn& one : columns) {
    table.columns.push_back(one.column);
    for (std::size_t i = 0; i < rows.size(); ++i) table.rows[i].push_back(one.cell(rows[i]));
  }
  ReportSection& section = report.section(heading(rows, title_of));
  section.blocks.emplace_back(std::move(table));
  if (rows.size() < all_rows) {
    section.paragraph(
        fmt::format("the largest batch of each layer; {} more with --verbose", plural(all_rows - rows.size(), "row")));
  }
}

/// "0.91x", "0.91x to 0.98x".
std::string range_text(const std::vector<double>& values) {
  const auto [low, high] = std::ranges::minmax(values);
  const std::string first = fmt::format("{:.2f}x", low);
  const std::string last = fmt::format("{:.2f}x", high);
  return first == last ? first : fmt::format("{} to {}", first, last);
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
  std::map<std::pair<std::string, std::string>, std::vector<double>> losers;  // by the stage and the one it builds on
  std::set<std::string> level;
  std::set<std::string> less_accurate;
  std::size_t told = 0;
  std::size_t shared = 0;
  std::vector<double> half_widths;
  std::vector<double> sample_counts;
  const auto take = [&](const LadderSummary& summary) {
    for (const StageThatLoses& one : summary.loses) losers[{one.variant, one.builds_on}].push_back(one.x);
    less_accurate.insert(summary.faster_less_accurate.begin(), summary.faster_less_accurate.end());
    told += summary.best != nullptr && summary.best_by == "measured" ? 1 : 0;
    shared += summary.overlaps_best.empty() ? 0 : 1;
    level.insert(summary.overlaps_best.begin(), summary.overlaps_best.end());
  };
  for (const Ladder& ladder : ladders) {
    take(summary_of(ladder));
    for (const LadderRow& row : ladder.rows) {
      if (!row.of->time || row.of->time->is_predicted) continue;
      sample_counts.push_back(static_cast<double>(row.of->time->samples.size()));
      if (row.of->time->low && row.of->time->high) {
        half_widths.push_back((*row.of->time->high - *row.of->time->low) / 2 / row.of->time->median * 100);
      }
    }
  }
  for (const CountedLadder& ladder : counted) take(ladder.summary);

  std::vector<std::string> notes;
  for (const auto& [stages, factors] : losers) {
    const std::string where = told <= 1 ? "" : fmt::format(" on {} of {} sizes", factors.size(), told);
    notes.push_back(
        fmt::format("{} is slower than {}{} ({})", stages.first, stages.second, where, range_text(factors)));
  }
  if (shared > 0) {
    notes.push_back(
        fmt::format("on {} of {} the best stage cannot be told from {}", shared, plural(told, "size"), some_of(level)));
  }
  if (!less_accurate.empty()) {
    notes.push_back(fmt::format("faster at the cost of accuracy: {}", some_of(less_accurate)));
  }
  if (!half_widths.empty()) {
    const auto [least, most] = std::ranges::minmax(sample_counts);
    const auto [sharpest, widest] = std::ranges::minmax(half_widths);
    notes.push_back(fmt::format("medians of {:.0f} to {:.0f} samples, known to ±{:.1f}% to ±{:.1f}%", least, most,
                                sharpest, widest));
  }
  return notes;
}

}  // namespace convladder
