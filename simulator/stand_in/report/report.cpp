#include "simulator/stand_in/report/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "devices/kernel_resources.hpp"
#include "simulator/stand_in/status.hpp"
#include "support/function_name.hpp"

namespace convladder::stand_in {
namespace {

constexpr std::size_t kMostFindings = 1000;  // nobody reads more, and each is looked up

std::string host_text(const CallPlaces& places) {
  return places == nullptr ? std::string() : place_text(own_place(*places));
}

/// The name with its parameters, for names that differ only in them.
std::string full_name(const std::string& mangled) {
  std::string name = demangle(std::string(without_file_prefix(mangled)));
  if (name.starts_with("void ")) name.erase(0, 5);
  return name;
}

}  // namespace

void Report::failed(std::string_view name, int status, std::string_view text, CallPlaces (*places)()) {
  CallFailure& failure = failures_[{std::string(name), status}];
  if (failure.count++ > 0) return;
  failure = {"",
             std::string(name),
             status,
             std::string(status_name(status)),
             std::string(text),
             1,
             places == nullptr ? nullptr : places()};
}

void Report::library_failed(std::string_view library, std::string_view name, int status, std::string_view status_name,
                            std::string_view text, CallPlaces (*places)()) {
  CallFailure& failure = failures_[{std::string(name), status}];
  if (failure.count++ > 0) return;
  failure = {std::string(library), std::string(name), status, std::string(status_name), std::string(text), 1, places()};
}

void Report::computed(const std::string& library, const std::string& call, Nanoseconds ns) {
  LibraryCallSum& sum = library_calls_[call];
  sum.library = library;
  sum.call = call;
  sum.predicted.add(ns);
}

void Report::launched(const LaunchedName& name, std::uint64_t times, Nanoseconds total_ns,
                      const KernelCounters& counters) {
  KernelSum& sum = kernels_[name];
  sum.predicted.add({times, total_ns, total_ns / times, total_ns / times});
  for (const auto* values : {&counters.values, &counters.modelled}) {
    for (const auto& [metric, value] : *values) {
      if (metric.ends_with(".sum")) sum.counters[metric] += value * static_cast<double>(times);
    }
  }
}

void Report::cost(const LaunchedName& name, const simulated::LaunchedKernel& launched) {
  KernelSum& sum = kernels_[name];
  sum.blocks += launched.blocks;
  sum.blocks_run += launched.blocks_run;
  sum.low_seconds += launched.seconds.low;
  sum.high_seconds += launched.seconds.high;
}

simulated::OrdersTried Report::take_orders() {
  simulated::OrdersTried all;
  for (auto& [name, sum] : kernels_) all += std::exchange(sum.orders, {});
  return all;
}

void Report::tried(std::string_view kernel, std::string_view arguments, TriedConfiguration configuration) {
  const auto is_meant = [&](const Tuning& one) { return one.kernel == kernel && one.arguments == arguments; };
  auto found = std::ranges::find_if(sums_.tunings, is_meant);
  if (found == sums_.tunings.end()) {
    found = sums_.tunings.insert(found, Tuning{std::string(kernel), std::string(arguments), {}});
  }
  const auto same = std::ranges::find(found->tried, configuration.configuration, &TriedConfiguration::configuration);
  if (same == found->tried.end()) {
    found->tried.push_back(std::move(configuration));
  } else {
    *same = std::move(configuration);
  }
}

void Report::copy(const std::string& what, Nanoseconds ns, std::uint64_t bytes) {
  CopySum& sum = copies_[what];
  sum.what = what;
  sum.predicted.add(ns);
  sum.bytes += bytes;
}

void Report::found(std::vector<simulated::Finding> findings, const CallPlaces& places) {
  for (simulated::Finding& finding : findings) {
    // A kernel that is launched again has the same bug, which is reported once for each place.
    const auto same = [&finding, &places](const ReportedFinding& reported) {
      const simulated::Finding& other = reported.finding;
      if (finding.kernel.empty()) return other.problem == finding.problem && reported.places == places;
      return simulated::are_of_one_statement(other, finding);
    };
    const auto known = std::ranges::find_if(sums_.findings, same);
    if (known != sums_.findings.end()) {
      known->finding.count += finding.count;
    } else if (sums_.findings.size() == kMostFindings) {
      note(fmt::format("findings beyond the first {} are not listed", kMostFindings));
    } else {
      sums_.findings.push_back({std::move(finding), places});
    }
  }
}

bool Report::is_incomplete() const {
  const auto is_refusal = [](const auto& entry) {
    const auto& [call, status] = entry.first;
    const bool launches = call.find("Launch") != std::string::npos;
    return launches &&
           (status == kNotSupported || status == kNoKernelImage || status == kInvalidImage || status == kInvalidPtx);
  };
  const auto is_library = [](const auto& entry) { return is_of_library(entry.second); };
  return !sums_.unseen.empty() || sums_.has_runtime_of_its_own() || std::ranges::any_of(failures_, is_refusal) ||
         std::ranges::any_of(failures_, is_library);
}

std::vector<simulated::Finding> Report::take_findings() {
  std::vector<simulated::Finding> taken;
  for (ReportedFinding& one : sums_.findings) taken.push_back(std::move(one.finding));
  sums_.findings.clear();
  return taken;
}

ProcessReport Report::finish(const Timeline& timeline) {
  // Programs may ask for memory a million times: only allocations that somebody asks about are told.
  std::set<std::string_view> named(sums_.never_freed.begin(), sums_.never_freed.end());
  for (const ReportedFinding& one : sums_.findings) named.insert(one.finding.allocation);
  std::erase_if(sums_.allocations, [&](const AllocationNote& one) { return !named.contains(one.label); });
  ProcessReport process = sums_;
  std::map<std::string, std::set<std::string>> same_names;  // files may have static kernels of the same name
  for (const auto& [name, sum] : kernels_) same_names[display_name(name.in_ptx)].insert(name.in_ptx);
  for (const auto& [name, sum] : kernels_) {
    KernelSum& kernel = process.kernels.emplace_back(sum);
    kernel.name = display_name(name.in_ptx);
    kernel.configuration = name.configuration;
    if (same_names[kernel.name].size() > 1) kernel.name = full_name(name.in_ptx);
  }
  std::ranges::stable_sort(process.kernels, {}, &KernelSum::full_name);
  for (const auto& [what, sum] : copies_) process.copies.push_back(sum);
  for (const auto& [call, sum] : library_calls_) process.library_calls.push_back(sum);
  for (const auto& [of, failure] : failures_) process.failures.push_back(failure);
  process.predicted = {.host = timeline.now(),
                       .device_end = timeline.end_of_all().time,
                       .kernels = timeline.busy(Engine::kernels),
                       .to_device = timeline.busy(Engine::to_device),
                       .from_device = timeline.busy(Engine::from_device)};
  return process;
}

std::vector<std::string> Report::lines() const {
  std::vector<std::string> lines;
  for (const auto& [note, count] : sums_.notes) lines.push_back(note);
  for (const auto& [text, count] : sums_.unseen) lines.push_back(text);
  for (const auto& [name, count] : sums_.not_supported) {
    lines.push_back(fmt::format("{} is not supported and was called {} time{}", name, count, count == 1 ? "" : "s"));
  }
  for (const auto& [of, failure] : failures_) {
    if (!is_of_library(failure)) continue;
    lines.push_back(
        fmt::format("{} answered {}{}{}", failure.call, failure.name, failure.text.empty() ? "" : ": ", failure.text));
    if (const std::string text = host_text(failure.places); !text.empty()) lines.push_back("  in " + text);
  }
  std::vector<LibraryCallSum> computed;
  for (const auto& [call, sum] : library_calls_) computed.push_back(sum);
  for (std::string& line : library_lines(computed)) lines.push_back(std::move(line));
  for (const auto& [finding, places] : sums_.findings) {
    lines.push_back(simulated::to_text(finding));
    if (const AllocationNote* const note = sums_.allocation(finding.allocation)) {
      lines.push_back(
          fmt::format("  {}: {} bytes by {} in {}", note->label, note->bytes, note->call, host_text(note->places)));
    }
    if (const std::string text = host_text(places); !text.empty()) {
      const std::string launched =
          finding.launcher.empty() ? "launched " : fmt::format("launched by {}, which was launched ", finding.launcher);
      lines.push_back(fmt::format("  {}in {}", finding.kernel.empty() ? "" : launched, text));
    }
  }
  return lines;
}

}  // namespace convladder::stand_in
