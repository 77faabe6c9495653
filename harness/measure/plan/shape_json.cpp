#include "harness/measure/plan/shape_json.hpp"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace convladder {

using nlohmann::ordered_json;

ordered_json dim_json(const Dim3& dim) { return {dim.x, dim.y, dim.z}; }

Dim3 read_dim(const JsonPlace& place) {
  const std::vector<unsigned> n = place.wholes(0U, 0x7fffffffU, 3);
  return {n[0], n[1], n[2]};
}

ordered_json size_to_list(const ProblemSize& size) {
  ordered_json list = {size.batch};
  for (const int value : size.values) list.push_back(value);
  return list;
}

ProblemSize read_size(const Problem& problem, const JsonPlace& list) {
  const std::vector<int> numbers = list.wholes(0, 1 << 30, 1 + problem.dimensions().size());
  return {&problem, numbers.front(), {numbers.begin() + 1, numbers.end()}};
}

}  // namespace convladder
