#include "harness/records/leave_one_out.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

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

bool is_left_out(const ordered_json& json) { return json.contains("leaves_out"); }

/// The sum of counters of a case over `divisor`; null unless all of them are there.
ordered_json counters_over(const ordered_json& one_case, const char* list, std::initializer_list<const char*> names,
                           double divisor) {
  const ordered_json& counters = one_case.at("counters");
  if (counters.is_null() || !(divisor > 0)) return nullptr;
  double sum = 0;
  for (const char* name : names) {
    if (!counters.at(list).contains(name)) return nullptr;
    sum += counters.at(list).at(name).get<double>();
  }
  return sum / divisor;
}

ordered_json quotient(const ordered_json& without, const ordered_json& with) {
  if (!without.is_number() || !with.is_number() || !(with.get<double>() > 0)) return nullptr;
  return without.get<double>() / with.get<double>();
}

/// Low and high end of the predicted time on a GPU; null if there is none.
ordered_json predicted_json(const ordered_json& one_case) {
  if (one_case.at("prediction").is_null()) return nullptr;
  for (const ordered_json& gpu : one_case.at("prediction").at("gpus")) {
    if (gpu.at("gpu") != kPredictedGpu || !gpu.at("low").is_number() || !gpu.at("high").is_number()) continue;
    return {{"gpu", kPredictedGpu}, {"low_ns", gpu.at("low")}, {"high_ns", gpu.at("high")}};
  }
  return nullptr;
}

/// Geometric, as everywhere: only for comparing predictions with each other.
ordered_json middle_of(const ordered_json& predicted) {
  if (predicted.is_null()) return nullptr;
  return std::sqrt(predicted.at("low_ns").get<double>() * predicted.at("high_ns").get<double>());
}

ordered_json left_out_row(const ordered_json& one_case) {
  const double multiply_adds = one_case.at("work").at("flop").get<double>() / kFlopPerMultiplyAdd;
  const double of_warps = multiply_adds / kLanesOfWarp;
  const ordered_json& time = one_case.at("time");
  const bool has_interval = !time.is_null() && !time.at("interval").is_null();
  return {
      {"case", one_case.at("id")},
      {"variant", one_case.at("variant")},
      {"leaves_out", is_left_out(one_case) ? one_case.at("leaves_out") : ordered_json()},
      {"status", one_case.at("status")},
      {"reason", one_case.at("reason")},
      {"instructions_per_multiply_add",
       counters_over(one_case, "totals", {"smsp__thread_inst_executed_pred_on.sum"}, multiply_adds)},
      {"shared_wavefronts_per_32_multiply_adds", counters_over(one_case, "totals",
                                                               {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
                                                                "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"},
                                                               of_warps)},
      {"load_sectors_per_32_multiply_adds",
       counters_over(one_case, "totals", {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"}, of_warps)},
      {"dram_over_minimum", counters_over(one_case, "modelled", {"dram__bytes_read.sum", "dram__bytes_write.sum"},
                                          one_case.at("work").at("minimum_bytes").get<double>())},
      {"predicted", predicted_json(one_case)},
      {"median_ns", time.is_null() ? ordered_json() : time.at("median")},
      {"low_ns", has_interval ? time.at("interval").at("low") : ordered_json()},
      {"high_ns", has_interval ? time.at("interval").at("high") : ordered_json()}};
}

/// What the row has over the stage with all ideas.
void add_quotients(ordered_json& row, const ordered_json& best) {
  const char* const instructions = "instructions_per_multiply_add";
  row["x_instructions"] = quotient(row.at(instructions), best.at(instructions));
  row["x_predicted"] = quotient(middle_of(row.at("predicted")), middle_of(best.at("predicted")));
  row["x_time"] = quotient(row.at("median_ns"), best.at("median_ns"));
}

bool at_same_place(const ordered_json& a, const ordered_json& b) {
  return std::ranges::all_of(std::initializer_list<const char*>{"device", "family", "network", "layer", "batch"},
                             [&](const char* field) { return a.at(field) == b.at(field); });
}

/// The case of a variant beside another case; null if it is not in the record.
const ordered_json* case_beside(const ordered_json& cases, const ordered_json& other, const ordered_json& variant) {
  const auto found = std::ranges::find_if(
      cases, [&](const ordered_json& one) { return one.at("variant") == variant && at_same_place(one, other); });
  return found == cases.end() ? nullptr : &*found;
}

/// The view that the case belongs to, of all variants that build on `best` and leave an idea out.
ordered_json view_of(const ordered_json& cases, const ordered_json& variants, const ordered_json& first,
                     const ordered_json& best) {
  ordered_json rows = ordered_json::array();
  bool counted = false;
  const auto add = [&](const ordered_json& variant) {
    const ordered_json* const one = case_beside(cases, first, variant);
    if (one == nullptr) return;
    counted = counted || !one->at("counters").is_null();
    rows.push_back(left_out_row(*one));
  };
  add(best);
  for (const ordered_json& variant : variants) {
    if (variant.at("family") == first.at("family") && is_left_out(variant) && variant.at("builds_on") == best) {
      add(variant.at("name"));
    }
  }
  const ordered_json with = rows.front();
  for (ordered_json& row : rows) add_quotients(row, with);
  return {{"device", first.at("device")},
          {"family", first.at("family")},
          {"network", first.at("network")},
          {"layer", first.at("layer")},
          {"batch", first.at("batch")},
          {"kind", counted ? "counted" : "measured"},
          {"best", best},
          {"rows", std::move(rows)}};
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
                "never measured. x: without the idea divided by with all ideas; for predictions, of their geometric "
                "middles."
              : "MEASURED side by side in one run. x: without the idea divided by with all ideas.";
  return fmt::format("{}\n{}\n{}", place_text(view), text_table(columns, rows), indented(note, 0));
}

}  // namespace

ordered_json leave_one_out_of(const ordered_json& cases, const ordered_json& variants) {
  ordered_json views = ordered_json::array();
  for (const ordered_json& one_case : cases) {
    if (!is_left_out(one_case)) continue;
    const auto description = std::ranges::find_if(variants, [&](const ordered_json& variant) {
      return variant.at("family") == one_case.at("family") && variant.at("name") == one_case.at("variant");
    });
    if (description == variants.end()) continue;
    const ordered_json& best = description->at("builds_on");
    const bool is_new = std::ranges::none_of(
        views, [&](const ordered_json& view) { return view.at("best") == best && at_same_place(view, one_case); });
    // Without the stage itself there is nothing to compare with.
    if (is_new && case_beside(cases, one_case, best) != nullptr)
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
