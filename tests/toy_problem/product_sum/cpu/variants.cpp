// Three loops; and the same, wrong on purpose in one way each.
#include <cmath>
#include <vector>

#include "variants/function_variant.hpp"

namespace convladder {
namespace {

enum class Wrong { nothing, never_writes, zeros, ignores_b, ignores_c, keeps_answer, overwrites_c, not_a_number };

template <Wrong kWrong>
void multiply(const ProblemSize& size, const ProblemTensors& tensors) {
  const std::ptrdiff_t m = size.at("M");
  const std::ptrdiff_t n = size.at("N");
  const std::ptrdiff_t k = size.at("K");
  const Half* const a = tensors.input<Half>(0);
  const Half* const b = tensors.input<Half>(1);
  const Half* const c = tensors.input<Half>(2);
  float* const d = tensors.output();
  static std::vector<float> kept;
  if (kWrong == Wrong::keeps_answer && kept.size() == static_cast<std::size_t>(size.batch * m * n)) {
    std::copy(kept.begin(), kept.end(), d);
    return;
  }
  for (std::ptrdiff_t item = 0; item < size.batch; ++item) {
    for (std::ptrdiff_t at = 0; at < m * n; ++at) {
      float sum = kWrong == Wrong::ignores_c ? 0 : simulated::to_float(c[item * m * n + at]);
      for (std::ptrdiff_t i = 0; i < k; ++i) {
        const float factor = simulated::to_float(b[item * k * n + i * n + at % n]);
        sum += simulated::to_float(a[item * m * k + at / n * k + i]) * (kWrong == Wrong::ignores_b ? 1 : factor);
      }
      if (kWrong == Wrong::zeros) sum = 0;
      if (kWrong == Wrong::not_a_number && at == m * n - 1) sum = std::nanf("");
      if (kWrong == Wrong::never_writes && at == m * n - 1 && item == size.batch - 1) continue;
      d[item * m * n + at] = sum;
    }
  }
  if (kWrong == Wrong::keeps_answer) kept.assign(d, d + size.batch * m * n);
  if (kWrong == Wrong::overwrites_c) const_cast<Half*>(c)[m * n - 1].bits ^= 1U;
}

VariantRegistration variant(int rung, std::string_view name, VariantFunction function) {
  return {"product-sum",
          {.family = "cpu", .rung = rung, .name = name, .title = name, .builds_on = "", .hypothesis = "A test."},
          function_variant(function)};
}

const VariantRegistration registrations[] = {variant(1, "loops", multiply<Wrong::nothing>),
                                             variant(90, "never-writes", multiply<Wrong::never_writes>),
                                             variant(91, "zeros", multiply<Wrong::zeros>),
                                             variant(92, "ignores-b", multiply<Wrong::ignores_b>),
                                             variant(93, "ignores-c", multiply<Wrong::ignores_c>),
                                             variant(94, "keeps-answer", multiply<Wrong::keeps_answer>),
                                             variant(95, "overwrites-c", multiply<Wrong::overwrites_c>),
                                             variant(96, "not-a-number", multiply<Wrong::not_a_number>)};

}  // namespace
}  // namespace convladder
