#include "harness/measure/plan/shape_argument.hpp"

#include <fmt/format.h>

#include <vector>

#include "support/errors.hpp"
#include "support/split.hpp"
#include "support/whole_number.hpp"

namespace convladder {
namespace {

constexpr int kLargestSide = 1 << 20;

}  // namespace

ConvShape parse_shape(const std::string& text) {
  std::vector<int> numbers;
  for (const std::string& part : split(text, ',')) {
    numbers.push_back(parse_whole_number("--shape " + text, part, 0, kLargestSide));
  }
  if (numbers.size() < 5 || numbers.size() > 7) {
    throw UserError(
        fmt::format("--shape {}: expected C,H,W,M,K[,stride[,padding]], got {} numbers", text, numbers.size()));
  }
  numbers.resize(7, -1);
  ConvShape shape{.batch = 1,
                  .in_channels = numbers[0],
                  .height = numbers[1],
                  .width = numbers[2],
                  .out_channels = numbers[3],
                  .kernel = numbers[4],
                  .stride = numbers[5] < 0 ? 1 : numbers[5],
                  .padding = numbers[6] < 0 ? 0 : numbers[6],
                  .groups = 1};
  if (const std::string error = shape_error(shape); !error.empty()) {
    throw UserError(fmt::format("--shape {}: {}", text, error));
  }
  return shape;
}

}  // namespace convladder
