#include "network/safetensors.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "expect_error.hpp"

namespace convladder {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes bytes_of(const std::string& content) { return {content.begin(), content.end()}; }

Bytes file_of(const std::string& header, std::size_t data_bytes, std::uint64_t length) {
  std::string content(reinterpret_cast<const char*>(&length), sizeof length);
  content += header;
  content.append(data_bytes, '\0');
  return bytes_of(content);
}
Bytes file_of(const std::string& header, std::size_t data_bytes) { return file_of(header, data_bytes, header.size()); }

/// A header's entry, without the braces around the header.
std::string entry(std::string_view name, std::string_view shape, std::string_view offsets,
                  std::string_view dtype = "F32") {
  return fmt::format(R"("{}":{{"dtype":"{}","shape":{},"data_offsets":{}}})", name, dtype, shape, offsets);
}

std::string header_of(const std::string& entries) { return fmt::format("{{{}}}", entries); }

void expect_bytes_refused(const Bytes& bytes, std::initializer_list<std::string_view> parts) {
  expect_error<UserError>([&] { parse_safetensors(bytes, "own.safetensors"); }, {"own.safetensors: "});
  expect_error<UserError>([&] { parse_safetensors(bytes, "own.safetensors"); }, parts);
}
void expect_header_refused(const std::string& header, std::initializer_list<std::string_view> parts) {
  SCOPED_TRACE(header);
  expect_bytes_refused(file_of(header, 8), parts);
}

template <typename Element>
std::vector<float> values_of(const std::string& dtype, const std::vector<Element>& elements) {
  const std::size_t size = elements.size() * sizeof(Element);
  const std::string header =
      header_of(entry("x", fmt::format("[{}]", elements.size()), fmt::format("[0,{}]", size), dtype));
  Bytes bytes = file_of(header, size);
  std::memcpy(bytes.data() + bytes.size() - size, elements.data(), size);
  return parse_safetensors(bytes, "f").tensors.at(0).values;
}

TEST(Safetensors, ReadsWhatItWrote) {
  const std::vector<Tensor> tensors = {{"b", {2, 3}, {1, 2, 3, 4, 5, 6}},
                                       {"a \"quoted\" näme", {}, {-0.5F}},
                                       {"empty", {3, 0}, {}},
                                       {"c", {1, 1, 2}, {std::numeric_limits<float>::max(), 1e-45F}}};
  const std::map<std::string, std::string> metadata = {{"network", "lenet28"}, {"epochs", "2"}};
  const TensorFile read = parse_safetensors(bytes_of(safetensors_content(tensors, metadata)), "f");
  EXPECT_EQ(read.metadata, metadata);
  ASSERT_EQ(read.tensors.size(), 4U);
  const auto expect_same = [](const Tensor& found, const Tensor& expected) {
    EXPECT_EQ(found.name, expected.name);
    EXPECT_EQ(found.shape, expected.shape);
    EXPECT_EQ(found.values, expected.values);
  };
  expect_same(read.tensors[0], tensors[1]);
  expect_same(read.tensors[1], tensors[0]);
  expect_same(read.tensors[2], tensors[3]);
  expect_same(read.tensors[3], tensors[2]);
}

TEST(Safetensors, TheBytesAreThoseOfTheFormat) {
  const std::string content = safetensors_content({{"w", {2}, {1.0F, -2.0F}}}, {});
  const std::string header = header_of(entry("w", "[2]", "[0,8]"));
  ASSERT_EQ(header.size(), 54U);
  EXPECT_EQ(content, std::string("\x38\0\0\0\0\0\0\0", 8) + header + "  " + std::string("\0\0\x80\x3f\0\0\0\xc0", 8));
}

TEST(Safetensors, TheOrderOfTheTensorsDoesNotMatterToTheBytes) {
  const Tensor a{"a", {1}, {1}};
  const Tensor b{"b", {2}, {2, 3}};
  EXPECT_EQ(safetensors_content({a, b}, {{"x", "y"}}), safetensors_content({b, a}, {{"x", "y"}}));
}

TEST(Safetensors, AFileWithoutTensorsIsOne) {
  EXPECT_TRUE(parse_safetensors(file_of("{}", 0), "f").tensors.empty());
  EXPECT_TRUE(parse_safetensors(file_of("{}   ", 0), "f").tensors.empty());
}

TEST(Safetensors, ConvertsTheOtherFloatingPointTypes) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(values_of<double>("F64", {1.5, -0.1, 1e-3}), (std::vector<float>{1.5F, -0.1F, 1e-3F}));
  EXPECT_EQ(values_of<std::uint16_t>("F16", {0x3c00, 0xc000, 0x0001, 0x7bff, 0x7c00, 0x8000}),
            (std::vector<float>{1.0F, -2.0F, 0x1p-24F, 65504.0F, infinity, -0.0F}));
  EXPECT_EQ(values_of<std::uint16_t>("BF16", {0x3f80, 0xc000, 0x4049}), (std::vector<float>{1.0F, -2.0F, 3.140625F}));
  EXPECT_TRUE(std::isnan(values_of<std::uint16_t>("F16", {0x7e00}).at(0)));
}

