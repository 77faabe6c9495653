// The contract: what a variant of any problem is to the harness, and what it promises.
//
// `function_variant.hpp` and `launch_variant.hpp` make most of them a few lines long. A problem may have a contract of
// its own for its variants, as the convolution has (convolution/conv_variant.hpp); to the harness they are these.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "devices/device.hpp"
#include "variants/configuration.hpp"
#include "variants/float32.hpp"
#include "variants/problem_size.hpp"
#include "variants/problem_tensors.hpp"
#include "variants/variant_info.hpp"

namespace convladder {

/// Work made ready for one size, one set of constants and one set of tensors: nothing left to do but the work itself.
/// Calls enqueue on the device; the caller waits.
class PreparedVariant {
 public:
  PreparedVariant() = default;
  PreparedVariant(const PreparedVariant&) = delete;
  PreparedVariant& operator=(const PreparedVariant&) = delete;
  virtual ~PreparedVariant() = default;

  /// Whether it works in a layout of its own. Then op time (`run` alone) and layer time (`load_input`, `run`,
  /// `store_output`) differ, and both are measured.
  virtual bool has_own_layout() const { return false; }
  virtual void load_input() {}
  /// Writes every element of the outputs and of what goes in and out, or of its own layout's.
  virtual void run() = 0;
  virtual void store_output() {}
  /// What `run` consists of, if that is worth timing apart: names, in order. `run` is the same as `run_part` of each.
  virtual std::vector<std::string> parts() const { return {}; }
  virtual void run_part(std::size_t part) { static_cast<void>(part); }
  /// What `prepare` chose, for the record. Empty if there was nothing to choose.
  virtual std::string choice() const { return {}; }
};

/// One implementation of a problem. Stateless: one object serves every case.
class Variant {
 public:
  Variant() = default;
  Variant(const Variant&) = delete;
  Variant& operator=(const Variant&) = delete;
  virtual ~Variant() = default;

  /// Empty if it can run the size, otherwise why not, in one line.
  virtual std::string unsupported_reason(const ProblemSize& size) const {
    static_cast<void>(size);
    return {};
  }
  /// Why there is no code of it, in one line: this machine lacks something; its compiler's first. Empty for what is
  /// built in.
  virtual std::string not_here() const { return {}; }
  virtual std::string does_not_compile() const { return {}; }
  /// Whether it launches its kernels through the CUDA runtime, and not through the device.
  virtual bool launches_by_itself() const { return false; }
  /// Makes it ready. The tensors are on the device, but for the constants, which are on the host and only valid during
  /// the call. Throws DeviceError where the device refuses.
  virtual std::unique_ptr<PreparedVariant> prepare(Device& device, const ProblemSize& size,
                                                   const ProblemTensors& tensors) const = 0;
  /// The kernels one `run` launches, in order, without a device; addresses in the arguments are null. Empty for
  /// variants that launch none of ours.
  virtual std::vector<KernelLaunch> launch_plan(const ProblemSize& size) const {
    static_cast<void>(size);
    return {};
  }
  /// The largest |error| / magnitude that its arithmetic needs; the problem may grant more or less.
  virtual double tolerance() const { return kFloat32Tolerance; }
  /// How many times fewer operations than `ProblemSize::least_flop` it makes: 1 unless its algorithm saves some.
  virtual double saved_operations(const ProblemSize& size) const {
    static_cast<void>(size);
    return 1;
  }

  /// How many times the rate of the device's fp32 multiply-adds its operations may reach: 1 unless a unit beside those
  /// makes them.
  virtual double rate_over_fma() const { return 1; }
  /// Why its times say nothing here, in one line: then it is verified and not timed. Empty if they do.
  virtual std::string why_untimed() const { return {}; }

  /// What could be chosen for the size, and agrees with what is wanted: at most `most`. None where there is nothing to
  /// choose. Throws std::invalid_argument as `configured` does.
  virtual Configurations configurations(const ProblemSize& size, const Configuration& wanted, int most) const {
    static_cast<void>(size);
    static_cast<void>(wanted);
    static_cast<void>(most);
    return {};
  }
  /// This variant, told what to take for the size. Throws std::invalid_argument, one line, for what it cannot do.
  virtual std::unique_ptr<Variant> configured(const ProblemSize& size, const Configuration& wanted,
                                              ChosenBy chosen_by) const {
    static_cast<void>(wanted);
    static_cast<void>(chosen_by);
    throw std::invalid_argument(impossible_configuration({}, {}, size_name(size)));
  }
};

/// A variant and what its registration says.
struct ProblemVariant {
  VariantInfo info;
  const Problem* problem = nullptr;
  const Variant* variant = nullptr;
};

/// The variant of that problem, family and name, or nullptr.
const ProblemVariant* find_variant(const Problem& problem, std::string_view family, std::string_view name);

/// A static object of this type in a variant's source file registers it for the problem of that name. Throws
/// std::logic_error, when the variants are first asked for, if two of a problem and family share a name or a rung.
struct ProblemVariantRegistration {
  ProblemVariantRegistration(std::string_view problem, const VariantInfo& info, std::unique_ptr<Variant> variant);
};

}  // namespace convladder
