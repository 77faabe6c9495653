#include "variants/convolution/cpu_variant.hpp"

#include "variants/function_variant.hpp"

namespace convladder {

const Variant& cpu_variant(CpuConvolution convolution, UnsupportedReason unsupported) {
  FunctionParts parts{.ready = [convolution](const ProblemSize& size, const ProblemTensors& tensors) -> ReadyCall {
    return [convolution, shape = conv_shape(size), input = tensors.input(), weights = tensors.constant(),
            output = tensors.output()] { convolution(shape, input, weights, output); };
  }};
  if (unsupported != nullptr) {
    parts.unsupported = [unsupported](const ProblemSize& size) { return unsupported(conv_shape(size)); };
  }
  return function_variant(std::move(parts));
}

}  // namespace convladder
