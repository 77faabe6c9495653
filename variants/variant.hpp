// The contract of a variant of any problem.
//
// A variant is one source file: a head comment that says what this stage changes, the kernel, and one registration
// (registration.hpp). Command line, record, charts and tests are derived from the registration. `function_variant.hpp`,
// `kernel_launches.hpp` and `launch_variant.hpp` make most variants a few lines long. See docs/extend/adding.md.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "devices/device.hpp"
#include "variants/accuracy.hpp"
#include "variants/configuration.hpp"
#include "variants/problem_size.hpp"
#include "variants/problem_tensors.hpp"
#include "variants/registration.hpp"

namespace convladder {

struct CompiledStage;

/// Work prepared for one size, one set of constants and one set of tensors: only the work itself is left to do. Calls
/// enqueue on the device; the caller waits.
class PreparedVariant {
 public:
  PreparedVariant() = default;
  PreparedVariant(const PreparedVariant&) = delete;
  PreparedVariant& operator=(const PreparedVariant&) = delete;
  virtual ~PreparedVariant() = default;

  /// Whether the variant works in a layout of its own. Then op time (`run` alone) and layer time (`load_input`, `run`,
  /// `store_output`) differ, and both are measured.
  virtual bool has_own_layout() const { return false; }
  virtual void load_input() {}
  /// Writes every element of the outputs and in-outs, or of their counterparts in the variant's own layout.
  virtual void run() = 0;
  virtual void store_output() {}
  /// The names of the parts of `run`, in order, if they are worth timing apart. `run` does the same as `run_part` of
  /// each.
  virtual std::vector<std::string> parts() const { return {}; }
  virtual void run_part(std::size_t part) { static_cast<void>(part); }
  /// Where a part of `Variant::parts` leaves its output, on the device; null where that is in a layout of the variant's
  /// own. Then `write_part` and `read_part` copy all items, one after the other, from the host to there, or back.
  virtual float* part_output(std::size_t part) {
    static_cast<void>(part);
    return nullptr;
  }
  virtual void write_part(std::size_t part, const float* items) {
    static_cast<void>(part);
    static_cast<void>(items);
  }
  virtual void read_part(std::size_t part, float* items) {
    static_cast<void>(part);
    static_cast<void>(items);
  }
  /// The choice that `prepare` made, for the record. Empty if there was nothing to choose.
  virtual std::string choice() const { return {}; }
};

/// A problem's constants on the device, for as long as a variant is prepared.
class DeviceConstants {
 public:
  /// Copies the constants of `tensors` from the host to the device; `packed` replaces the first one, unless it is
  /// empty. Throws DeviceError.
  DeviceConstants(Device& device, const ProblemTensors& tensors, const std::vector<float>& packed = {})
      : tensors_(tensors) {
    for (PlacedTensor& one : tensors_.constants) {
      const bool is_packed = buffers_.empty() && !packed.empty();
      const std::size_t bytes = is_packed ? packed.size() * sizeof(float) : one.tensor.bytes();
      const DeviceBuffer& buffer = buffers_.emplace_back(device.allocate(bytes, one.tensor.name));
      device.copy_to_device(buffer.address(), is_packed ? packed.data() : one.address, bytes);
      one.address = buffer.address();
    }
  }
  /// The tensors of the constructor, with the addresses of the constants on the device.
  const ProblemTensors& tensors() const { return tensors_; }

 private:
  std::vector<DeviceBuffer> buffers_;
  ProblemTensors tensors_;
};

/// A part of a variant's work that is a problem of its own, such as a layer of a network. Its input is the output of
/// the part before; the first part gets the whole problem's input, and the last one leaves its output.
struct VariantPart {
  std::string name;
  ProblemSize size;                         ///< for a batch of 1
  std::vector<std::size_t> constants = {};  ///< its constants, by their places among those of the whole problem
  double tolerance = kFloat32Tolerance;     ///< as `Variant::tolerance`
};

/// One implementation of a problem. Stateless: one object serves every case.
class Variant {
 public:
  Variant() = default;
  Variant(const Variant&) = delete;
  Variant& operator=(const Variant&) = delete;
  virtual ~Variant() = default;

