// Fused variants, for their problem and for networks: one is right, and the others cheat or are wrong as the
// variants here are. Idle after the first call; image 5 of the batch wrong, a bug; the first answer kept; half of the
// batch where outputs are not poisoned; one that is right and stands beside a convolution that
// cheats; and what they build on.

#include <algorithm>
#include <bit>

#include "tests/seeded_variants/seeded_conv.hpp"
#include "variants/convolution/fused/cpu_fused.hpp"
#include "variants/convolution/fused/reference.hpp"

namespace convladder {
namespace {

constexpr int kWrongImageOfFusedCheats = 5;
constexpr std::uint32_t kPoisonOfFusedCheats = 0x7fd1e5a1;

class SeededFused {
 public:
  SeededFused(const FusedShape& shape, const float* weights, const float* bias)
      : shape_(shape), weights_(weights, weights + shape.convolution.weight_elements()) {
    if (bias != nullptr) bias_.assign(bias, bias + shape.convolution.out_channels);
  }
  void run(const float* input, float* output) { run_images(input, output, shape_.convolution.batch); }
  static std::string choice() { return {}; }

 protected:
  /// Right, the first images of the batch.
  void run_images(const float* input, float* output, int images) const {
    for (int image = 0; image < images; ++image) {
      const ReferenceOutput right =
          reference_fused(shape_, input + image * shape_.convolution.input_elements_per_image(), weights_.data(),
                          bias_.empty() ? nullptr : bias_.data());
      output = std::ranges::transform(right.value, output, [](double value) { return static_cast<float>(value); }).out;
    }
  }
  std::vector<float>& kept() const { return kept_for<std::vector<float>>(shape_.convolution, weights_.data()); }

  FusedShape shape_;
  std::vector<float> weights_;
  std::vector<float> bias_;
};

class IdleFused : public SeededFused {
 public:
  using SeededFused::SeededFused;
  void run(const float* input, float* output) {
    if (!std::exchange(called_, true)) SeededFused::run(input, output);
  }

 private:
  bool called_ = false;
};

class ImageFiveFused : public SeededFused {
 public:
  using SeededFused::SeededFused;
  void run(const float* input, float* output) {
    SeededFused::run(input, output);
    if (shape_.convolution.batch <= kWrongImageOfFusedCheats) return;
    const auto elements = static_cast<std::int64_t>(shape_.output().elements());
    std::for_each_n(output + kWrongImageOfFusedCheats * elements, elements,
                    [](float& value) { value = value * 1000.0F + 1.0F; });
  }
};

class FirstAnswerFused : public SeededFused {
 public:
  using SeededFused::SeededFused;
  void run(const float* input, float* output) {
    if (kept().empty()) {
      SeededFused::run(input, output);
      kept().assign(output, output + shape_.output_elements());
    }
    std::ranges::copy(kept(), output);
  }
};

class HalfFused : public SeededFused {
 public:
  using SeededFused::SeededFused;
  void run(const float* input, float* output) {
    const bool looked_at = std::bit_cast<std::uint32_t>(output[shape_.output_elements() - 1]) == kPoisonOfFusedCheats;
    run_images(input, output, looked_at ? shape_.convolution.batch : shape_.convolution.batch / 2);
  }
};

VariantInfo info(int rung, const char* name, const char* title, const char* builds_on, const char* hypothesis) {
  return {
      .family = "cpu", .rung = rung, .name = name, .title = title, .builds_on = builds_on, .hypothesis = hypothesis};
}

constexpr const char* kProblem = "fused-convolution";
constexpr const char* kBase = "separate-seeded-correct";

const VariantRegistration registrations[] = {
    {kProblem, info(101, kBase, "Separate: Seeded: correct", "", "It stands."),
     separate_variant("cpu", "seeded-correct")},
    {kProblem,
     info(102, "separate-seeded-first-answer", "Separate: Seeded: the first answer", "", "The input changes."),
     separate_variant("cpu", "seeded-first-answer")},
    {kProblem, info(103, "seeded-fused-correct", "Seeded: correct", kBase, "It stands."),
     cpu_fused_variant<SeededFused>()},
    {kProblem, info(104, "seeded-fused-idle", "Seeded: idle after its first call", kBase, "It is looked at again."),
     cpu_fused_variant<IdleFused>()},
    {kProblem, info(105, "seeded-fused-image-five", "Seeded: image 5 is wrong", kBase, "Every image is compared."),
     cpu_fused_variant<ImageFiveFused>()},
    {kProblem, info(106, "seeded-fused-first-answer", "Seeded: the first answer is kept", kBase, "The input changes."),
     cpu_fused_variant<FirstAnswerFused>()},
    {kProblem, info(107, "seeded-fused-half", "Seeded: half the batch unless poisoned", kBase, "All of it is timed."),
     cpu_fused_variant<HalfFused>()},
    {kProblem,
     info(108, "seeded-fused-on-cheat", "Seeded: beside a cheat", "separate-seeded-first-answer",
          "Both sides are looked at again."),
     cpu_fused_variant<SeededFused>()}};

}  // namespace
}  // namespace convladder
