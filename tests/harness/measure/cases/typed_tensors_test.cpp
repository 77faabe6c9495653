// A problem with tensors of every role and of types beside float32: how they are filled, changed and compared.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <variant>

#include "datasets/synthetic_images.hpp"
#include "harness/measure/cases/case_verifier.hpp"
#include "harness/measure/verification/expected_items.hpp"
#include "harness/measure/verification/fresh_input.hpp"

namespace convladder {
namespace {

using testing::HasSubstr;

constexpr int kElements = 6;

/// Every result is an input times 2, or the double of what was there: exact in every type.
class Doubled final : public Problem {
 public:
  std::string_view name() const override { return "doubled"; }
  std::string_view title() const override { return "doubled"; }
  std::vector<Dimension> dimensions() const override { return {}; }
  std::vector<std::string> default_sizes() const override { return {}; }
  std::vector<ProblemTensor> inputs(const ProblemSize& /*size*/) const override {
    return {{"bytes", kElements, ElementType::u8}, {"halves", kElements, ElementType::f16}};
  }
  std::vector<ProblemTensor> outputs(const ProblemSize& /*size*/) const override { return outputs_; }
  std::vector<ProblemTensor> in_outs(const ProblemSize& /*size*/) const override {
    return {{"sums", kElements, ElementType::f64}};
  }
  double flop(const ProblemSize& /*size*/) const override { return kElements; }

  std::vector<ReferenceOutput> reference(const ProblemSize& /*size*/, const ProblemTensors& item) const override {
    std::vector<ReferenceOutput> results(3);
    for (std::size_t i = 0; i < kElements; ++i) {
      results[0].value.push_back(2.0 * item.input<std::uint8_t>()[i]);
      results[1].value.push_back(2.0 * to_double(item.input<Half>(1)[i]));
      results[2].value.push_back(2.0 * item.in_out<double>()[i]);
    }
    for (ReferenceOutput& one : results) {
      for (const double value : one.value) one.magnitude.push_back(std::abs(value));
    }
    return results;
  }

  std::vector<ProblemTensor> outputs_ = {{"whole", kElements, ElementType::i32},
                                         {"bfloats", kElements, ElementType::bf16}};
};

class TypedTensors : public testing::Test {
 protected:
  static constexpr int kBatch = 20;

  TypedTensors() : workload_({"doubled", "", nullptr, 0, {&problem_, kBatch, {}}}, synthetic_images(1, 1), 3) {
    const ProblemData& data = workload_.real();
    const ExpectedItems expected(data);
    setting_.change = {.rotation = 1, .pokes = 77};
    setting_.scales = expected.fill_scales();
    setting_.fill = {.seed = 5, .scale = setting_.scales.at(0)};
    setting_.call = 2;
    leave_right(setting_.change, setting_.call);
  }

  /// What that call finds and what it has to leave.
  void leave_right(const InputChange& change, std::int64_t call) {
    const ProblemData& data = workload_.real();
    for (const InputLayout& layout : input_layouts_with_ranges(data)) {
      const TensorData& given = data.given[layout.tensor];
      std::vector<std::byte>& values = tensors_[given.tensor.name];
      values.resize(given.bytes.size());
      for (int item = 0; item < kBatch; ++item) {
        std::byte* const to = values.data() + static_cast<std::size_t>(item) * layout.bytes_per_image();
        write_image_of_call(to, change, layout, given.bytes.data(), item, call);
      }
    }
    tensors_["whole"].resize(kBatch * kElements * 4);
    tensors_["bfloats"].resize(kBatch * kElements * 2);
    for (int i = 0; i < kBatch * kElements; ++i) {
      at<std::int32_t>("whole", i) = 2 * at<std::uint8_t>("bytes", i);
      at<Bfloat16>("bfloats", i) = from_double<Bfloat16>(2 * to_double(at<Half>("halves", i)));
      at<double>("sums", i) *= 2;
    }
  }

  template <typename T>
  T& at(std::string_view tensor, int element) {
    return reinterpret_cast<T*>(tensors_.at(tensor).data())[element];
  }
  Check compare(double most_flop = ExpectedItems::kCheap) {
    const ExpectedItems expected(workload_.real(), most_flop);
    const std::map<std::string_view, std::size_t> bytes = {
        {"bytes", 1}, {"halves", 2}, {"whole", 4}, {"bfloats", 2}, {"sums", 8}};
    const ReadTensor read = [&](std::string_view tensor, std::int64_t first, std::int64_t count) {
      const std::size_t size = bytes.at(tensor);
      EXPECT_LE(static_cast<std::size_t>(first + count) * size, tensors_.at(tensor).size());
      EXPECT_LE(static_cast<std::size_t>(count) * size, 96U);
      return tensors_.at(tensor).data() + static_cast<std::size_t>(first) * size;
    };
    return expected.compare(read, 96, setting_, 1e-9);
  }
  void expect_refused(const char* reason) { EXPECT_THAT(compare().first_failure, HasSubstr(reason)); }

