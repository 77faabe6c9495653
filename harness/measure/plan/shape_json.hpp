// Shapes and launch dimensions as lists of their numbers.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "devices/device.hpp"
#include "support/json_place.hpp"
#include "variants/problem.hpp"

namespace convladder {

/// A launch dimension as [x, y, z].
nlohmann::ordered_json dim_json(const Dim3& dim);

/// Reads [x, y, z]. Throws UserError.
Dim3 read_dim(const JsonPlace& place);

/// A size as a list of batch and values.
nlohmann::ordered_json size_to_list(const ProblemSize& size);

/// Reads a list written by `size_to_list`. Throws UserError; whether the size is possible is not checked.
ProblemSize read_size(const Problem& problem, const JsonPlace& list);

}  // namespace convladder
