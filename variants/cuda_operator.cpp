#include "variants/cuda_operator.hpp"

#include "devices/kernel_resources.hpp"
#include "variants/launch_limits.hpp"
#include "variants/layer_operator.hpp"

namespace convladder {
namespace {

class PreparedCudaOperator final : public PreparedOperator {
 public:
  PreparedCudaOperator(Device& device, std::vector<KernelLaunch> launches)
      : device_(device), launches_(std::move(launches)) {}
  void run() override {
    for (const KernelLaunch& launch : launches_) device_.launch(launch);
  }
  std::string choice() const override { return kernel_display_names(launches_); }

 private:
  Device& device_;
  std::vector<KernelLaunch> launches_;
};

class CudaOperator final : public LayerOperator {
 public:
  CudaOperator(OperatorLaunchPlan plan, double tolerance) : plan_(plan), tolerance_(tolerance) {}

  std::string unsupported_reason(const OperatorShape& shape) const override {
    for (const KernelLaunch& launch : plan_(shape, {})) {
      if (std::string error = grid_error(launch.grid); !error.empty()) return error;
    }
    return {};
  }
  std::unique_ptr<PreparedOperator> prepare(Device& device, const OperatorShape& shape,
                                            const OperatorTensors& tensors) const override {
    return std::make_unique<PreparedCudaOperator>(device, plan_(shape, tensors));
  }
  std::vector<KernelLaunch> launch_plan(const OperatorShape& shape) const override { return plan_(shape, {}); }
  double tolerance() const override { return tolerance_; }

 private:
  OperatorLaunchPlan plan_;
  double tolerance_;
};

}  // namespace

const LayerOperator& cuda_operator(OperatorLaunchPlan plan, double tolerance) {
  return keep_operator(std::make_unique<CudaOperator>(plan, tolerance));
}

// Every block has at least one element of a tensor in memory: fewer than 2^31 of them on any GPU there is.
Dim3 element_grid(std::size_t elements) { return {static_cast<unsigned>((elements - 1) / kElementThreads + 1), 1, 1}; }

Dim3 image_grid(int batch, std::size_t elements) {
  return {static_cast<unsigned>(batch) * static_cast<unsigned>(blocks_per_image(elements)), 1, 1};
}

int blocks_per_image(std::size_t elements) { return ceil_div(static_cast<int>(elements), kElementThreads); }

}  // namespace convladder
