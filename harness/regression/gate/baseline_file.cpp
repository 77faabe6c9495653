#include "harness/regression/gate/baseline_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "harness/plan/shape_json.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/shown_text.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;

constexpr int kBaselineSchemaVersion = 1;
constexpr std::uintmax_t kLargestFile = 64 << 20;  // bytes; a network of six layers has less than one MiB
constexpr int kDeepestNesting = 8;                 // a baseline needs six

/// Parses JSON in which no object has a key twice. Throws UserError that begins with `file`.
ordered_json parse_json(std::string_view text, const std::string& file) {
  std::vector<std::set<std::string>> keys;  // of the objects that are open
  const auto look = [&](int depth, ordered_json::parse_event_t event, ordered_json& value) {
    if (depth > kDeepestNesting) throw UserError(fmt::format("{}: nested more than {} deep", file, kDeepestNesting));
    if (event == ordered_json::parse_event_t::object_start) keys.emplace_back();
    if (event == ordered_json::parse_event_t::object_end) keys.pop_back();
    if (event == ordered_json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second) {
      throw UserError(fmt::format("{}: '{}' occurs twice", file, shown_text(value.get<std::string>())));
    }
    return true;
  };
  try {
    return ordered_json::parse(text, look);
  } catch (const ordered_json::parse_error& error) {
    throw UserError(fmt::format("{}: byte {}: not JSON", file, error.byte));
  } catch (const ordered_json::out_of_range&) {
    throw UserError(fmt::format("{}: a number is larger than any counter", file));
  }
}

/// A value of the file and where it is, for messages.
class BaselinePlace {
 public:
  BaselinePlace(const ordered_json& json, std::string path) : json_(json), path_(std::move(path)) {}

  [[noreturn]] void fail(const std::string& what) const { throw UserError(fmt::format("{}: {}", path_, what)); }

  bool has(const char* field) const { return json_.is_object() && json_.contains(field); }
  BaselinePlace at(const char* field) const {
    if (!json_.is_object()) fail("expected an object");
    if (!json_.contains(field)) fail(fmt::format("'{}' is missing", field));
    return {json_.at(field), fmt::format("{}: {}", path_, field)};
  }
  std::string text() const {
    if (!json_.is_string()) fail("expected a string");
    return json_.get<std::string>();
  }
  /// A text with something in it.
  std::string name() const {
    if (text().empty()) fail("is empty");
    return text();
  }
  std::vector<BaselinePlace> list() const {
    if (!json_.is_array()) fail("expected a list");
    std::vector<BaselinePlace> elements;
    for (std::size_t i = 0; i < json_.size(); ++i) elements.emplace_back(json_[i], fmt::format("{}[{}]", path_, i));
    return elements;
  }
  unsigned whole(unsigned largest) const {
    if (!json_.is_number_unsigned() || json_.get<std::uint64_t>() > largest) {
      fail(fmt::format("expected a whole number from 0 to {}", largest));
    }
    return json_.get<unsigned>();
  }
  std::vector<unsigned> wholes(std::size_t count, unsigned largest) const {
    std::vector<unsigned> numbers;
    for (const BaselinePlace& element : list()) numbers.push_back(element.whole(largest));
    if (numbers.size() != count) fail(fmt::format("expected {} numbers", count));
    return numbers;
  }
  std::vector<std::pair<std::string, double>> counters() const {
    if (!json_.is_object()) fail("expected an object");
    std::vector<std::pair<std::string, double>> values;
    for (const auto& [name, value] : json_.items()) {
      if (!value.is_number() || !std::isfinite(value.get<double>())) {
        fail(fmt::format("'{}': expected a number", shown_text(name)));
      }
      values.emplace_back(name, value.get<double>());
    }
    return values;
  }

 private:
  const ordered_json& json_;
  std::string path_;
};

Dim3 parse_dim(const BaselinePlace& place) {
  const std::vector<unsigned> n = place.wholes(3, 0x7fffffff);
  return {n[0], n[1], n[2]};
}

std::vector<KernelCounters> read_kernels(const BaselinePlace& place) {
  std::vector<KernelCounters> kernels;
  for (const BaselinePlace& kernel : place.list()) {
    kernels.push_back({kernel.at("kernel").name(), parse_dim(kernel.at("grid")), parse_dim(kernel.at("block")),
                       kernel.at("values").counters(), kernel.at("modelled").counters()});
  }
  if (kernels.empty()) place.fail("expected at least one kernel");
  return kernels;
}

ConvShape read_shape(const BaselinePlace& place) {
  const std::vector<unsigned> n = place.wholes(9, 0x7fffffff);
  const ConvShape shape = shape_from_list(ordered_json(n));
  if (const std::string error = shape_error(shape); !error.empty()) place.fail(error);
  return shape;
}

