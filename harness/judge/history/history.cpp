#include "harness/judge/history/history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "harness/judge/compare/comparability.hpp"
#include "support/errors.hpp"
#include "support/nearest_name.hpp"
#include "support/printable.hpp"

namespace convladder {

namespace {

bool has_time(const RecordedCase& one) { return one.ok() && one.time.has_value(); }

/// The key of cases that are measured side by side: device, network, layer, batch.
using Group = std::tuple<std::string, std::string, std::string, int>;

Group group_of(const RecordedCase& one) { return {one.device, one.network, one.layer, one.batch}; }

/// The model of the processor, or the name of the device.
std::string hardware_of(const RecordedMachine& machine, const std::string& device) {
  std::string cpu = machine.processor ? printable(*machine.processor) : std::string();
  if (machine.threads) cpu += fmt::format(", {} threads", *machine.threads);
  if (device == "cpu") return cpu;
  const NamedTexts& facts = machine.facts_of(device);
  const std::string name = text_of(facts, "name", text_of(facts, "model"));
  return name.empty() ? fmt::format("device {} on {}", device, cpu) : name;
}

/// Puts the runs of each device into classes whose contexts can be compared: machine, compiler, settings.
class SettingClasses {
 public:
  SettingClasses(const std::vector<HistoryRun>& runs, bool merge_hosts) : runs_(runs), merge_hosts_(merge_hosts) {}

  /// The number of the run's class: the first run that it can be compared with.
  std::size_t of(std::size_t run, const std::string& device) {
    const auto [place, added] = classes_.emplace(std::pair{device, run}, run);
    if (!added) return place->second;
    std::set<std::size_t>& firsts = firsts_[device];
    for (const std::size_t first : firsts) {
      if (differences(first, run, device).empty()) return place->second = first;
    }
    firsts.insert(run);
    return run;
  }

  std::vector<std::string> differences(std::size_t then, std::size_t now, const std::string& device) const {
    std::vector<std::string> found = context_differences(runs_[then].run, runs_[now].run, device);
    if (!merge_hosts_ && runs_[then].host != runs_[now].host) {
      found.insert(found.begin(), fmt::format("machine differs: {}, now {}", runs_[then].host, runs_[now].host));
    }
    return found;
  }

 private:
  const std::vector<HistoryRun>& runs_;
  bool merge_hosts_;
  std::map<std::pair<std::string, std::size_t>, std::size_t> classes_;
  std::map<std::string, std::set<std::size_t>> firsts_;
};

/// A case of one run, with the anchor of its group in that run if it has one there.
struct Sighting {
  std::size_t run;
  std::size_t setting;
  const RecordedCase* one;
  const RecordedCase* anchor;
};

/// The variant with a time in all runs of a group: a library, otherwise the lowest rung.
std::string chosen_anchor(const std::vector<std::vector<const RecordedCase*>>& runs) {
  std::map<std::tuple<bool, int, std::string>, std::size_t> times;  // libraries first, then by rung, then by name
  for (const std::vector<const RecordedCase*>& run : runs) {
    for (const RecordedCase* const one : run) {
      if (one->library() || one->rung > 0) ++times[{!one->library(), one->rung.value_or(0), one->variant}];
    }
  }
  for (const auto& [key, count] : times) {
    if (count == runs.size()) return std::get<2>(key);
  }
  return {};
}

void add_ratio(const Sighting& seen, HistoryPoint& point) {
  if (seen.anchor == nullptr || seen.anchor == seen.one || seen.anchor->session != seen.one->session) return;
  const std::vector<double>& samples = seen.one->time->samples;
  const std::vector<double>& anchor = seen.anchor->time->samples;
  const double ratio = lower_quartile(samples) / lower_quartile(anchor);
  if (!(ratio > 0) || !std::isfinite(ratio)) return;  // a record may hold any positive numbers
  point.ratio = ratio;
  point.anchor_ns = lower_quartile(anchor);
  constexpr double kEach = 0.975;  // together 95 %
  const std::optional<MedianInterval> of_case = lower_quartile_interval(samples, kEach);
  const std::optional<MedianInterval> of_anchor = lower_quartile_interval(anchor, kEach);
  if (of_case && of_anchor) {
    point.ratio_interval = {.low = of_case->low / of_anchor->high,
                            .high = of_case->high / of_anchor->low,
                            .level = of_case->level + of_anchor->level - 1};
  }
}

HistoryPoint point_of(const Sighting& seen) {
  HistoryPoint point{.run = seen.run,
                     .median_ns = median(seen.one->time->samples),
                     .interval = median_interval(seen.one->time->samples),
                     .samples = seen.one->time->samples.size(),
                     .ratio = {},
                     .anchor_ns = 0,
                     .ratio_interval = {},
                     .quiet = true};
  add_ratio(seen, point);
  return point;
}

class HistoryMaker {
 public:
  HistoryMaker(HistoryRuns runs, const HistoryOptions& options)
      : history_{.options = options,
                 .from = std::move(runs),
                 .series = {},
                 .series_alpha = 0,
                 .judged = 0,
                 .fewest = 0},
        classes_(history_.from.runs, options.merge_hosts) {}

