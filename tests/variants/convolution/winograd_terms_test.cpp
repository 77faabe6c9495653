// Minimal filtering in one dimension against the sums it stands for.
#include "variants/convolution/cpu/winograd_terms.hpp"

#include <gtest/gtest.h>

#include "support/seeded_random.hpp"

namespace convladder {
namespace {

double filtered_input(InputFilter filter, const double* d, int stride) {
  switch (filter) {
    case InputFilter::single:
      return d[0];
    case InputFilter::difference:
      return d[0] - d[stride];
    case InputFilter::difference_over_two:
      return d[0] - d[2 * stride];
    case InputFilter::sum:
      return d[0] + d[stride];
  }
  return 0;
}

void expect_two_outputs(int taps, int stride, SeededRandom& random) {
  std::vector<double> weights;
  std::vector<double> inputs;
  for (int i = 0; i < taps; ++i) weights.push_back(static_cast<double>(random.between(-8, 8)));
  for (int i = 0; i < taps + stride; ++i) inputs.push_back(static_cast<double>(random.between(-8, 8)));
  // No term may take from behind the inputs of two outputs.
  inputs.resize(inputs.size() + 2 * static_cast<std::size_t>(stride), 1e30);
  double outputs[2] = {};
  for (const WinogradTerm& term : winograd_terms(taps, stride)) {
    double product = filtered_input(term.filter, inputs.data() + term.offset, stride);
    double weight = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) weight += term.weights[i] * weights[i];
    product *= weight;
    outputs[0] += term.way == OutputWay::second ? 0 : product;
    outputs[1] += term.way == OutputWay::first ? 0 : term.way == OutputWay::opposite ? -product : product;
  }
  for (int j = 0; j < 2; ++j) {
    double expected = 0;
    for (int i = 0; i < taps; ++i) {
      expected += inputs[static_cast<std::size_t>(i + stride * j)] * weights[static_cast<std::size_t>(i)];
    }
    EXPECT_EQ(outputs[j], expected) << taps << " taps, stride " << stride << ", output " << j;
  }
}

TEST(WinogradTerms, MakeTwoOutputsOfEveryFilterExactly) {
  SeededRandom random(3, 0);
  for (int taps = 1; taps <= 17; ++taps) {
    for (int stride = 1; stride <= 5; ++stride) expect_two_outputs(taps, stride, random);
  }
}

// What lies beyond an output's window must not even show in rounding errors.
TEST(WinogradTerms, TakeNothingFromBeyondTheWindowOfAnOutput) {
  for (int taps = 1; taps <= 17; ++taps) {
    for (int stride = 1; stride <= 5; ++stride) {
      for (const WinogradTerm& term : winograd_terms(taps, stride)) {
        const int last = term.offset + reach(term.filter) * stride;
        const int end = term.way == OutputWay::second ? taps + stride : taps;
        const int begin = term.way == OutputWay::first ? 0 : stride;
        EXPECT_GE(term.offset, begin) << taps << " taps, stride " << stride;
        EXPECT_LT(last, end) << taps << " taps, stride " << stride;
      }
    }
  }
}

TEST(WinogradTerms, AreFewerThanTheProductsOfTheSums) {
  EXPECT_EQ(winograd_terms(1).size(), 2U);
  EXPECT_EQ(winograd_terms(2).size(), 3U);
  EXPECT_EQ(winograd_terms(3).size(), 4U);
  EXPECT_EQ(winograd_terms(5).size(), 7U);
  EXPECT_EQ(winograd_terms(7).size(), 11U);
  EXPECT_EQ(winograd_terms(11, 4).size(), 15U) << "22 without";
  EXPECT_EQ(winograd_terms(3, 2).size(), 5U);
  EXPECT_EQ(winograd_terms(3, 5).size(), 6U) << "no two outputs share an input";
}

}  // namespace
}  // namespace convladder
