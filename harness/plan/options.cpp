#include "harness/plan/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "harness/plan/plan.hpp"
#include "harness/plan/shape_json.hpp"
#include "support/errors.hpp"
#include "support/json_null.hpp"
#include "support/printable.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

// The limits of the command line; they apply to settings from a record as well. docs/command_line.md
constexpr int kMostRepetitions = 100000;
constexpr double kMostSeconds = 1e6;
constexpr double kShortestTimeout = 0.1;

/// A field of `context.options`.
class Setting {
 public:
  Setting(const ordered_json& options, const char* name) : name_(name) {
    if (!options.is_object() || !options.contains(name)) fail("is missing");
    json_ = &options.at(name);
  }

  std::string text() const {
    if (!json_->is_string()) wrong("a string");
    return json_->get<std::string>();
  }
  bool truth() const {
    if (!json_->is_boolean()) wrong("true or false");
    return json_->get<bool>();
  }
  std::uint64_t seed() const {
    if (!json_->is_number_unsigned()) wrong("a whole number, 0 or above");
    return json_->get<std::uint64_t>();
  }
  int whole(int smallest, int largest) const { return whole(*json_, smallest, largest); }
  double number(double smallest, double largest) const {
    if (!json_->is_number() || !(json_->get<double>() >= smallest) || !(json_->get<double>() <= largest)) {
      wrong(fmt::format("a number from {} to {}", smallest, largest));
    }
    return json_->get<double>();
  }
  std::vector<std::string> texts() const {
    if (!json_->is_array() || !std::ranges::all_of(*json_, &ordered_json::is_string)) wrong("a list of strings");
    return json_->get<std::vector<std::string>>();
  }
  std::vector<int> wholes(int smallest, int largest) const {
    if (!json_->is_array()) wrong("a list of whole numbers");
    std::vector<int> numbers;
    for (const ordered_json& element : *json_) numbers.push_back(whole(element, smallest, largest));
    return numbers;
  }
  const ordered_json& list() const {
    if (!json_->is_array()) wrong("a list");
    return *json_;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw UserError(fmt::format("context.options.{}: {}", name_, what));
  }

 private:
  [[noreturn]] void wrong(const std::string& expected) const {
    fail(fmt::format("expected {}, got {}", expected, short_json(*json_)));
  }
  int whole(const ordered_json& value, int smallest, int largest) const {
    // As 64 bits: what is larger is no number_integer of JSON's.
    if (!value.is_number_integer() || value.get<std::int64_t>() < smallest || value.get<std::int64_t>() > largest ||
        (value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(largest))) {
      wrong(fmt::format("whole numbers from {} to {}", smallest, largest));
    }
    return value.get<int>();
  }

  const char* name_;
  const ordered_json* json_ = nullptr;
};

ConvShape shape_of(const Setting& shapes, const ordered_json& list) {
  constexpr std::size_t numbers = 9;
  if (!list.is_array() || list.size() != numbers || !std::ranges::all_of(list, [](const ordered_json& number) {
        return number.is_number_integer() && number.get<std::int64_t>() >= 0 && number.get<std::int64_t>() <= 1 << 30;
      })) {
    shapes.fail("every shape must be a list of 9 whole numbers");
  }
  return shape_from_list(list);
}

}  // namespace

bool is_own_google_flag(std::string_view flag) {
  constexpr std::array<std::string_view, 8> own{
      "--benchmark_format", "--benchmark_out_format",  "--benchmark_out",      "--benchmark_report_aggregates_only",
      "--benchmark_filter", "--benchmark_repetitions", "--benchmark_min_time", "--benchmark_list_tests"};
  return std::ranges::find(own, flag.substr(0, flag.find('='))) != own.end();
}

ordered_json options_to_json(const RunOptions& o) {
  ordered_json shapes = ordered_json::array();
  for (const ConvShape& shape : o.shapes) shapes.push_back(shape_to_list(shape));
  ordered_json json = {{"families", o.families},
                       {"variants", o.variants},
                       {"networks", o.networks},
                       {"layers", o.layers},
                       {"devices", o.devices},
                       {"batches", o.batches},
                       {"shapes", std::move(shapes)},
                       {"case_filter", o.case_filter},
                       {"data_folder", o.data_folder},
                       {"seed", o.seed},
                       {"budget_seconds", o.budget_seconds},
                       {"target_half_width", o.target_half_width},
                       {"sample_milliseconds", o.sample_milliseconds},
                       {"max_samples", o.max_samples},
                       {"repetitions", or_null(o.repetitions)},
                       {"timeout_seconds", or_null(o.timeout_seconds)},
                       {"isolate", o.isolate},
                       {"profile_calls", or_null(o.profile_calls)},
                       {"google_benchmark_flags", o.google_benchmark_flags}};
  // Where they are as they always were, records stay as they are.
  if (o.problem != RunOptions().problem) json["problem"] = o.problem;
  if (!o.sizes.empty()) json["sizes"] = o.sizes;
  return json;
}

RunOptions options_from_json(const ordered_json& json) {
  const auto setting = [&json](const char* name) { return Setting(json, name); };
  const auto is_given = [&json](const char* name) { return json.contains(name) && !json.at(name).is_null(); };
  RunOptions o;
  o.families = setting("families").texts();
  o.variants = setting("variants").texts();
  o.networks = setting("networks").texts();
  o.layers = setting("layers").texts();
  o.devices = setting("devices").texts();
  o.batches = setting("batches").wholes(1, kLargestBatch);
  const Setting shapes = setting("shapes");
  for (const ordered_json& shape : shapes.list()) o.shapes.push_back(shape_of(shapes, shape));
  if (is_given("problem")) o.problem = setting("problem").text();
  if (is_given("sizes")) o.sizes = setting("sizes").texts();
  o.case_filter = setting("case_filter").text();
  o.data_folder = setting("data_folder").text();
  o.seed = setting("seed").seed();
  o.budget_seconds = setting("budget_seconds").number(0, kMostSeconds);
  o.target_half_width = setting("target_half_width").number(0, 1);
  o.sample_milliseconds = setting("sample_milliseconds").number(0, kMostSeconds * 1e3);
  if (o.sample_milliseconds == 0) setting("sample_milliseconds").fail("expected a number above 0");
  o.max_samples = setting("max_samples").whole(1, kMostRepetitions);
  if (is_given("repetitions")) o.repetitions = setting("repetitions").whole(1, kMostRepetitions);
  if (is_given("timeout_seconds")) {
    o.timeout_seconds = setting("timeout_seconds").number(kShortestTimeout, kMostSeconds);
  }
  o.isolate = setting("isolate").truth();
  if (is_given("profile_calls")) o.profile_calls = setting("profile_calls").whole(1, kMostRepetitions);
  const Setting flags = setting("google_benchmark_flags");
  o.google_benchmark_flags = flags.texts();
  for (const std::string& flag : o.google_benchmark_flags) {
    if (!flag.starts_with("--benchmark_") || is_own_google_flag(flag)) {
      flags.fail(fmt::format("{} is not a flag that can be passed to Google Benchmark", short_json(flag)));
    }
  }
  return o;
}

}  // namespace convladder
