#include "harness/judge/gate/baseline_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "harness/judge/gate/baseline_report.hpp"
#include "harness/measure/cases/figures_json.hpp"
#include "harness/measure/plan/options_json.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/json_place.hpp"
#include "support/json_text.hpp"
#include "support/printable.hpp"
#include "variants/convolution/problem.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;

constexpr int kBaselineSchemaVersion = 1;

ProblemSize read_possible_shape(const JsonPlace& place) {
  ProblemSize shape = read_size(convolution_problem(), place);
  if (const std::string error = size_error(shape); !error.empty()) place.fail(error);
  return shape;
}

BaselineCase read_case(const JsonPlace& place) {
  BaselineCase one{.compiler = place.at("compiler").some_text(),
                   .version = place.at("compiler_version").some_text(),
                   .layer = place.at("layer").some_text(),
                   .variant = place.at("variant").some_text(),
                   .shape = {},
                   .ptx_sha256 = {},
                   .unsupported = {},
                   .kernels = {}};
  if (place.has("shape")) one.shape = read_possible_shape(place.at("shape"));
  if (place.has("unsupported")) {
    one.unsupported = place.at("unsupported").some_text();
    return one;
  }
  one.ptx_sha256 = place.at("ptx_sha256").text();
  if (one.ptx_sha256.size() != 64 || one.ptx_sha256.find_first_not_of("0123456789abcdef") != std::string::npos) {
    place.at("ptx_sha256").expected("64 hex digits");
  }
  one.kernels = read_kernels(place.at("kernels"));
  if (one.kernels.empty()) place.at("kernels").expected("at least one kernel");
  return one;
}

auto identity(const BaselineCase& one) { return std::tie(one.compiler, one.version, one.layer, one.variant); }

std::string number(double value) {
  constexpr double exact = 0x1p53;
  if (value == std::floor(value) && std::abs(value) < exact) return fmt::format("{}", static_cast<std::int64_t>(value));
  return json_line(value);
}

std::string counters_text(const std::vector<std::pair<std::string, double>>& counters) {
  std::vector<std::string> texts;
  texts.reserve(counters.size());
  for (const auto& [name, value] : counters) texts.push_back(fmt::format("{}: {}", json_line(name), number(value)));
  return fmt::format("{{{}}}", fmt::join(texts, ", "));
}

/// A kernel on one line, with spaces between its counters: a diff by words shows which of them moved.
std::string kernel_text(const KernelCounters& kernel) {
  return fmt::format(
      "\n    {{\"kernel\": {}, \"grid\": [{}, {}, {}], \"block\": [{}, {}, {}], \"values\": {}, \"modelled\": {}}}",
      json_line(kernel.kernel), kernel.grid.x, kernel.grid.y, kernel.grid.z, kernel.block.x, kernel.block.y,
      kernel.block.z, counters_text(kernel.values), counters_text(kernel.modelled));
}

std::string case_text(const BaselineCase& one) {
  std::string what;
  if (one.unsupported.empty()) {
    std::vector<std::string> kernels;
    for (const KernelCounters& kernel : one.kernels) kernels.push_back(kernel_text(kernel));
    what = fmt::format("\"ptx_sha256\": {},\n   \"kernels\": [{}]", json_line(one.ptx_sha256), fmt::join(kernels, ","));
  } else {
    what = fmt::format("\"unsupported\": {}", json_line(one.unsupported));
  }
  std::string shape;
  if (one.shape) {
    shape = fmt::format("\"shape\": [{}],\n   ", fmt::join(size_to_list(*one.shape).get<std::vector<int>>(), ", "));
  }
  return fmt::format("\n  {{\"compiler\": {}, \"compiler_version\": {}, \"layer\": {}, \"variant\": {},\n   {}{}}}",
                     json_line(one.compiler), json_line(one.version), json_line(one.layer), json_line(one.variant),
                     shape, what);
}

ordered_json finite(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? ordered_json(*value) : ordered_json();
}

