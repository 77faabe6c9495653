#include "harness/judge/explain/explanation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "harness/measure/cases/counters.hpp"
#include "harness/measure/records/published_stage.hpp"
#include "harness/measure/records/time_ratio.hpp"
#include "simulator/counters/metrics.hpp"
#include "support/errors.hpp"
#include "support/printable.hpp"
#include "support/text_pattern.hpp"

namespace convladder {
namespace {

constexpr double kSmallestChange = 0.05;  // the smallest change of a counter that is mentioned
constexpr int kPublishedBatch = 10000;  // the batch of most published ladders, for batches without figures of their own
constexpr int kScaledFrom = 100;        // images; with fewer a launch does not fill a GPU and nothing scales

/// A counter that tells stages apart, or the sum of several where a resource has several.
struct Told {
  const char* title;
  std::vector<const char*> names;
  bool modelled;
};
const std::vector<Told>& told_counters() {
  static const std::vector<Told> all = {
      {"thread instructions", {"smsp__thread_inst_executed_pred_on.sum"}, false},
      {"global load requests", {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"}, false},
      {"global load sectors", {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"}, false},
      {"global store sectors", {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"}, false},
      {"shared memory wavefronts",
       {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"},
       false},
      {"barriers", {"smsp__inst_executed_op_barrier.sum"}, false},
      {"L2 sectors (modelled)", {"lts__t_sectors_op_read.sum", "lts__t_sectors_op_write.sum"}, true},
      {"DRAM bytes (modelled)", {"dram__bytes_read.sum", "dram__bytes_write.sum"}, true}};
  return all;
}

std::vector<ExplainedChange> changes(const CaseCounters& below, const CaseCounters& above) {
  std::vector<ExplainedChange> list;
  for (const Told& told : told_counters()) {
    const CounterValues CaseCounters::*const values = told.modelled ? &CaseCounters::modelled : &CaseCounters::totals;
    const auto before = sum_of(below.*values, told.names);
    const auto after = sum_of(above.*values, told.names);
    if (!before || !after || !(*before > 0) || !(*after > 0)) continue;
    const double ratio = *after / *before;
    if (std::abs(ratio - 1) >= kSmallestChange) list.push_back({told.title, ratio});
  }
  std::ranges::stable_sort(list, std::greater<>(),
                           [](const ExplainedChange& one) { return std::abs(std::log(one.ratio)); });
  return list;
}

class Explainer {
 public:
  Explainer(const ExplainedRun& run, const std::string& filter) : run_(run) {
    const TextPattern wanted("--case", filter);
    for (const RecordedCase& one : run.cases) {
      if (one.family != "cuda" || !wanted.matches(one.id)) continue;
      const Key key{one.network, one.layer, one.batch};
      if (std::ranges::find(order_, key) == order_.end()) order_.push_back(key);
      cases_[key].push_back(&one);
    }
  }

  std::vector<ExplainedGroup> groups() const {
    std::vector<ExplainedGroup> list;
    for (const Key& key : order_) {
      ExplainedGroup group{.network = printable(std::get<0>(key)),
                           .layer = printable(std::get<1>(key)),
                           .batch = std::get<2>(key),
                           .real_gpu = {},
                           .stages = {},
                           .published = {}};
      for (const RecordedVariant& variant : run_.variants) {
        if (variant.family == "cuda") add_stage(cases_.at(key), variant, group);
      }
      const auto predicted = [](const ExplainedStage& stage) { return !stage.predictions.empty(); };
      if (std::ranges::none_of(group.stages, predicted)) continue;
      add_published(group);
      list.push_back(std::move(group));
    }
    return list;
  }

 private:
  using Key = std::tuple<std::string, std::string, int>;

  using Cases = std::vector<const RecordedCase*>;

  /// The variant's first case that was verified and has the figure.
  template <typename Figure>
  static const RecordedCase* case_of(const Cases& cases, const std::string& variant, Figure RecordedCase::*figure) {
    const auto found = std::ranges::find_if(cases, [&](const RecordedCase* one) {
      return one->variant == variant && one->status == Status::ok && one->*figure;
    });
    return found == cases.end() ? nullptr : *found;
  }

  void add_stage(const Cases& cases, const RecordedVariant& variant, ExplainedGroup& group) const {
    const std::string title = printable(variant.title);
    ExplainedStage stage{.variant = printable(variant.name),
                         .title = variant.rung ? fmt::format("{} {}", *variant.rung, title) : title,
                         .builds_on = printable(variant.builds_on),
                         .predictions = {},
                         .changes = {},
                         .measured = {},
                         .measured_of = {},
                         .why_not = {}};
    const auto any = std::ranges::find(cases, variant.name, &RecordedCase::variant);
    if (any == cases.end()) return;
    if (const RecordedCase* const counted = case_of(cases, variant.name, &RecordedCase::counters)) {
      stage.predictions = counted->predictions;
      const RecordedCase* const below = case_of(cases, variant.builds_on, &RecordedCase::counters);
      if (below != nullptr) stage.changes = changes(*below->counters, *counted->counters);
    } else {
      stage.why_not = fmt::format("{}", (*any)->status);
      if (!(*any)->reason.empty()) stage.why_not += fmt::format(": {}", printable((*any)->reason));
    }
    if (const RecordedCase* const timed = case_of(cases, variant.name, &RecordedCase::time)) {
      stage.measured = known_time(*timed->time);
      stage.measured_of = printable(timed->time->of);
      group.real_gpu = text_of(run_.context.machine.facts_of(timed->device), "name", printable(timed->device));
    }
    group.stages.push_back(std::move(stage));
  }

  static void add_published(ExplainedGroup& group) {
    std::vector<PublishedFigure> figures = published_figures(group.network, group.batch, group.layer);
    if (group.batch != kPublishedBatch && group.batch >= kScaledFrom) {
      std::ranges::move(published_figures(group.network, kPublishedBatch, group.layer), std::back_inserter(figures));
    }
    std::ranges::stable_sort(figures, {}, [](const PublishedFigure& one) { return one.what != "kernel time"; });
    for (const PublishedFigure& figure : figures) add_figure(figure, group);
    std::ranges::stable_sort(group.published, {}, [&group](const ExplainedPublished& one) {
      return std::ranges::find(group.stages, one.variant, &ExplainedStage::variant);
    });
  }

  static void add_figure(const PublishedFigure& figure, ExplainedGroup& group) {
    const auto known = published_stage(figure);
    const double ns_of_unit = figure.unit == "s" ? 1e9 : figure.unit == "ms" ? 1e6 : 0;
    if (!known || ns_of_unit == 0 || !figure.batch) return;
    const auto again = [&](const ExplainedPublished& one) {
      return one.variant == known->variant && one.gpu == known->gpu;
    };
    if (std::ranges::any_of(group.published, again)) return;  // the kernel's own time came first
    const auto stage = std::ranges::find(group.stages, known->variant, &ExplainedStage::variant);
    if (stage == group.stages.end()) return;
    const PredictedFigure* const on_gpu = stage->prediction_on(std::string(known->gpu));
    if (on_gpu == nullptr || !on_gpu->runs()) return;
    group.published.push_back({.source = figure.source,
                               .stage = figure.stage,
                               .what = figure.what,
                               .gpu = std::string(known->gpu),
                               .variant = std::string(known->variant),
                               .ns = figure.value * ns_of_unit * group.batch / *figure.batch,
                               .batch = *figure.batch,
                               .low_ns = *on_gpu->low_ns,
                               .high_ns = *on_gpu->high_ns});
  }

  const ExplainedRun& run_;
  std::vector<Key> order_;
  std::map<Key, Cases> cases_;
};

}  // namespace

const PredictedFigure* ExplainedStage::prediction_on(const std::string& gpu) const {
  const auto found = std::ranges::find(predictions, gpu, &PredictedFigure::gpu);
  return found == predictions.end() ? nullptr : &*found;
}

std::vector<ExplainedGroup> explain_run(const ExplainedRun& run, const std::string& filter) {
  return Explainer(run, filter).groups();
}

double ExplainedPublished::middle_ns() const { return std::sqrt(low_ns * high_ns); }

std::vector<std::string> order_differences(const std::vector<ExplainedPublished>& published) {
  std::vector<std::string> pairs;
  for (std::size_t i = 0; i < published.size(); ++i) {
    for (std::size_t k = i + 1; k < published.size(); ++k) {
      const ExplainedPublished& a = published[i];
      const ExplainedPublished& b = published[k];
      if (a.gpu == b.gpu && (a.ns < b.ns) != (a.middle_ns() < b.middle_ns())) {
        pairs.push_back(fmt::format("{} and {}", a.variant, b.variant));
      }
    }
  }
  return pairs;
}

}  // namespace convladder
