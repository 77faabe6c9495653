// JSON that anybody may have written: what is refused, and that a message says where and what was expected and found.
#include "support/json_place.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>

#include "expect_error.hpp"
#include "support/errors.hpp"
#include "support/json_text.hpp"

namespace convladder {
namespace {

using nlohmann::ordered_json;

ordered_json parsed(const std::string& text) { return parse_json(text, "f.json", "a test"); }

TEST(ParseJson, KeepsTheOrder) {
  EXPECT_EQ(parsed(R"({"b": [1, {"a": 2}], "a": null})").dump(), R"({"b":[1,{"a":2}],"a":null})");
}

TEST(ParseJson, NamesFileAndPlace) {
  const std::pair<std::string, std::string> table[] = {
      {"", "f.json: byte 1: not valid JSON, expected a test"},
      {R"({"a": )", "f.json: byte 7: not valid JSON"},
      {R"({"a": 1, "a": 2})", "f.json: a: occurs twice"},
      {R"({"a": [0, {"b": {}, "c\n": 1, "c\n": 2}]})", "f.json: a[1]: c : occurs twice"},
      {R"({"a": [1, 1e999]})", "f.json: a"},
      {std::string(100'000, '['), "nested more than 64 deep"},
  };
  for (const auto& [text, message] : table) {
    expect_error<UserError>([&text = text] { parsed(text); }, {message});
  }
  EXPECT_EQ(parsed(std::string(64, '[') + std::string(64, ']')).size(), 1U);
}

TEST(ParseJson, RefusesMoreKeysThanCanBeSearched) {
  std::string text = "{";
  for (int i = 0; i < 10'001; ++i) text += fmt::format("{}\"{}\":1", i == 0 ? "" : ",", i);
  expect_error<UserError>([&] { parsed(text + "}"); }, {"f.json: 10000: more than 10000 keys"});
}

TEST(JsonPlace, ReadsWhatIsThere) {
  const ordered_json json = parsed(R"({"t": "x", "n": 2.5, "i": -3, "u": 18446744073709551615, "b": true, "null": null,
                                      "l": [1, 2], "o": {"z": 1, "y": 2}, "s": ["a", "b"]})");
  const JsonPlace place(json, "f.json");
  EXPECT_EQ(place.at("t").text(), "x");
  EXPECT_EQ(place.at("t").name(), "x");
  EXPECT_EQ(place.at("n").number({0, 3}), 2.5);
  EXPECT_EQ(place.at("i").whole(-3, 0), -3);
  EXPECT_EQ(place.at("u").whole<std::uint64_t>(), UINT64_MAX);
  EXPECT_TRUE(place.at("b").truth());
  EXPECT_EQ(place.at("l").wholes(0, 2, 2), (std::vector<int>{1, 2}));
  EXPECT_EQ(place.at("l").numbers(), (std::vector<double>{1, 2}));
  EXPECT_EQ(place.at("s").texts(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(place.at("o").numbers_by_name(), (std::vector<std::pair<std::string, double>>{{"z", 1}, {"y", 2}}));
  for (const char* const none : {"null", "nothing"}) {
    EXPECT_FALSE(place.has(none));
    EXPECT_EQ(place.at(none).text_or_empty(), "");
    EXPECT_FALSE(place.at(none).number_or_none());
    EXPECT_TRUE(place.at(none).json().is_null());
  }
  EXPECT_TRUE(place.at("null").is_there());
  EXPECT_FALSE(place.at("nothing").is_there());
}

TEST(JsonPlace, SaysWhereWhatWasExpectedAndFound) {
  const ordered_json json = parsed(R"({"a": [{"b": -1, "c": "x\u001b"}, 7], "big": 18446744073709551615, "f": 1.5})");
  const JsonPlace place(json, "f.json");
  const JsonPlace first = place.at("a").list()[0];
  const auto said = [](const auto& read, std::string_view message) {
    try {
      read();
      ADD_FAILURE() << "accepted; expected " << message;
    } catch (const UserError& error) {
      EXPECT_EQ(std::string_view(error.what()), message);
    }
  };
  said([&] { first.at("b").count(); }, "f.json: a[0]: b: expected a whole number from 0 to 1073741824, found -1");
  said(
      [&] {
        first.at("b").number({kAboveZero, 5, "ns"});
      },
      "f.json: a[0]: b: expected a number above 0 and up to 5 ns, found -1");
  said([&] { first.at("b").number(kNotNegative); }, "f.json: a[0]: b: expected a number from 0, found -1");
  said([&] { first.at("c").name(); },
       R"(f.json: a[0]: c: expected a name of at most 256 bytes without control characters, found "x\u001b")");
  said([&] { first.at("d").text(); }, "f.json: a[0]: d: expected a string, found nothing");
  said([&] { place.at("a").list()[1].at("b"); }, "f.json: a[1]: expected an object, found 7");
  said([&] { place.at("a").numbers(); }, R"(f.json: a[0]: expected a number, found {"b":-1,"c":"x\u001b"})");
  said([&] { place.at("a").texts(); }, R"(f.json: a[0]: expected a string, found {"b":-1,"c":"x\u001b"})");
  said([&] { place.at("f").whole(0, 2); }, "f.json: f: expected a whole number from 0 to 2, found 1.5");
  said([&] { place.at("big").whole<std::int64_t>(0, 5); },
       "f.json: big: expected a whole number from 0 to 5, found 18446744073709551615");
  said([&] { place.at("f").truth(); }, "f.json: f: expected true or false, found 1.5");
  said([&] { place.at("f").list(); }, "f.json: f: expected a list, found 1.5");
}

TEST(JsonPlace, RefusesAFieldThatNobodyAskedFor) {
  const ordered_json json = parsed(R"({"a": 1, "b": 2})");
  const JsonPlace place(json, "f.json");
  static_cast<void>(place.has("a"));
  expect_error<UserError>([&] { place.refuse_others(); }, {R"(f.json: unknown field "b")"});
  static_cast<void>(place.at("b"));
  EXPECT_NO_THROW(place.refuse_others());
}

}  // namespace
}  // namespace convladder