ordered_json case_json(const ComparedCounters& one) {
  ordered_json moves = ordered_json::array();
  for (const CounterMove& move : one.moves) {
    moves.push_back({{"kernel", move.kernel},
                     {"counter", move.counter},
                     {"title", move.title()},
                     {"kind", move.modelled ? "modelled" : "counted"},
                     {"recorded", finite(move.recorded)},
                     {"now", finite(move.now)},
                     {"change", finite(move.change())}});
  }
  return {{"id", one.id},
          {"ptx_compiler", one.compiler},
          {"compiler_version", one.version},
          {"verdict", verdict_name(one.verdict)},
          {"ptx_changed", one.ptx_changed},
          {"reason", text_or_null(one.reason)},
          {"moves", std::move(moves)}};
}

}  // namespace

std::filesystem::path baseline_path(const std::filesystem::path& folder, std::string_view network) {
  if (network.empty() || network.starts_with('.') || network.find('/') != std::string_view::npos ||
      network.find('\0') != std::string_view::npos) {
    throw UserError(fmt::format("the network's name '{}' is not a valid file name", printable(network, kShortText)));
  }
  return folder / fmt::format("{}.json", network);
}

std::string baseline_text(Baseline baseline) {
  std::ranges::sort(baseline.cases,
                    [](const BaselineCase& a, const BaselineCase& b) { return identity(a) < identity(b); });
  std::vector<std::string> cases;
  for (const BaselineCase& one : baseline.cases) cases.push_back(case_text(one));
  return fmt::format(
      "{{\n \"schema_version\": {},\n \"kind\": \"counter baseline\",\n \"network\": {},\n \"cases\": [{}\n ]\n}}\n",
      kBaselineSchemaVersion, json_line(baseline.network), fmt::join(cases, ","));
}

Baseline parse_baseline(std::string_view text, const std::string& file) {
  const ordered_json json = parse_json(text, file, "a baseline of counters");
  const JsonPlace place(json, file);
  if (place.at("schema_version").count() != kBaselineSchemaVersion) {
    place.at("schema_version").expected(fmt::format("{}, which this program reads", kBaselineSchemaVersion));
  }
  if (place.at("kind").text() != "counter baseline") place.at("kind").expected("\"counter baseline\"");
  Baseline baseline{place.at("network").some_text(), {}};
  std::set<std::tuple<std::string, std::string, std::string, std::string>> known;
  for (const JsonPlace& one : place.at("cases").list()) {
    baseline.cases.push_back(read_case(one));
    if (!known.insert(identity(baseline.cases.back())).second) one.fail("the same case occurs twice");
  }
  return baseline;
}

std::optional<Baseline> load_baseline(const std::filesystem::path& folder, std::string_view network) {
  const std::filesystem::path path = baseline_path(folder, network);
  std::error_code error;
  const bool there = std::filesystem::exists(path, error);
  if (error) throw UserError(fmt::format("{}: cannot be read: {}", path.string(), error.message()));
  if (!there) return std::nullopt;
  Baseline baseline = parse_baseline(read_file_text(path.string()), path.string());
  if (baseline.network != network) {
    throw UserError(
        fmt::format("{}: belongs to the network '{}'", path.string(), printable(baseline.network, kShortText)));
  }
  return baseline;
}

std::string baseline_report_json(const BaselineReport& report) {
  ordered_json summary = ordered_json::object();
  for (int index = 0; index <= static_cast<int>(BaselineVerdict::same); ++index) {
    const auto verdict = static_cast<BaselineVerdict>(index);
    summary[std::string(verdict_name(verdict))] = report.count(verdict);
  }
  ordered_json cases = ordered_json::array();
  for (const ComparedCounters& one : report.cases) cases.push_back(case_json(one));
  const ordered_json json = {{"kind", "counter baseline comparison"},
                             {"exit_code", report.exit_code()},
                             {"summary", std::move(summary)},
                             {"notes", report.notes},
                             {"cases", std::move(cases)}};
  return json_text(json);
}

}  // namespace convladder
