#include "harness/judge/compare/counter_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "harness/measure/cases/counters.hpp"
#include "harness/measure/runs/cited_lines.hpp"
#include "simulator/counters/metrics.hpp"

namespace convladder {
namespace {

struct MetricChanges {
  std::vector<MovedCounter> moved;
  std::vector<std::string> unmatched;  ///< counters that only one record has
};

/// The changes of counters that are sums; ratios follow from them.
MetricChanges changes_of(const CounterValues& base, const CounterValues& now) {
  MetricChanges changes;
  std::map<std::string, double> today(now.begin(), now.end());
  for (const auto& [name, value] : base) {
    if (!name.ends_with(".sum")) continue;
    const auto found = today.find(name);
    if (found == today.end()) {
      changes.unmatched.push_back(name);
    } else if (found->second != value) {
      changes.moved.push_back({name, value, found->second});
    }
    if (found != today.end()) today.erase(found);
  }
  for (const auto& [name, value] : today) {
    if (name.ends_with(".sum")) changes.unmatched.push_back(name);
  }
  return changes;
}

/// A counter's title, "global load sectors"; Nsight Compute's name where this program does not know the counter.
std::string title_or_name(const std::string& name) {
  const std::string title = simulated::metric_title(name);
  return title.empty() ? name : title;
}

double logarithmic_change(const MovedCounter& counter) {
  return std::abs(std::log1p(counter.now) - std::log1p(counter.base));
}

bool any_up(const std::vector<MovedCounter>& moved) {
  return std::ranges::any_of(moved, [](const MovedCounter& counter) { return counter.now > counter.base; });
}

bool any_down(const std::vector<MovedCounter>& moved) {
  return std::ranges::any_of(moved, [](const MovedCounter& counter) { return counter.now < counter.base; });
}

/// The id of the case on the simulated device that runs the same code.
std::string id_of_twin(const ComparedCase& timed) { return "simulated" + timed.id.substr(timed.device.size()); }

bool was_counted(const ComparedCase& twin) {
  return twin.verdict == CaseVerdict::pass || twin.verdict == CaseVerdict::regressed ||
         twin.verdict == CaseVerdict::improved || twin.verdict == CaseVerdict::inconclusive;
}

constexpr std::size_t kMostNamed = 3;

/// The counters that moved most, these first.
std::vector<MovedCounter> most_moved(std::vector<MovedCounter> moved) {
  std::ranges::stable_sort(moved, std::greater{}, logarithmic_change);
  if (moved.size() > kMostNamed) moved.resize(kMostNamed);
  return moved;
}

void cite_lines(const CaseCounters& base, const CaseCounters& now, ComparedCase& compared) {
  for (const MovedCounter& counter : most_moved(compared.counters)) {
    const char* const name = counter.name.c_str();
    std::string line = cited_lines(title_or_name(counter.name), {&name, 1}, base, now);
    if (!line.empty()) compared.lines.push_back(std::move(line));
  }
}

void explain(ComparedCase& timed, ComparedCase& twin) {
  const bool up = any_up(twin.counters);
  if (up) timed.lines = twin.lines;
  const bool slower = timed.verdict == CaseVerdict::regressed;
  if (slower && up) {
    timed.cause = fmt::format("explained: {}", moved_text(twin.counters));
  } else if (slower) {
    timed.cause = "environment or layout, to be confirmed by a duel: no counter went up";
  } else if (up && (timed.verdict == CaseVerdict::pass || timed.verdict == CaseVerdict::improved)) {
    timed.cause = fmt::format("latent: not visible in the time, but {}", moved_text(twin.counters));
    if (twin.verdict == CaseVerdict::regressed) twin.verdict = CaseVerdict::pass;
    twin.cause = fmt::format("latent: {} is not slower", timed.id);
  }
}

}  // namespace

void compare_counters(const CaseCounters& base, const CaseCounters& now, ComparedCase& compared) {
  const MetricChanges changes = changes_of(base.totals, now.totals);
  compared.counters = changes.moved;
  compared.modelled = changes_of(base.modelled, now.modelled).moved;
  const bool up = any_up(compared.counters);
  const bool down = any_down(compared.counters);
  if (up && down) {
    compared.verdict = CaseVerdict::inconclusive;
  } else {
    compared.verdict = up ? CaseVerdict::regressed : down ? CaseVerdict::improved : CaseVerdict::pass;
  }
  if (up || down) compared.reason = moved_text(compared.counters);
  cite_lines(base, now, compared);
  if (up && down) compared.reason = fmt::format("some counters went up and some down: {}", compared.reason);
  if (!changes.unmatched.empty()) {
    compared.reason +=
        fmt::format("{}{} counters are in only one record, for example {}", compared.reason.empty() ? "" : "; ",
                    changes.unmatched.size(), changes.unmatched.front());
  }
}

void explain_by_counters(std::vector<ComparedCase>& cases) {
  std::map<std::string_view, ComparedCase*> by_id;
  for (ComparedCase& one : cases) by_id.emplace(one.id, &one);
  for (ComparedCase& timed : cases) {
    if (timed.device != "cuda") continue;
    const auto twin = by_id.find(id_of_twin(timed));
    if (twin != by_id.end() && was_counted(*twin->second)) explain(timed, *twin->second);
  }
}

std::string moved_text(const std::vector<MovedCounter>& moved) {
  std::string text;
  for (const MovedCounter& counter : most_moved(moved)) {
    if (!text.empty()) text += ", ";
    text += counter.base > 0
                ? fmt::format("{} {:+.1f}%", title_or_name(counter.name), (counter.now / counter.base - 1) * 100)
                : fmt::format("{} 0 to {}", title_or_name(counter.name), counter.now);
  }
  if (moved.size() > kMostNamed) text += fmt::format(" and {} more", moved.size() - kMostNamed);
  return text;
}

}  // namespace convladder
