// Counting for the counter gate: every CUDA variant on every convolution layer of a network, from the PTX of every
// compiler in this build.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "devices/ptx_images.hpp"
#include "harness/judge/gate/baseline_file.hpp"
#include "harness/measure/plan/options.hpp"
#include "network/network.hpp"

namespace convladder {

/// A case as this program counts it now.
struct CountedCase {
  BaselineCase baseline;
  std::string failure;  ///< why it could not be counted; then the baseline's kernels are empty
};

/// Floating-point operations of one image in all of the network's convolutions.
double convolution_flop(const Network& network);

/// Images per call that are counted: 8 where that is quick, fewer for large networks, at least 1. Nothing is scaled:
/// all of them are executed.
int baseline_batch(const Network& network);

/// Whether counting the network takes minutes; such networks are counted only on request.
bool counts_slowly(const Network& network);

/// This build's compilers with these names, or all if there are none. Throws UserError for a name that is not one of
/// them, and if this build has no PTX at all.
std::vector<const PtxImages*> selected_compilers(const std::vector<std::string>& names);

/// Counts on all cores, layer by layer; `begin` is told each layer. `network` is as typed on the command line. An empty
/// list of variants means all on the ladder. Throws UserError for unknown names.
std::vector<CountedCase> count_network(const std::string& network, const std::vector<std::string>& variants,
                                       const std::vector<const PtxImages*>& compilers,
                                       const std::function<void(const std::string& layer)>& begin);

/// Counts the CUDA stages of a folder (`options.ladder`) on its counted sizes, each in a process of its own. Throws
/// UserError where it has none, or they cannot be counted here.
std::vector<CountedCase> count_folder(const RunOptions& options,
                                      const std::function<void(const std::string& size)>& begin);

}  // namespace convladder
