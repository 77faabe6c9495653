#include "harness/measure/statistics/signed_rank.hpp"

#include <algorithm>

#include "harness/measure/statistics/statistics.hpp"

namespace convladder {

std::vector<double> signed_rank_distribution(int n) {
  std::vector<double> probability = {1.0};
  for (int rank = 1; rank <= n; ++rank) {
    // The coin leaves this rank out or takes it.
    std::vector<double> next(probability.size() + static_cast<std::size_t>(rank), 0.0);
    for (std::size_t sum = 0; sum < probability.size(); ++sum) {
      next[sum] += probability[sum] / 2;
      next[sum + static_cast<std::size_t>(rank)] += probability[sum] / 2;
    }
    probability = std::move(next);
  }
  return probability;
}

int signed_rank_bound_index(int n, double alpha) {
  const std::vector<double> probability = signed_rank_distribution(n);
  int k = 0;
  double below = 0;  // P(W+ <= k - 1)
  while (static_cast<std::size_t>(k) < probability.size() &&
         below + probability[static_cast<std::size_t>(k)] <= alpha) {
    below += probability[static_cast<std::size_t>(k)];
    ++k;
  }
  return k;
}

std::vector<double> walsh_averages(std::span<const double> differences) {
  std::vector<double> averages;
  averages.reserve(differences.size() * (differences.size() + 1) / 2);
  for (std::size_t i = 0; i < differences.size(); ++i) {
    for (std::size_t j = i; j < differences.size(); ++j) averages.push_back((differences[i] + differences[j]) / 2);
  }
  std::ranges::sort(averages);
  return averages;
}

std::optional<ChangeBounds> signed_rank_bounds(std::span<const double> differences, double alpha) {
  const auto rounds = static_cast<int>(differences.size());
  if (rounds < kFewestRounds) return std::nullopt;
  const int k = signed_rank_bound_index(rounds, alpha);
  if (k == 0) return std::nullopt;
  const std::vector<double> averages = walsh_averages(differences);
  const auto index = static_cast<std::size_t>(std::min<std::size_t>(static_cast<std::size_t>(k), averages.size()));
  return ChangeBounds{
      .estimate = median(averages), .low = averages[index - 1], .high = averages[averages.size() - index]};
}

double signed_rank_p_above(std::span<const double> differences, double change) {
  const auto above =
      std::ranges::count_if(walsh_averages(differences), [change](double mean) { return mean > change; });
  const std::vector<double> probability = signed_rank_distribution(static_cast<int>(differences.size()));
  double p = 0;
  for (std::size_t w = static_cast<std::size_t>(above); w < probability.size(); ++w) p += probability[w];
  return std::min(p, 1.0);
}

}  // namespace convladder
