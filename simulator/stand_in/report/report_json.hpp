// JSON of findings, and of the lines that a process writes into its report and its trace.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/stand_in/report/process_report.hpp"

namespace convladder::stand_in {

/// All fields of Finding by their names; the kernel's name as written, block and thread as [x, y, z].
nlohmann::ordered_json finding_json(simulated::Finding finding);
/// All fields of OrdersTried by their names; null if nobody asked for other orders.
nlohmann::ordered_json orders_json(const simulated::OrdersTried& tried);
/// Reads the JSON of a finding. Throws nlohmann::ordered_json::exception for anything else.
simulated::Finding read_finding(const nlohmann::ordered_json& json);

/// A process's line in the report's file, with its end.
std::string report_line(const ProcessReport& process);
/// Reads the lines of a report's file. Throws UserError for lines that are no reports.
std::vector<ProcessReport> read_report_lines(const std::string& lines);

/// An event's line of a trace (trace.hpp), with its end.
std::string event_line(int process, std::string_view what, int stream, Timeline::Span span);
/// A call's line of a trace, with its end.
std::string call_line(int process, std::string_view call, Timeline::Span span);

}  // namespace convladder::stand_in
