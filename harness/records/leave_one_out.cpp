#include "harness/records/leave_one_out.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "harness/isolation/status.hpp"
#include "support/json_null.hpp"
#include "support/text_table.hpp"
#include "support/units.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;

constexpr const char* kPredictedGpu = "h100";
constexpr double kFlopPerMultiplyAdd = 2;
constexpr double kLanesOfWarp = 32;

/// The sum of counters over `divisor`; null unless all of them are there.
ordered_json counters_over(const std::map<std::string, double>& counters, std::initializer_list<const char*> names,
                           double divisor) {
  if (!(divisor > 0)) return nullptr;
  double sum = 0;
  for (const char* name : names) {
    const auto found = counters.find(name);
    if (found == counters.end()) return nullptr;
    sum += found->second;
  }
  return sum / divisor;
}

ordered_json quotient(const ordered_json& without, const ordered_json& with) {
  if (!without.is_number() || !with.is_number() || !(with.get<double>() > 0)) return nullptr;
  return without.get<double>() / with.get<double>();
}

/// Low and high end of the predicted time on a GPU; null if there is none.
ordered_json predicted_json(const CaseFigures& one_case) {
  const auto found = std::ranges::find(one_case.predictions, kPredictedGpu, &PredictedFigure::gpu);
  if (found == one_case.predictions.end()) return nullptr;
  return {{"gpu", kPredictedGpu}, {"low_ns", found->low}, {"high_ns", found->high}};
}

/// Geometric, as everywhere: only for comparing predictions with each other.
ordered_json middle_of(const ordered_json& predicted) {
  if (predicted.is_null()) return nullptr;
  return std::sqrt(predicted.at("low_ns").get<double>() * predicted.at("high_ns").get<double>());
}

