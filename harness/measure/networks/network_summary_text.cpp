#include "harness/measure/networks/network_summary_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "harness/measure/machine/quality.hpp"
#include "harness/measure/plan/arguments.hpp"
#include "harness/measure/statistics/ratio_text.hpp"
#include "harness/measure/statistics/statistics.hpp"
#include "support/reasons.hpp"
#include "support/report.hpp"
#include "support/units.hpp"

namespace convladder {
namespace {

constexpr std::size_t kMostRows = 26;  // of a table, before stages outside of all summaries are left out
constexpr std::size_t kMostReasons = 5;
constexpr std::size_t kMostIntervals = 3;  // networks whose accuracy gets a line of its own

using Told = std::pair<const NetworkSummary*, const NetworkRow*>;

const NetworkCase& place_of(const NetworkSummary& summary) { return summary.rows.front().of->planned; }

bool is_first_told(const NetworkSummary& summary, const NetworkRow& row) {
  return &row == summary.baseline || &row == summary.sixth || &row == summary.best || &row == summary.library;
}

/// The rows that are shown: all; or those that the summaries are about; or those of each network's largest batch.
std::vector<Told> shown_rows(const std::vector<NetworkSummary>& summaries) {
  std::vector<Told> all;
  std::vector<Told> first;
  std::vector<Told> largest;
  std::map<const Network*, int> batches;
  for (const NetworkSummary& summary : summaries) {
    int& batch = batches[place_of(summary).network];
    batch = std::max(batch, place_of(summary).batch);
  }
  for (const NetworkSummary& summary : summaries) {
    for (const NetworkRow& row : summary.rows) {
      all.emplace_back(&summary, &row);
      if (!is_first_told(summary, row)) continue;
      first.emplace_back(&summary, &row);
      if (place_of(summary).batch == batches.at(place_of(summary).network)) largest.emplace_back(&summary, &row);
    }
  }
  if (all.size() <= kMostRows || first.empty()) return all;
  return first.size() <= kMostRows ? first : largest;
}

/// The row's stages: "conv1=a, conv2=b". A cell is broken between words.
std::string stage_text(const NetworkSummary& summary, const NetworkRow& row) {
  std::string text;
  for (const char c : row.of->planned.variants) {
    text += c;
    if (c == ',') text += ' ';
  }
  const auto is_stage = [](const NetworkRow& other) { return !other.is_library && !other.is_fused; };
  if (&row == summary.best && std::ranges::count_if(summary.rows, is_stage) > 1) text += " (best)";
  if (row.is_library) text += " (library)";
  if (const std::optional<Quality>& quality = row.of->outcome.quality) {
    if (quality->is_marked()) text += fmt::format(" {}", quality_sign(quality->mark));
  }
  return text;
}

/// Images a second, with as many digits as are known.
std::string rate_text(const std::optional<Ratio>& rate) { return rate ? known_number(*rate) : "-"; }

struct SummaryColumn {
  TextColumn column;
  std::function<std::string(const Told&)> cell;
};

std::vector<SummaryColumn> columns_for(const std::vector<Told>& rows) {
  const bool has_clock = place_of(*rows.front().first).has_clock;
  const auto any = [&rows](auto has) { return std::ranges::any_of(rows, has); };
  const bool several =
      any([&rows](const Told& t) { return place_of(*t.first).network != place_of(*rows.front().first).network; });
  const auto figure = [has_clock](double value) { return has_clock ? time_text(value) : fmt::format("{:.4g}", value); };

  std::vector<SummaryColumn> columns;
  if (several) columns.push_back({left("network"), [](const Told& t) { return place_of(*t.first).network->name; }});
  columns.push_back({right("batch"), [](const Told& t) { return std::to_string(place_of(*t.first).batch); }});
  columns.push_back({left("stage"), [](const Told& t) { return stage_text(*t.first, *t.second); }});
  columns.push_back(
      {right(has_clock ? "op time" : "convolutions"), [figure](const Told& t) { return figure(t.second->op); }});
  if (has_clock) {
    columns.push_back(
        {right("pass"), [figure](const Told& t) { return t.second->pass ? figure(*t.second->pass) : "-"; }});
    columns.push_back({right("images/s"), [](const Told& t) { return rate_text(t.second->images_second); }});
    if (any([](const Told& t) { return t.second->loaded_images_second.has_value(); })) {
      columns.push_back({right("loaded/s"), [](const Told& t) { return rate_text(t.second->loaded_images_second); }});
    }
  } else {
    columns.push_back({right("all layers"), [figure](const Told& t) { return figure(t.second->layers); }});
  }
  if (any([](const Told& t) { return t.second->of->outcome.labelled > 0; }))
    columns.push_back({right("accuracy"), [](const Told& t) { return accuracy_text(t.second->of->outcome); }});
  if (any([](const Told& t) { return t.second->x_baseline.has_value(); }))
    columns.push_back({right("x 1"), [](const Told& t) { return ratio_text(t.second->x_baseline); }});
  if (any([](const Told& t) { return t.second->percent_of_library.has_value(); })) {
    columns.push_back({right("%lib"), [](const Told& t) { return share_text(t.second->percent_of_library); }});
  }
  if (any([](const Told& t) { return t.second->x_library.has_value(); }))
    columns.push_back({right("x lib"), [](const Told& t) { return ratio_text(t.second->x_library); }});
  return columns;
}

std::string heading(const NetworkCase& first, const std::vector<Told>& rows, const std::string& device_title,
                    const std::string& images) {
  std::set<std::string> names;
  for (const Told& told : rows) names.insert(place_of(*told.first).network->name);
  const std::string what = names.size() == 1 ? *names.begin() : "networks";
  std::string text = fmt::format("{} on {}, images: {}; ", what, device_title, images);
  const auto any = [&rows](auto has) { return std::ranges::any_of(rows, has); };
  const bool has_x = any([](const Told& t) { return t.second->x_baseline.has_value(); });
  if (!first.has_clock) {
    return text + (has_x ? "counted: warp instructions; x 1: how many times fewer than stage 1"
                         : "counted: warp instructions");
  }
  text += find_device_kind(first.device).clock_is_virtual() ? "predicted: " : "measured: ";
  text += "op time of all convolutions";
  if (has_x) text += "; x 1: speedup over stage 1";
  if (any([](const Told& t) { return t.second->percent_of_library.has_value(); }))
    text += "; %lib: of the library's speed";
  if (any([](const Told& t) { return t.second->loaded.has_value(); }))
    text += "; loaded/s: images a second of a network that stays loaded";
  if (any([](const Told& t) { return t.second->x_library.has_value(); }))
    text += "; x lib: speedup over the library by that";
  return text;
}

/// The shares of a pass of the best stage: "42% convolutions, 31% other layers, 27% copies, memory and the rest".
std::string where_the_time_goes(const NetworkSummary& summary) {
  const NetworkRow* const best = summary.best != nullptr ? summary.best : &summary.rows.front();
  if (!best->pass || !(*best->pass > 0) || best->layers > *best->pass) return {};
  const double whole = *best->pass / 100;
  return fmt::format(
      "a pass of {} at batch {}: roughly {:.0f}% convolutions, {:.0f}% other layers, {:.0f}% copies and memory",
      summary.best == nullptr || summary.rows.size() == 1 ? best->of->planned.variants : "the best stage",
      place_of(summary).batch, best->op / whole, (best->layers - best->op) / whole,
      (*best->pass - best->layers) / whole);
}

std::string precision_note(const std::vector<NetworkSummary>& summaries) {
  std::vector<double> passes;
  std::vector<double> half_widths;
  std::vector<double> half_widths_of_ratios;
  for (const NetworkSummary& summary : summaries) {
    if (find_device_kind(place_of(summary).device).clock_is_virtual()) continue;
    for (const NetworkRow& row : summary.rows) {
      if (!row.pass) continue;
      const std::vector<double>& samples = row.of->outcome.totals;
      passes.push_back(static_cast<double>(samples.size()));
      const auto interval = median_interval(samples);
      if (interval) half_widths.push_back((interval->high - interval->low) / 2 / *row.pass * 100);
      for (const auto* const x : {&row.x_baseline, &row.percent_of_library, &row.images_second}) {
        const std::optional<double> half = *x ? (*x)->half_width() : std::nullopt;
        if (half && *half > 0) half_widths_of_ratios.push_back(*half * 100);
      }
    }
  }
  if (passes.empty()) return {};
  const auto range = [](const std::vector<double>& values, const char* one) {
    const auto [least, most] = std::ranges::minmax(values);
    const std::string low = fmt::format(fmt::runtime(one), least);
    const std::string high = fmt::format(fmt::runtime(one), most);
    return low == high ? low : fmt::format("{} to {}", low, high);
  };
  const std::string text =
      fmt::format("medians of {} pass{}", range(passes, "{:.0f}"), std::ranges::max(passes) > 1 ? "es" : "");
  if (half_widths.empty()) return text + ", too few for an interval";
  const std::string ratios =
      half_widths_of_ratios.empty() ? "" : fmt::format(", ratios to {}", range(half_widths_of_ratios, "±{:.1f}%"));
  return fmt::format("{}, that of a pass known to {}{}", text, range(half_widths, "±{:.1f}%"), ratios);
}

/// Notes on each network's classes, from its largest batch: all its cases found the same ones.
std::vector<std::string> class_notes(const std::vector<NetworkSummary>& summaries) {
  std::map<std::string, const NetworkOutcome*> largest;
  std::size_t cases = 0;
  std::size_t close = 0;
  for (const NetworkSummary& summary : summaries) {
    for (const NetworkRow& row : summary.rows) {
      ++cases;
      close = std::max(close, row.of->outcome.close_calls.size());
      const NetworkOutcome*& kept = largest[place_of(summary).network->name];
      if (kept == nullptr || kept->labelled < row.of->outcome.labelled) kept = &row.of->outcome;
    }
  }
  std::vector<std::string> notes;
  if (cases == 0) return notes;
  notes.push_back(fmt::format(
      "in {} every image got the class of the float64 reference{}",
      cases == 1 ? "the one case" : fmt::format("all {} cases", cases),
      close == 0 ? "" : fmt::format("; {} too close to tell in float32", plural(close, "image is", "images are"))));
  for (const auto& [network, outcome] : largest) {
    if (outcome->labelled == 0 || largest.size() > kMostIntervals) continue;
    const ProportionInterval interval = proportion_interval(outcome->correct, outcome->labelled);
    notes.push_back(fmt::format("{}: {} of {} are right, accuracy {} (95%: {:.4f} to {:.4f})", network,
                                outcome->correct, plural(static_cast<std::size_t>(outcome->labelled), "image"),
                                accuracy_text(*outcome), interval.low, interval.high));
  }
  return notes;
}

/// The part of a reason that all variants have in common: "conv1 (cudnn): its kernels …" without its beginning.
std::string without_place(const std::string& reason) {
  const std::size_t end = reason.find("): ");
  return end == std::string::npos || reason.find(" (") > end ? reason : reason.substr(end + 3);
}

/// A line for each failure, and one for each reason why stages were not run.
void add_not_run(const std::vector<NetworkResult>& results, bool all, std::vector<std::string>& notes) {
  std::map<std::string, Reasons> not_run;
  std::set<std::string> told;
  std::size_t failures = 0;
  for (const NetworkResult& result : results) {
    const NetworkOutcome& outcome = result.outcome;
    if (outcome.status == Status::ok) continue;
    const std::string where = fmt::format("{} on {}: ", outcome.status, result.planned.device);
    if (is_failure(outcome.status)) {
      if (all || failures++ < kMostReasons)
        notes.push_back(fmt::format("{}: {}: {}", result.planned.id, outcome.status, outcome.reason));
    } else if (told.insert(where + result.planned.variants).second) {
      not_run[where].add(without_place(outcome.reason), result.planned.variants);
    }
  }
  if (failures > kMostReasons) notes.push_back(fmt::format("{} failed: --verbose", plural(failures, "case")));
  for (const auto& [where, reasons] : not_run) {
    for (const std::string& line : reasons.lines()) notes.push_back(where + line);
  }
}

}  // namespace

std::string accuracy_text(const NetworkOutcome& outcome) {
  if (outcome.labelled == 0) return "-";
  return fmt::format("{:.4f}", static_cast<double>(outcome.correct) / outcome.labelled);
}

std::string network_summary_text(const std::vector<NetworkSummary>& summaries, const std::string& device_title,
                                 const std::string& images, std::size_t most_columns) {
  const std::vector<Told> rows = shown_rows(summaries);
  if (rows.empty()) return {};
  const std::vector<SummaryColumn> columns = columns_for(rows);
  std::vector<TextColumn> titles;
  std::vector<std::vector<std::string>> cells(rows.size());
  for (const SummaryColumn& one : columns) {
    titles.push_back(one.column);
    for (std::size_t i = 0; i < rows.size(); ++i) cells[i].push_back(one.cell(rows[i]));
  }
  Report report;
  ReportSection& section = report.section(heading(place_of(summaries.front()), rows, device_title, images));
  const std::string legend = ratio_legend(cells);
  section.table(std::move(titles), std::move(cells));
  if (!legend.empty()) section.paragraph(legend);
  std::size_t all = 0;
  for (const NetworkSummary& summary : summaries) all += summary.rows.size();
  if (rows.size() < all) {
    section.paragraph(
        fmt::format("stage 1, stage 6, best and library; {} more with --verbose", plural(all - rows.size(), "row")));
  }
  return '\n' + as_text(report, most_columns);
}

std::vector<std::string> network_notes(const std::vector<NetworkResult>& results,
                                       const std::vector<NetworkSummary>& summaries, bool all) {
  std::vector<std::string> notes;
  const NetworkSummary* largest = nullptr;
  bool any_fused = false;
  for (const NetworkSummary& summary : summaries) {
    if (summary.rows.front().pass && (largest == nullptr || place_of(summary).batch >= place_of(*largest).batch))
      largest = &summary;
    any_fused = any_fused || std::ranges::any_of(summary.rows, &NetworkRow::is_fused);
  }
  if (largest != nullptr) notes.push_back(where_the_time_goes(*largest));
  if (any_fused) notes.emplace_back("the op time of a fused stage holds the activation and the pooling as well");
  notes.push_back(precision_note(summaries));
  for (std::string& note : class_notes(summaries)) notes.push_back(std::move(note));
  add_not_run(results, all, notes);
  std::erase_if(notes, [](const std::string& note) { return note.empty(); });
  return notes;
}

}  // namespace convladder
