// The expected results of any problem's items: computed anew for each comparison, from the input that the call found.
#pragma once

#include <vector>

#include "harness/measure/verification/expectation.hpp"

namespace convladder {

/// Every element of every result of every item is compared where the reference of the batch is cheap, and inputs must
/// be as the call found them. Where it is not cheap, only some items are, drawn anew each time so that nobody knows
/// which; in the others only elements that were never written, or are not a number, are found.
class ExpectedItems final : public Expectation {
 public:
  /// Operations of a comparison that counts as cheap: about a second.
  static constexpr double kCheap = 2e9;
  static constexpr int kFewestItems = 4;

  /// `most_flop` may be less than kCheap, in tests.
  explicit ExpectedItems(ProblemData data, double most_flop = kCheap);

  int batch() const override { return data_.shape.batch; }
  bool is_linear() const override { return false; }
  float largest_input() const override { return 1; }
  std::vector<float> fill_scales() const override { return fill_scales_; }
  bool moves_elements() const override { return moves_elements_; }
  bool shows_one_element() const override { return shows_one_element_; }
  Check compare(const ReadTensor& read, std::int64_t most_bytes, const CallSetting& setting,
                double tolerance) const override;
  std::vector<ReferenceOutput> of_elements(const CallSetting& setting, int item,
                                           const std::vector<std::vector<std::int64_t>>& elements) const override;

 private:
  struct GivenItem;
  struct FoundItems;
  struct ItemFound;
  class Comparison;
  GivenItem given(const CallSetting& setting, int item) const;
  std::vector<ReferenceOutput> reference(const GivenItem& item) const;
  std::vector<bool> chosen_items() const;
  bool would_show(const std::vector<ReferenceOutput>& unchanged, std::uint64_t pokes) const;

  ProblemData data_;
  std::vector<InputLayout> layouts_;    ///< of the given tensors
  std::vector<ProblemTensor> inputs_;   ///< tensors that no call may change
  std::vector<ProblemTensor> outputs_;  ///< tensors that are filled before a call
  std::vector<ProblemTensor> results_;  ///< `outputs_`, and the in-outs
  int compared_items_ = 0;
  std::vector<float> fill_scales_;
  bool moves_elements_ = false;
  bool shows_one_element_ = true;
};

}  // namespace convladder
