#include "simulator/stand_in/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "simulator/gpus/gpu_facts.hpp"
#include "simulator/stand_in/visible_device.hpp"
#include "support/errors.hpp"
#include "support/json_place.hpp"
#include "support/json_text.hpp"

namespace convladder::stand_in {
namespace {

using nlohmann::ordered_json;

simulated::CheckerSet read_checkers(const JsonPlace& place) {
  simulated::CheckerSet checkers;
  for (const JsonPlace& one : place.list()) {
    const auto name = [](const auto& word) { return std::string(word.first); };
    const auto found = std::ranges::find(simulated::kCheckerWords, one.text(), name);
    if (found == simulated::kCheckerWords.end()) one.expected("memory, initialization, race or synchronization");
    checkers.*found->second = true;
  }
  return checkers;
}

Fault read_fault(const JsonPlace& place) {
  Fault fault;
  fault.call = place.at("call").some_text();
  if (place.has("from")) fault.from = place.at("from").whole<std::uint64_t>(1, UINT64_MAX);
  if (place.has("count")) fault.count = place.at("count").whole<std::uint64_t>(0, UINT64_MAX);
  if (place.has("status")) fault.status = place.at("status").whole(1, 999);
  if (place.has("loses")) fault.loses = place.at("loses").truth();
  if (place.has("hangs")) fault.hangs = place.at("hangs").truth();
  place.refuse_others();
  if (fault.status == 0 && !fault.hangs) place.fail("a fault has a status or hangs");
  return fault;
}

ordered_json faults_json(const std::vector<Fault>& faults) {
  ordered_json list = ordered_json::array();
  for (const Fault& fault : faults) {
    ordered_json one = {{"call", fault.call},
                        {"from", fault.from},
                        {"count", fault.count},
                        {"loses", fault.loses},
                        {"hangs", fault.hangs}};
    if (fault.status != 0) one["status"] = fault.status;
    list.push_back(std::move(one));
  }
  return list;
}

/// Calls `member(name, value)` for every number of the clock: one list for reading and writing.
template <typename Clock, typename Member>
void each_number(Clock& clock, const Member& member) {
  member("call_ns", clock.call_ns);
  member("launch_ns", clock.launch_ns);
  member("enqueue_ns", clock.enqueue_ns);
  member("graph_launch_ns", clock.graph_launch_ns);
  member("graph_node_ns", clock.graph_node_ns);
  member("between_ns", clock.between_ns);
  member("between_nodes_ns", clock.between_nodes_ns);
  member("event_ns", clock.event_ns);
  member("rest_mhz", clock.rest_mhz);
  member("load_mhz", clock.load_mhz);
  member("ramp_ms", clock.ramp_ms);
  member("fall_ms", clock.fall_ms);
  member("nvml_ms", clock.nvml_ms);
  member("library_ns", clock.library_ns);
  member("first_memory_bytes", clock.first_memory_bytes);
}

template <typename T>
void read_number(const JsonPlace& place, const char* name, T& value) {
  if (!place.has(name)) return;
  if constexpr (std::is_floating_point_v<T>) {
    value = place.at(name).number(kNotNegative);
  } else {
    value = place.at(name).whole<T>(0, std::is_same_v<T, int> ? 100'000 : UINT64_MAX);
  }
}

Throttle read_throttle(const JsonPlace& place) {
  Throttle throttle;
  read_number(place, "after_ms", throttle.after_ms);
  read_number(place, "at_launch", throttle.at_launch);
  read_number(place, "every_ms", throttle.every_ms);
  read_number(place, "lasts_ms", throttle.lasts_ms);
  throttle.mhz = place.at("mhz").whole(1, 100'000);
  read_number(place, "reason", throttle.reason);
  place.refuse_others();
  return throttle;
}

Sharing read_sharing(const JsonPlace& place) {
  Sharing sharing;
  read_number(place, "every_ms", sharing.every_ms);
  read_number(place, "slice_ms", sharing.slice_ms);
  read_number(place, "memory_bytes", sharing.memory_bytes);
  place.refuse_others();
  if (sharing.slice_ms > 0 && sharing.slice_ms >= sharing.every_ms) {
    place.at("slice_ms").expected("less than every_ms: the device is this process's for the rest");
  }
  return sharing;
}

RealClock read_real_clock(const JsonPlace& place) {
  RealClock clock;
  each_number(clock, [&place](const char* name, auto& value) { read_number(place, name, value); });
  if (place.has("throttles")) {
    for (const JsonPlace& one : place.at("throttles").list()) clock.throttles.push_back(read_throttle(one));
  }
  if (place.has("nvml_missing")) {
    for (const JsonPlace& one : place.at("nvml_missing").list()) clock.nvml_missing.push_back(one.some_text());
  }
  if (place.has("sharing")) clock.sharing = read_sharing(place.at("sharing"));
  place.refuse_others();
  return clock;
}

ordered_json real_clock_json(const RealClock& clock) {
  ordered_json json = ordered_json::object();
  each_number(clock, [&json](const char* name, const auto& value) { json[name] = value; });
  ordered_json throttles = ordered_json::array();
  for (const Throttle& one : clock.throttles) {
    throttles.push_back({{"after_ms", one.after_ms},
                         {"at_launch", one.at_launch},
                         {"every_ms", one.every_ms},
                         {"lasts_ms", one.lasts_ms},
                         {"mhz", one.mhz},
                         {"reason", one.reason}});
  }
  json["throttles"] = std::move(throttles);
  json["nvml_missing"] = clock.nvml_missing;
  json["sharing"] = {{"every_ms", clock.sharing.every_ms},
                     {"slice_ms", clock.sharing.slice_ms},
                     {"memory_bytes", clock.sharing.memory_bytes}};
  return json;
}

ordered_json checkers_json(const simulated::CheckerSet& checkers) {
  ordered_json list = ordered_json::array();
  for (const auto& [word, member] : simulated::kCheckerWords) {
    if (checkers.*member) list.push_back(word);
  }
  return list;
}

}  // namespace

Settings parse_settings(const std::string& text) {
  Settings settings;
  if (text.empty()) return settings;
  const ordered_json json = parse_json(text, kSettingsVariable, "settings of the stand-in");
  const JsonPlace place(json, kSettingsVariable);
  static_cast<void>(place.object());
  if (place.has("gpu")) {
    settings.gpu = place.at("gpu").text();
    if (find_gpu(settings.gpu) == nullptr) place.at("gpu").expected("a GPU that `convladder simulate` knows");
  }
  if (place.has("gpu_count")) settings.gpu_count = place.at("gpu_count").whole(1, kMostGpus);
  if (place.has("checkers")) settings.checkers = read_checkers(place.at("checkers"));
  if (place.has("caches")) settings.with_caches = place.at("caches").truth();
  if (place.has("host_threads")) settings.host_threads = place.at("host_threads").whole(0, 4096);
  if (place.has("report")) settings.report = place.at("report").text();
  if (place.has("print")) settings.print = place.at("print").truth();
  if (place.has("error_exitcode")) settings.error_exitcode = place.at("error_exitcode").whole(0, 255);
  if (place.has("memory_bytes")) settings.memory_bytes = place.at("memory_bytes").whole<std::uint64_t>(0, UINT64_MAX);
  if (place.has("launch_seconds")) settings.launch_seconds = place.at("launch_seconds").number(kNotNegative);
  if (place.has("launch_operations")) {
    settings.launch_operations = place.at("launch_operations").whole<std::uint64_t>(0, UINT64_MAX);
  }
  if (place.has("idle_operations")) {
    settings.idle_operations = place.at("idle_operations").whole<std::uint64_t>(0, UINT64_MAX);
  }
  if (place.has("schedules")) {
    const JsonPlace wanted = place.at("schedules");
    settings.schedules.count = wanted.at("count").whole<std::uint64_t>(0, simulated::kMostSchedules);
    settings.schedules.first_seed = wanted.at("first_seed").whole<std::uint64_t>(0, simulated::kMostSchedules);
    wanted.refuse_others();
  }
  if (place.has("mutants")) {
    const JsonPlace wanted = place.at("mutants");
    settings.mutants.lists = wanted.at("lists").truth();
    settings.mutants.kernel = wanted.at("kernel").text();
    settings.mutants.id = wanted.at("id").text();
    settings.mutants.orders = wanted.at("orders").whole<std::uint64_t>(0, simulated::kMostMutantOrders);
    wanted.refuse_others();
  }
  if (place.has("sample_blocks"))
    settings.sample_blocks = place.at("sample_blocks").whole<std::uint64_t>(0, kMostSampled);
  if (place.has("lines")) settings.lines = place.at("lines").truth();
  if (place.has("leaks")) settings.leaks = place.at("leaks").truth();
  if (place.has("begin")) settings.begin = place.at("begin").truth();
  if (place.has("trace")) settings.trace = place.at("trace").text();
  if (place.has("trace_calls")) settings.trace_calls = place.at("trace_calls").truth();
  if (place.has("exclusive")) settings.exclusive = place.at("exclusive").truth();
  if (place.has("driver_version")) settings.driver_version = place.at("driver_version").whole(0, 999999);
  if (place.has("faults")) {
    for (const JsonPlace& one : place.at("faults").list()) settings.faults.push_back(read_fault(one));
  }
  if (place.has("real_clock")) settings.real_clock = read_real_clock(place.at("real_clock"));
  place.refuse_others();
  if (settings.real_clock && settings.schedules.count > 0) {
    throw UserError(
        fmt::format("{}: with the real clock every launch runs once, and schedules are asked for", kSettingsVariable));
  }
  if (settings.real_clock && (settings.mutants.lists || settings.mutants.has_one())) {
    throw UserError(
        fmt::format("{}: with the real clock every launch runs once, and mutants are asked for", kSettingsVariable));
  }
  if (settings.real_clock && settings.sample_blocks > 0) {
    throw UserError(fmt::format("{}: with the real clock all blocks run, and sample_blocks is {}", kSettingsVariable,
                                settings.sample_blocks));
  }
  if (settings.real_clock && settings.gpu_count > 1) {
    throw UserError(fmt::format("{}: the real clock is that of one GPU, and gpu_count is {}", kSettingsVariable,
                                settings.gpu_count));
  }
  return settings;
}

std::string settings_text(const Settings& settings) {
  ordered_json json = {
      {"gpu", settings.gpu},
      {"gpu_count", settings.gpu_count},
      {"checkers", checkers_json(settings.checkers)},
      {"caches", settings.with_caches},
      {"host_threads", settings.host_threads},
      {"report", settings.report},
      {"print", settings.print},
      {"error_exitcode", settings.error_exitcode},
      {"memory_bytes", settings.memory_bytes},
      {"launch_seconds", settings.launch_seconds},
      {"launch_operations", settings.launch_operations},
      {"idle_operations", settings.idle_operations},
      {"schedules", {{"count", settings.schedules.count}, {"first_seed", settings.schedules.first_seed}}},
      {"mutants",
       {{"lists", settings.mutants.lists},
        {"kernel", settings.mutants.kernel},
        {"id", settings.mutants.id},
        {"orders", settings.mutants.orders}}},
      {"sample_blocks", settings.sample_blocks},
      {"lines", settings.lines},
      {"leaks", settings.leaks},
      {"begin", settings.begin},
      {"trace", settings.trace},
      {"trace_calls", settings.trace_calls},
      {"exclusive", settings.exclusive},
      {"driver_version", settings.driver_version},
      {"faults", faults_json(settings.faults)}};
  if (settings.real_clock) json["real_clock"] = real_clock_json(*settings.real_clock);
  return json_line(json);
}

}  // namespace convladder::stand_in