  /// Empty if the variant can run the size, otherwise why not, in one line.
  virtual std::string unsupported_reason(const ProblemSize& size) const {
    static_cast<void>(size);
    return {};
  }
  /// Whether the variant is a good choice for a size that it can run. False if a lower stage is known to be faster, or
  /// if the stage exists to be learned from. Where nobody names a variant, the highest rung that suits is taken.
  virtual bool suits(const ProblemSize& size) const {
    static_cast<void>(size);
    return true;
  }
  /// The stage, of a folder or from outside the program, that is compiled when it runs, and loaded only by a case's
  /// process. nullptr for a variant that is part of the program.
  virtual const CompiledStage* compiled_stage() const { return nullptr; }
  /// The thing that this machine lacks to make the variant's code, in one line. Empty for a built-in variant.
  virtual std::string not_here() const { return {}; }
  /// The first line of its compiler's message. Empty for what compiles, and for a built-in variant.
  virtual std::string does_not_compile() const { return {}; }
  /// Whether the variant launches its kernels through the CUDA runtime, and not through the device.
  virtual bool launches_by_itself() const { return false; }
  /// Prepares the work. The tensors are on the device, except for the constants, which are on the host and valid only
  /// during the call. Throws DeviceError where the device refuses.
  virtual std::unique_ptr<PreparedVariant> prepare(Device& device, const ProblemSize& size,
                                                   const ProblemTensors& tensors) const = 0;
  /// The kernels that one `run` launches, in order, planned without a device; addresses in the arguments are null.
  /// Empty for variants that launch none of our kernels.
  virtual std::vector<KernelLaunch> launch_plan(const ProblemSize& size) const {
    static_cast<void>(size);
    return {};
  }
  /// The parts of its work, in order, if each is a problem of its own: then each is verified by itself. The names are
  /// those of `PreparedVariant::parts`.
  virtual std::vector<VariantPart> parts(const ProblemSize& size) const {
    static_cast<void>(size);
    return {};
  }
  /// The largest |error| / magnitude that the variant's arithmetic needs; the problem may grant more or less. 1e-6
  /// stands for float32 arithmetic in any order of summation; tf32 and fp16 inputs with float32 accumulation need 1e-3,
  /// which is the most that is granted. 0 asks for the exact values.
  virtual double tolerance() const { return kFloat32Tolerance; }
  /// How many times fewer operations than `ProblemSize::least_flop` the variant makes: 1 unless its algorithm saves
  /// some.
  virtual double saved_operations(const ProblemSize& size) const {
    static_cast<void>(size);
    return 1;
  }

  /// How many times the rate of the device's fp32 multiply-adds the variant's operations may reach: 1 unless another
  /// unit makes them.
  virtual double rate_over_fma() const { return 1; }
  /// Why the variant's times say nothing on this machine, in one line: then it is verified but not timed. Empty if they
  /// do.
  virtual std::string why_untimed() const { return {}; }

  /// The configurations that are possible for the size and agree with `wanted`, at most `most`. None if there is
  /// nothing to choose. Throws std::invalid_argument as `configured` does.
  virtual Configurations configurations(const ProblemSize& size, const Configuration& wanted, int most) const {
    static_cast<void>(size);
    static_cast<void>(wanted);
    static_cast<void>(most);
    return {};
  }
  /// This variant with the wanted values for the size. Throws std::invalid_argument, one line, for impossible ones.
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

/// The variant that runs the size where nobody names one of the family: among the float32 stages that can run it and
/// suit it, the one on the highest rung; nullptr if there is none.
const ProblemVariant* default_variant(std::string_view family, const ProblemSize& size);

/// Keeps a variant for its registration, as long as the program runs.
const Variant& keep_variant(std::unique_ptr<const Variant> variant);

}  // namespace convladder