TEST(Safetensors, RefusesOtherTypesByName) {
  for (const char* dtype : {"I64", "U8", "BOOL", "F8_E4M3", "f32", ""}) {
    expect_header_refused(header_of(entry("ids", "[1]", "[0,8]", dtype)),
                          {fmt::format(R"(tensor "ids": dtype "{}")", dtype), "expected F32, F64, F16 or BF16"});
  }
}

TEST(Safetensors, RefusesALyingHeaderLength) {
  expect_bytes_refused({}, {"byte 0", "the file has 0"});
  expect_bytes_refused(Bytes(7), {"byte 0", "8 bytes of the header's length, the file has 7"});
  expect_bytes_refused(file_of("{}", 0, 3), {"byte 0: a header of 3 bytes, expected at most the 2 that follow"});
  expect_bytes_refused(file_of("{}", 0, 10'000'000),
                       {"a header of 10000000 bytes, expected at most the 2 that follow"});
  expect_bytes_refused(file_of("{}", 0, 10'000'001), {"a header of 10000001 bytes, expected at most 10000000"});
  expect_bytes_refused(file_of("{}", 0, UINT64_MAX), {"a header of 18446744073709551615 bytes, expected at most"});
  expect_bytes_refused(file_of("{}", 0, 0), {"byte 8", "start with '{'"});
  expect_bytes_refused(file_of(" {}", 0), {"byte 8", "start with '{'"});
  expect_bytes_refused(file_of("[]", 0), {"byte 8", "start with '{'"});
}

TEST(Safetensors, EveryCutIsRefused) {
  const Bytes whole = bytes_of(safetensors_content({{"a", {3}, {1, 2, 3}}, {"b", {1}, {4}}}, {{"k", "v"}}));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    SCOPED_TRACE(size);
    expect_bytes_refused(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)), {"expected"});
  }
  Bytes longer = whole;
  longer.push_back(0);
  expect_bytes_refused(longer, {"end at byte 16 of the data, expected 17"});
}

TEST(Safetensors, SaysWhereTheHeaderIsNoJson) {
  expect_header_refused("{\"a\"", {"header: byte 5: not valid JSON"});
  expect_header_refused("{} x", {"header: byte 4: not valid JSON"});
  expect_header_refused("{\"\xff\":1}", {"header: byte", "not valid JSON"});
  expect_header_refused(std::string(100'000, '{'), {"header: byte", "not valid JSON"});
}

TEST(Safetensors, DeepNestingIsRefusedAtItsBeginning) {
  expect_header_refused(fmt::format(R"({{"a":{{"shape":{})", std::string(1'000'000, '[')),
                        {"header: a: shape[0][0]", "nested more than 64 deep"});
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += R"({"a":)";
  expect_header_refused(objects, {"header: a: a: a", "nested more than 64 deep"});
}

TEST(Safetensors, RefusesAHeaderOfAnotherForm) {
  expect_header_refused(R"({"a":3})", {"header: a: expected an object, found 3"});
  expect_header_refused(R"({"a":null})", {"expected an object", "found null"});
  expect_header_refused(R"({"a":[]})", {"expected an object, found []"});
  expect_header_refused(R"({"__metadata__":{"epochs":2}})",
                        {"header: __metadata__: epochs: expected a string, found 2"});
  expect_header_refused(R"({"a":{}})", {"header: a: dtype: expected a string, found nothing"});
  expect_header_refused(R"({"a":{"dtype":"F32"}})", {"header: a: shape: expected a list, found nothing"});
  expect_header_refused(R"({"a":{"dtype":"F32","shape":[2]}})",
                        {"header: a: data_offsets: expected a list, found nothing"});
  expect_header_refused(R"({"a":{"dtype":["F32"]}})", {R"(header: a: dtype: expected a string, found ["F32"])"});
  expect_header_refused(R"({"a":{"dtype":"F32","shape":"2"}})", {R"(header: a: shape: expected a list, found "2")"});
  expect_header_refused(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"size":[2]}})",
                        {R"(header: a: unknown field "size")"});
}

