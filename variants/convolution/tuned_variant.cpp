#include "variants/convolution/tuned_variant.hpp"

#include <omp.h>

#include <algorithm>

#include "devices/cpu/cpu_microarchitecture.hpp"

namespace convladder {
namespace {

class TunedVariant final : public ConvVariant {
 public:
  TunedVariant(const ConvVariant& variant, const TuningTable& table) : variant_(variant), table_(table) {}

  std::string unsupported_reason(const ConvShape& shape) const override { return variant_.unsupported_reason(shape); }
  std::unique_ptr<PreparedConv> prepare(Device& device, const ConvShape& shape, const float* weights,
                                        ConvTensors tensors) const override {
    const std::unique_ptr<ConvVariant> told = told_by_table(shape);
    return (told ? *told : variant_).prepare(device, shape, weights, tensors);
  }
  std::vector<KernelLaunch> launch_plan(const ConvShape& shape) const override {
    const std::unique_ptr<ConvVariant> told = told_by_table(shape);
    return (told ? *told : variant_).launch_plan(shape);
  }
  double tolerance() const override { return variant_.tolerance(); }
  bool suits(const ConvShape& shape) const override { return variant_.suits(shape); }
  double saved_multiplications(const ConvShape& shape) const override { return variant_.saved_multiplications(shape); }
  double rate_over_fma() const override { return variant_.rate_over_fma(); }
  std::string why_untimed() const override { return variant_.why_untimed(); }

  Configurations configurations(const ConvShape& shape, const Configuration& wanted, int most) const override {
    Configurations result = variant_.configurations(shape, wanted, most);
    if (!wanted.empty() || !told_by_table(shape)) return result;
    const Configuration by_table = variant_.configurations(shape, *table_entry(shape), 1).candidates.front();
    std::erase(result.candidates, by_table);
    result.candidates.insert(result.candidates.begin(), by_table);
    if (result.candidates.size() > static_cast<std::size_t>(most)) result.candidates.pop_back();
    return result;
  }
  std::unique_ptr<ConvVariant> configured(const ConvShape& shape, const Configuration& wanted,
                                          ChosenBy chosen_by) const override {
    return variant_.configured(shape, wanted, chosen_by);
  }

 private:
  const Configuration* table_entry(const ConvShape& shape) const {
    static const std::string machine = cpu_microarchitecture();
    return table_.find(shape_name(shape), shape.batch, machine, omp_get_max_threads());
  }
  /// Null where the table says nothing, or something impossible.
  std::unique_ptr<ConvVariant> told_by_table(const ConvShape& shape) const {
    const Configuration* const wanted = table_entry(shape);
    if (wanted == nullptr) return nullptr;
    try {
      return variant_.configured(shape, *wanted, ChosenBy::table);
    } catch (const std::invalid_argument&) {
      return nullptr;
    }
  }

  const ConvVariant& variant_;
  const TuningTable& table_;
};

}  // namespace

std::unique_ptr<ConvVariant> tuned_variant(const ConvVariant& variant, const TuningTable& table) {
  return std::make_unique<TunedVariant>(variant, table);
}

}  // namespace convladder
