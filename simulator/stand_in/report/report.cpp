#include "simulator/stand_in/report/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "devices/kernel_resources.hpp"
#include "simulator/stand_in/status.hpp"
#include "simulator/state/finding_json.hpp"
#include "support/function_name.hpp"

namespace convladder::stand_in {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMostFindings = 1000;  // nobody reads more, and each is looked up

ordered_json times_json(const Times& times) {
  return {{"count", times.count}, {"total_ns", times.total}, {"least_ns", times.least}, {"most_ns", times.most}};
}

ordered_json places_json(const CallPlaces& places) {
  ordered_json list = ordered_json::array();
  if (places == nullptr) return list;
  for (const CallPlace& place : *places) list.push_back({{"file", place.file}, {"offset", place.offset}});
  return list;
}

std::string host_text(const CallPlaces& places) {
  return places == nullptr ? std::string() : place_text(own_place(*places));
}

/// The name with its parameters, for names that differ only in them.
std::string full_name(const std::string& mangled) {
  std::string name = demangle(std::string(without_file_prefix(mangled)));
  if (name.starts_with("void ")) name.erase(0, 5);
  return name;
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

void Report::failed(std::string_view name, int status, std::string_view text, CallPlaces (*places)()) {
  FailureNote& note = failures_[{std::string(name), status}];
  if (note.count++ == 0) note = {status, std::string(text), 1, places == nullptr ? nullptr : places()};
}

void Report::kernel(const std::string& name, Nanoseconds ns, const std::vector<std::pair<std::string, double>>& counted,
                    const std::vector<std::pair<std::string, double>>& modelled) {
  kernels(name, 1, ns, counted, modelled);
}

void Report::kernels(const std::string& name, std::uint64_t times, Nanoseconds total_ns,
                     const std::vector<std::pair<std::string, double>>& counted,
                     const std::vector<std::pair<std::string, double>>& modelled) {
  KernelSum& sum = kernels_[name];
  sum.times.add(total_ns / times);
  sum.times.count += times - 1;
  sum.times.total += total_ns - total_ns / times;
  for (const auto* values : {&counted, &modelled}) {
    for (const auto& [metric, value] : *values) {
      if (metric.ends_with(".sum")) sum.counters[metric] += value * static_cast<double>(times);
    }
  }
}

void Report::copy(const std::string& what, Nanoseconds ns, std::uint64_t bytes) {
  CopySum& sum = copies_[what];
  sum.times.add(ns);
  sum.bytes += bytes;
}

void Report::found(std::vector<simulated::Finding> findings, const CallPlaces& places) {
  for (simulated::Finding& finding : findings) {
    // A kernel that is launched again has the same bug, which is reported once for each place.
    const auto same = [&finding, &places](const ReportedFinding& reported) {
      const simulated::Finding& other = reported.finding;
      if (finding.kernel.empty()) return other.problem == finding.problem && reported.places == places;
      return other.checker == finding.checker && other.kernel == finding.kernel && other.ptx_line == finding.ptx_line &&
             other.opcode == finding.opcode && other.allocation == finding.allocation;
    };
    const auto known = std::ranges::find_if(findings_, same);
    if (known != findings_.end()) {
      known->finding.count += finding.count;
    } else if (findings_.size() == kMostFindings) {
      note(fmt::format("findings beyond the first {} are not listed", kMostFindings));
    } else {
      findings_.push_back({std::move(finding), places});
    }
  }
}

std::vector<simulated::Finding> Report::take_findings() {
  std::vector<simulated::Finding> taken;
  for (ReportedFinding& one : findings_) taken.push_back(std::move(one.finding));
  findings_.clear();
  return taken;
}

ordered_json Report::json(const Timeline& timeline) const {
  std::map<std::string, int> same_names;
  for (const auto& [name, sum] : kernels_) ++same_names[display_name(name)];
  std::multimap<std::string, const KernelSum*> by_name;  // files may have static kernels of the same name
  for (const auto& [name, sum] : kernels_) {
    const std::string written = display_name(name);
    by_name.emplace(same_names[written] > 1 ? full_name(name) : written, &sum);
  }
  ordered_json kernels = ordered_json::array();
  for (const auto& [name, sum] : by_name) {
    kernels.push_back(
        {{"name", name}, {"predicted", times_json(sum->times)}, {"counters", counts_json(sum->counters)}});
  }
  ordered_json copies = ordered_json::array();
  for (const auto& [what, sum] : copies_) {
    copies.push_back({{"what", what}, {"predicted", times_json(sum.times)}, {"bytes", sum.bytes}});
  }
  ordered_json failures = ordered_json::array();
  for (const auto& [key, note] : failures_) {
    failures.push_back({{"call", key.first},
                        {"status", key.second},
                        {"name", status_name(key.second)},
                        {"text", note.text},
                        {"count", note.count},
                        {"places", places_json(note.places)}});
  }
  // Programs may ask for memory a million times: only allocations that somebody asks about are looked up.
  std::set<std::string_view> named(never_freed_.begin(), never_freed_.end());
  ordered_json findings = ordered_json::array();
  for (const auto& [finding, places] : findings_) {
    findings.push_back(simulated::finding_json(finding));
    findings.back()["text"] = simulated::to_text(finding);
    findings.back()["places"] = places_json(places);
    named.insert(finding.allocation);
  }
  ordered_json allocations = ordered_json::array();
  for (const AllocationNote& note : allocations_) {
    if (!named.contains(note.label)) continue;
    allocations.push_back(
        {{"label", note.label}, {"call", note.call}, {"bytes", note.bytes}, {"places", places_json(note.places)}});
  }
  ordered_json calls = ordered_json::object();
  ordered_json call_times = ordered_json::object();
  for (const auto& [name, sum] : calls_) {
    calls[name] = sum.count;
    if (sum.times.count > 0) call_times[name] = times_json(sum.times);
  }
  return {{"calls", std::move(calls)},
          {"call_times", std::move(call_times)},
          {"kernels", std::move(kernels)},
          {"copies", std::move(copies)},
          {"failures", std::move(failures)},
          {"not_supported", counts_json(not_supported_)},
          {"notes", counts_json(notes_)},
          {"allocations", std::move(allocations)},
          {"findings", std::move(findings)},
          {"never_freed", never_freed_},
          {"most_device_bytes", costs.most_device_bytes},
          {"kernel_seconds", costs.kernel_seconds},
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
  for (const auto& [finding, places] : findings_) {
    lines.push_back(simulated::to_text(finding));
    if (const AllocationNote* const note = allocation_of(finding)) {
      lines.push_back(
          fmt::format("  {}: {} bytes by {} in {}", note->label, note->bytes, note->call, host_text(note->places)));
    }
    if (const std::string text = host_text(places); !text.empty()) {
      lines.push_back(fmt::format("  {}in {}", finding.kernel.empty() ? "" : "launched ", text));
    }
  }
  return lines;
}

const AllocationNote* Report::allocation_of(const simulated::Finding& finding) const {
  const auto found = std::ranges::find(allocations_, finding.allocation, &AllocationNote::label);
  return finding.allocation.empty() || found == allocations_.end() ? nullptr : &*found;
}

}  // namespace convladder::stand_in