  Doubled problem_;
  Workload workload_;
  CallSetting setting_;
  std::map<std::string_view, std::vector<std::byte>> tensors_;
};

TEST_F(TypedTensors, WhatIsRightPasses) {
  const Check check = compare();
  EXPECT_TRUE(check.passed) << check.first_failure;
  EXPECT_EQ(check.images, kBatch);
  EXPECT_EQ(check.compared, 3 * kBatch * kElements);
  EXPECT_EQ(check.max_scaled_error, 0) << "rounding to bf16 is no error";
}

TEST_F(TypedTensors, AnIntegerThatIsOffByOneIsWrongWhateverItsMagnitude) {
  ++at<std::int32_t>("whole", 8);
  expect_refused("item 1, element 2 of whole is ");
}

TEST_F(TypedTensors, SmallFloatsMayOnlyBeRounded) {
  at<Bfloat16>("bfloats", 23).bits += 2;
  expect_refused("item 3, element 5 of bfloats is ");
}

TEST_F(TypedTensors, WhatIsNoNumberIsNeverRight) {
  at<Bfloat16>("bfloats", 0) = {Bfloat16::kNan};
  const Check check = compare();
  EXPECT_THAT(check.first_failure, HasSubstr("element 0 of bfloats is nan"));
  EXPECT_TRUE(std::isnan(check.max_scaled_error));
  EXPECT_EQ(check.not_finite, 1);
}

TEST_F(TypedTensors, WhatWasNeverWrittenIsSeenInEveryResult) {
  at<std::int32_t>("whole", 9) = setting_.fill_of(0).element<std::int32_t>(9);
  expect_refused("element 3 of whole is as it was before the call");
  at<std::int32_t>("whole", 9) = 2 * at<std::uint8_t>("bytes", 9);
  at<Bfloat16>("bfloats", 9) = setting_.fill_of(1).element<Bfloat16>(9);
  expect_refused("element 3 of bfloats is as it was before the call");
}

TEST_F(TypedTensors, WhatGoesInAndOutAndIsLeftOrAddedTwiceIsSeen) {
  at<double>("sums", 9) *= 0.5;
  expect_refused("element 3 of sums is as it was before the call");
  at<double>("sums", 9) *= 3;
  expect_refused("item 1, element 3 of sums is ");
}

TEST_F(TypedTensors, AnOverwrittenInputIsSeenInEveryType) {
  at<Half>("halves", 14).bits ^= 1U;
  expect_refused("item 2, element 2 of the input 'halves' was overwritten");
}

TEST_F(TypedTensors, UnwrittenItemsAreSeenWhereNobodyComparesThem) {
  for (int i = 0; i < 16 * kElements; ++i) at<std::int32_t>("whole", i) = setting_.fill_of(0).element<std::int32_t>(i);
  const Check check = compare(0);
  EXPECT_EQ(check.images, ExpectedItems::kFewestItems);
  EXPECT_FALSE(check.passed);
}

TEST_F(TypedTensors, TheAnswerToAnotherCallIsWrong) {
  ++setting_.call;
  EXPECT_FALSE(compare().passed);
}

/// Answers with what is right, and writes down what it was asked.
class RightCase final : public CaseClient {
 public:
  using Read = std::function<void(const ReadElements& request)>;
  RightCase(std::vector<to_case::Set>& sets, Read read) : sets_(sets), read_(std::move(read)) {}
  CaseMessages::Answer ask(const CaseMessages::Request& request) override {
    if (const auto* const set = std::get_if<to_case::Set>(&request)) sets_.push_back(*set);
    if (const auto* const read = std::get_if<ReadElements>(&request)) read_(*read);
    if (std::holds_alternative<to_case::Prepare>(request)) return to_case::Prepared();
    if (std::holds_alternative<to_case::Call>(request)) return to_case::Called{1};
    return Done();
  }

