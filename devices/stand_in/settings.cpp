#include "devices/stand_in/settings.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "devices/gpus/gpu_facts.hpp"
#include "support/errors.hpp"
#include "support/json_place.hpp"
#include "support/json_text.hpp"

namespace convladder::stand_in {
namespace {

using nlohmann::ordered_json;

constexpr const char* kMemory = "memory";
constexpr const char* kInitialization = "initialization";
constexpr const char* kRace = "race";
constexpr const char* kSynchronization = "synchronization";

simulated::CheckerSet read_checkers(const JsonPlace& place) {
  simulated::CheckerSet checkers;
  for (const JsonPlace& one : place.list()) {
    const std::string name = one.text();
    if (name == kMemory) {
      checkers.memory = true;
    } else if (name == kInitialization) {
      checkers.initialization = true;
    } else if (name == kRace) {
      checkers.race = true;
    } else if (name == kSynchronization) {
      checkers.synchronization = true;
    } else {
      one.expected("memory, initialization, race or synchronization");
    }
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

ordered_json checkers_json(const simulated::CheckerSet& checkers) {
  ordered_json list = ordered_json::array();
  if (checkers.memory) list.push_back(kMemory);
  if (checkers.initialization) list.push_back(kInitialization);
  if (checkers.race) list.push_back(kRace);
  if (checkers.synchronization) list.push_back(kSynchronization);
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
    if (find_gpu(settings.gpu) == nullptr) place.at("gpu").expected("a GPU of `convladder list --gpus`");
  }
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
  if (place.has("leaks")) settings.leaks = place.at("leaks").truth();
  if (place.has("begin")) settings.begin = place.at("begin").truth();
  if (place.has("trace")) settings.trace = place.at("trace").text();
  if (place.has("trace_calls")) settings.trace_calls = place.at("trace_calls").truth();
  if (place.has("exclusive")) settings.exclusive = place.at("exclusive").truth();
  if (place.has("driver_version")) settings.driver_version = place.at("driver_version").whole(0, 999999);
  if (place.has("faults")) {
    for (const JsonPlace& one : place.at("faults").list()) settings.faults.push_back(read_fault(one));
  }
  place.refuse_others();
  return settings;
}

std::string settings_text(const Settings& settings) {
  return json_line({{"gpu", settings.gpu},
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
                    {"leaks", settings.leaks},
                    {"begin", settings.begin},
                    {"trace", settings.trace},
                    {"trace_calls", settings.trace_calls},
                    {"exclusive", settings.exclusive},
                    {"driver_version", settings.driver_version},
                    {"faults", faults_json(settings.faults)}});
}

}  // namespace convladder::stand_in
