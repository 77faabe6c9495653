// Four configurations. The last one is right; the others cheat: idle where the output lies, image 5 wrong, the first
// answer kept. A sweep must not rank them, however fast they are.

#include <algorithm>

#include "tests/seeded_variants/seeded_conv.hpp"
#include "variants/convolution/cpu_variant.hpp"

namespace convladder {
namespace {

constexpr int kWrongImageOfTunableCheats = 5;

class Cheater {
 public:
  Cheater(const ConvShape& shape, const float* weights, const Configuration& wanted)
      : shape_(shape),
        weights_(weights, weights + shape.weight_elements()),
        cheat_(wanted.value("cheat").value_or(none)) {}

  void convolve(const float* input, float* output) {
    if (cheat_ == idle && !last_.empty() && last_.front() == output[0] && last_.back() == end(output)[-1]) return;
    if (cheat_ == first_answer && !last_.empty()) {
      std::ranges::copy(last_, output);
      return;
    }
    plain_convolution(shape_, input, weights_.data(), output);
    if (cheat_ == image_five && shape_.batch > kWrongImageOfTunableCheats) {
      const std::int64_t elements = shape_.output_elements_per_image();
      std::for_each_n(output + kWrongImageOfTunableCheats * elements, elements, [](float& value) { value *= 1000.0F; });
    }
    last_.assign(output, end(output));
  }
  std::string choice() const { return "cheat " + std::to_string(cheat_); }

  static Configurations configurations(const ConvShape& /*shape*/, const Configuration& wanted, int most) {
    const std::vector<Configuration> all = known();
    const std::vector<Configuration> agreeing = candidates_of(all, wanted, static_cast<int>(all.size()));
    return {candidates_of(all, wanted, most), agreeing.front(), static_cast<long>(agreeing.size()), {}};
  }
  static std::string impossible(const ConvShape& shape, const Configuration& wanted) {
    return impossible_configuration(wanted, known(), shape_name(shape));
  }

 private:
  enum Cheat { idle = 1, image_five = 2, first_answer = 3, none = 4 };

  static std::vector<Configuration> known() {
    std::vector<Configuration> all;
    for (const int cheat : {none, first_answer, image_five, idle}) all.push_back(Configuration({{"cheat", cheat}}));
    return all;
  }
  float* end(float* output) const { return output + shape_.output_elements(); }

  ConvShape shape_;
  std::vector<float> weights_;
  int cheat_;
  std::vector<float> last_;
};

const VariantRegistration tunable_cheats_registration{
    "convolution",
    {.family = "cpu",
     .rung = 170,
     .name = "seeded-tunable",
     .title = "Seeded: cheats in three configurations",
     .builds_on = "memory-accumulation",
     .hypothesis = "The fastest configuration is no choice where it cheats."},
    keep_variant(std::make_unique<TunableCpuVariant<Cheater>>())};

}  // namespace
}  // namespace convladder
