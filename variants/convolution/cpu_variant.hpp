// Turns a CPU function over NCHW arrays into a registered variant.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "variants/convolution/conv_shape.hpp"
#include "variants/convolution/problem.hpp"

namespace convladder {

/// A convolution that uses all cores: `input` NCHW, `weights` OIHW, `output` NCHW. Writes every output element.
using CpuConvolution = void (*)(const ConvShape& shape, const float* input, const float* weights, float* output);
/// Empty if the shape can be run, otherwise why not.
using UnsupportedReason = std::string (*)(const ConvShape& shape);
/// `Variant::suits`.
using Suits = bool (*)(const ConvShape& shape);

/// Wraps a function into a variant that keeps its own copy of the weights, and lives as long as the program.
const Variant& cpu_variant(CpuConvolution convolution, UnsupportedReason unsupported = nullptr);

/// A convolution that `Ready` has prepared: packed weights, workspaces.
template <typename Ready>
class ReadyCpuConv final : public PreparedVariant {
 public:
  template <typename... Arguments>
  ReadyCpuConv(const ProblemTensors& tensors, const char* chosen_by, const Arguments&... arguments)
      : ready_(arguments...), input_(tensors.input()), output_(tensors.output()), chosen_by_(chosen_by) {}
  void run() override { ready_.convolve(input_, output_); }
  std::string choice() const override { return ready_.choice() + chosen_by_; }

 private:
  Ready ready_;
  const float* input_;
  float* output_;
  const char* chosen_by_;  ///< `chosen_by_text`, or empty
};

/// The common part of the prepared and the tunable variants. `Ready` may have these members, with Variant's meaning:
///   static double saved_operations(const ConvShape& shape)
///   static double tolerance()
///   static double rate_over_fma()
///   static std::string why_untimed()
template <typename Ready>
class CpuVariantOf : public Variant {
 public:
  explicit CpuVariantOf(UnsupportedReason unsupported = nullptr, Suits suits = nullptr)
      : unsupported_(unsupported), suits_(suits) {}

  std::string unsupported_reason(const ProblemSize& size) const override {
    return unsupported_ == nullptr ? std::string() : unsupported_(conv_shape(size));
  }
  bool suits(const ProblemSize& size) const override { return suits_ == nullptr || suits_(conv_shape(size)); }
  double saved_operations(const ProblemSize& size) const override {
    if constexpr (requires { Ready::saved_operations(conv_shape(size)); }) {
      return Ready::saved_operations(conv_shape(size));
    }
    return 1;
  }
  double tolerance() const override {
    if constexpr (requires { Ready::tolerance(); }) return Ready::tolerance();
    return kFloat32Tolerance;
  }
  double rate_over_fma() const override {
    if constexpr (requires { Ready::rate_over_fma(); }) return Ready::rate_over_fma();
    return 1;
  }
  std::string why_untimed() const override {
    if constexpr (requires { Ready::why_untimed(); }) return Ready::why_untimed();
    return {};
  }

 protected:
  UnsupportedReason unsupported_;
  Suits suits_;
};

/// A variant that prepares packed weights or workspaces in `prepare`. `Ready` has
///   Ready(const ConvShape& shape, const float* weights)     what `prepare` does; weights OIHW
///   void convolve(const float* input, float* output)        as CpuConvolution
///   std::string choice() const                              as PreparedVariant::choice
template <typename Ready>
class PreparingCpuVariant final : public CpuVariantOf<Ready> {
 public:
  using CpuVariantOf<Ready>::CpuVariantOf;

  std::unique_ptr<PreparedVariant> prepare(Device& /*device*/, const ProblemSize& size,
                                           const ProblemTensors& tensors) const override {
    return std::make_unique<ReadyCpuConv<Ready>>(tensors, "", conv_shape(size), tensors.constant());
  }
};

/// A prepared variant whose configuration `convladder sweep` can choose. `Ready` has `convolve` and `choice` as for
/// `PreparingCpuVariant`, and
///   Ready(const ConvShape& shape, const float* weights, const Configuration& wanted)
///   static Configurations configurations(const ConvShape& shape, const Configuration& wanted, int most)
///   static std::string impossible(const ConvShape& shape, const Configuration& wanted)    empty if it can be run so
template <typename Ready>
class TunableCpuVariant final : public CpuVariantOf<Ready> {
 public:
  explicit TunableCpuVariant(UnsupportedReason unsupported = nullptr, Suits suits = nullptr, Configuration wanted = {},
                             ChosenBy chosen_by = ChosenBy::model)
      : CpuVariantOf<Ready>(unsupported, suits), wanted_(std::move(wanted)), chosen_by_(chosen_by) {}

  std::unique_ptr<PreparedVariant> prepare(Device& /*device*/, const ProblemSize& size,
                                           const ProblemTensors& tensors) const override {
    return std::make_unique<ReadyCpuConv<Ready>>(tensors, chosen_by_text(chosen_by_), conv_shape(size),
                                                 tensors.constant(), wanted_);
  }
  Configurations configurations(const ProblemSize& size, const Configuration& wanted, int most) const override {
    require_possible(size, wanted);
    return Ready::configurations(conv_shape(size), wanted, most);
  }
  std::unique_ptr<Variant> configured(const ProblemSize& size, const Configuration& wanted,
                                      ChosenBy chosen_by) const override {
    require_possible(size, wanted);
    return std::make_unique<TunableCpuVariant>(this->unsupported_, this->suits_, wanted, chosen_by);
  }

 private:
  static void require_possible(const ProblemSize& size, const Configuration& wanted) {
    if (std::string reason = Ready::impossible(conv_shape(size), wanted); !reason.empty()) {
      throw std::invalid_argument(reason);
    }
  }

  Configuration wanted_;
  ChosenBy chosen_by_;
};

}  // namespace convladder