  History make() {
    require_known_names();
    collect();
    std::map<std::string, std::vector<Sighting>> sightings;
    for (const auto& [group, cases] : groups_) add_sightings(cases, sightings);
    for (const auto& [id, seen] : sightings) add_series(seen);
    judge();
    sort();
    return std::move(history_);
  }

 private:
  /// The cases of a group, by setting class and run.
  using GroupCases = std::map<std::size_t, std::map<std::size_t, std::vector<const RecordedCase*>>>;

  void require_known_names() const {
    std::set<std::string> networks;
    std::set<std::string> layers;
    std::set<std::string> variants;
    std::set<std::string> devices;
    std::set<int> batches;
    for (const HistoryRun& run : history_.from.runs) {
      for (const RecordedCase& one : run.run.cases) {
        if (!has_time(one)) continue;
        networks.insert(one.network);
        layers.insert({one.layer, one.network + '.' + one.layer});
        variants.insert(one.variant);
        devices.insert(one.device);
        batches.insert(one.batch);
      }
    }
    const auto require = [](const char* what, const std::vector<std::string>& names,
                            const std::set<std::string>& known) {
      require_known(what, names, {known.begin(), known.end()});
    };
    if (variants.empty()) return;  // collect() reports that
    const HistoryOptions& options = history_.options;
    require("network", options.networks, networks);
    require("layer", options.layers, layers);
    require("variant", options.variants, variants);
    require("device", options.devices, devices);
    if (!options.anchor.empty()) require("anchor", {options.anchor}, variants);
    for (const int batch : options.batches) {
      if (batches.contains(batch)) continue;
      throw UserError(fmt::format("no run has batch {}; they have {}", batch, fmt::join(batches, ", ")));
    }
  }

  bool wanted(const RecordedCase& one) const {
    const auto among = [](const auto& list, const auto& value) {
      return list.empty() || std::ranges::find(list, value) != list.end();
    };
    const HistoryOptions& options = history_.options;
    return among(options.networks, one.network) &&
           (among(options.layers, one.layer) || among(options.layers, one.network + '.' + one.layer)) &&
           among(options.variants, one.variant) && among(options.devices, one.device) &&
           among(options.batches, one.batch);
  }

  void collect() {
    for (std::size_t i = 0; i < history_.from.runs.size(); ++i) {
      for (const RecordedCase& one : history_.from.runs[i].run.cases) {
        if (has_time(one)) groups_[group_of(one)][classes_.of(i, one.device)][i].push_back(&one);
      }
    }
    if (groups_.empty()) {
      throw UserError(fmt::format("no case of {} run{} has a time, so there is no history", history_.from.runs.size(),
                                  history_.from.runs.size() == 1 ? "" : "s"));
    }
  }

  /// Adds the sightings of the wanted cases. The anchor is chosen among all cases of the group, wanted or not.
  void add_sightings(const GroupCases& group, std::map<std::string, std::vector<Sighting>>& sightings) const {
    for (const auto& [setting, runs] : group) {
      std::vector<std::vector<const RecordedCase*>> cases_by_run;
      for (const auto& [run, cases] : runs) cases_by_run.push_back(cases);
      const std::string anchor =
          history_.options.anchor.empty() ? chosen_anchor(cases_by_run) : history_.options.anchor;
      for (const auto& [run, cases] : runs) {
        const auto found = std::ranges::find(cases, anchor, &RecordedCase::variant);
        const RecordedCase* const beside = found == cases.end() ? nullptr : *found;
        for (const RecordedCase* const one : cases) {
          if (wanted(*one)) sightings[one->id].push_back({run, setting, one, beside});
        }
      }
    }
  }

  /// Adds the series of one case, by run; it is split where two sightings cannot be compared.
  void add_series(std::vector<Sighting> seen) {
    std::ranges::sort(seen, {}, &Sighting::run);
    std::vector<std::pair<std::size_t, Sighting>> open;  // index of the series, and its first sighting
    std::size_t latest = 0;                              // index into `open`
    for (const Sighting& sighting : seen) {
      std::size_t fits = 0;
      while (fits < open.size() && !comparable(open[fits].second, sighting)) ++fits;
      if (fits == open.size()) {
        start_series(sighting, open.empty() ? nullptr : &open[latest].second, static_cast<int>(open.size()) + 1);
        open.emplace_back(history_.series.size() - 1, sighting);
      }
      latest = fits;
      HistorySeries& series = history_.series[open[fits].first];
      if (series.anchor.empty() && sighting.anchor != nullptr) {
        series.anchor = sighting.anchor->variant;
        open[fits].second = sighting;  // its anchor decides for the next ones
      }
      series.points.push_back(point_of(sighting));
    }
  }