BaselineCase read_case(const BaselinePlace& place) {
  BaselineCase one{.compiler = place.at("compiler").name(),
                   .version = place.at("compiler_version").name(),
                   .layer = place.at("layer").name(),
                   .variant = place.at("variant").name(),
                   .shape = read_shape(place.at("shape")),
                   .ptx_sha256 = {},
                   .unsupported = {},
                   .kernels = {}};
  if (place.has("unsupported")) {
    one.unsupported = place.at("unsupported").name();
    return one;
  }
  one.ptx_sha256 = place.at("ptx_sha256").text();
  if (one.ptx_sha256.size() != 64 || one.ptx_sha256.find_first_not_of("0123456789abcdef") != std::string::npos) {
    place.at("ptx_sha256").fail("expected 64 hex digits");
  }
  one.kernels = read_kernels(place.at("kernels"));
  return one;
}

auto identity(const BaselineCase& one) { return std::tie(one.compiler, one.version, one.layer, one.variant); }

std::string json_text(const std::string& text) {
  return ordered_json(text).dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::string number(double value) {
  constexpr double exact = 0x1p53;
  if (value == std::floor(value) && std::abs(value) < exact) return fmt::format("{}", static_cast<std::int64_t>(value));
  return ordered_json(value).dump();
}

std::string counters_text(const std::vector<std::pair<std::string, double>>& counters) {
  std::vector<std::string> lines;
  lines.reserve(counters.size());
  for (const auto& [name, value] : counters)
    lines.push_back(fmt::format("\n     {}: {}", json_text(name), number(value)));
  return fmt::format("{{{}}}", fmt::join(lines, ","));
}

std::string kernel_text(const KernelCounters& kernel) {
  return fmt::format(
      "\n    {{\"kernel\": {}, \"grid\": [{}, {}, {}], \"block\": [{}, {}, {}],\n    \"values\": {},\n    "
      "\"modelled\": {}}}",
      json_text(kernel.kernel), kernel.grid.x, kernel.grid.y, kernel.grid.z, kernel.block.x, kernel.block.y,
      kernel.block.z, counters_text(kernel.values), counters_text(kernel.modelled));
}

std::string case_text(const BaselineCase& one) {
  std::string what;
  if (one.unsupported.empty()) {
    std::vector<std::string> kernels;
    for (const KernelCounters& kernel : one.kernels) kernels.push_back(kernel_text(kernel));
    what = fmt::format("\"ptx_sha256\": {},\n   \"kernels\": [{}]", json_text(one.ptx_sha256), fmt::join(kernels, ","));
  } else {
    what = fmt::format("\"unsupported\": {}", json_text(one.unsupported));
  }
  return fmt::format(
      "\n  {{\"compiler\": {}, \"compiler_version\": {}, \"layer\": {}, \"variant\": {},\n   \"shape\": [{}],\n   {}}}",
      json_text(one.compiler), json_text(one.version), json_text(one.layer), json_text(one.variant),
      fmt::join(shape_to_list(one.shape).get<std::vector<int>>(), ", "), what);
}

}  // namespace

std::filesystem::path baseline_path(const std::filesystem::path& folder, std::string_view network) {
  if (network.empty() || network.starts_with('.') || network.find('/') != std::string_view::npos ||
      network.find('\0') != std::string_view::npos) {
    throw UserError(fmt::format("the network's name '{}' is not a valid file name", shown_text(std::string(network))));
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
      kBaselineSchemaVersion, json_text(baseline.network), fmt::join(cases, ","));
}

Baseline parse_baseline(std::string_view text, const std::string& file) {
  const ordered_json json = parse_json(text, file);
  const BaselinePlace place(json, file);
  if (const unsigned version = place.at("schema_version").whole(1u << 20); version != kBaselineSchemaVersion) {
    place.fail(fmt::format("schema version {}, this program knows {}", version, kBaselineSchemaVersion));
  }
  if (place.at("kind").text() != "counter baseline") place.at("kind").fail("expected \"counter baseline\"");
  Baseline baseline{place.at("network").name(), {}};
  std::set<std::tuple<std::string, std::string, std::string, std::string>> known;
  for (const BaselinePlace& one : place.at("cases").list()) {
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
  if (std::filesystem::is_regular_file(path, error) && std::filesystem::file_size(path, error) > kLargestFile) {
    throw UserError(
        fmt::format("{}: larger than {} MiB; no baseline is that large", path.string(), kLargestFile >> 20));
  }
  const std::vector<std::byte> bytes = read_file_bytes(path.string());
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  Baseline baseline = parse_baseline(text, path.string());
  if (baseline.network != network) {
    throw UserError(fmt::format("{}: belongs to the network '{}'", path.string(), shown_text(baseline.network)));
  }
  return baseline;
}

std::vector<KernelCounters> kernels_from_json(const ordered_json& json, const std::string& place) {
  return read_kernels({json, place});
}

}  // namespace convladder
