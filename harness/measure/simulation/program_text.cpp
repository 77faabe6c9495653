#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/measure/simulation/checkers_argument.hpp"
#include "harness/measure/simulation/kernel_lines.hpp"
#include "harness/measure/simulation/program_report.hpp"
#include "harness/measure/simulation/simulation_report.hpp"
#include "simulator/gpus/gpu_facts.hpp"
#include "support/printable.hpp"
#include "support/report.hpp"
#include "support/short_names.hpp"
#include "support/units.hpp"

namespace convladder {
namespace {

using stand_in::ProcessReport;
using stand_in::Times;

constexpr std::size_t kMostLeaks = 10;

std::string grouped(double value) { return counter_text(".sum", value); }
std::string grouped(std::uint64_t value) { return grouped(static_cast<double>(value)); }

std::string rate_text(double rate) {
  for (const auto& [unit, size] : {std::pair{"G", 1e9}, {"M", 1e6}, {"k", 1e3}}) {
    if (rate >= size) return fmt::format("{:.3g} {}", rate / size, unit);
  }
  return fmt::format("{:.0f}", rate);
}

std::string bytes_text(double bytes) {
  for (const auto& [unit, size] : {std::pair{"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}}) {
    if (bytes >= size) return fmt::format("{:.3g} {}", bytes / size, unit);
  }
  return fmt::format("{:.0f} bytes", bytes);
}

/// "in main, scale.cu line 31"; "" if it is not known.
std::string host_text(const ProgramReport& report, const stand_in::CallPlaces& places) {
  const stand_in::HostPlace* const host = report.hosts.find(places);
  return host == nullptr ? "" : "in " + printable(stand_in::place_text(*host));
}

std::string thread_text(const Dim3& place) { return fmt::format("({}, {}, {})", place.x, place.y, place.z); }

using ShortNames = std::map<std::string, std::string>;

/// The name of a kernel in a table or a finding.
std::string shown_kernel(const ShortNames& names, const std::string& kernel, const std::string& configuration = {}) {
  const auto found = names.find(kernel);
  return printable(simulated::configured_name(found == names.end() ? kernel : found->second, configuration));
}

ShortNames short_kernel_names(const std::vector<ProcessReport>& processes) {
  std::set<std::string> names;
  for (const ProcessReport& process : processes) {
    for (const stand_in::KernelSum& kernel : process.kernels) names.insert(kernel.name);
    for (const stand_in::Tuning& tuning : process.tunings) names.insert(tuning.kernel);
    for (const stand_in::ReportedFinding& one : process.findings) names.insert(one.finding.kernel);
  }
  return short_names(names);
}

/// The name of a process where there are several.
std::string title_of(const stand_in::ProcessName& process) {
  constexpr std::size_t kLongest = 120;  // of a Python's -c there may be a thousand letters
  return printable(fmt::format("{}", fmt::join(process.arguments, " ")), kLongest);
}

void add_finding(ReportSection& section, const ProgramReport& report, const ProcessReport& process,
                 const stand_in::ReportedFinding& reported, const ShortNames& names) {
  const simulated::Finding& finding = reported.finding;
  section.paragraph(printable(finding.problem), fmt::format("  {}: ", heading_text(finding)));
  const auto line = [&section](const std::string& detail) { section.paragraph(detail, "    "); };
  if (!finding.kernel.empty()) {
    const std::string source = finding.source_line > 0
                                   ? fmt::format(", {} line {}", printable(finding.source_file), finding.source_line)
                                   : " (compile it with -lineinfo for the line of the source)";
    line(fmt::format("'{}' in {}, PTX line {}{}", printable(finding.opcode),
                     shown_kernel(names, finding.kernel, finding.configuration), finding.ptx_line, source));
    if (!finding.callers.empty()) line(printable(callers_text(finding)));
    line(fmt::format("by block {}, thread {}{}", thread_text(finding.block), thread_text(finding.thread),
                     finding.count > 1 ? fmt::format("; {} times in all", grouped(finding.count)) : ""));
  }
  if (const stand_in::AllocationNote* const memory = process.allocation(finding.allocation)) {
    line(fmt::format("{}: {} bytes by {} {}", printable(memory->label), grouped(memory->bytes), printable(memory->call),
                     host_text(report, memory->places)));
  }
  if (const std::string host = host_text(report, reported.places); !host.empty()) {
    const std::string launched = finding.launcher.empty()
                                     ? "launched "
                                     : fmt::format("launched by {}, which was launched ", printable(finding.launcher));
    line(finding.kernel.empty() ? host : launched + host);
  }
}

void list_findings(ReportSection& section, const ProgramReport& program, simulated::Severity severity) {
  const ShortNames names = short_kernel_names(program.processes);
  for (const ProcessReport& process : program.processes) {
    const auto is_meant = [severity](const stand_in::ReportedFinding& one) { return one.finding.severity == severity; };
    if (std::ranges::none_of(process.findings, is_meant)) continue;
    if (program.processes.size() > 1) section.paragraph(title_of(process), "  ");
    for (const stand_in::ReportedFinding& one : process.findings) {
      if (is_meant(one)) add_finding(section, program, process, one, names);
    }
  }
}

void add_findings(Report& report, const ProgramReport& program) {
  const std::size_t count = program.listed(simulated::Severity::finding);
  ReportSection& section = report.section(count > 0                          ? fmt::format("findings: {}", count)
                                          : !program.settings.checkers.any() ? "findings: none; no checker looked on"
                                          : program.is_incomplete() ? "findings: none in what was seen, see the remarks"
                                                                    : "findings: none");
  list_findings(section, program, simulated::Severity::finding);
  if (program.listed(simulated::Severity::note) > 0) {
    list_findings(report.section("notes, which are no findings"), program, simulated::Severity::note);
  }
}

constexpr std::size_t kIndent = 2;  // of tables

/// Other orders of the work, if they were asked for: the kernels whose results depend on it.
void add_orders(Report& report, const ProgramReport& program) {
  const simulated::SchedulesWanted& wanted = program.settings.schedules;
  if (wanted.count == 0) return;
  const ShortNames names = short_kernel_names(program.processes);
  std::map<std::string, simulated::OrdersTried> kernels;
  simulated::OrdersTried all;
  for (const ProcessReport& process : program.processes) {
    for (const stand_in::KernelSum& kernel : process.kernels) {
      if (kernel.orders.empty()) continue;
      kernels[shown_kernel(names, kernel.name, kernel.configuration)] += kernel.orders;
      all += kernel.orders;
    }
  }
  const std::string seeds =
      wanted.count == 1 ? fmt::format("seed {}", wanted.first_seed)
                        : fmt::format("seeds {} to {}", wanted.first_seed, wanted.first_seed + wanted.count - 1);
  ReportSection& section = report.section(fmt::format("other orders of the work, {}", seeds));
  if (all.empty()) return section.paragraph("nothing was launched", "  ");
  section.paragraph(
      fmt::format("{} of {}: {}, in {}", plural(all.launches, "launch", "launches"), plural(kernels.size(), "kernel"),
                  simulated::to_text(all), time_text(all.seconds * 1e9)),
      "  ");
  if (all.is_deterministic()) return;
  std::vector<std::vector<std::string>> cells;
  for (const auto& [name, tried] : kernels) {
    if (tried.is_deterministic()) continue;
    cells.push_back({grouped(tried.launches), grouped(tried.orders), grouped(tried.differing), grouped(tried.sums_only),
                     grouped(tried.failing), printable(name)});
  }
  section.table({right("launches"), right("orders"), right("other results"), right("by sums only"), right("fail"),
                 left("kernel")},
                std::move(cells), kIndent);
}

using TimeSums = std::map<std::string, Times>;  // over all processes, by name

/// A table of times with nvprof's columns, the longest first.
void add_times(Report& report, const char* heading, const TimeSums& sums) {
  if (sums.empty()) return;
  std::vector<std::pair<std::string, Times>> rows(sums.begin(), sums.end());
  std::ranges::stable_sort(rows, std::greater{}, [](const auto& row) { return row.second.total; });
  double total = 0;
  for (const auto& [name, sum] : rows) total += static_cast<double>(sum.total);
  std::vector<std::vector<std::string>> cells;
  for (const auto& [name, sum] : rows) {
    const auto ns = static_cast<double>(sum.total);
    cells.push_back({fmt::format("{:.2f}", total > 0 ? 100 * ns / total : 0), time_text(ns), grouped(sum.count),
                     time_text(ns / static_cast<double>(std::max<std::uint64_t>(sum.count, 1))),
                     time_text(static_cast<double>(sum.least)), time_text(static_cast<double>(sum.most)),
                     printable(name)});
  }
  ReportSection& section = report.section(heading);
  section.table(
      {right("Time(%)"), right("Time"), right("Calls"), right("Avg"), right("Min"), right("Max"), left("Name")},
      std::move(cells), kIndent);
}

struct CounterColumn {
  const char* title;
  const char* unit;
  std::array<const char*, 2> metrics;  ///< metrics that are added up
  const char* bytes = "";              ///< and this one, in sectors
};
constexpr double kSectorBytes = 32;
constexpr std::array<CounterColumn, 6> kCounterColumns = {
    {{"instructions", "of warps", {"smsp__inst_executed.sum", ""}},
     {"loaded",
      "sectors",
      {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "sm__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts.sum"},
      "l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum"},
     {"stored",
      "sectors",
      {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", ""},
      "l1tex__m_l1tex2xbar_write_bytes_mem_global_op_tma_st.sum"},
     {"shared",
      "wavefronts",
      {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"}},
     {"read", "DRAM bytes", {"dram__bytes_read.sum", ""}},
     {"written", "DRAM bytes", {"dram__bytes_write.sum", ""}}}};

/// The kernels of all processes.
std::vector<stand_in::KernelSum> kernel_rows(const std::vector<ProcessReport>& processes) {
  std::vector<stand_in::KernelSum> rows;
  for (const ProcessReport& process : processes) {
    for (const stand_in::KernelSum& kernel : process.kernels) {
      auto row = std::ranges::find(rows, kernel.full_name(), &stand_in::KernelSum::full_name);
      if (row == rows.end()) {
        row = rows.insert(rows.end(), kernel);
        continue;
      }
      row->predicted.add(kernel.predicted);
      for (const auto& [metric, value] : kernel.counters) row->counters[metric] += value;
      row->blocks += kernel.blocks;
      row->blocks_run += kernel.blocks_run;
      row->low_seconds += kernel.low_seconds;
      row->high_seconds += kernel.high_seconds;
    }
  }
  return rows;
}

void add_counters(Report& report, const std::vector<ProcessReport>& processes) {
  const ShortNames names = short_kernel_names(processes);
  std::vector<stand_in::KernelSum> rows = kernel_rows(processes);
  if (rows.empty()) return;
  const auto value = [](const stand_in::KernelSum& row, const char* metric) {
    const auto found = row.counters.find(metric);
    return found == row.counters.end() ? 0 : found->second;
  };
  std::ranges::stable_sort(rows, std::greater{}, [&value](const stand_in::KernelSum& row) {
    return value(row, kCounterColumns[0].metrics[0]);
  });
  std::vector<TextColumn> columns = {right("launches")};
  for (const CounterColumn& column : kCounterColumns) columns.push_back({column.title, column.unit, true});
  columns.push_back(left("kernel"));
  std::vector<std::vector<std::string>> cells;
  for (const stand_in::KernelSum& row : rows) {
    std::vector<std::string> cell = {grouped(row.predicted.count)};
    for (const CounterColumn& column : kCounterColumns) {
      cell.push_back(grouped(value(row, column.metrics[0]) + value(row, column.metrics[1]) +
                             value(row, column.bytes) / kSectorBytes));
    }
    cell.push_back(shown_kernel(names, row.name, row.configuration));
    cells.push_back(std::move(cell));
  }
  const bool is_sampled = std::ranges::any_of(rows, &stand_in::KernelSum::is_sampled);
  ReportSection& section = report.section(
      is_sampled ? "counters, scaled up from the blocks that ran (DRAM: far too high where blocks share data)"
                 : "counters, summed over launches (counted, but for DRAM, which is modelled)");
  section.table(std::move(columns), std::move(cells), kIndent);
}

/// Each autotuner's configurations, the fastest first.
void add_tunings(Report& report, const std::vector<ProcessReport>& processes) {
  const ShortNames names = short_kernel_names(processes);
  for (const ProcessReport& process : processes) {
    for (const stand_in::Tuning& tuning : process.tunings) {
      std::vector<stand_in::TriedConfiguration> rows = tuning.tried;
      const auto ran = [](const stand_in::TriedConfiguration& one) { return one.predicted > 0; };
      std::ranges::stable_sort(rows, {}, [&ran](const auto& one) { return std::pair(!ran(one), one.predicted); });
      const auto best = static_cast<double>(rows[0].predicted);
      std::vector<std::vector<std::string>> cells;
      for (const stand_in::TriedConfiguration& row : rows) {
        const auto ns = static_cast<double>(row.predicted);
        cells.push_back({ran(row) ? time_text(ns) : "-", ran(row) ? fmt::format("{:.2f}", ns / best) : "-",
                         grouped(row.findings), printable(row.result), printable(row.configuration)});
      }
      const std::string of = tuning.arguments.empty() ? "" : fmt::format(" for {}", printable(tuning.arguments));
      report.section(fmt::format("autotuned: {}{}, by predicted times", shown_kernel(names, tuning.kernel), of))
          .table({right("Time"), right("of best"), right("findings"), left("result"), left("configuration")},
                 std::move(cells), kIndent);
    }
  }
}

/// The remarks on processes, a line each, with how often they occur.
ReportSection remarks_of(const ProgramReport& report) {
  std::map<std::string, std::uint64_t> remarks;
  for (const ProcessReport& process : report.processes) {
    for (const auto& [note, count] : process.notes) remarks[note] += count;
    for (const auto& [text, count] : process.unseen) remarks[text] += count;
    for (const auto& [name, count] : process.not_supported) remarks[name + " is not supported"] += count;
    for (const stand_in::CallFailure& failure : process.failures) {
      const std::string why = printable(failure.text);
      const std::string host = host_text(report, failure.places);
      const std::string where = host.empty() ? "" : (failure.count > 1 ? ", first " : " ") + host;
      remarks[fmt::format("{} answered {}{}{}", printable(failure.call), printable(failure.name), where,
                          why.empty() ? "" : ": " + why)] += failure.count;
    }
  }
  ReportSection section;
  std::vector<stand_in::LibraryCallSum> computed;
  for (const ProcessReport& process : report.processes) {
    computed.insert(computed.end(), process.library_calls.begin(), process.library_calls.end());
  }
  for (const std::string& one : stand_in::library_lines(computed)) section.paragraph(one, "  ");
  for (const std::string& one : report.remarks) section.paragraph(printable(one), "  ");
  for (const auto& [remark, count] : remarks) {
    section.paragraph(printable(remark) + (count > 1 ? fmt::format(" ({} times)", grouped(count)) : ""), "  ");
  }
  std::map<std::string, std::uint64_t> silent;
  for (const stand_in::ProcessName& process : report.without_report) ++silent[title_of(process)];
  for (const auto& [title, count] : silent) {
    section.paragraph(fmt::format("{} ended without a report{}: by _exit(), by a signal that no program hears of, or "
                                  "it became another program; or it still runs",
                                  title, count > 1 ? fmt::format(" {} times", grouped(count)) : ""),
                      "  ");
  }
  if (!section.blocks.empty()) section.heading = "remarks";
  return section;
}

void add_leaks(Report& report, const ProgramReport& program) {
  struct Leaks {
    std::string place;
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
  };
  std::vector<Leaks> places;
  std::uint64_t all = 0;
  for (const ProcessReport& process : program.processes) {
    for (const std::string& label : process.never_freed) {
      const stand_in::AllocationNote* const memory = process.allocation(label);
      if (memory == nullptr) continue;
      const std::string where = fmt::format("{} {}", printable(memory->call), host_text(program, memory->places));
      auto found = std::ranges::find(places, where, &Leaks::place);
      if (found == places.end()) found = places.insert(places.end(), {.place = where});
      ++found->count;
      found->bytes += memory->bytes;
      all += memory->bytes;
    }
  }
  if (places.empty()) return;
  ReportSection& section = report.section(fmt::format("never freed: {} bytes", grouped(all)));
  for (std::size_t i = 0; i < std::min(places.size(), kMostLeaks); ++i) {
    const auto& [where, count, bytes] = places[i];
    section.paragraph(fmt::format("{} bytes{} by {}", grouped(bytes),
                                  count > 1 ? fmt::format(" in {} pieces", grouped(count)) : "", where),
                      "  ");
  }
  if (places.size() > kMostLeaks) {
    section.paragraph(fmt::format("and from {} more places", places.size() - kMostLeaks), "  ");
  }
}

void add_cost(ReportSection& section, const std::vector<ProcessReport>& processes) {
  double instructions = 0;
  double seconds = 0;
  double kernel_seconds = 0;
  std::uint64_t device_bytes = 0;
  std::uint64_t host_bytes = 0;
  bool is_sampled = false;
  for (const ProcessReport& process : processes) {
    seconds += process.seconds;
    kernel_seconds += process.kernel_seconds;
    device_bytes = std::max(device_bytes, process.most_device_bytes);
    host_bytes = std::max(host_bytes, process.most_resident_bytes);
    for (const stand_in::KernelSum& kernel : process.kernels) {
      const auto found = kernel.counters.find("smsp__thread_inst_executed_pred_on.sum");
      is_sampled = is_sampled || kernel.is_sampled();
      if (found != kernel.counters.end()) instructions += found->second;
    }
  }
  const std::string kernels =
      kernel_seconds > 0 && instructions > 0 && !is_sampled
          ? fmt::format(", kernels in {}: {} thread instructions/s", time_text(kernel_seconds * 1e9),
                        rate_text(instructions / kernel_seconds))
          : "";
  section.paragraph(fmt::format("simulated in {}{}", time_text(seconds * 1e9), kernels));
  section.paragraph(fmt::format("most memory: {} of the device, {} of the host",
                                bytes_text(static_cast<double>(device_bytes)),
                                bytes_text(static_cast<double>(host_bytes))));
}

/// "12 s", "12 s to 15 s".
std::string from_to(double low, double high) {
  const std::string first = time_text(low * 1e9);
  const std::string last = time_text(high * 1e9);
  if (high < 60) return first == last ? first : fmt::format("{} to {}", first, last);
  return fmt::format("{} to {}", duration_text(low), duration_text(high));
}

std::string end_text(const ProgramEnd& end) {
  if (end.signal != 0) return ", ended by " + printable(signal_text(end.signal));
  return end.exit_code == 0 ? "" : fmt::format(", exit code {}", end.exit_code);
}

}  // namespace

Report program_report(const ProgramReport& program) {
  Report report;
  const std::vector<ProcessReport>& processes = program.processes;
  const std::string title = processes.size() > 1
                                ? fmt::format("{} processes of {}", processes.size(), program.command[0])
                                : program.command[0];
  const GpuFacts& gpu = *find_gpu(program.settings.gpu);
  report.section().paragraph(
      fmt::format("{} on the simulated {}{}", printable(title), printable(gpu.title), end_text(program.end)),
      "convladder: ");
  const ReportSection remarks = remarks_of(program);
  const bool has_failed = program.end.signal != 0 || program.end.exit_code != 0;
  if (has_failed || processes.empty()) report.sections.push_back(remarks);
  if (processes.empty()) return report;
  add_findings(report, program);
  add_orders(report, program);
  const ShortNames names = short_kernel_names(processes);
  TimeSums activities;
  TimeSums calls;
  for (const ProcessReport& process : processes) {
    for (const stand_in::KernelSum& kernel : process.kernels)
      activities[shown_kernel(names, kernel.name, kernel.configuration)].add(kernel.predicted);
    for (const stand_in::CopySum& copy : process.copies) activities[copy.what].add(copy.predicted);
    for (const stand_in::LibraryCallSum& call : process.library_calls) {
      activities[fmt::format("[{} {}]", call.library, call.call)].add(call.predicted);
    }
    for (const auto& [name, times] : process.call_times) calls[name].add(times);
  }
  add_times(report, "GPU activities, predicted times (nothing here is measured)", activities);
  add_times(report, "API calls, predicted times of the host, waiting included", calls);
  add_counters(report, processes);
  for (const ProcessReport& process : processes) {
    for (const stand_in::KernelSum& kernel : process.kernels) {
      if (kernel.figures.empty()) continue;
      add_lines(report, kernel_lines(shown_kernel(names, kernel.name, kernel.configuration), kernel.figures, gpu));
    }
  }
  add_tunings(report, processes);
  add_leaks(report, program);
  if (!has_failed) report.sections.push_back(remarks);
  add_cost(report.section(), processes);
  return report;
}

Report program_estimate(const ProgramReport& program) {
  Report report;
  report.section().paragraph(fmt::format("{} on the simulated {}{}", printable(program.command[0]),
                                         printable(find_gpu(program.settings.gpu)->title), end_text(program.end)),
                             "convladder: ");
  std::vector<stand_in::KernelSum> rows = kernel_rows(program.processes);
  if (rows.empty()) {
    report.section().paragraph("no kernel has run, so there is nothing to estimate");
    report.sections.push_back(remarks_of(program));
    return report;
  }
  std::ranges::stable_sort(rows, std::greater{}, &stand_in::KernelSum::high_seconds);
  const ShortNames names = short_kernel_names(program.processes);
  double low = 0;
  double high = 0;
  std::vector<std::vector<std::string>> cells;
  for (const stand_in::KernelSum& row : rows) {
    low += row.low_seconds;
    high += row.high_seconds;
    cells.push_back({from_to(row.low_seconds, row.high_seconds), grouped(row.predicted.count), grouped(row.blocks),
                     grouped(row.blocks_run), shown_kernel(names, row.name, row.configuration)});
  }
  double others = 0;
  for (const ProcessReport& process : program.processes) others += process.seconds - process.kernel_seconds;
  ReportSection& section =
      report.section(fmt::format("the whole run would take about {}", from_to(low + others, high + others)));
  section.table({right("time"), right("launches"), right("blocks"), right("of them ran"), left("kernel")},
                std::move(cells), kIndent);
  const simulated::CheckerSet& checkers = program.settings.checkers;
  section.paragraph(
      fmt::format("From the two halves of a sample of {} blocks of each launch, {}, on this machine as busy as it was. "
                  "Beside the kernels the program took {}. With right results it may launch others.",
                  program.settings.sample_blocks,
                  checkers.any() ? "with the checkers " + checkers_text(checkers) : "without checkers",
                  time_text(others * 1e9)),
      "  ");
  report.sections.push_back(remarks_of(program));
  return report;
}

}  // namespace convladder
