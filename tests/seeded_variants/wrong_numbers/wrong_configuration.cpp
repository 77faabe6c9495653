// Right as it is, and wrong with one of its configurations: a sweep must not rank that, however fast it is.

#include <chrono>
#include <thread>

#include "tests/seeded_variants/plain_convolution.hpp"
#include "variants/convolution/cpu_variant.hpp"

namespace convladder {
namespace {

/// `work=1` does nothing at all, `work=2` convolves, `work=3` convolves and then sleeps, so that it is surely slower.
class Worker {
 public:
  Worker(const ConvShape& shape, const float* weights, const Configuration& wanted)
      : shape_(shape), weights_(weights, weights + shape.weight_elements()), work_(wanted.value("work").value_or(3)) {}

  void convolve(const float* input, float* output) const {
    if (work_ > 1) plain_convolution(shape_, input, weights_.data(), output);
    if (work_ > 2) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  std::string choice() const { return "work " + std::to_string(work_); }

  static Configurations configurations(const ConvShape& /*shape*/, const Configuration& wanted, int most) {
    const std::vector<Configuration> all = known();
    const std::vector<Configuration> agreeing = candidates_of(all, wanted, static_cast<int>(all.size()));
    return {candidates_of(all, wanted, most), agreeing.front(), static_cast<long>(agreeing.size()), {}};
  }
  static std::string impossible(const ConvShape& shape, const Configuration& wanted) {
    return impossible_configuration(wanted, known(), shape_name(shape));
  }

 private:
  static std::vector<Configuration> known() {
    return {Configuration({{"work", 3}}), Configuration({{"work", 2}}), Configuration({{"work", 1}})};
  }

  ConvShape shape_;
  std::vector<float> weights_;
  int work_;
};

const VariantRegistration wrong_configuration_registration{
    "convolution",
    {.family = "cpu",
     .rung = 121,
     .name = "seeded-configuration",
     .title = "Seeded: wrong in one configuration",
     .builds_on = "memory-accumulation",
     .hypothesis = "The fastest configuration is no choice where it is wrong."},
    keep_variant(std::make_unique<TunableCpuVariant<Worker>>())};

}  // namespace
}  // namespace convladder