TEST(Safetensors, RefusesNumbersThatAreNoSizes) {
  for (const char* number : {"-1", "1.5", "1e3", "true", "18446744073709551615", "99999999999999999999", "\"1\""}) {
    expect_header_refused(header_of(entry("a", fmt::format("[{}]", number), "[0,8]")),
                          {"header: a: shape[0]: expected a whole number from 0"});
  }
  expect_header_refused(header_of(entry("a", "[2]", "[0,-8]")),
                        {"header: a: data_offsets[1]: expected a whole number from 0"});
  expect_header_refused(header_of(entry("a", "[2]", "[0,8,8]")),
                        {"header: a: data_offsets: expected a list of 2, found [0,8,8]"});
  expect_header_refused(header_of(entry("a", "[2]", "[0]")), {"data_offsets: expected a list of 2, found [0]"});
  expect_header_refused(header_of(entry("a", "[1,1,1,1,1,1,1,1,2]", "[0,8]")), {"expected at most 8 dimensions"});
}

TEST(Safetensors, RefusesANameThatIsThereTwice) {
  expect_header_refused(header_of(entry("a", "[1]", "[0,4]") + "," + entry("a", "[1]", "[4,8]")),
                        {"header: a: occurs twice"});
  expect_header_refused(R"({"a":{"shape":[2],"shape":[2]}})", {"header: a: shape: occurs twice"});
  expect_header_refused(R"({"__metadata__":{"k":"1","k":"1"}})", {"header: __metadata__: k: occurs twice"});
}

TEST(Safetensors, RefusesPlacesOutsideOfTheData) {
  expect_header_refused(header_of(entry("a", "[3]", "[0,12]")), {R"(tensor "a")", "[0, 12]", "8 bytes of data"});
  expect_header_refused(header_of(entry("a", "[2]", "[8,0]")), {"[8, 0]: expected them within"});
  expect_header_refused(header_of(entry("a", "[2]", "[18446744073709551608,18446744073709551615]")),
                        {"expected them within"});
}

TEST(Safetensors, RefusesOverlapsAndGaps) {
  expect_header_refused(header_of(entry("a", "[2]", "[0,8]") + "," + entry("b", "[1]", "[4,8]")),
                        {R"(tensor "b": its data begins at 4, expected 8)", "overlap"});
  expect_header_refused(header_of(entry("a", "[2]", "[0,8]") + "," + entry("b", "[2]", "[0,8]")), {"overlap"});
  expect_header_refused(header_of(entry("a", "[1]", "[4,8]")), {"begins at 4, expected 0", "gap"});
  expect_header_refused(header_of(entry("a", "[1]", "[0,4]")), {"end at byte 4 of the data, expected 8"});
  expect_header_refused("{}", {"end at byte 0 of the data, expected 8"});
}

TEST(Safetensors, RefusesAShapeThatIsNotItsData) {
  expect_header_refused(header_of(entry("a", "[1]", "[0,8]")), {"shape [1] of F32 needs 4 bytes", "give it 8"});
  expect_header_refused(header_of(entry("a", "[2]", "[0,8]", "F64")), {"shape [2] of F64 needs more than the 8"});
  expect_header_refused(header_of(entry("a", "[4294967296,4294967296]", "[0,8]")),
                        {"shape [4294967296, 4294967296] of F32 needs more than the 8 bytes"});
  expect_header_refused(header_of(entry("a", "[9223372036854775807,2]", "[0,8]")), {"needs more than"});
  expect_header_refused(header_of(entry("a", "[9223372036854775807,0]", "[0,8]")), {"needs 0 bytes", "give it 8"});
}

TEST(Safetensors, ANameInAMessageIsShortAndOnOneLine) {
  const std::string name = fmt::format("line\\nbreak{:x>1000}", "");
  try {
    parse_safetensors(file_of(header_of(entry(name, "[1]", "[0,8]")), 8), "f");
    FAIL();
  } catch (const UserError& error) {
    const std::string_view message = error.what();
    EXPECT_EQ(message.find('\n'), std::string_view::npos);
    EXPECT_NE(message.find("line\\nbreak"), std::string_view::npos);
    EXPECT_LT(message.size(), 250U);
  }
}

}  // namespace
}  // namespace convladder
