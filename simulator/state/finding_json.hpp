// A finding in the form that it has in every JSON output.
#pragma once

#include <nlohmann/json.hpp>

#include "devices/kernel_resources.hpp"
#include "simulator/state/finding.hpp"

namespace convladder::simulated {

/// All fields of Finding by their names; the kernel's name as written, block and thread as [x, y, z].
inline nlohmann::ordered_json finding_json(const Finding& finding) {
  return {{"checker", checker_name(finding.checker)},
          {"problem", finding.problem},
          {"kernel", display_name(finding.kernel)},
          {"opcode", finding.opcode},
          {"ptx_line", finding.ptx_line},
          {"source_file", finding.source_file},
          {"source_line", finding.source_line},
          {"block", {finding.block.x, finding.block.y, finding.block.z}},
          {"thread", {finding.thread.x, finding.thread.y, finding.thread.z}},
          {"space", finding.space},
          {"address", finding.address},
          {"allocation", finding.allocation},
          {"count", finding.count}};
}

/// Reads the JSON of a finding. Throws nlohmann::ordered_json::exception for anything else.
inline Finding read_finding(const nlohmann::ordered_json& json) {
  Finding finding;
  const auto checker = json.at("checker").get<std::string>();
  for (const Checker one : {Checker::memory, Checker::initialization, Checker::race, Checker::synchronization}) {
    if (checker_name(one) == checker) finding.checker = one;
  }
  const auto place = [&json](const char* name) {
    const nlohmann::ordered_json& of = json.at(name);
    return Dim3{of.at(0).get<unsigned>(), of.at(1).get<unsigned>(), of.at(2).get<unsigned>()};
  };
  finding.problem = json.at("problem").get<std::string>();
  finding.kernel = json.at("kernel").get<std::string>();
  finding.opcode = json.at("opcode").get<std::string>();
  finding.ptx_line = json.at("ptx_line").get<int>();
  finding.source_file = json.at("source_file").get<std::string>();
  finding.source_line = json.at("source_line").get<int>();
  finding.block = place("block");
  finding.thread = place("thread");
  finding.space = json.at("space").get<std::string>();
  finding.address = json.at("address").get<std::uint64_t>();
  finding.allocation = json.at("allocation").get<std::string>();
  finding.count = json.at("count").get<std::uint64_t>();
  return finding;
}

}  // namespace convladder::simulated
