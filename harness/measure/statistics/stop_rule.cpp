#include "harness/measure/statistics/stop_rule.hpp"

#include <utility>

#include "harness/measure/statistics/statistics.hpp"

namespace convladder {
namespace {

constexpr std::size_t kFewestForAnInterval = 6;  // with fewer samples, no interval of the median reaches 95%

class AtNumber final : public StopRule {
 public:
  AtNumber(std::size_t samples, std::string_view why) : samples_(samples), why_(why) {}
  std::string_view reason(const SampledSoFar& so_far) const override {
    return so_far.samples.size() >= samples_ ? why_ : "";
  }

 private:
  std::size_t samples_;
  std::string_view why_;
};

class AtInterval final : public StopRule {
 public:
  explicit AtInterval(double target_half_width) : target_(target_half_width) {}
  std::string_view reason(const SampledSoFar& so_far) const override {
    if (so_far.samples.size() < kFewestForAnInterval) return "";
    const auto interval = median_interval(so_far.samples);
    return (interval->high - interval->low) / 2 <= target_ * median(so_far.samples) ? "interval" : "";
  }

 private:
  double target_;
};

class AtBudget final : public StopRule {
 public:
  AtBudget(double seconds, std::size_t fewest) : seconds_(seconds), fewest_(fewest) {}
  std::string_view reason(const SampledSoFar& so_far) const override {
    return so_far.samples.size() >= fewest_ && so_far.seconds >= seconds_ ? "budget" : "";
  }

 private:
  double seconds_;
  std::size_t fewest_;
};

class BeforeBudget final : public StopRule {
 public:
  explicit BeforeBudget(double seconds) : seconds_(seconds) {}
  std::string_view reason(const SampledSoFar& so_far) const override {
    if (so_far.samples.empty()) return "";
    const double next = so_far.seconds / static_cast<double>(so_far.samples.size());
    return so_far.seconds + next > seconds_ ? "budget" : "";
  }

 private:
  double seconds_;
};

class AtFirst final : public StopRule {
 public:
  explicit AtFirst(std::vector<std::unique_ptr<StopRule>> rules) : rules_(std::move(rules)) {}
  std::string_view reason(const SampledSoFar& so_far) const override {
    for (const std::unique_ptr<StopRule>& rule : rules_) {
      if (const std::string_view why = rule->reason(so_far); !why.empty()) return why;
    }
    return "";
  }

 private:
  std::vector<std::unique_ptr<StopRule>> rules_;
};

}  // namespace

std::unique_ptr<StopRule> stop_at_number(std::size_t samples, std::string_view why) {
  return std::make_unique<AtNumber>(samples, why);
}

std::unique_ptr<StopRule> stop_at_interval(double target_half_width) {
  return std::make_unique<AtInterval>(target_half_width);
}

std::unique_ptr<StopRule> stop_at_budget(double seconds, std::size_t fewest) {
  return std::make_unique<AtBudget>(seconds, fewest);
}

std::unique_ptr<StopRule> stop_before_budget(double seconds) { return std::make_unique<BeforeBudget>(seconds); }

std::unique_ptr<StopRule> stop_at_first(std::vector<std::unique_ptr<StopRule>> rules) {
  return std::make_unique<AtFirst>(std::move(rules));
}

std::unique_ptr<StopRule> stop_rule(const StopSettings& settings) {
  if (settings.repetitions) {
    return stop_at_number(static_cast<std::size_t>(*settings.repetitions), settings.repetitions_word);
  }
  std::vector<std::unique_ptr<StopRule>> rules;
  rules.push_back(stop_at_interval(settings.target_half_width));
  rules.push_back(stop_at_number(settings.most, settings.most_word));
  rules.push_back(stop_at_budget(settings.budget_seconds, settings.fewest));
  return stop_at_first(std::move(rules));
}

}  // namespace convladder
