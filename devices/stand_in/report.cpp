#include "devices/stand_in/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

namespace convladder::stand_in {
namespace {

using nlohmann::ordered_json;

ordered_json times_json(const Times& times) {
  return {{"count", times.count}, {"total_ns", times.total}, {"least_ns", times.least}, {"most_ns", times.most}};
}

ordered_json finding_json(const simulated::Finding& finding) {
  return {{"checker", simulated::checker_name(finding.checker)},
          {"problem", finding.problem},
          {"kernel", finding.kernel},
          {"opcode", finding.opcode},
          {"ptx_line", finding.ptx_line},
          {"source_file", finding.source_file},
          {"source_line", finding.source_line},
          {"block", {finding.block.x, finding.block.y, finding.block.z}},
          {"thread", {finding.thread.x, finding.thread.y, finding.thread.z}},
          {"space", finding.space},
          {"address", finding.address},
          {"allocation", finding.allocation},
          {"count", finding.count},
          {"text", simulated::to_text(finding)}};
}

template <typename Counts>
ordered_json counts_json(const Counts& counts) {
  ordered_json json = ordered_json::object();
  for (const auto& [name, count] : counts) json[name] = count;
  return json;
}

}  // namespace

void Times::add(Nanoseconds ns) {
  ++count;
  total += ns;
  least = std::min(least, ns);
  most = std::max(most, ns);
}

void Report::failed(std::string_view name, int status, std::string_view text) {
  FailureNote& note = failures_[{std::string(name), status}];
  if (note.count++ == 0) note = {status, std::string(text), 1};
}

void Report::kernel(const std::string& name, Nanoseconds ns, const std::vector<std::pair<std::string, double>>& counted,
                    const std::vector<std::pair<std::string, double>>& modelled) {
  KernelSum& sum = kernels_[name];
  sum.times.add(ns);
  for (const auto* values : {&counted, &modelled}) {
    for (const auto& [metric, value] : *values) {
      if (metric.ends_with(".sum")) sum.counters[metric] += value;
    }
  }
}

void Report::copy(const std::string& what, Nanoseconds ns, std::uint64_t bytes) {
  CopySum& sum = copies_[what];
  sum.times.add(ns);
  sum.bytes += bytes;
}

void Report::found(std::vector<simulated::Finding> findings) {
  for (simulated::Finding& finding : findings) {
    // A kernel that is launched again has the same bug: once for each place.
    const auto same = [&finding](const simulated::Finding& other) {
      return other.checker == finding.checker && other.kernel == finding.kernel && other.ptx_line == finding.ptx_line &&
             other.opcode == finding.opcode && other.allocation == finding.allocation;
    };
    const auto known = std::ranges::find_if(findings_, same);
    if (known != findings_.end()) {
      known->count += finding.count;
    } else {
      findings_.push_back(std::move(finding));
    }
  }
}

ordered_json Report::json(const Timeline& timeline) const {
  ordered_json kernels = ordered_json::array();
  for (const auto& [name, sum] : kernels_) {
    ordered_json one = {{"name", name}, {"predicted", times_json(sum.times)}};
    one["counters"] = counts_json(sum.counters);
    kernels.push_back(std::move(one));
  }
  ordered_json copies = ordered_json::array();
  for (const auto& [what, sum] : copies_) {
    copies.push_back({{"what", what}, {"predicted", times_json(sum.times)}, {"bytes", sum.bytes}});
  }
  ordered_json failures = ordered_json::array();
  for (const auto& [key, note] : failures_) {
    failures.push_back({{"call", key.first}, {"status", key.second}, {"text", note.text}, {"count", note.count}});
  }
  ordered_json allocations = ordered_json::array();
  for (const AllocationNote& note : allocations_) {
    ordered_json places = ordered_json::array();
    for (const CallPlace& place : note.places) places.push_back({{"file", place.file}, {"offset", place.offset}});
    allocations.push_back(
        {{"label", note.label}, {"call", note.call}, {"bytes", note.bytes}, {"places", std::move(places)}});
  }
  ordered_json findings = ordered_json::array();
  for (const simulated::Finding& finding : findings_) findings.push_back(finding_json(finding));
  return {{"calls", counts_json(calls_)},
          {"kernels", std::move(kernels)},
          {"copies", std::move(copies)},
          {"failures", std::move(failures)},
          {"not_supported", counts_json(not_supported_)},
          {"notes", counts_json(notes_)},
          {"allocations", std::move(allocations)},
          {"findings", std::move(findings)},
          {"virtual_ns",
           {{"host", timeline.now()},
            {"device_end", timeline.end_of_all()},
            {"kernels", timeline.busy(Engine::kernels)},
            {"to_device", timeline.busy(Engine::to_device)},
            {"from_device", timeline.busy(Engine::from_device)}}}};
}

std::vector<std::string> Report::lines() const {
  std::vector<std::string> lines;
  for (const auto& [note, count] : notes_) lines.push_back(note);
  for (const auto& [name, count] : not_supported_) {
    lines.push_back(fmt::format("{} is not supported and was called {} time{}", name, count, count == 1 ? "" : "s"));
  }
  std::ranges::transform(findings_, std::back_inserter(lines),
                         [](const simulated::Finding& finding) { return simulated::to_text(finding); });
  return lines;
}

}  // namespace convladder::stand_in
