// Shapes and launch dimensions as lists of their numbers.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "devices/device.hpp"
#include "variants/convolution/conv_shape.hpp"
#include "variants/problem.hpp"

namespace convladder {

/// [x, y, z]
inline nlohmann::ordered_json dim_json(const Dim3& dim) { return {dim.x, dim.y, dim.z}; }

/// In the order of ConvShape's fields.
inline nlohmann::ordered_json shape_to_list(const ConvShape& s) {
  return {s.batch, s.in_channels, s.height, s.width, s.out_channels, s.kernel, s.stride, s.padding, s.groups};
}

/// Throws std::exception if the list is not one.
inline ConvShape shape_from_list(const nlohmann::ordered_json& list) {
  const auto n = list.get<std::vector<int>>();
  return {n.at(0), n.at(1), n.at(2), n.at(3), n.at(4), n.at(5), n.at(6), n.at(7), n.at(8)};
}

/// Batch and values: of a convolution the same list as above.
inline nlohmann::ordered_json size_to_list(const ProblemSize& size) {
  nlohmann::ordered_json list = {size.batch};
  for (const int value : size.values) list.push_back(value);
  return list;
}

/// Throws std::exception if the list is not one.
inline ProblemSize size_from_list(const Problem& problem, const nlohmann::ordered_json& list) {
  const auto numbers = list.get<std::vector<int>>();
  return {&problem, numbers.at(0), {numbers.begin() + 1, numbers.end()}};
}

/// The size of a record's case. Throws std::exception where it has none, or one of a problem that is not known.
inline ProblemSize recorded_size(const nlohmann::ordered_json& one_case) {
  const Problem* const problem = find_problem(one_case.value("problem", "convolution"));
  if (problem == nullptr) throw std::invalid_argument("an unknown problem");
  ProblemSize size{problem, one_case.at("batch").get<int>(), {}};
  for (const Dimension& one : problem->dimensions()) {
    size.values.push_back(one_case.at("shape").at(std::string(one.name)).get<int>());
  }
  return size;
}

/// What a record's case says of its layer. Throws std::exception where it does not.
inline ConvShape recorded_shape(const nlohmann::ordered_json& one_case) {
  const nlohmann::ordered_json& shape = one_case.at("shape");
  const auto number = [&shape](const char* name) { return shape.at(name).get<int>(); };
  return {one_case.at("batch").get<int>(),
          number("in_channels"),
          number("height"),
          number("width"),
          number("out_channels"),
          number("kernel"),
          number("stride"),
          number("padding"),
          number("groups")};
}

}  // namespace convladder
