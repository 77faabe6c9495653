// The report of `convladder simulate` on a launch: for people, and buffers as files.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "devices/device.hpp"
#include "harness/measure/simulation/kernel_lines.hpp"
#include "simulator/state/finding.hpp"
#include "simulator/state/orders_tried.hpp"
#include "support/element_type.hpp"
#include "support/report.hpp"

namespace convladder {

/// A buffer as the kernel left it.
struct BufferContent {
  std::string name;
  bool is_result = true;  ///< out and inout; an input is written to files only
  ElementType type = ElementType::f32;
  std::vector<std::size_t> shape;
  std::vector<std::byte> bytes;
};

/// Whether a buffer or a variable holds the expected values.
struct ExpectationOutcome {
  std::string text;  ///< as written
  std::string name;
  std::size_t elements = 0;
  std::size_t wrong = 0;
  double largest_difference = 0;  ///< over all elements where it is finite

  // The first element that is wrong.
  std::size_t first_wrong = 0;
  std::vector<std::size_t> first_index;  ///< along each size of the shape
  std::string first_found;
  std::string first_expected;

  bool met() const { return wrong == 0; }
};

struct SimulationReport {
  std::string kernel;        ///< as in the PTX
  std::string display_name;  ///< as written in the source
  Dim3 grid;
  Dim3 block;
  std::size_t dynamic_shared_bytes = 0;
  std::vector<BufferContent> buffers;
  std::string printed{};   ///< by the kernel
  bool is_counted = true;  ///< whether there are counters
  std::vector<KernelCounters> counters;
  std::vector<simulated::Finding> findings;
  simulated::OrdersTried orders{};  ///< of the launch, and of those by it
  std::string fault;                ///< what ended the kernel, empty if it ran to its end
  std::string stopped;  ///< the limit that ended the kernel early, with all else as it was then; empty without one
  std::vector<ExpectationOutcome> expectations;
  std::vector<KernelLines> lines{};  ///< of the kernel, and of those that it has launched; empty: nobody asked
};

/// A counter's value for people: sums with their thousands separated, ratios with three decimals.
std::string counter_text(std::string_view name, double value);
/// "transpose: 2x3x1 blocks of 32x8x1 threads"
std::string launch_title(const SimulationReport& report);
/// Adds the text that the kernel printed, if it printed any.
void add_printed(Report& report, const SimulationReport& simulated);
/// Adds the problems of a launch, in indented lines: wrong values, a limit, findings, a fault. Nothing if all is well.
void add_remarks(ReportSection& section, const SimulationReport& report);

/// Result buffers by their first and last values, the counters that are not 0, and the findings.
Report simulation_report(const SimulationReport& simulated);

/// The content of a .bin, .npy or .json file, by the ending of `file`; throws UserError for another ending.
std::vector<std::byte> buffer_file(const BufferContent& buffer, const std::string& file);

}  // namespace convladder
