#include "harness/records/ladder_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "harness/machine/quality.hpp"
#include "support/text_table.hpp"
#include "support/units.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;

std::string stage_title(const ordered_json& row, const ordered_json& ladder, const ordered_json& variants) {
  const auto found = std::ranges::find_if(variants, [&](const ordered_json& variant) {
    return variant.at("family") == ladder.at("family") && variant.at("name") == row.at("variant");
  });
  const auto name = row.at("variant").get<std::string>();
  const std::string title = found == variants.end() ? name : found->at("title").get<std::string>();
  return row.at("rung").is_null() ? title : fmt::format("{:>2} {}", row.at("rung").get<int>(), title);
}

std::string factor_text(const ordered_json& value) {
  return value.is_number() ? fmt::format("{:.2f}", value.get<double>()) : "-";
}

std::string percent_text(const ordered_json& value) {
  return value.is_number() ? fmt::format("{:.0f}%", value.get<double>()) : "-";
}

std::string_view sign_of(const ordered_json& row) {
  return row.at("quality").is_string() ? quality_sign(row.at("quality").get<std::string>()) : "";
}

/// Times of a machine that was busy carry their sign, the others a blank in its place where the table has one.
std::string time_or_status(const ordered_json& row, bool any_signs) {
  const std::string text = row.at("median_ns").is_number() ? time_text(row.at("median_ns").get<double>())
                                                           : row.at("status").get<std::string>();
  return any_signs ? fmt::format("{} {:1}", text, sign_of(row)) : text;
}

std::vector<std::string> cells_of(const ordered_json& row, const ordered_json& ladder, const ordered_json& variants,
                                  bool any_signs) {
  const ordered_json& rate = row.at("gflop_per_s");
  return {stage_title(row, ladder, variants),
          time_or_status(row, any_signs),
          row.at("of").is_null() ? "" : row.at("of").get<std::string>(),
          rate.is_number() ? fmt::format("{:.1f}", rate.get<double>()) : "-",
          factor_text(row.at("x_previous")),
          factor_text(row.at("x_baseline")),
          percent_text(row.at("percent_of_library")),
          percent_text(row.at("percent_of_library_op")),
          percent_text(row.at("percent_of_floor"))};
}

}  // namespace

std::string ladders_text(const ordered_json& ladders, const ordered_json& variants) {
  const std::vector<TextColumn> columns = {{"stage", "", false},  {"median", "", true}, {"of", "", false},
                                           {"GFLOP/s", "", true}, {"x prev", "", true}, {"x base", "", true},
                                           {"% lib", "", true},   {"% op", "", true},   {"% floor", "", true}};
  std::string text;
  for (const ordered_json& ladder : ladders) {
    const ordered_json& all = ladder.at("rows");
    const auto is_timed = [](const ordered_json& row) { return row.at("median_ns").is_number(); };
    if (std::ranges::none_of(all, is_timed)) continue;
    const bool any_signs = std::ranges::any_of(all, [](const ordered_json& row) { return !sign_of(row).empty(); });
    std::vector<std::vector<std::string>> rows;
    for (const ordered_json& row : all) rows.push_back(cells_of(row, ladder, variants, any_signs));
    text += fmt::format("\n{} {}.{}, batch {}, measured\n{}", ladder.at("device").get<std::string>(),
                        ladder.at("network").get<std::string>(), ladder.at("layer").get<std::string>(),
                        ladder.at("batch").get<int>(), text_table(columns, rows));
    if (any_signs)
      text += "~ noisy, ! disturbed: the machine was not quiet during the measurement; see quality in run.json\n";
  }
  return text;
}

}  // namespace convladder
