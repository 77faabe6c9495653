// The contract: what an operator is, the work of one layer around the convolution on one family of devices.
//
// An operator is one source file: the kernel or loop, and one registration. Network runner, command line and tests
// are derived from the registration. See docs/adding_an_operator.md; `cpu_operator.hpp` and `cuda_operator.hpp` make
// the registration a few lines long.
//
// Tensors are NCHW float32 on the device, one image's elements behind the other. A NaN is never hidden: an output that
// any NaN of the input takes part in is NaN.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "devices/device.hpp"
#include "variants/operator_registration.hpp"
#include "variants/operator_shape.hpp"

namespace convladder {

/// An operator made ready for one shape and one set of tensors, which outlive it, as the device does.
class PreparedOperator {
 public:
  PreparedOperator() = default;
  PreparedOperator(const PreparedOperator&) = delete;
  PreparedOperator& operator=(const PreparedOperator&) = delete;
  virtual ~PreparedOperator() = default;

  /// Enqueues the work on the device, behind what was enqueued before; the caller waits. Every element of the output
  /// is written. Throws DeviceError where the device refuses.
  virtual void run() = 0;
  /// What `prepare` chose, for the record: an implementation, a tile. Empty if there was nothing to choose.
  virtual std::string choice() const { return {}; }
};

/// One implementation of an operator. Stateless: one object serves every layer.
class LayerOperator {
 public:
  LayerOperator() = default;
  LayerOperator(const LayerOperator&) = delete;
  LayerOperator& operator=(const LayerOperator&) = delete;
  virtual ~LayerOperator() = default;

  /// Empty if it can run the shape, which is one without an `operator_shape_error`; otherwise why not, in one line.
  virtual std::string unsupported_reason(const OperatorShape& shape) const {
    static_cast<void>(shape);
    return {};
  }
  /// Makes it ready. Throws DeviceError where the device refuses.
  virtual std::unique_ptr<PreparedOperator> prepare(Device& device, const OperatorShape& shape,
                                                    const OperatorTensors& tensors) const = 0;
  /// The kernels one `run` launches, in order, without a device; addresses in the arguments are null. Empty for
  /// operators that launch none of ours: those of a library run on no simulated device.
  virtual std::vector<KernelLaunch> launch_plan(const OperatorShape& shape) const {
    static_cast<void>(shape);
    return {};
  }
  /// The largest allowed |error| / magnitude against `reference_operator`; 0: the very values.
  virtual double tolerance() const { return 0; }
};

struct RegisteredOperator {
  OperatorInfo info;
  const LayerOperator* implementation = nullptr;
};

/// Every operator of this build: by family and type, libraries after ours, then by name. The order never depends on
/// the linker. Throws std::logic_error if two share family, type and name, or two of a family and type are preferred.
const std::vector<RegisteredOperator>& registered_operators();

/// What a network uses unless another is named: the preferred one, or else the first. Throws std::logic_error if the
/// build has none.
const RegisteredOperator& default_operator(std::string_view family, OperatorType type);

/// The operator of that family, type and name, or nullptr.
const RegisteredOperator* find_operator(std::string_view family, OperatorType type, std::string_view name);

/// Keeps the operator as long as the program lives.
const LayerOperator& keep_operator(std::unique_ptr<const LayerOperator> implementation);

}  // namespace convladder
