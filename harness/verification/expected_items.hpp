// What the items of any problem must come to: computed anew for each comparison, from the input that the call found.
#pragma once

#include <vector>

#include "harness/verification/expectation.hpp"

namespace convladder {

/// Every element of every item is compared where the reference of the batch is cheap. Where it is not, some items are,
/// drawn anew each time so that nobody knows which; of the others only what was never written or is no number is seen.
class ExpectedItems final : public Expectation {
 public:
  /// Operations of one comparison that are cheap: about a second.
  static constexpr double kCheap = 2e9;
  static constexpr int kFewestItems = 4;

  /// `most_flop` may be less than kCheap, in tests.
  explicit ExpectedItems(ProblemData data, double most_flop = kCheap);

  int batch() const override { return data_.shape.batch; }
  bool is_linear() const override { return false; }
  float largest_input() const override { return largest_input_; }
  float largest_magnitude() const override { return largest_output_; }
  Check compare(const ReadOutput& read, std::int64_t most_elements, const CallSetting& setting,
                double tolerance) const override;

 private:
  struct ItemFound;
  std::vector<float> input(const CallSetting& setting, int item) const;
  std::vector<bool> chosen_items() const;
  void compare_item(int item, const float* found, const CallSetting& setting, double tolerance,
                    ItemFound& result) const;
  void look_over(int item, const float* found, const CallSetting& setting, ItemFound& result) const;

  ProblemData data_;
  int compared_items_ = 0;
  float largest_input_ = 0;
  float largest_output_ = 0;
};

}  // namespace convladder
