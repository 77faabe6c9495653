#include "ladders/problem_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "support/errors.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;
using testing::HasSubstr;

ordered_json example() {
  return ordered_json::parse(R"({
    "name": "pooled-rows", "title": "Rows, pooled",
    "dimensions": {"R": {"name": "rows"}, "C": {"name": "columns", "from": 2, "to": 4096}, "S": {"name": "stride", "usual": 2}},
    "derived": {"OC": "div(C - 2, S) + 1", "ALL": "R * OC"},
    "tensors": [
      {"name": "x", "role": "in", "type": "f16", "shape": ["R", "C"], "fill": {"kind": "uniform", "low": 0, "high": 1}},
      {"name": "order", "role": "in", "type": "i32", "shape": ["R"], "fill": {"kind": "permutation"}},
      {"name": "y", "role": "out", "type": "f32", "shape": ["R", "OC"], "compare": {"tolerance": 1e-3}},
      {"name": "count", "role": "in-out", "type": "u64", "shape": []}],
    "scalars": [{"name": "scale", "type": "f64", "value": "1 / C"}],
    "sizes": ["R4C8", "R100C4096S4"],
    "work": {"flop": "2 * ALL", "least_bytes": "2 * R * C + 4 * ALL"}})");
}

std::string error_of(const ordered_json& json) {
  try {
    static_cast<void>(parse_problem(json.dump(), "problem.json"));
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

std::string error_with(const char* pointer, const ordered_json& value) {
  ordered_json json = example();
  json[ordered_json::json_pointer(pointer)] = value;
  return error_of(json);
}

std::string size_error_of(const LadderProblem& problem, const std::vector<int>& dimensions) {
  try {
    static_cast<void>(problem.size_values(dimensions));
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

TEST(ProblemFile, SaysWhatIsComputed) {
  const LadderProblem problem = parse_problem(example().dump(), "problem.json");
  EXPECT_EQ(problem.signature(true),
            "extern \"C\" void solve(const __half* x, const int32_t* order, float* y, uint64_t* count, double scale, "
            "int R, int C, int S)");
  const SizeValues size = problem.size_values({4, 9, 2});
  EXPECT_THAT(size, testing::ElementsAre(4, 9, 2, 4, 16));
  EXPECT_EQ(problem.elements(problem.tensors[0], size), 36);
  EXPECT_EQ(problem.elements(problem.tensors[2], size), 16);
  EXPECT_EQ(problem.elements(problem.tensors[3], size), 1);
  EXPECT_EQ(problem.scalars[0].value.value(size), 1.0 / 9);
  EXPECT_EQ(problem.flop.value(size), 32);
  EXPECT_EQ(problem.least_bytes->value(size), 72 + 64);
  EXPECT_EQ(problem.tensors[1].fill.kind, TensorFill::Kind::permutation);
  EXPECT_EQ(problem.tensors[3].fill.kind, TensorFill::Kind::whole);
  EXPECT_EQ(problem.tensors[3].comparison.kind, TensorComparison::Kind::exact);
}

TEST(ProblemFile, NamesTheFileThePlaceAndWhatIsExpected) {
  EXPECT_THAT(error_with("/tensors/0/type", "f23"), HasSubstr("problem.json: tensors[0]: type: expected one of i8"));
  EXPECT_THAT(error_with("/tensors/0/shape/1", "D"), HasSubstr("unknown name 'D'"));
  EXPECT_THAT(error_with("/tensors/0/name", "a/b"), HasSubstr("expected a name of letters, digits and '_'"));
  EXPECT_THAT(error_with("/tensors/0/name", "int"), HasSubstr("expected a name that C++ and Python do not keep"));
  EXPECT_THAT(error_with("/tensors/1/name", "x"), HasSubstr("'x' is the name of something else already"));
  EXPECT_THAT(error_with("/tensors/0/rolle", "in"), HasSubstr("rolle"));
  EXPECT_THAT(error_with("/tensors/1/fill", {{"kind", "uniform"}, {"low", 0}, {"high", 1}}),
              HasSubstr("its type is whole"));
  EXPECT_THAT(error_with("/tensors/0/fill", {{"kind", "uniform"}, {"low", 2}, {"high", 1}}),
              HasSubstr("'low' is more than 'high'"));
  EXPECT_THAT(error_with("/tensors/2/compare", {{"tolerance", 0}}), HasSubstr("tolerance"));
  EXPECT_THAT(error_with("/tensors/2/compare", nullptr), HasSubstr("\"exact\" or \"any-order\", found null"));
  EXPECT_THAT(error_with("/name", "../x"), HasSubstr("expected a name of small letters"));
  EXPECT_THAT(error_with("/sizes", ordered_json::array()), HasSubstr("1 to 1000 sizes"));
  EXPECT_THAT(error_with("/dimensions/r", {{"name", "rows"}}), HasSubstr("capital letters"));
  EXPECT_THAT(error_with("/dimensions/R/from", 1 << 21), HasSubstr("'from' is more than 'to'"));
  EXPECT_THAT(error_with("/tensors", ordered_json::array({example()["tensors"][0]})),
              HasSubstr("a tensor that is written"));
}

TEST(ProblemFile, ValuesAreOfTheirType) {
  const auto fill_error = [](const char* type, const ordered_json& fill) {
    ordered_json json = example();
    json["tensors"][0]["type"] = type;
    json["tensors"][0]["fill"] = fill;
    return error_of(json);
  };
  const auto whole = [](double low, double high) {
    return ordered_json{{"kind", "whole"}, {"low", low}, {"high", high}};
  };
  EXPECT_EQ(fill_error("u8", whole(0, 255)), "no error");
  EXPECT_THAT(fill_error("u8", whole(0, 300)), HasSubstr("fill: high: expected a value that u8 holds, found 300"));
  EXPECT_THAT(fill_error("u64", whole(-1, 3)), HasSubstr("fill: low: expected a value that u64 holds"));
  EXPECT_EQ(fill_error("i64", whole(-0x1p53, 0x1p53)), "no error");
  EXPECT_THAT(fill_error("i64", whole(0, 0x1p60)), HasSubstr("a value that i64 holds"));
  EXPECT_THAT(fill_error("f16", whole(0, 65505)), HasSubstr("a value that f16 holds"));
  EXPECT_EQ(fill_error("bf16", whole(0, 65505)), "no error");
  EXPECT_THAT(fill_error("f32", whole(0.5, 2)), HasSubstr("fill: low: expected a whole number"));
  EXPECT_THAT(fill_error("i8", {{"kind", "constant"}, {"value", 0.5}}), HasSubstr("a value that i8 holds"));
  EXPECT_THAT(fill_error("f32", {{"kind", "normal"}, {"mean", 0}, {"deviation", 1e39}}), HasSubstr("deviation"));
  EXPECT_THAT(error_with("/tensors/3/compare", {{"tolerance", 0.5}}), HasSubstr("its type is whole"));
  EXPECT_EQ(fill_error("i8", {{"kind", "choice"}, {"values", {-1, 1}}}), "no error");
  EXPECT_EQ(fill_error("f32", {{"kind", "choice"}, {"values", {0.5}}}), "no error");
  EXPECT_THAT(fill_error("i8", {{"kind", "choice"}, {"values", {0.5}}}), HasSubstr("a value that i8 holds"));
  EXPECT_THAT(fill_error("i8", {{"kind", "choice"}, {"values", ordered_json::array()}}), HasSubstr("1 to 256 values"));
  EXPECT_EQ(fill_error("f16", {{"kind", "shares"}}), "no error");
  EXPECT_THAT(fill_error("i32", {{"kind", "shares"}}), HasSubstr("its type is whole"));
  EXPECT_EQ(fill_error("i64", {{"kind", "offsets"}, {"last", "R * C"}}), "no error");
  EXPECT_THAT(fill_error("f32", {{"kind", "offsets"}, {"last", "R"}}), HasSubstr("offsets are whole"));
  EXPECT_THAT(fill_error("i32", {{"kind", "offsets"}, {"last", "NONE"}}), HasSubstr("unknown name 'NONE'"));
  EXPECT_EQ(fill_error("i32", {{"kind", "whole"}, {"low", 0}, {"high", "C - 1"}}), "no error");
  EXPECT_THAT(fill_error("f32", {{"kind", "uniform"}, {"low", 0}, {"high", "C"}}), HasSubstr("fill: high"));
}

TEST(ProblemFile, AFillsMostFollowsFromTheSize) {
  ordered_json json = example();
  json["tensors"][1]["fill"] = {{"kind", "whole"}, {"low", 2}, {"high", "R - 1"}};
  json["tensors"][1]["type"] = "i8";
  const LadderProblem problem = parse_problem(json.dump(), "problem.json");
  EXPECT_EQ(size_error_of(problem, {128, 9, 2}), "no error");
  EXPECT_EQ(size_error_of(problem, {129, 9, 2}),
            "the fill of order: 'R - 1' is 128, it must be a whole number from 2 that i8 holds");
  EXPECT_THAT(size_error_of(problem, {2, 9, 2}), HasSubstr("'R - 1' is 1, it must be a whole number from 2"));
  json["tensors"][1]["fill"] = {{"kind", "offsets"}, {"last", "R / 2"}};
  const LadderProblem halves = parse_problem(json.dump(), "problem.json");
  EXPECT_EQ(size_error_of(halves, {4, 9, 2}), "no error");
  EXPECT_THAT(size_error_of(halves, {5, 9, 2}), HasSubstr("'R / 2' is 2.5, it must be a whole number from 0"));
}

TEST(ProblemFile, NothingIsDefinedByItself) {
  EXPECT_THAT(error_with("/derived/OC", "ALL + 1"), HasSubstr("derived: OC: unknown name 'ALL'"));
  EXPECT_THAT(error_with("/derived/OC", "OC + 1"), HasSubstr("unknown name 'OC'"));
}

TEST(ProblemFile, RefusesSizesThatAreNone) {
  const LadderProblem problem = parse_problem(example().dump(), "problem.json");
  EXPECT_EQ(size_error_of(problem, {4, 5000, 2}), "columns is 5000, it must be 2 to 4096");
  EXPECT_EQ(size_error_of(problem, {1 << 20, 4096, 2}), "x has 2^31 elements or more");
  ordered_json json = example();
  json["tensors"][0]["shape"] = {"R", "C / S"};
  const LadderProblem halves = parse_problem(json.dump(), "problem.json");
  EXPECT_EQ(size_error_of(halves, {4, 9, 2}), "the shape of x: 'C / S' is 4.5, it must be a whole number above 0");
  json["tensors"][0]["shape"] = {"R", "C - 9"};
  EXPECT_THAT(size_error_of(parse_problem(json.dump(), "problem.json"), {4, 9, 2}), HasSubstr("is 0, it must be"));
  json["tensors"][0]["shape"] = {"10 ^ 15"};
  EXPECT_EQ(size_error_of(parse_problem(json.dump(), "problem.json"), {4, 9, 2}), "x has 2^31 elements or more");
}

TEST(ProblemFile, RefusesSizesWhoseNumbersTheirTypesDoNotHold) {
  ordered_json json = example();
  json["tensors"][1]["type"] = "i8";
  json["scalars"][0] = {{"name", "width"}, {"type", "u8"}, {"value", "C"}};
  const LadderProblem problem = parse_problem(json.dump(), "problem.json");
  EXPECT_EQ(size_error_of(problem, {128, 255, 2}), "no error");
  EXPECT_EQ(size_error_of(problem, {129, 255, 2}), "order is a permutation of 129 numbers, which i8 does not hold");
  EXPECT_EQ(size_error_of(problem, {128, 256, 2}), "the scalar width: 'C' is 256, which u8 does not hold");
}

}  // namespace
}  // namespace convladder
