#include "harness/measure/simulation/program_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/measure/simulation/simulation_report.hpp"
#include "support/printable.hpp"
#include "support/text_table.hpp"
#include "support/units.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMostRows = 25;  // of a table
constexpr std::size_t kMostLeaks = 10;

std::string grouped(double value) { return counter_text(".sum", value); }

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

/// The table as it is, shifted a little to the right.
std::string shifted(const std::string& table) {
  std::string text;
  for (std::size_t begin = 0; begin < table.size();) {
    const std::size_t end = table.find('\n', begin) + 1;
    text += "  " + table.substr(begin, end - begin);
    begin = end;
  }
  return text;
}

std::string text_of(const ordered_json& json, const char* field) {
  return printable(json.at(field).get<std::string>());
}

/// "in main, scale.cu line 31"; "" if it is not known.
std::string host_text(const ordered_json& host) { return host.is_null() ? "" : "in " + text_of(host, "text"); }

std::string thread_text(const ordered_json& place) {
  return fmt::format("({})", fmt::join(place.get<std::vector<unsigned>>(), ", "));
}

std::string memory_text(const ordered_json& memory) {
  return fmt::format("{}: {} bytes by {} {}", text_of(memory, "label"), grouped(memory.at("bytes")),
                     text_of(memory, "call"), host_text(memory.at("host")));
}

/// The name of a process where there are several.
std::string title_of(const ordered_json& process) {
  std::vector<std::string> words = process.at("arguments");
  return printable(fmt::format("{}", fmt::join(words, " ")));
}

std::string finding_text(const ordered_json& finding) {
  std::string text =
      hanging(fmt::format("  {}: ", text_of(finding, "checker")), printable(finding.at("problem").get<std::string>()));
  const auto line = [&text](const std::string& detail) { text += hanging("    ", detail); };
  if (!finding.at("kernel").get<std::string>().empty()) {
    const std::string source =
        finding.at("source_line").get<int>() > 0
            ? fmt::format(", {} line {}", text_of(finding, "source_file"), finding.at("source_line").get<int>())
            : " (compile it with -lineinfo for the line of the source)";
    const auto count = finding.at("count").get<std::uint64_t>();
    line(fmt::format("'{}' in {}, PTX line {}{}", text_of(finding, "opcode"), text_of(finding, "kernel"),
                     finding.at("ptx_line").get<int>(), source));
    line(fmt::format("by block {}, thread {}{}", thread_text(finding.at("block")), thread_text(finding.at("thread")),
                     count > 1 ? fmt::format("; {} times in all", grouped(static_cast<double>(count))) : ""));
  }
  if (!finding.at("memory").is_null()) line(memory_text(finding.at("memory")));
  if (const std::string host = host_text(finding.at("host")); !host.empty()) {
    line(finding.at("kernel").get<std::string>().empty() ? host : "launched " + host);
  }
  return text;
}

std::string findings_text(const ProgramReport& report) {
  const ordered_json& processes = report.document.at("processes");
  std::string text;
  for (const ordered_json& process : processes) {
    if (process.at("findings").empty()) continue;
    if (processes.size() > 1) text += hanging("  ", title_of(process));
    for (const ordered_json& finding : process.at("findings")) text += finding_text(finding);
  }
  const std::size_t count = report.findings();
  if (count > 0) return fmt::format("\nfindings: {}\n{}", count, text);
  if (report.document.at("checkers").empty()) return "\nfindings: none; no checker looked on\n";
  return report.is_incomplete() ? "\nfindings: none in what was seen, see the remarks\n" : "\nfindings: none\n";
}

/// The sum over all processes, by name.
struct TimeSum {
  double calls = 0;
  double total = 0;
  double least = 0;
  double most = 0;

  void add(const ordered_json& times) {
    if (calls == 0 || times.at("least_ns").get<double>() < least) least = times.at("least_ns");
    most = std::max(most, times.at("most_ns").get<double>());
    calls += times.at("calls").get<double>();
    total += times.at("total_ns").get<double>();
  }
};
using TimeSums = std::map<std::string, TimeSum>;

