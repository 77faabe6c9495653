#include "harness/measure/simulation/checked_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <nlohmann/json.hpp>

#include "devices/device_error.hpp"
#include "harness/measure/simulation/simulation_report.hpp"
#include "simulator/state/finding_json.hpp"
#include "support/json_text.hpp"
#include "support/text_table.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

/// Adds a finding once: every launch of the kernel finds the same place, with real numbers and with small integers.
void add_once(std::vector<simulated::Finding>& findings, simulated::Finding finding) {
  const auto same = [&](const simulated::Finding& other) {
    return other.checker == finding.checker && other.problem == finding.problem && other.kernel == finding.kernel &&
           other.ptx_line == finding.ptx_line;
  };
  if (std::ranges::none_of(findings, same)) findings.push_back(std::move(finding));
}

}  // namespace

void run_checked(CheckedCase& checked, const CheckSettings& settings,
                 const std::function<std::string(simulated::SimulatedDevice&)>& work) {
  simulated::SimulatedDeviceOptions options;
  options.checkers = settings.checkers;
  options.tensor_cores = settings.tensor_cores;
  options.host_threads = 1;
  options.with_caches = false;
  options.ptx_compiler = checked.compiler;
  simulated::SimulatedDevice device(options);
  device.set_counting(false);
  try {
    checked.reason = work(device);
    checked.status = checked.reason.empty() ? Status::ok : Status::incorrect;
  } catch (const DeviceError& error) {
    checked.status = Status::launch_failed;
    checked.reason = error.what();
  } catch (const std::bad_alloc&) {
    checked.status = Status::launch_failed;
    checked.reason = "out of memory";
  }
  for (simulated::Finding& finding : device.take_findings()) add_once(checked.findings, std::move(finding));
  if (!settings.checkers.memory) return;
  for (simulated::Finding& leak : device.leaks()) checked.findings.push_back(std::move(leak));
}

ordered_json case_json(const CheckedCase& checked) {
  ordered_json findings = ordered_json::array();
  for (const simulated::Finding& finding : checked.findings) findings.push_back(simulated::finding_json(finding));
  return {{"id", checked.id},
          {"ptx_compiler", checked.compiler},
          {"status", checked.status.value()},
          {"reason", text_or_null(checked.reason)},
          {"largest_error", or_null(checked.largest_error)},
          {"tolerance", checked.largest_error ? ordered_json(checked.tolerance) : ordered_json()},
          {"findings", std::move(findings)}};
}

std::string case_lines(const CheckedCase& checked) {
  const std::size_t found = checked.findings.size();
  std::string line = fmt::format("  {:<58} {:<6} ", checked.id, checked.compiler);
  if (checked.status == Status::ok) {
    line += found == 0 ? "ok, nothing found" : "failed, " + plural(found, "finding");
  } else {
    line += fmt::format("{}", checked.status.value());
    if (found > 0) line += ", " + plural(found, "finding");
  }
  if (!checked.reason.empty() && checked.was_run()) line += fmt::format("\n      {}", checked.reason);
  for (const simulated::Finding& finding : checked.findings) line += fmt::format("\n      {}", to_text(finding));
  return line;
}

}  // namespace convladder
