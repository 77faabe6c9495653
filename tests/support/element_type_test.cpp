// Values of element types from and to text, at the edges of what each type holds.
#include "support/element_type.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

#include "expect_error.hpp"
#include "support/errors.hpp"

namespace convladder {
namespace {

using enum ElementType;

std::string back(ElementType type, std::string_view text) {
  const std::vector<std::byte> bytes = parse_element("here", type, text);
  EXPECT_EQ(bytes.size(), element_bytes(type));
  return element_text(type, bytes.data());
}

std::uint16_t half_bits(std::string_view text) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, parse_element("here", f16, text).data(), sizeof bits);
  return bits;
}

TEST(ElementType, NamesComeBack) {
  for (const ElementType type : element_types()) EXPECT_EQ(element_type_of(element_name(type)), type);
  expect_error<UserError>([] { parse_element_type("here", "f23"); }, {"here: ", "'f23'", "f32"});
}

TEST(ElementType, HoldsItsLimits) {
  EXPECT_EQ(back(i8, "-128"), "-128");
  EXPECT_EQ(back(u8, "255"), "255");
  EXPECT_EQ(back(i64, "-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(back(u64, "18446744073709551615"), "18446744073709551615");
  EXPECT_EQ(back(f32, "0.1"), "0.1");
  EXPECT_EQ(back(f64, "1e300"), "1e+300");
  EXPECT_EQ(back(f32, "-inf"), "-inf");
  EXPECT_EQ(back(f32, "nan"), "nan");
}

TEST(ElementType, RefusesWhatItDoesNotHold) {
  for (const auto& [type, text] : {std::pair{u8, "300"},
                                   {u8, "-1"},
                                   {i8, "128"},
                                   {u64, "18446744073709551616"},
                                   {i32, "1.5"},
                                   {i32, ""},
                                   {i32, "0x10"},
                                   {i32, "nan"},
                                   {i32, "5 "},
                                   {f32, "1e39"},
                                   {f64, "1e999"},
                                   {f16, "65520"},
                                   {f32, "1,5"},
                                   {f32, ""}}) {
    SCOPED_TRACE(text);
    expect_error<UserError>([type = type, text = text] { parse_element("here", type, text); },
                            {"here: ", element_name(type)});
  }
}

TEST(ElementType, HalvesAreRoundedToNearestEven) {
  EXPECT_EQ(half_bits("1"), 0x3c00);
  EXPECT_EQ(half_bits("-2"), 0xc000);
  EXPECT_EQ(half_bits("65504"), 0x7bff);
  EXPECT_EQ(half_bits("65519"), 0x7bff);
  EXPECT_EQ(half_bits("1.00048828125"), 0x3c00);  // halfway to the next: to the even one
  EXPECT_EQ(half_bits("1.00146484375"), 0x3c02);
  EXPECT_EQ(half_bits("5.9604644775390625e-08"), 0x0001);  // the smallest
  EXPECT_EQ(half_bits("2.98e-08"), 0x0000);
  EXPECT_EQ(half_bits("6.1005353927612305e-05"), 0x0400);  // rounds up into the normal numbers
  EXPECT_EQ(half_bits("-0"), 0x8000);
  EXPECT_EQ(half_bits("inf"), 0x7c00);
  EXPECT_EQ(back(f16, "0.333"), "0.33301");
}

}  // namespace
}  // namespace convladder
