// The operators' part of `convladder check`: the layers around the convolution under the checkers.
#pragma once

#include <string>
#include <vector>

#include "harness/simulation/checked_case.hpp"
#include "variants/layer_operator.hpp"

namespace convladder {

/// An operator of a network's layer.
struct OperatorWork {
  std::string layer;  ///< "lenet72.pool1", the first layer with that shape
  OperatorShape shape;
};

/// The operators of the networks' layers, each shape once a batch; of the named types only, where some are named.
/// Throws UserError for a name that is no type.
std::vector<OperatorWork> operator_works(const std::vector<std::string>& networks,
                                         const std::vector<std::string>& types, const std::vector<int>& batches);

/// Every operator of family cuda that has kernels of ours, from every compiler's PTX, on all cores; those that the
/// settings take.
std::vector<CheckedCase> check_operators(const OperatorWork& work, const CheckSettings& settings);

}  // namespace convladder