/// A table of times with nvprof's columns, the longest first.
std::string times_table(const TimeSums& sums) {
  std::vector<std::pair<std::string, TimeSum>> rows(sums.begin(), sums.end());
  std::ranges::stable_sort(rows, std::greater{}, [](const auto& row) { return row.second.total; });
  double total = 0;
  for (const auto& [name, sum] : rows) total += sum.total;
  std::vector<std::vector<std::string>> cells;
  for (const auto& [name, sum] : rows) {
    if (cells.size() == kMostRows) break;
    cells.push_back({fmt::format("{:.2f}", total > 0 ? 100 * sum.total / total : 0), time_text(sum.total),
                     grouped(sum.calls), time_text(sum.total / std::max(sum.calls, 1.0)), time_text(sum.least),
                     time_text(sum.most), printable(name)});
  }
  std::string text = text_table({{"Time(%)", "", true},
                                 {"Time", "", true},
                                 {"Calls", "", true},
                                 {"Avg", "", true},
                                 {"Min", "", true},
                                 {"Max", "", true},
                                 {"Name", "", false}},
                                cells, kTextColumns - 2);
  if (rows.size() > kMostRows) text += fmt::format("and {} more\n", rows.size() - kMostRows);
  return shifted(text);
}

TimeSums sums_of(const ordered_json& processes, std::initializer_list<const char*> lists) {
  TimeSums sums;
  for (const ordered_json& process : processes) {
    for (const char* list : lists) {
      for (const ordered_json& one : process.at(list)) sums[one.at("name")].add(one.at("predicted"));
    }
  }
  return sums;
}