 private:
  std::vector<to_case::Set>& sets_;
  Read read_;
};

TEST_F(TypedTensors, ASecondCallFindsTheOppositeFillWhereAResultMayBeTheFillByChance) {
  std::vector<to_case::Set> sets;
  std::unique_ptr<SharedMemory> window = output_window(1);
  std::byte* const to = window->data();
  auto client = std::make_unique<RightCase>(sets, [&](const ReadElements& request) {
    leave_right(sets.back().change, 1);
    const std::vector<std::byte>& tensor = tensors_.at(request.tensor);
    const std::size_t bytes = tensor.size() / (kBatch * kElements);
    std::memcpy(to, tensor.data() + static_cast<std::size_t>(request.first) * bytes,
                static_cast<std::size_t>(request.count) * bytes);
  });
  CaseVerifier verifier({std::move(window), std::move(client)}, workload_, 1e-6, 4, false);
  verifier.prepare(ProblemKind::real);
  const CaseVerifier::Verified verified = verifier.verify();
  EXPECT_TRUE(verified.check.passed) << verified.check.first_failure;
  ASSERT_EQ(sets.size(), 2U);
  const auto text_of = [](const InputChange& change, const OutputFill& fill) {
    return MessageTexts<CaseMessages>::of_request(to_case::Set{.change = change, .fills = {fill}, .probe = 0});
  };
  ASSERT_EQ(sets[0].fills.size(), 2U) << "one for each output";
  for (const std::size_t output : {0U, 1U}) {
    OutputFill first = sets[0].fills[output];
    EXPECT_FALSE(first.opposite);
    first.opposite = true;
    EXPECT_EQ(text_of(sets[0].change, first), text_of(sets[1].change, sets[1].fills[output]));
  }
  EXPECT_NE(sets[0].fills[0].seed, sets[0].fills[1].seed);
}

TEST_F(TypedTensors, ReplacedElementsAreOthersOfTheTensorsRange) {
  for (const InputLayout& layout : input_layouts_with_ranges(workload_.real())) {
    const void* const from = workload_.real().given[layout.tensor].bytes.data();
    with_element_type(layout.type, [&]<typename T>(T) {
      for (int item = 0; item < kBatch; ++item) {
        const ImageChange<T> change(setting_.change, layout, from, item);
        for (std::int64_t call = 1; call < 200; ++call) {
          change.poked(call).for_each(layout, [&](int, int, std::int64_t element) {
            const double now = to_double(change.replaced(element, change.value(call)));
            EXPECT_NE(now, to_double(change.unchanged(element)));
            EXPECT_GE(now, layout.range->low);
            EXPECT_LE(now, layout.range->high);
          });
        }
      }
    });
  }
}

TEST_F(TypedTensors, AreFilledWithValuesOfTheirTypes) {
  const auto bytes = workload_.integers().given[0].values<std::uint8_t>();
  EXPECT_LE(*std::ranges::max_element(bytes), 8);
  for (const Half one : workload_.real().given[1].values<Half>()) EXPECT_LE(std::abs(to_double(one)), 1);
  EXPECT_THROW(workload_.real().given[0].values<float>(), std::logic_error);
}

TEST_F(TypedTensors, TensorsThatCannotBeAreRefusedInOneLine) {
  const auto expect_size_error = [&](const std::vector<ProblemTensor>& outputs, const char* reason) {
    problem_.outputs_ = outputs;
    EXPECT_THAT(size_error({&problem_, 1, {}}), HasSubstr(reason));
  };
  expect_size_error({{"y", 5, ElementType::i64}}, "y is of i64");
  expect_size_error({{"bytes", 5, ElementType::u8}}, "two tensors are called bytes");
  expect_size_error({{"y", 0, ElementType::u8}}, "y has no elements");
  expect_size_error({{"y", std::int64_t{1} << 31, ElementType::u8}}, "y of one item has 2^31 elements or more");
}

TEST(TypedFills, AreNeverZeroAndTheOppositeIsAnotherEverywhere) {
  for (const float scale : {1e-9F, 1.0F, 5.0F, 1e6F}) {
    const OutputFill fill{.seed = 9, .scale = scale};
    OutputFill opposite = fill;
    opposite.opposite = true;
    for (const ElementType type : element_types()) {
      if (type == ElementType::f16 && scale > 65504) continue;
      with_element_type(type, [&]<typename T>(T) {
        for (int i = 0; i < 2000; ++i) {
          EXPECT_NE(to_double(fill.element<T>(i)), 0) << element_name(type);
          EXPECT_NE(to_double(opposite.element<T>(i)), 0) << element_name(type);
          EXPECT_NE(to_double(fill.element<T>(i)), to_double(opposite.element<T>(i))) << element_name(type);
          EXPECT_TRUE(fill.left_at(i, fill.element<T>(i)));
          EXPECT_FALSE(fill.left_at(i, opposite.element<T>(i)));
        }
      });
    }
  }
}

}  // namespace
}  // namespace convladder
