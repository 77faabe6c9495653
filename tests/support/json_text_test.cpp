#include "support/json_text.hpp"

#include <gtest/gtest.h>

#include <ctime>
#include <nlohmann/json.hpp>
#include <string>

#include "support/errors.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;

std::string error_of(const std::string& text) {
  try {
    static_cast<void>(parse_json(text, "file", "a text"));
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(ParseJson, MakesWhatTheLibraryMakes) {
  const std::string text =
      R"({"b": [1, -2, 3.5, 1e300, true, null, "t\u00e9xt", [], {}], "a": {"z": {}, "y": [[1], {"x": 2}]}})";
  const ordered_json json = parse_json(text, "file", "a text");
  EXPECT_EQ(json, ordered_json::parse(text));
  EXPECT_EQ(json.dump(), ordered_json::parse(text).dump()) << "in the same order";
  EXPECT_EQ(parse_json("7", "file", "a text"), 7);
}

TEST(ParseJson, NamesThePlace) {
  EXPECT_EQ(error_of(R"({"a": 1, "a": 2})"), "file: a: occurs twice");
  EXPECT_EQ(error_of(R"({"a": [1, {"b": 1, "c": 2, "b": 3}]})"), "file: a[1]: b: occurs twice");
  EXPECT_EQ(error_of("[1, 2, 1e999]"), "file: [1]: a number beyond the range of a double");
  EXPECT_EQ(error_of(""), "file: byte 1: not valid JSON, expected a text");
  EXPECT_EQ(error_of("{} x"), "file: byte 4: not valid JSON, expected a text");
  EXPECT_EQ(error_of("{\n \"a\": tru}"), "file: byte 12: not valid JSON in line 2, \"a\": tru}, expected a text");
  EXPECT_NE(error_of(std::string(65, '[')).find("nested more than 64 deep"), std::string::npos);
  EXPECT_EQ(error_of(std::string(64, '[') + std::string(64, ']')), "no error");
}

TEST(ParseJson, TakesTimeInProportionToALongList) {
  std::string text = "[{}";
  for (int i = 0; i < 300'000; ++i) text += ",{\"a\":1}";
  const std::clock_t begin = std::clock();
  EXPECT_EQ(parse_json(text + ']', "file", "a text").size(), 300'001U);
  // A look through the list for each of its elements would take a hundred times as long.
  EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 10);
}

}  // namespace
}  // namespace convladder
