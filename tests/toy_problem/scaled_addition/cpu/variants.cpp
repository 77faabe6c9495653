// A loop; and the same, wrong on purpose in one way each.
#include <limits>
#include <vector>

#include "variants/function_variant.hpp"

namespace convladder {
namespace {

enum class Wrong {
  nothing,
  twice,
  nothing_written,
  one_left,
  overwrites_x,
  keeps_answer,
  zeros,
  in_float,
  not_a_number
};

template <Wrong kWrong>
void add(const ProblemSize& size, const ProblemTensors& tensors) {
  const double a = tensors.constant<double>()[0];
  const double* const x = tensors.input<double>();
  double* const y = tensors.in_out<double>();
  const std::int64_t elements = std::int64_t{size.batch} * size.at("N");
  static std::vector<double> kept;
  if (kWrong == Wrong::nothing_written) return;
  if (kWrong == Wrong::keeps_answer && kept.size() == static_cast<std::size_t>(elements)) {
    std::copy(kept.begin(), kept.end(), y);
    return;
  }
  for (std::int64_t i = 0; i < elements; ++i) {
    if (kWrong == Wrong::one_left && i == elements - 1) continue;
    y[i] = a * x[i] + y[i];
    if (kWrong == Wrong::twice) y[i] = a * x[i] + y[i];
    if (kWrong == Wrong::zeros) y[i] = 0;
    if (kWrong == Wrong::in_float) y[i] = static_cast<float>(y[i]);
    if (kWrong == Wrong::not_a_number && i == elements - 1) y[i] = std::numeric_limits<double>::quiet_NaN();
  }
  if (kWrong == Wrong::keeps_answer) kept.assign(y, y + elements);
  if (kWrong == Wrong::overwrites_x) const_cast<double*>(x)[elements - 1] += 1;
}

VariantRegistration variant(int rung, std::string_view name, VariantFunction function) {
  return {"scaled-addition",
          {.family = "cpu", .rung = rung, .name = name, .title = name, .builds_on = "", .hypothesis = "A test."},
          function_variant(function)};
}

const VariantRegistration registrations[] = {variant(1, "loop", add<Wrong::nothing>),
                                             variant(90, "adds-twice", add<Wrong::twice>),
                                             variant(91, "does-nothing", add<Wrong::nothing_written>),
                                             variant(92, "leaves-one", add<Wrong::one_left>),
                                             variant(93, "overwrites-x", add<Wrong::overwrites_x>),
                                             variant(94, "keeps-answer", add<Wrong::keeps_answer>),
                                             variant(95, "zeros", add<Wrong::zeros>),
                                             variant(96, "in-float", add<Wrong::in_float>),
                                             variant(97, "not-a-number", add<Wrong::not_a_number>)};

}  // namespace
}  // namespace convladder
