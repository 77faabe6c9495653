#include "variants/tuned_variant.hpp"

#include <omp.h>

#include <algorithm>

#include "devices/cpu/cpu_microarchitecture.hpp"

namespace convladder {
namespace {

class TunedVariant final : public Variant {
 public:
  TunedVariant(const Variant& variant, const TuningTable& table) : variant_(variant), table_(table) {}

  std::string unsupported_reason(const ProblemSize& size) const override { return variant_.unsupported_reason(size); }
  std::unique_ptr<PreparedVariant> prepare(Device& device, const ProblemSize& size,
                                           const ProblemTensors& tensors) const override {
    const std::unique_ptr<Variant> told = told_by_table(size);
    return (told ? *told : variant_).prepare(device, size, tensors);
  }
  std::vector<KernelLaunch> launch_plan(const ProblemSize& size) const override {
    const std::unique_ptr<Variant> told = told_by_table(size);
    return (told ? *told : variant_).launch_plan(size);
  }
  double tolerance() const override { return variant_.tolerance(); }
  bool suits(const ProblemSize& size) const override { return variant_.suits(size); }
  double saved_operations(const ProblemSize& size) const override { return variant_.saved_operations(size); }
  double rate_over_fma() const override { return variant_.rate_over_fma(); }
  std::string why_untimed() const override { return variant_.why_untimed(); }

  Configurations configurations(const ProblemSize& size, const Configuration& wanted, int most) const override {
    Configurations result = variant_.configurations(size, wanted, most);
    if (!wanted.empty() || !told_by_table(size)) return result;
    const Configuration by_table = variant_.configurations(size, *table_entry(size), 1).candidates.front();
    std::erase(result.candidates, by_table);
    result.candidates.insert(result.candidates.begin(), by_table);
    if (result.candidates.size() > static_cast<std::size_t>(most)) result.candidates.pop_back();
    return result;
  }
  std::unique_ptr<Variant> configured(const ProblemSize& size, const Configuration& wanted,
                                      ChosenBy chosen_by) const override {
    return variant_.configured(size, wanted, chosen_by);
  }

 private:
  const Configuration* table_entry(const ProblemSize& size) const {
    static const std::string machine = cpu_microarchitecture();
    return table_.find(size, machine, omp_get_max_threads());
  }
  /// The variant as the tuning table configures it. Null if the table has no entry, or an impossible one.
  std::unique_ptr<Variant> told_by_table(const ProblemSize& size) const {
    const Configuration* const wanted = table_entry(size);
    if (wanted == nullptr) return nullptr;
    try {
      return variant_.configured(size, *wanted, ChosenBy::table);
    } catch (const std::invalid_argument&) {
      return nullptr;
    }
  }

  const Variant& variant_;
  const TuningTable& table_;
};

}  // namespace

std::unique_ptr<Variant> tuned_variant(const Variant& variant, const TuningTable& table) {
  return std::make_unique<TunedVariant>(variant, table);
}

}  // namespace convladder
