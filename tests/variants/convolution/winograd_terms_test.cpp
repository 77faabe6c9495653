// Minimal filtering in one dimension against the sums it stands for.
#include "variants/convolution/cpu/winograd_terms.hpp"

#include <gtest/gtest.h>

#include "support/seeded_random.hpp"

namespace convladder {
namespace {

double filtered_input(InputFilter filter, const double* d) {
  switch (filter) {
    case InputFilter::single:
      return d[0];
    case InputFilter::difference:
      return d[0] - d[1];
    case InputFilter::difference_over_two:
      return d[0] - d[2];
    case InputFilter::sum:
      return d[0] + d[1];
  }
  return 0;
}

TEST(WinogradTerms, MakeTwoOutputsOfEveryFilterExactly) {
  SeededRandom random(3, 0);
  for (int taps = 1; taps <= 17; ++taps) {
    std::vector<double> weights;
    std::vector<double> inputs;
    for (int i = 0; i < taps; ++i) weights.push_back(static_cast<double>(random.between(-8, 8)));
    for (int i = 0; i <= taps; ++i) inputs.push_back(static_cast<double>(random.between(-8, 8)));
    inputs.resize(inputs.size() + 2, 1e30);  // no term may take from behind the inputs of two outputs
    double outputs[2] = {};
    for (const WinogradTerm& term : winograd_terms(taps)) {
      double product = filtered_input(term.filter, inputs.data() + term.offset);
      double weight = 0;
      for (int i = 0; i < taps; ++i)
        weight += term.weights[static_cast<std::size_t>(i)] * weights[static_cast<std::size_t>(i)];
      product *= weight;
      outputs[0] += term.way == OutputWay::second ? 0 : product;
      outputs[1] += term.way == OutputWay::first ? 0 : term.way == OutputWay::opposite ? -product : product;
    }
    for (int j = 0; j < 2; ++j) {
      double expected = 0;
      for (int i = 0; i < taps; ++i) {
        expected += inputs[static_cast<std::size_t>(i + j)] * weights[static_cast<std::size_t>(i)];
      }
      EXPECT_EQ(outputs[j], expected) << taps << " taps, output " << j;
    }
  }
}

TEST(WinogradTerms, AreFewerThanTheProductsOfTheSums) {
  EXPECT_EQ(winograd_terms(1).size(), 2U);
  EXPECT_EQ(winograd_terms(2).size(), 3U);
  EXPECT_EQ(winograd_terms(3).size(), 4U);
  EXPECT_EQ(winograd_terms(5).size(), 7U);
  EXPECT_EQ(winograd_terms(7).size(), 11U);
}

}  // namespace
}  // namespace convladder
