// How an operator's source file registers it.
//
// nvcc reads this with every kernel, and each standard header several times: few are included.
#pragma once

#include <string_view>

#include "variants/operator_shape.hpp"

namespace convladder {

class LayerOperator;

/// What a registration says about its operator. All texts live as long as the program.
struct OperatorInfo {
  std::string_view family;  ///< "cpu" or "cuda"
  OperatorType type = OperatorType::relu;
  std::string_view name;         ///< unique among the family's operators of the type, as typed: "warp-per-output"
  std::string_view title;        ///< as drawn
  bool library = false;          ///< whether the work is a library's
  std::string_view description;  ///< one sentence: how it works
  bool preferred = false;        ///< networks use it though it is not the first of its type
};

/// A static object of this type in an operator's source file registers it. The implementation lives as long as the
/// program.
struct OperatorRegistration {
  OperatorRegistration(const OperatorInfo& info, const LayerOperator& implementation);
};

}  // namespace convladder
