// The contract: what a fused variant is, a convolution that also applies what follows it in a network.
//
// Such a convolution pools and activates when it stores. Its output is smaller by the area of the pooling, and the two
// passes that would read and write all of the convolution's output are gone. A fused variant is one source file with
// one registration, as a variant is, and stands beside the ladder: it is compared with the sum of the operators that it
// replaces, of which the convolution is the stage that it builds on. See docs/fused.md; `cpu_fused.hpp` and
// `cuda_fused.hpp` make the registration short.
//
// Max pooling takes the largest first and activates that: tanh, ReLU and adding a value per map never turn an order
// round, so the largest comes out the same, and all but one element of each window are spared the activation.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "variants/convolution/conv_variant.hpp"
#include "variants/convolution/registry.hpp"
#include "variants/float32.hpp"
#include "variants/layer_operator.hpp"

namespace convladder {

/// y[b, m, r, c] = the largest of f(conv[b, m, r * pool_stride + i, c * pool_stride + j] + bias[m]) over i, j in
/// 0..pool_size - 1, where conv is as in ConvShape. Windows that would leave the convolution's output are left out.
struct FusedShape {
  ConvShape convolution;                         ///< with the batch
  bool has_bias = false;                         ///< one value per output map, added before the activation
  OperatorType activation = OperatorType::relu;  ///< f: relu or tanh
  int pool_size = 2;                             ///< at most the convolution's output height and width; 1/1: no pooling
  int pool_stride = 2;

  bool operator==(const FusedShape&) const = default;
  bool pools() const { return pool_size > 1 || pool_stride > 1; }
  int pooled_height() const { return (convolution.out_height() - pool_size) / pool_stride + 1; }
  int pooled_width() const { return (convolution.out_width() - pool_size) / pool_stride + 1; }
  /// What is written, NCHW: [batch][out_channels][pooled_height][pooled_width].
  ActivationShape output() const { return {convolution.out_channels, pooled_height(), pooled_width()}; }
  std::size_t output_elements() const { return output().elements() * static_cast<std::size_t>(convolution.batch); }
  /// The fewest bytes it must move: input, weights and bias read once, the pooled output written once.
  double minimum_bytes() const;

  FusedShape with_batch(int batch) const {
    FusedShape shape = *this;
    shape.convolution.batch = batch;
    return shape;
  }
};

/// "C1H72W72M12K7 + tanh + max_pool 2/2": the shape without its batch; "+ bias" where it has one, and no pooling 1/1.
std::string fused_shape_name(const FusedShape& shape);

/// One implementation. Stateless: one object serves every layer.
class FusedVariant {
 public:
  FusedVariant() = default;
  FusedVariant(const FusedVariant&) = delete;
  FusedVariant& operator=(const FusedVariant&) = delete;
  virtual ~FusedVariant() = default;

  /// Empty if it can run the shape, otherwise why not, in one line.
  virtual std::string unsupported_reason(const FusedShape& shape) const = 0;

  /// Makes it ready: weights reordered, bias copied. `weights` (OIHW) and `bias` (null without has_bias) are on the
  /// host and only valid during the call; `input` (NCHW) and `output`, which never overlap, are on the device. `run`
  /// writes every element of the output, and an output that any NaN of its window takes part in is NaN. Throws
  /// DeviceError where the device refuses.
  virtual std::unique_ptr<PreparedOperator> prepare(Device& device, const FusedShape& shape,
                                                    const OperatorTensors& tensors) const = 0;

  /// The kernels one `run` launches, in order, without a device; addresses in the arguments are null. Empty for
  /// families without kernels.
  virtual std::vector<KernelLaunch> launch_plan(const FusedShape& shape) const {
    static_cast<void>(shape);
    return {};
  }

  /// Whether a network that names no variant is to take it for the shape: of those that suit, the one whose stage is
  /// on the highest rung. By what the variant knows of itself, as ConvVariant::suits.
  virtual bool suits(const FusedShape& shape) const {
    static_cast<void>(shape);
    return false;
  }

  /// As ConvVariant's.
  virtual double saved_multiplications(const FusedShape& shape) const {
    static_cast<void>(shape);
    return 1;
  }

  /// The largest allowed |error| / magnitude against `reference_fused` (variants/fused/reference.hpp).
  virtual double tolerance() const { return kFloat32Tolerance; }
};

/// A fused variant and what its registration says: no rung, and `builds_on` names the stage whose convolution it is.
struct RegisteredFused {
  VariantInfo info;
  const FusedVariant* variant = nullptr;
};

/// Every fused variant of this build, by family and name. Throws std::logic_error if two of a family share a name, also
/// with a variant, if one has a rung, or if `builds_on` names no variant.
const std::vector<RegisteredFused>& registered_fused_variants();

/// The fused variant of that family and name, or nullptr.
const RegisteredFused* find_fused_variant(std::string_view family, std::string_view name);

/// A static object of this type in a fused variant's source file registers it.
struct FusedRegistration {
  FusedRegistration(const VariantInfo& info, std::unique_ptr<FusedVariant> variant);
};

}  // namespace convladder
