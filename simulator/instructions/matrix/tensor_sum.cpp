#include "simulator/instructions/matrix/tensor_sum.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "support/half.hpp"

namespace convladder::simulated {
namespace {

constexpr int kMostProducts = 32;  // of a group
constexpr int kFloatFraction = 23;

bool is_fp8(const TensorSum& how) { return element_bits(how.left) == 8; }

int group_of(const TensorSum& how) {
  if (is_fp8(how)) return kMostProducts;
  const int of_tf32 = how.cores == TensorCores::a100 ? 4 : 8;
  return how.left == ElementType::tf32 ? of_tf32 : 2 * of_tf32;
}

/// The number of bits that are kept after the binary point at the largest exponent.
int kept_bits(const TensorSum& how) {
  if (is_fp8(how)) return 13;
  return kFloatFraction + (how.cores == TensorCores::a100 ? 1 : 2);
}

/// The smallest exponent of a type, which smaller numbers take as well.
int smallest_exponent(ElementType type) {
  switch (type) {
    case ElementType::f16:
    case ElementType::e5m2:
      return -14;
    case ElementType::e4m3:
      return -6;
    default:
      return -126;
  }
}

int exponent_of(float value, ElementType type) { return std::max(std::ilogb(value), smallest_exponent(type)); }

/// value / 2^exponent without its fraction. |value| / 2^exponent < 2^31.
std::int64_t cut(double value, int exponent) { return static_cast<std::int64_t>(std::ldexp(value, -exponent)); }

/// sum * 2^exponent in float32, rounded toward zero; |sum| is at most 2^40.
float toward_zero(std::int64_t sum, int exponent) {
  const double exact = std::ldexp(static_cast<double>(sum), exponent);
  const auto nearest = static_cast<float>(exact);
  if (std::isinf(nearest) || std::abs(static_cast<double>(nearest)) <= std::abs(exact)) return nearest;
  return std::nextafter(nearest, 0.0F);
}

float sum_of_group(const TensorSum& how, float sum, const float* left, const float* right, int count) {
  std::array<double, kMostProducts> products{};
  constexpr int kNone = -100000;
  int largest = sum == 0 ? kNone : exponent_of(sum, how.sum);
  float plain = sum;  // used for results that are not finite
  for (int i = 0; i < count; ++i) {
    products.data()[i] = static_cast<double>(left[i]) * static_cast<double>(right[i]);
    plain += left[i] * right[i];
    if (products.data()[i] == 0 || !std::isfinite(products.data()[i])) continue;
    largest = std::max(largest, exponent_of(left[i], how.left) + exponent_of(right[i], how.right));
  }
  const auto is_finite = [](double value) { return std::isfinite(value); };
  if (!std::isfinite(sum) || !std::all_of(products.begin(), products.begin() + count, is_finite)) return plain;
  if (largest == kNone) return plain;
  const int last_bit = largest - kept_bits(how);
  std::int64_t total = cut(sum, last_bit);
  for (int i = 0; i < count; ++i) total += cut(products.data()[i], last_bit);
  if (how.sum != ElementType::f16) return toward_zero(total, last_bit);
  return to_float(round_to<Half>(std::ldexp(static_cast<double>(total), last_bit)));
}

}  // namespace

float tensor_sum(const TensorSum& how, float sum, const float* left, const float* right, int count) {
  const int group = group_of(how);
  for (int first = 0; first < count; first += group) {
    sum = sum_of_group(how, sum, left + first, right + first, std::min(group, count - first));
  }
  return sum;
}

}  // namespace convladder::simulated
