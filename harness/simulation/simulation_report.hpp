// What `convladder simulate` says of a launch: as text for people, as JSON, and buffers as files.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "devices/device.hpp"
#include "devices/simulated/checkers/finding.hpp"
#include "support/element_type.hpp"

namespace convladder {

/// A buffer as the kernel left it.
struct BufferContent {
  std::string name;
  bool is_result = true;  ///< out and inout; an input is written to files only
  ElementType type = ElementType::f32;
  std::vector<std::size_t> shape;
  std::vector<std::byte> bytes;
};

struct SimulationReport {
  std::string kernel;        ///< as in the PTX
  std::string display_name;  ///< as written in the source
  Dim3 grid;
  Dim3 block;
  std::size_t dynamic_shared_bytes = 0;
  std::vector<BufferContent> buffers;
  std::string printed{};  ///< by the kernel
  std::vector<KernelCounters> counters;
  std::vector<simulated::Finding> findings;
  std::string fault;    ///< what ended the kernel, empty if it came to its end
  std::string stopped;  ///< likewise, which limit: all else is how far it was then
};

nlohmann::ordered_json finding_json(const simulated::Finding& finding);

/// Everything, with all values of the result buffers.
nlohmann::ordered_json to_json(const SimulationReport& report);

/// Result buffers by their first and last values, the counters that are not 0, and the findings.
void print_report(const SimulationReport& report);

/// The content of a .bin, .npy or .json file, by the ending of `file`; throws UserError for another ending.
std::vector<std::byte> buffer_file(const BufferContent& buffer, const std::string& file);

}  // namespace convladder