struct CounterColumn {
  const char* title;
  const char* unit;
  std::array<const char*, 2> metrics;  ///< metrics that are added up
};
constexpr std::array<CounterColumn, 6> kCounterColumns = {
    {{"instructions", "of warps", {"smsp__inst_executed.sum", ""}},
     {"loaded", "sectors", {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", ""}},
     {"stored", "sectors", {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", ""}},
     {"shared",
      "wavefronts",
      {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"}},
     {"read", "DRAM bytes", {"dram__bytes_read.sum", ""}},
     {"written", "DRAM bytes", {"dram__bytes_write.sum", ""}}}};

using Counters = std::map<std::string, double>;

std::string counters_text(const ordered_json& processes) {
  struct Row {
    std::string name;
    double launches = 0;
    Counters counters{};
  };
  std::vector<Row> rows;
  for (const ordered_json& process : processes) {
    for (const ordered_json& kernel : process.at("kernels")) {
      const std::string name = kernel.at("name");
      auto row = std::ranges::find(rows, name, &Row::name);
      if (row == rows.end()) row = rows.insert(rows.end(), {.name = name});
      row->launches += kernel.at("predicted").at("calls").get<double>();
      for (const auto& [metric, value] : kernel.at("counters").items()) row->counters[metric] += value.get<double>();
    }
  }
  if (rows.empty()) return "";
  const auto value = [](const Row& row, const char* metric) {
    const auto found = row.counters.find(metric);
    return found == row.counters.end() ? 0 : found->second;
  };
  std::ranges::stable_sort(rows, std::greater{},
                           [&value](const Row& row) { return value(row, kCounterColumns[0].metrics[0]); });
  std::vector<TextColumn> columns = {{"launches", "", true}};
  for (const CounterColumn& column : kCounterColumns) columns.push_back({column.title, column.unit, true});
  columns.push_back({"kernel", "", false});
  std::vector<std::vector<std::string>> cells;
  for (const Row& row : rows) {
    if (cells.size() == kMostRows) break;
    std::vector<std::string> cell = {grouped(row.launches)};
    for (const CounterColumn& column : kCounterColumns) {
      cell.push_back(grouped(value(row, column.metrics[0]) + value(row, column.metrics[1])));
    }
    cell.push_back(printable(row.name));
    cells.push_back(std::move(cell));
  }
  std::string text = text_table(columns, cells, kTextColumns - 2);
  if (rows.size() > kMostRows) text += fmt::format("and {} more\n", rows.size() - kMostRows);
  return "\ncounters, summed over launches (counted, but for DRAM, which is modelled)\n" + shifted(text);
}

/// The remarks on processes, a line each, with how often they occur.
std::string remarks_of(const ordered_json& document) {
  std::map<std::string, double> remarks;
  for (const ordered_json& process : document.at("processes")) {
    for (const auto& [note, count] : process.at("notes").items()) remarks[note] += count.get<double>();
    for (const auto& [name, count] : process.at("not_supported").items()) {
      remarks[fmt::format("{} is not supported", name)] += count.get<double>();
    }
    for (const ordered_json& failure : process.at("failures")) {
      const std::string why = text_of(failure, "text");
      const double count = failure.at("count");
      const std::string host = host_text(failure.at("host"));
      const std::string where = host.empty() ? "" : (count > 1 ? ", first " : " ") + host;
      remarks[fmt::format("{} answered {}{}{}", text_of(failure, "call"), text_of(failure, "name"), where,
                          why.empty() ? "" : ": " + why)] += count;
    }
  }
  std::string text;
  for (const ordered_json& one : document.at("remarks")) text += hanging("  ", printable(one.get<std::string>()));
  for (const auto& [remark, count] : remarks) {
    text += hanging("  ", printable(remark) + (count > 1 ? fmt::format(" ({} times)", grouped(count)) : ""));
  }
  for (const ordered_json& process : document.at("ended_without_report")) {
    text += hanging("  ", fmt::format("{} ended without a report: by _exit(), by a signal that no program hears of, or "
                                      "it became another program; or it still runs",
                                      title_of(process)));
  }
  return text.empty() ? "" : "\nremarks\n" + text;
}

std::string leaks_text(const ordered_json& processes) {
  std::vector<std::pair<std::string, std::pair<double, double>>> places;  // the place, and how many leaks and bytes it
                                                                          // has
  double all = 0;
  for (const ordered_json& process : processes) {
    for (const ordered_json& memory : process.at("never_freed")) {
      if (memory.is_null()) continue;
      const std::string where = fmt::format("{} {}", text_of(memory, "call"), host_text(memory.at("host")));
      auto found = std::ranges::find(places, where, &std::pair<std::string, std::pair<double, double>>::first);
      if (found == places.end()) found = places.insert(places.end(), {where, {0, 0}});
      ++found->second.first;
      found->second.second += memory.at("bytes").get<double>();
      all += memory.at("bytes").get<double>();
    }
  }
  if (places.empty()) return "";
  std::string text = fmt::format("\nnever freed: {} bytes\n", grouped(all));
  for (std::size_t i = 0; i < std::min(places.size(), kMostLeaks); ++i) {
    const auto& [where, sum] = places[i];
    text += hanging("  ", fmt::format("{} bytes{} by {}", grouped(sum.second),
                                      sum.first > 1 ? fmt::format(" in {} pieces", grouped(sum.first)) : "", where));
  }
  if (places.size() > kMostLeaks) text += fmt::format("  and from {} more places\n", places.size() - kMostLeaks);
  return text;
}

std::string cost_text(const ProgramReport& report) {
  double instructions = 0;
  double device_bytes = 0;
  for (const ordered_json& process : report.document.at("processes")) {
    device_bytes = std::max(device_bytes, process.at("most_device_bytes").get<double>());
    for (const ordered_json& kernel : process.at("kernels")) {
      instructions += kernel.at("counters").value("smsp__thread_inst_executed_pred_on.sum", 0.0);
    }
  }
  const SimulationCost& cost = report.cost;
  const std::string kernels =
      cost.kernel_seconds > 0 && instructions > 0
          ? fmt::format(", kernels in {}: {} thread instructions/s", time_text(cost.kernel_seconds * 1e9),
                        rate_text(instructions / cost.kernel_seconds))
          : "";
  return fmt::format("\nsimulated in {}{}\nmost memory: {} of the device, {} of the host\n",
                     time_text(cost.seconds * 1e9), kernels, bytes_text(device_bytes),
                     bytes_text(static_cast<double>(cost.most_resident_bytes)));
}

std::string end_text(const ordered_json& document) {
  if (!document.at("signal").is_null()) return ", ended by " + text_of(document, "signal");
  const int code = document.at("exit_code");
  return code == 0 ? "" : fmt::format(", exit code {}", code);
}

}  // namespace

std::string program_report_text(const ProgramReport& report) {
  const ordered_json& document = report.document;
  const ordered_json& processes = document.at("processes");
  const std::vector<std::string> words = document.at("command");
  const std::string title =
      processes.size() > 1 ? fmt::format("{} processes of {}", processes.size(), words[0]) : words[0];
  std::string text = hanging("convladder: ", fmt::format("{} on the simulated {}{}", printable(title),
                                                         text_of(document.at("gpu"), "title"), end_text(document)));
  const std::string remarks = remarks_of(document);
  const bool has_failed = !document.at("signal").is_null() || document.at("exit_code") != 0;
  if (has_failed) text += remarks;
  if (processes.empty()) return has_failed ? text : text + remarks;
  text += findings_text(report);
  if (const TimeSums activities = sums_of(processes, {"kernels", "copies"}); !activities.empty()) {
    text += "\nGPU activities, predicted times (nothing here is measured)\n" + times_table(activities);
  }
  if (const TimeSums calls = sums_of(processes, {"calls"}); !calls.empty()) {
    text += "\nAPI calls, predicted times of the host, waiting included\n" + times_table(calls);
  }
  text += counters_text(processes) + leaks_text(processes);
  if (!has_failed) text += remarks;
  return text + cost_text(report);
}

}  // namespace convladder
