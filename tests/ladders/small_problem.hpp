// The least that a problem.json can say.
#pragma once

namespace convladder {

inline constexpr const char* kSmallProblem = R"({
  "name": "scale", "dimensions": {"N": {"name": "elements"}}, "sizes": ["N10"], "work": {"flop": "N"}, "tensors": [
  {"name": "x", "role": "in", "type": "f32", "shape": ["N"]},
  {"name": "y", "role": "out", "type": "f32", "shape": ["N"], "compare": "exact"}]})";

}  // namespace convladder
