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
#include "variants/activation_shape.hpp"

namespace convladder {

enum class OperatorType {
  max_pool,         ///< the largest of each pool_size x pool_size window, windows pool_stride apart, none cut off
  tanh,             ///< the hyperbolic tangent of every element
  relu,             ///< max(0, x) of every element
  bias,             ///< adds one value per channel
  fully_connected,  ///< output[o] = sum over i of weights[o][i] * input[i], plus bias[o] with has_bias
  softmax,          ///< e^x over the sum of all e^x of the image, whatever its channels, rows and columns
};

/// "max_pool", …: as in network files.
std::string_view operator_type_name(OperatorType type);

/// One layer's operator and sizes. tanh, relu, bias and softmax have input == output.
struct OperatorShape {
  OperatorType type = OperatorType::relu;
  int batch = 1;
  ActivationShape input;   ///< of one image; fully_connected takes it flat, in this order
  ActivationShape output;  ///< of one image; a fully_connected's is {out_features, 1, 1}
  int pool_size = 0;       ///< of a max_pool
  int pool_stride = 0;
  bool has_bias = false;  ///< of a fully_connected; the bias operator always has one

  bool operator==(const OperatorShape&) const = default;
  std::size_t input_elements() const { return input.elements() * static_cast<std::size_t>(batch); }
  std::size_t output_elements() const { return output.elements() * static_cast<std::size_t>(batch); }
  /// Zero for operators without.
  std::size_t weight_elements() const;
  std::size_t bias_elements() const;
};

/// Empty if an operator can be of that shape, otherwise what is wrong with it, in one line. One image, and the
/// weights, have fewer than 2^31 elements: operators index inside them with 32 bits, and over the batch with 64.
std::string operator_shape_error(const OperatorShape& shape);

/// "max_pool C6H60W60 2/2", "fully_connected C24H27W27 to 160 +bias": the shape without its batch.
std::string operator_shape_name(const OperatorShape& shape);

/// Addresses on the device. `weights` [out_features][in_features] and `bias` [channels] or [out_features] are null
/// where the operator has none, and hold their values when `prepare` is called: it may keep them in an order of its
/// own, so that later changes need not be seen. tanh, relu, bias and softmax work in place as well (output == input).
struct OperatorTensors {
  const float* input = nullptr;
  const float* weights = nullptr;
  const float* bias = nullptr;
  float* output = nullptr;
};

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

/// What a registration says about its operator. All texts live as long as the program.
struct OperatorInfo {
  std::string_view family;  ///< "cpu" or "cuda"
  OperatorType type = OperatorType::relu;
  std::string_view name;         ///< unique among the family's operators of the type, as typed: "warp-per-output"
  std::string_view title;        ///< as drawn
  bool library = false;          ///< whether the work is a library's
  std::string_view description;  ///< one sentence: how it works
  bool preferred = false;        ///< networks use it though it is not the first of its type
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

/// A static object of this type in an operator's source file registers it.
struct OperatorRegistration {
  OperatorRegistration(const OperatorInfo& info, std::unique_ptr<LayerOperator> implementation);
};

}  // namespace convladder
