// A finding as it stands in every JSON output.
#pragma once

#include <nlohmann/json.hpp>

#include "devices/simulated/checkers/finding.hpp"

namespace convladder::simulated {

/// All fields of Finding by their names; block and thread as [x, y, z].
inline nlohmann::ordered_json finding_json(const Finding& finding) {
  return {{"checker", checker_name(finding.checker)},
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
          {"count", finding.count}};
}

}  // namespace convladder::simulated
