#include "variants/cpu_operator.hpp"

#include "variants/layer_operator.hpp"

namespace convladder {
namespace {

class PreparedCpuOperator final : public PreparedOperator {
 public:
  PreparedCpuOperator(CpuOperatorFunction function, const OperatorShape& shape, const OperatorTensors& tensors)
      : function_(function), shape_(shape), tensors_(tensors) {}
  void run() override { function_(shape_, tensors_); }

 private:
  CpuOperatorFunction function_;
  OperatorShape shape_;
  OperatorTensors tensors_;
};

class CpuOperator final : public LayerOperator {
 public:
  CpuOperator(CpuOperatorFunction function, double tolerance) : function_(function), tolerance_(tolerance) {}

  std::unique_ptr<PreparedOperator> prepare(Device& /*device*/, const OperatorShape& shape,
                                            const OperatorTensors& tensors) const override {
    return std::make_unique<PreparedCpuOperator>(function_, shape, tensors);
  }
  double tolerance() const override { return tolerance_; }

 private:
  CpuOperatorFunction function_;
  double tolerance_;
};

}  // namespace

const LayerOperator& cpu_operator(CpuOperatorFunction function, double tolerance) {
  return keep_operator(std::make_unique<CpuOperator>(function, tolerance));
}

}  // namespace convladder
