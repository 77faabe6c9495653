// From options to cases: which are to be run, in which order, and which cannot be.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/measure/isolation/status.hpp"
#include "harness/measure/plan/options.hpp"
#include "network/network.hpp"
#include "variants/problem.hpp"
#include "variants/variant.hpp"

namespace convladder {

class NetworkProblem;

/// The work of a case: a size of a problem, or a layer of a network, and where its input comes from.
struct LayerWork {
  std::string network;  ///< "lenet72", "shape" for a shape given on the command line, or another problem's name
  std::string layer;    ///< "conv1", or the shape's short name
  const Network* source = nullptr;  ///< null for a size from the command line
  std::size_t layer_index = 0;      ///< in source->layers
  ProblemSize shape;                ///< with the batch

  std::string name() const { return network + "." + layer; }
};

/// The problem that the options name. Throws UserError, nearest names first, if there is no such problem. Where it is a
/// folder, its contents are compiled.
const Problem& problem_of(const RunOptions& options);

/// The problem's variants and, above them, the stages from outside that the options name. Throws UserError.
std::vector<ProblemVariant> planned_variants(const RunOptions& options);

/// Whether the work takes the input and the weights of a convolution: one alone, or in the network layers that a fused
/// variant takes together.
bool takes_convolution_data(const LayerWork& work);

/// The network that the work is as a whole; nullptr for a size of any other problem.
const NetworkProblem* network_of(const LayerWork& work);

/// "images" of a data set as they are, "upstream activations" or "random".
std::string input_kind(const LayerWork& work);

/// Variant x size x device: the unit that is verified, measured, recorded, skipped or failed.
struct PlannedCase {
  std::string id;  ///< device/variant/network.layer/batch
  ProblemVariant variant;
  std::string device;
  LayerWork work;
  std::string skipped;                ///< why it is not run on this machine; empty if it is
  std::string unsupported;            ///< why the variant cannot run this shape; empty if it can
  std::string does_not_compile = {};  ///< why it has no code; empty if it has
  std::string untimed = {};           ///< why it is verified but not timed; empty if it is timed
  bool has_clock = true;              ///< whether the device times; if not, it counts
  std::string configuration = {};     ///< the configuration given to `variant`; empty for one from the registry
  bool contends =
      false;  ///< whether it stops as soon as another that contends is surely faster: only the best is asked for
  bool runs() const { return skipped.empty() && unsupported.empty() && does_not_compile.empty(); }
};

struct NotRun {
  Status status = Status::skipped;
  std::string reason;
};

/// Why a planned case with `runs()` false is not run: a case of one layer, a network, or a fused variant.
template <typename Planned>
NotRun why_not_run(const Planned& planned) {
  if (!planned.skipped.empty()) return {Status::skipped, planned.skipped};
  if constexpr (requires { planned.does_not_compile; }) {
    if (!planned.does_not_compile.empty()) return {Status::does_not_compile, planned.does_not_compile};
  }
  return {Status::unsupported, planned.unsupported};
}

/// Cases that share layer, batch and device: measured side by side, on the same input.
struct CaseGroup {
  LayerWork work;
  std::string device;
  std::vector<PlannedCase> cases;
  bool has_clock = true;  ///< whether the device times; if not, it counts, and executes kCountedImages of a batch
};

/// Without `--batch` the batches are the problem's default ones, as long as the work of one call stays below this.
inline constexpr double kDefaultWorkLimit = 10e9;  ///< floating-point operations
/// As `kDefaultWorkLimit`, for a run without any choice, which has to end soon.
inline constexpr double kSelectionWorkLimit = 3e9;

/// Images of a batch that a device without a clock executes; the others behave in the same way.
inline constexpr int kCountedImages = 8;

/// All groups, by device, layer and batch, also those for which the memory does not suffice now (cases_at_a_time.hpp).
/// Throws UserError for unknown names (nearest first) and for filters that leave nothing.
std::vector<CaseGroup> make_plan(const RunOptions& options);
/// As `make_plan` with options alone, for a problem that is open already, whatever the options call it.
std::vector<CaseGroup> make_plan(const Problem& problem, const RunOptions& options);
/// As `make_plan` for a problem, with these variants of it and no others. They outlive the plan.
std::vector<CaseGroup> make_plan(const Problem& problem, const std::vector<ProblemVariant>& all,
                                 const RunOptions& options);

/// Bytes that a case holds on its device: input, weights and output, as much again for a layout of the variant's own,
/// and the memory that the problem may need between its steps.
double case_bytes(const ProblemSize& shape);

}  // namespace convladder
