// .npy files: what NumPy writes is read, what is damaged or cannot be a buffer is refused with its place.
#include "datasets/npy_file.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "expect_error.hpp"
#include "support/errors.hpp"

namespace convladder {
namespace {

using Bytes = std::vector<std::byte>;

Bytes as_bytes(std::string_view text) {
  const auto* const begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

/// A file of format version 1.0 with this header.
Bytes file(std::string header, std::string_view data) {
  header += '\n';
  std::string text("\x93NUMPY\x01\x00", 8);
  text += static_cast<char>(header.size());
  text += '\0';
  text += header;
  text += data;
  return as_bytes(text);
}

Bytes typed(std::string_view descr, std::string_view shape, std::string_view data, std::string_view order = "False") {
  return file(fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}", descr, order, shape), data);
}

void expect_refused(const Bytes& content, std::initializer_list<std::string_view> parts) {
  expect_error<UserError>([&] { parse_npy(content, "x.npy"); }, parts);
}

TEST(NpyFile, ReadsTypeShapeAndElements) {
  const NpyArray array = parse_npy(typed("<u2", "(2, 3)", "abcdefghijkl"), "x.npy");
  EXPECT_EQ(array.type, ElementType::u16);
  EXPECT_EQ(array.shape, (std::vector<std::size_t>{2, 3}));
  EXPECT_EQ(array.bytes, as_bytes("abcdefghijkl"));
}

TEST(NpyFile, ReadsASingleNumberAndAnEmptyArray) {
  EXPECT_TRUE(parse_npy(typed("|i1", "()", "a"), "x.npy").shape.empty());
  EXPECT_TRUE(parse_npy(typed("<f8", "(0, 3)", ""), "x.npy").bytes.empty());
}

TEST(NpyFile, ReadsTheLongHeaderOfVersionTwo) {
  const std::string header = "{'shape': (1,), \"descr\": \"<f2\", 'fortran_order': False}\n";
  std::string text("\x93NUMPY\x02\x00", 8);
  text += {static_cast<char>(header.size()), '\0', '\0', '\0'};
  text += header;
  text += "ab";
  EXPECT_EQ(parse_npy(as_bytes(text), "x.npy").type, ElementType::f16);
}

TEST(NpyFile, WhatIsWrittenComesBackForEveryType) {
  for (const ElementType type : element_types()) {
    const NpyArray array{type, {3, 2}, Bytes(6 * element_bytes(type), std::byte{7})};
    const Bytes content = npy_bytes(array);
    EXPECT_EQ((content.size() - array.bytes.size()) % 64, 0U);  // as the format asks for
    const NpyArray back = parse_npy(content, "x.npy");
    EXPECT_EQ(back.type, type);
    EXPECT_EQ(back.shape, array.shape);
    EXPECT_EQ(back.bytes, array.bytes);
  }
}

TEST(NpyFile, RefusesEveryTruncation) {
  const Bytes whole = npy_bytes({ElementType::f32, {2, 2}, Bytes(16)});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    expect_refused(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)), {"x.npy: byte "});
  }
}

TEST(NpyFile, RefusesWhatIsLeftOver) {
  expect_refused(typed("<f4", "(1,)", "abcde"), {"1 extra byte after the array"});
}

TEST(NpyFile, SaysWhatIsMissingAtTheEnd) {
  expect_refused(typed("<f4", "(2, 3)", "abcd"), {"ends here", "(2, 3)", "f32", "24 bytes"});
  expect_refused(typed("<f8", "(999999999999999, 999999999999999)", ""), {"ends here", "more"});
}

TEST(NpyFile, RefusesTypesThatNoBufferHas) {
  expect_refused(typed("<c8", "(1,)", "abcdefgh"), {"'<c8'", "<f4"});
  expect_refused(typed("|b1", "(1,)", "a"), {"'|b1'"});
  expect_refused(typed(">f4", "(1,)", "abcd"), {"big-endian"});
  expect_refused(file("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "abcd"), {"structures"});
}

TEST(NpyFile, RefusesFortranOrderWhereItMatters) {
  expect_refused(typed("|i1", "(2, 2)", "abcd", "True"), {"Fortran"});
  EXPECT_EQ(parse_npy(typed("|i1", "(4,)", "abcd", "True"), "x.npy").bytes.size(), 4U);
}

TEST(NpyFile, RefusesADamagedHeader) {
  expect_refused(as_bytes("PK no array"), {"byte 0", "not an .npy file"});
  expect_refused(as_bytes(std::string_view("\x93NUMPY\x09\x00\x00\x00\x00\x00", 12)), {"version 9"});
  expect_refused(file("{'descr': '<f4', 'shape': (1,), }", "abcd"), {"lacks"});
  expect_refused(file("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", "abcd"), {"once"});
  expect_refused(typed("<f4", "(-1,)", "abcd"), {"whole number"});
  expect_refused(typed("<f4", "(1 1)", "abcd"), {"','"});
  expect_refused(typed("<f4", "(1,)", "abcd", "Maybe"), {"True or False"});
  expect_refused(file("{'descr: 4", ""), {"unterminated string"});
}

}  // namespace
}  // namespace convladder
