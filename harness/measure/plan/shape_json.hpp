// Shapes and launch dimensions as lists of their numbers.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "devices/device.hpp"
#include "support/json_place.hpp"
#include "variants/convolution/conv_shape.hpp"
#include "variants/problem.hpp"

namespace convladder {

/// A launch dimension as [x, y, z].
inline nlohmann::ordered_json dim_json(const Dim3& dim) { return {dim.x, dim.y, dim.z}; }

/// Reads [x, y, z]. Throws UserError.
inline Dim3 read_dim(const JsonPlace& place) {
  const std::vector<unsigned> n = place.wholes(0U, 0x7fffffffU, 3);
  return {n[0], n[1], n[2]};
}

/// A shape as a list, in the order of ConvShape's fields.
inline nlohmann::ordered_json shape_to_list(const ConvShape& s) {
  return {s.batch, s.in_channels, s.height, s.width, s.out_channels, s.kernel, s.stride, s.padding, s.groups};
}

/// Reads a list written by `shape_to_list`. Throws UserError; whether the shape is possible is not checked.
inline ConvShape read_shape(const JsonPlace& list) {
  const std::vector<int> n = list.wholes(0, 1 << 30, 9);
  return {n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8]};
}

/// A size as a list of batch and values: for a convolution, the list that `shape_to_list` makes.
inline nlohmann::ordered_json size_to_list(const ProblemSize& size) {
  nlohmann::ordered_json list = {size.batch};
  for (const int value : size.values) list.push_back(value);
  return list;
}

/// Reads a list written by `size_to_list`. Throws std::exception if the list is not one.
inline ProblemSize size_from_list(const Problem& problem, const nlohmann::ordered_json& list) {
  const auto numbers = list.get<std::vector<int>>();
  return {&problem, numbers.at(0), {numbers.begin() + 1, numbers.end()}};
}

/// The size of a record's case; none if this program does not have the problem, which may be a folder's that has the
/// name of a built-in one. Throws UserError.
inline std::optional<ProblemSize> recorded_size(const JsonPlace& one_case) {
  const bool convolves = !one_case.has("problem");
  const Problem* const problem = find_problem(convolves ? std::string(kDefaultProblem) : one_case.at("problem").text());
  if (problem == nullptr) return std::nullopt;
  ProblemSize size{problem, one_case.at("batch").count(), {}};
  const JsonPlace shape = one_case.at("shape");
  for (const Dimension& one : problem->dimensions()) {
    if (!convolves && !shape.has(one.name)) return std::nullopt;
    size.values.push_back(shape.at(one.name).count());
  }
  return size;
}

}  // namespace convladder