ordered_json left_out_row(const CaseFigures& one_case) {
  const double multiply_adds = one_case.flop / kFlopPerMultiplyAdd;
  const double of_warps = multiply_adds / kLanesOfWarp;
  const CountedFigures counted = one_case.counters.value_or(CountedFigures());
  const std::optional<TimeFigure>& time = one_case.time;
  return {
      {"case", one_case.id},
      {"variant", one_case.variant},
      {"leaves_out", text_or_null(one_case.leaves_out)},
      {"status", one_case.status},
      {"reason", text_or_null(one_case.reason)},
      {"instructions_per_multiply_add",
       counters_over(counted.totals, {"smsp__thread_inst_executed_pred_on.sum"}, multiply_adds)},
      {"shared_wavefronts_per_32_multiply_adds", counters_over(counted.totals,
                                                               {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
                                                                "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"},
                                                               of_warps)},
      {"load_sectors_per_32_multiply_adds",
       counters_over(counted.totals, {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"}, of_warps)},
      {"dram_over_minimum",
       counters_over(counted.modelled, {"dram__bytes_read.sum", "dram__bytes_write.sum"}, one_case.minimum_bytes)},
      {"predicted", predicted_json(one_case)},
      {"median_ns", time ? ordered_json(time->median) : ordered_json()},
      {"low_ns", time ? or_null(time->low) : ordered_json()},
      {"high_ns", time ? or_null(time->high) : ordered_json()}};
}

/// What the row has over the stage with all ideas.
void add_quotients(ordered_json& row, const ordered_json& best) {
  const char* const instructions = "instructions_per_multiply_add";
  row["x_instructions"] = quotient(row.at(instructions), best.at(instructions));
  row["x_predicted"] = quotient(middle_of(row.at("predicted")), middle_of(best.at("predicted")));
  row["x_time"] = quotient(row.at("median_ns"), best.at("median_ns"));
}

/// The case of a variant beside another case; null if it is not in the record.
const CaseFigures* case_beside(const std::vector<CaseFigures>& cases, const CaseFigures& other,
                               const std::string& variant) {
  const auto found = std::ranges::find_if(
      cases, [&](const CaseFigures& one) { return one.variant == variant && one.place() == other.place(); });
  return found == cases.end() ? nullptr : &*found;
}

/// The view that the case belongs to, of all variants that build on `best` and leave an idea out.
ordered_json view_of(const std::vector<CaseFigures>& cases, const std::vector<VariantFigures>& variants,
                     const CaseFigures& first, const std::string& best) {
  ordered_json rows = ordered_json::array();
  bool counted = false;
  const auto add = [&](const std::string& variant) {
    const CaseFigures* const one = case_beside(cases, first, variant);
    if (one == nullptr) return;
    counted = counted || one->counters.has_value();
    rows.push_back(left_out_row(*one));
  };
  add(best);
  for (const VariantFigures& variant : variants) {
    if (variant.family == first.family && variant.leaves_out && variant.builds_on == best) add(variant.name);
  }
  const ordered_json with = rows.front();
  for (ordered_json& row : rows) add_quotients(row, with);
  return {{"device", first.device}, {"family", first.family}, {"network", first.network},
          {"layer", first.layer},   {"batch", first.batch},   {"kind", counted ? "counted" : "measured"},
          {"best", best},           {"rows", std::move(rows)}};
}

std::string figure_text(const ordered_json& value, const char* format = "{:.3f}") {
  return value.is_number() ? fmt::format(fmt::runtime(format), value.get<double>()) : "-";
}

std::string span_text(const ordered_json& low, const ordered_json& high) {
  if (!low.is_number() || !high.is_number()) return "-";
  return fmt::format("{} – {}", time_text(low.get<double>()), time_text(high.get<double>()));
}

std::string idea_title(const ordered_json& row, const ordered_json& view) {
  const std::string title = row.at("leaves_out").is_null()
                                ? fmt::format("nothing ({})", view.at("best").get<std::string>())
                                : row.at("leaves_out").get<std::string>();
  const std::string status = row.at("status").get<std::string>();
  if (status == status_name(Status::ok)) return title;
  return fmt::format("{} - {}: {}", title, status,
                     row.at("reason").is_null() ? "" : row.at("reason").get<std::string>());
}

std::string place_text(const ordered_json& view) {
  return fmt::format("{}.{}, batch {}, {}: {} without one idea at a time", view.at("network").get<std::string>(),
                     view.at("layer").get<std::string>(), view.at("batch").get<int>(),
                     view.at("device").get<std::string>(), view.at("best").get<std::string>());
}

/// Why nothing of the view was run, where that is the same for all of it; otherwise empty.
std::string common_reason(const ordered_json& view) {
  const ordered_json& first = view.at("rows").front();
  for (const ordered_json& row : view.at("rows")) {
    if (row.at("status") == status_name(Status::ok) || row.at("reason").is_null() ||
        row.at("reason") != first.at("reason"))
      return {};
  }
  return fmt::format("{}: {}", first.at("status").get<std::string>(), first.at("reason").get<std::string>());
}

std::string view_text(const ordered_json& view) {
  if (const std::string reason = common_reason(view); !reason.empty()) {
    return fmt::format("{}\n{}", place_text(view), indented(reason, 0));
  }
  const bool counted = view.at("kind") == "counted";
  std::vector<TextColumn> columns = {{"left out", "", false}};
  if (counted) {
    const std::vector<TextColumn> more = {{"instructions", "per madd", true},
                                          {"x", "", true},
                                          {"shared", "wavefr/32", true},
                                          {"loads", "sectors/32", true},
                                          {"DRAM", "x least", true},
                                          {"predicted", kPredictedGpu, true},
                                          {"x", "", true}};
    columns.insert(columns.end(), more.begin(), more.end());
  } else {
    columns.insert(columns.end(), {{"time", "median", true}, {"interval", "", true}, {"x", "", true}});
  }
  // The stage itself first, then what costs most to leave out.
  std::vector<const ordered_json*> order;
  for (const ordered_json& row : view.at("rows")) order.push_back(&row);
  const auto price = [&](const ordered_json* row) {
    const ordered_json& x = row->at(!counted                           ? "x_time"
                                    : row->at("x_predicted").is_null() ? "x_instructions"
                                                                       : "x_predicted");
    return x.is_number() ? x.get<double>() : 0;
  };
  std::stable_sort(order.begin() + 1, order.end(),
                   [&](const ordered_json* a, const ordered_json* b) { return price(a) > price(b); });
  std::vector<std::vector<std::string>> rows;
  for (const ordered_json* row : order) {
    std::vector<std::string> cells = {idea_title(*row, view)};
    if (counted) {
      const ordered_json& predicted = row->at("predicted");
      cells.insert(cells.end(), {figure_text(row->at("instructions_per_multiply_add")),
                                 figure_text(row->at("x_instructions"), "{:.2f}"),
                                 figure_text(row->at("shared_wavefronts_per_32_multiply_adds")),
                                 figure_text(row->at("load_sectors_per_32_multiply_adds")),
                                 figure_text(row->at("dram_over_minimum"), "{:.2f}"),
                                 predicted.is_null() ? "-" : span_text(predicted.at("low_ns"), predicted.at("high_ns")),
                                 figure_text(row->at("x_predicted"), "{:.2f}")});
    } else {
      const ordered_json& median = row->at("median_ns");
      cells.insert(cells.end(),
                   {median.is_number() ? time_text(median.get<double>()) : "-",
                    span_text(row->at("low_ns"), row->at("high_ns")), figure_text(row->at("x_time"), "{:.2f}")});
    }
    rows.push_back(std::move(cells));
  }
  const std::string note =
      counted ? "COUNTED in PTX per multiply-add of the layer, DRAM modelled, times PREDICTED from these counts: "
                "never measured. x: the figure without the idea divided by the "
                "figure with all ideas; for predictions, by their geometric middles."
              : "MEASURED side by side in one run. x: the time without the idea divided by the time with all ideas.";
  return fmt::format("{}\n{}\n{}", place_text(view), text_table(columns, rows), indented(note, 0));
}

}  // namespace

ordered_json leave_one_out_of(const std::vector<CaseFigures>& cases, const std::vector<VariantFigures>& variants) {
  ordered_json views = ordered_json::array();
  std::set<std::pair<std::string, decltype(cases.front().place())>> seen;
  for (const CaseFigures& one_case : cases) {
    if (one_case.leaves_out.empty()) continue;
    const auto description = std::ranges::find_if(variants, [&](const VariantFigures& variant) {
      return variant.family == one_case.family && variant.name == one_case.variant;
    });
    if (description == variants.end()) continue;
    const std::string& best = description->builds_on;
    // Without the stage itself there is nothing to compare with.
    if (case_beside(cases, one_case, best) == nullptr || !seen.emplace(best, one_case.place()).second) continue;
    views.push_back(view_of(cases, variants, one_case, best));
  }
  return views;
}

std::string leave_one_out_text(const ordered_json& views) {
  std::string text;
  for (const ordered_json& view : views) text += fmt::format("{}{}", text.empty() ? "" : "\n", view_text(view));
  return text;
}

}  // namespace convladder
