// The contract: what a variant of the convolution is, and what it promises.
//
// A variant is one source file: a head comment that says what this stage changes, the kernel, its launch plan and
// one registration. Everything else - command line, record, charts, tests - is derived from the registration.
// See docs/adding_a_variant.md; `cpu_variant.hpp` and `cuda_variant.hpp` make the registration three lines long.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "devices/device.hpp"
#include "variants/configuration.hpp"
#include "variants/convolution/conv_shape.hpp"
#include "variants/float32.hpp"
#include "variants/variant_info.hpp"

namespace convladder {

/// What a prepared convolution reads and writes: NCHW tensors on the device, of the sizes the shape says.
struct ConvTensors {
  const float* input = nullptr;
  float* output = nullptr;
};

/// A convolution made ready for one shape, one set of weights and one pair of tensors: weights reordered, workspaces
/// allocated, nothing left to do but the work itself. Calls enqueue on the device; the caller waits.
class PreparedConv {
 public:
  PreparedConv() = default;
  PreparedConv(const PreparedConv&) = delete;
  PreparedConv& operator=(const PreparedConv&) = delete;
  virtual ~PreparedConv() = default;

  /// Whether the convolution works in a layout of its own. Then op time (`convolve` alone) and layer time
  /// (`load_input`, `convolve`, `store_output`) differ, and both are measured.
  virtual bool has_own_layout() const { return false; }
  /// NCHW input -> own layout.
  virtual void load_input() {}
  /// The convolution alone, in the variant's own layout.
  virtual void convolve() = 0;
  /// Own layout -> NCHW output.
  virtual void store_output() {}

  /// What `prepare` chose, for the record: an algorithm, a tile size. Empty if there was nothing to choose.
  virtual std::string choice() const { return {}; }
};

/// The tolerance granted for a shape. Errors of sums of n products, each rounded to float32 whatever their order, grow
/// with sqrt(n) * 2^-24 (Higham and Mary, A new approach to probabilistic rounding error analysis, 2019). Three times
/// that is granted: a correct stage was seen at 0.9 times this value for 588 products. With few products 1e-6 is
/// more.
inline double granted_tolerance(double wanted, const ConvShape& shape) {
  const double products = 1.0 * shape.channels_per_group() * shape.kernel * shape.kernel;
  return std::max(std::min(wanted, kLargestTolerance), 3 * 0x1p-24 * std::sqrt(products));
}

/// One implementation of the forward convolution. Stateless: one object serves every case.
class ConvVariant {
 public:
  ConvVariant() = default;
  ConvVariant(const ConvVariant&) = delete;
  ConvVariant& operator=(const ConvVariant&) = delete;
  virtual ~ConvVariant() = default;

  /// Empty if it can run the shape, otherwise why not, in one line.
  virtual std::string unsupported_reason(const ConvShape& shape) const {
    static_cast<void>(shape);
    return {};
  }

  /// Whether it launches its kernels through the CUDA runtime, and not through the device.
  virtual bool launches_by_itself() const { return false; }

  /// Whether the variant is a good choice for a shape that it can run. False if a lower stage is known to be faster, as
  /// for stages that are there to be learned from. Where nobody names a variant, the highest rung that suits is taken.
  virtual bool suits(const ConvShape& shape) const {
    static_cast<void>(shape);
    return true;
  }

  /// Makes it ready. `weights` are OIHW on the host and only valid during the call; `tensors` are on `device`.
  /// Throws DeviceError where the device refuses.
  virtual std::unique_ptr<PreparedConv> prepare(Device& device, const ConvShape& shape, const float* weights,
                                                ConvTensors tensors) const = 0;

  /// The kernels one `convolve` launches, in order, without a device: for their names, resources and occupancy.
  /// Addresses in the arguments are null. Empty for variants that launch none of ours.
  virtual std::vector<KernelLaunch> launch_plan(const ConvShape& shape) const {
    static_cast<void>(shape);
    return {};
  }

  /// The largest allowed |error| / sum(|x*w|) against a float64 reference. 1e-6 stands for float32 arithmetic in any
  /// order of summation, more is granted for many products (granted_tolerance); tf32 and fp16 inputs with float32
  /// accumulation need 1e-3, which is the most that is granted.
  virtual double tolerance() const { return kFloat32Tolerance; }

  /// How many times fewer multiplications than the direct convolution the algorithm makes for the shape: 1 for a direct
  /// one, more for Winograd or FFT, at most kernel * kernel. A time that is too short even with this factor is refused.
  virtual double saved_multiplications(const ConvShape& shape) const {
    static_cast<void>(shape);
    return 1;
  }

  /// How many times the rate of fp32 multiply-adds its multiplications may reach: 1 unless a unit beside those makes
  /// them. A time that is too short even so is refused.
  virtual double rate_over_fma() const { return 1; }

  /// Why its times say nothing here, in one line: then it is verified and not timed. Empty if they do.
  virtual std::string why_untimed() const { return {}; }

  /// What could be chosen for the shape, and agrees with what is wanted: at least one candidate, at most `most`. Most
  /// variants have nothing to choose: none. Throws std::invalid_argument as `configured` does.
  virtual Configurations configurations(const ConvShape& shape, const Configuration& wanted, int most) const {
    static_cast<void>(shape);
    static_cast<void>(wanted);
    static_cast<void>(most);
    return {};
  }

  /// This variant, told what to take for the shape, at any batch; what `wanted` leaves out it chooses itself. Throws
  /// std::invalid_argument, one line, for what it does not know or cannot do.
  virtual std::unique_ptr<ConvVariant> configured(const ConvShape& shape, const Configuration& wanted,
                                                  ChosenBy chosen_by) const {
    static_cast<void>(wanted);
    static_cast<void>(chosen_by);
    throw std::invalid_argument(impossible_configuration({}, {}, shape_name(shape)));
  }
};

}  // namespace convladder