  bool comparable(const Sighting& then, const Sighting& now) const {
    return then.setting == now.setting && differences_of_cases(then, now).empty();
  }

  std::vector<std::string> differences_of_cases(const Sighting& then, const Sighting& now) const {
    const RecordedRun& then_run = history_.from.runs[then.run].run;
    const RecordedRun& now_run = history_.from.runs[now.run].run;
    std::vector<std::string> found = case_differences(then_run, *then.one, now_run, *now.one);
    if (then.anchor == nullptr || now.anchor == nullptr || now.anchor == now.one) return found;
    if (then.anchor->variant != now.anchor->variant) {
      found.push_back(fmt::format("anchor differs: {}, now {}", then.anchor->variant, now.anchor->variant));
      return found;
    }
    for (const std::string& difference : case_differences(then_run, *then.anchor, now_run, *now.anchor)) {
      found.push_back(fmt::format("anchor {}: {}", now.anchor->variant, difference));
    }
    return found;
  }

  void start_series(const Sighting& first, const Sighting* before, int number) {
    const RecordedCase& one = *first.one;
    HistorySeries series;
    series.id = one.id;
    series.device = one.device;
    series.network = one.network;
    series.layer = one.layer;
    series.variant = one.variant;
    series.batch = one.batch;
    series.rung = one.rung.value_or(0);
    series.of = one.time->of;
    series.cache = printable(one.time->cache);
    series.hardware = hardware_of(history_.from.runs[first.run].run.context.machine, one.device);
    series.host = history_.options.merge_hosts ? std::string() : history_.from.runs[first.run].host;
    series.number = number;
    if (before != nullptr) {
      series.split = classes_.differences(before->run, first.run, one.device);
      std::ranges::move(differences_of_cases(*before, first), std::back_inserter(series.split));
    }
    history_.series.push_back(std::move(series));
  }

  void judge() {
    for (HistorySeries& series : history_.series) {
      const auto ratios =
          std::ranges::count_if(series.points, [](const HistoryPoint& one) { return one.ratio.has_value(); });
      if (series.is_anchor()) {
        series.not_judged = "it is the anchor";
      } else if (ratios == 0) {
        series.not_judged = "no anchor was measured with it, so drift of the machine cannot be told from a change";
      } else if (ratios < kFewestRuns) {
        series.not_judged = fmt::format("{} runs; at least {} are needed to show a change", ratios, kFewestRuns);
      }
      history_.judged += series.not_judged.empty() ? 1 : 0;
    }
    history_.series_alpha = history_.options.alpha / std::max(history_.judged, 1);
    history_.fewest = fewest_runs(history_.series_alpha);
    for (std::size_t i = 0; i < history_.series.size(); ++i) judge_series(history_.series[i], history_, i);
  }

  /// Sorts the series: the greatest marked change first, then by case id.
  void sort() {
    const auto greatest = [this](const HistorySeries& series) {
      double most = 0;
      for (const ChangePoint& change : series.changes) {
        if (history_.marked(change)) most = std::max(most, std::fabs(change.shift));
      }
      return most;
    };
    std::ranges::stable_sort(history_.series, std::greater(), greatest);
  }

  History history_;
  SettingClasses classes_;
  std::map<Group, GroupCases> groups_;
};

}  // namespace

bool History::marked(const ChangePoint& change) const { return std::fabs(std::expm1(change.shift)) >= options.tau; }

const HistoryRun& History::run_before(const HistorySeries& of, const ChangePoint& change) const {
  std::size_t before = change.first;
  do --before;
  while (before > 0 && !of.points[before].judged());
  return run(of.points[before]);
}

double History::anchor_shift(const HistorySeries& series, std::size_t change) {
  const std::vector<ChangePoint>& changes = series.changes;
  const auto level = [&series](std::size_t begin, std::size_t end) {
    std::vector<double> times;
    for (std::size_t i = begin; i < end; ++i) {
      if (series.points[i].judged()) times.push_back(std::log(series.points[i].anchor_ns));
    }
    return median(times);
  };
  const std::size_t first = changes[change].first;
  return level(first, change + 1 < changes.size() ? changes[change + 1].first : series.points.size()) -
         level(change == 0 ? 0 : changes[change - 1].first, first);
}

History make_history(HistoryRuns runs, const HistoryOptions& options) {
  return HistoryMaker(std::move(runs), options).make();
}

}  // namespace convladder
