#include "variants/convolution/cuda_variant.hpp"

#include <utility>

#include "variants/convolution/tunable_cuda_variant.hpp"
#include "variants/launch_variant.hpp"

namespace convladder {
namespace {

/// Turns a function of a shape into one of a size; an empty function stays empty.
template <typename Result, typename... More>
std::function<Result(const ProblemSize&, More...)> of_size(std::function<Result(const ConvShape&, More...)> of_shape) {
  if (!of_shape) return nullptr;
  return [of_shape = std::move(of_shape)](const ProblemSize& size, More... more) {
    return of_shape(conv_shape(size), more...);
  };
}

LaunchParts launch_parts(const ConfiguredCudaParts& parts) {
  return {.plan =
              [plan = parts.plan](const ProblemSize& size, const ProblemTensors& tensors, float* workspace) {
                return plan(conv_shape(size), {tensors.input(), tensors.constant(), tensors.output(), workspace});
              },
          .unsupported = of_size(parts.unsupported),
          .pack = of_size(parts.pack),
          .choice = parts.choice ? of_size(parts.choice) : [](const ProblemSize& /*size*/) { return std::string(); },
          .workspace = of_size(std::function<std::size_t(const ConvShape&)>(parts.workspace)),
          .tolerance = parts.tolerance,
          .suits = [suits = parts.suits](const ProblemSize& /*size*/) { return suits; }};
}

}  // namespace

const Variant& cuda_variant(const CudaVariantParts& parts) {
  return launch_variant(launch_parts({.plan = parts.plan,
                                      .unsupported = parts.unsupported,
                                      .pack = parts.pack,
                                      .choice = parts.choice,
                                      .workspace = parts.workspace,
                                      .tolerance = parts.tolerance,
                                      .suits = parts.suits}));
}

const Variant& cuda_variant(LaunchPlan plan, UnsupportedReason unsupported) {
  return cuda_variant({.plan = plan, .unsupported = unsupported});
}

const Variant& tunable_cuda_variant(const TunableCudaParts& parts) {
  return launch_variant(TunableLaunchParts{
      .parts = [of_wanted = parts.parts](const Configuration& wanted) { return launch_parts(of_wanted(wanted)); },
      .configurations = of_size(parts.configurations),
      .impossible = of_size(parts.impossible)});
}

}  // namespace convladder
