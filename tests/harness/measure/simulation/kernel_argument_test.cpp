// Kernel arguments as written on the command line.
#include "harness/measure/simulation/kernel_argument.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>

#include "datasets/npy_file.hpp"
#include "expect_error.hpp"
#include "simulator/memory/tensor_map.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "temporary_folder.hpp"

namespace convladder {
namespace {

using Shape = std::vector<std::size_t>;

std::string values(const KernelArgument& argument) {
  std::string text;
  for (std::size_t at = 0; at < argument.bytes.size(); at += element_bytes(*argument.type)) {
    text += element_text(*argument.type, argument.bytes.data() + at) + ' ';
  }
  return text;
}

void expect_refused(const std::string& text, std::initializer_list<std::string_view> parts) {
  SCOPED_TRACE(text);
  expect_error<UserError>([&] { parse_kernel_argument(text); }, parts);
}

TEST(KernelArgument, ANumber) {
  const KernelArgument argument = parse_kernel_argument("n=i32:-5");
  EXPECT_EQ(argument.kind, ArgumentKind::value);
  EXPECT_EQ(argument.name, "n");
  EXPECT_EQ(argument.bytes.size(), 4U);
  EXPECT_EQ(values(argument), "-5 ");
}

std::string hexadecimal(const std::vector<std::byte>& bytes) {
  std::string text;
  for (const std::byte byte : bytes) text += fmt::format("{:02x}", std::to_integer<int>(byte));
  return text;
}

TEST(KernelArgument, AnAddressInABuffer) {
  const KernelArgument argument = parse_kernel_argument("p=@x+64");
  EXPECT_EQ(argument.kind, ArgumentKind::value);
  EXPECT_EQ(argument.bytes, std::vector<std::byte>(8));
  ASSERT_EQ(argument.addresses.size(), 1U);
  EXPECT_EQ(argument.addresses[0].at, 0U);
  EXPECT_EQ(argument.addresses[0].buffer, "x");
  EXPECT_EQ(argument.addresses[0].offset, 64U);
  EXPECT_EQ(parse_kernel_argument("@x").addresses[0].offset, 0U);
}

TEST(KernelArgument, AStructureIsLaidOutAsCDoes) {
  // struct { char c; float* x; struct { double d; char e; } in; short h[3]; float* y; int n; }
  const KernelArgument argument =
      parse_kernel_argument("a=struct:{i8:1,@x, {f64:1,i8:2}, i16:[3,4,5], u64:@y+8,i32:6}");
  EXPECT_EQ(hexadecimal(argument.bytes),
            "0100000000000000"
            "0000000000000000"
            "000000000000f03f"
            "0200000000000000"
            "0300040005000000"
            "0000000000000000"
            "0600000000000000");
  ASSERT_EQ(argument.addresses.size(), 2U);
  EXPECT_EQ(argument.addresses[0].at, 8U);
  EXPECT_EQ(argument.addresses[1].at, 40U);
  EXPECT_EQ(argument.addresses[1].buffer, "y");
  EXPECT_EQ(argument.addresses[1].offset, 8U);
  EXPECT_EQ(hexadecimal(parse_kernel_argument("struct:{i16:1,{i8:2,i8:3},i8:4}").bytes), "010002030400");
}

TEST(KernelArgument, WhatAVariableIsSetTo) {
  EXPECT_EQ(values(parse_variable_value("v=f32:1,2", "f32:1,2")), "1 2 ");
  EXPECT_EQ(parse_variable_value("v=f32:1,2", "f32:1,2").kind, ArgumentKind::value);
  EXPECT_EQ(parse_variable_value("v=@x", "@x").addresses.size(), 1U);
  EXPECT_EQ(hexadecimal(parse_variable_value("v=struct:{u8:7,i16:1}", "struct:{u8:7,i16:1}").bytes), "07000100");
  expect_error<UserError>([] { parse_variable_value("v=f32", "f32"); }, {"--set v=f32: "});
}

TEST(KernelArgument, AnInputWithItsValues) {
  const KernelArgument argument = parse_kernel_argument("in:f32:1,2.5,-3");
  EXPECT_EQ(argument.kind, ArgumentKind::input);
  EXPECT_EQ(argument.name, "");
  EXPECT_EQ(argument.shape, Shape{3});
  EXPECT_EQ(values(argument), "1 2.5 -3 ");
}

TEST(KernelArgument, AnOutputWithAndWithoutAValue) {
  const KernelArgument empty = parse_kernel_argument("y=out:f32:64x32");
  EXPECT_EQ(empty.kind, ArgumentKind::output);
  EXPECT_EQ(empty.shape, (Shape{64, 32}));
  EXPECT_EQ(empty.buffer_bytes(), 64U * 32 * 4);
  EXPECT_TRUE(empty.bytes.empty());
  const KernelArgument filled = parse_kernel_argument("out:u16:3=7");
  EXPECT_EQ(filled.name, "");
  EXPECT_EQ(values(filled), "7 7 7 ");
}

TEST(KernelArgument, FillsAndSequences) {
  EXPECT_EQ(values(parse_kernel_argument("inout:i32:fill:4:-1")), "-1 -1 -1 -1 ");
  EXPECT_EQ(values(parse_kernel_argument("in:f16:iota:2x2")), "0 1 2 3 ");
  EXPECT_EQ(values(parse_kernel_argument("in:i8:iota:3:-1")), "-1 0 1 ");
  const KernelArgument random = parse_kernel_argument("in:f32:random:1000:7");
  EXPECT_EQ(values(random), values(parse_kernel_argument("in:f32:random:1000:7")));
  EXPECT_NE(values(random), values(parse_kernel_argument("in:f32:random:1000:8")));
  for (std::size_t at = 0; at < random.bytes.size(); at += 4) {
    float value = 0;
    std::memcpy(&value, random.bytes.data() + at, 4);
    EXPECT_TRUE(value >= 0 && value < 1);
  }
}

class KernelArgumentFiles : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

 private:
  TemporaryFolder folder_;
};

TEST_F(KernelArgumentFiles, AreReadAsBytesOrArrays) {
  write_file_bytes(path("x.bin"), std::vector<std::byte>(12, std::byte{1}));
  write_file_bytes(path("x.npy"), npy_bytes({ElementType::u8, {2, 2}, std::vector<std::byte>(4, std::byte{9})}));
  EXPECT_EQ(parse_kernel_argument("in:f32:@" + path("x.bin")).shape, Shape{3});
  EXPECT_EQ(parse_kernel_argument("bytes:@" + path("x.bin")).bytes.size(), 12U);
  const KernelArgument array = parse_kernel_argument("inout:@" + path("x.npy"));
  EXPECT_EQ(array.type, ElementType::u8);
  EXPECT_EQ(array.shape, (Shape{2, 2}));
  EXPECT_EQ(values(array), "9 9 9 9 ");
}

TEST_F(KernelArgumentFiles, ThatDoNotFitAreRefused) {
  write_file_bytes(path("x.bin"), std::vector<std::byte>(13));
  write_file_bytes(path("empty.bin"), {});
  write_file_bytes(path("x.npy"), npy_bytes({ElementType::u8, {4}, std::vector<std::byte>(4)}));
  expect_refused("in:f32:@" + path("x.bin"), {"13 bytes", "multiple of 4", "f32"});
  expect_refused("in:f32:@" + path("empty.bin"), {"no element"});
  expect_refused("in:@" + path("x.bin"), {"type is missing"});
  expect_refused("in:f32:@" + path("x.npy"), {"holds u8, not f32"});
  expect_refused("in:f32:@" + path("nowhere.bin"), {"nowhere.bin: cannot be read"});
  expect_refused("bytes:" + path("x.bin"), {"bytes:@FILE"});
}

TEST(KernelArgument, WhatIsNoneIsRefused) {
  expect_refused("", {"expected in, out, inout"});
  expect_refused("5", {"got '5'"});
  expect_refused("a b=i32:5", {"'a b' is not a valid name"});
  expect_refused("u8:300", {"--arg u8:300: ", "0 to 255"});
  expect_refused("u32:-1", {"0 to 4294967295"});
  expect_refused("i32:", {"got ''"});
  expect_refused("f32:1e99", {"beyond"});
  expect_refused("in:f31:1", {"unknown type 'f31'", "f32"});
  expect_refused("in:f32:", {"missing"});
  expect_refused("in:i32:1,,2", {"got ''"});
  expect_refused("in:i32:1,2,", {"got ''"});
  expect_refused("out:f32:0", {"at least 1"});
  expect_refused("out:f32:-4", {"at least 1"});
  expect_refused("out:f32:4x", {"at least 1"});
  expect_refused("out:f32:", {"at least 1"});
  expect_refused("out:f32:99999999999999", {"more than 64 GB"});
  expect_refused("out:f64:4294967296x4294967296x4294967296", {"more than 64 GB"});
  expect_refused("in:u8:iota:300", {"0 to 255", "'299'"});
  expect_refused("in:f16:iota:4096", {"f16 does not hold"});
  expect_refused("in:i32:iota:4:x", {"count from"});
  expect_refused("in:i32:random:4:-1", {"seed"});
  expect_refused("in:i32:fill:4:1.5", {"whole number"});
}

TEST(KernelArgument, TensorMapsHaveTheAddressOfABuffer) {
  const KernelArgument argument = parse_kernel_argument(
      "map=tensor:@x+32:bf16:64x9x9x2:lower=-1x-1:upper=0x-1:channels=64:pixels=20:swizzle=128:fill=nan:steps=1x2x2x1");
  EXPECT_EQ(argument.name, "map");
  ASSERT_EQ(argument.addresses.size(), 1U);
  EXPECT_EQ(argument.addresses[0].buffer, "x");
  EXPECT_EQ(argument.addresses[0].offset, 32U);
  ASSERT_EQ(argument.bytes.size(), sizeof(simulated::TensorMap));
  simulated::TensorMap map;
  std::memcpy(&map, argument.bytes.data(), sizeof map);
  EXPECT_EQ(argument.addresses[0].at, 0U);
  EXPECT_EQ(map.type, simulated::TensorType::bf16);
  EXPECT_EQ(map.strides, (std::array<std::uint64_t, 4>{128, 1152, 10368, 0}));
  EXPECT_EQ(map.mode, simulated::TensorMode::im2col);
  EXPECT_EQ(map.lower[1], -1);
  EXPECT_EQ(map.upper[0], 0);
  EXPECT_EQ(map.box[1], 20);
  EXPECT_EQ(map.element_strides[2], 2);
  EXPECT_EQ(map.problem(), "");
  expect_refused("tensor:@x:f32:20x7:box=4x300", {"300 elements in dimension 1"});
  expect_refused("tensor:@x:f32:21x7:box=4x3", {"stride of dimension 1 is 84 bytes"});
  expect_refused("tensor:@x+8:f32:20x7:box=4x3", {"address 0x8"});
  expect_refused("tensor:@x:f32:20x7", {"box= is missing"});
  expect_refused("tensor:@x:f32:20x7:box=4x3:pixels=3", {"box= is for tiles"});
  expect_refused("tensor:@x:f32:20xseven:box=4x3", {"sizes: expected whole numbers", "20xseven"});
  expect_refused("tensor:@x:f8:20x7:box=4x3", {"expected a type", "bf16", "'f8'"});
  expect_refused("tensor:@x:f32:20x7:box=4x3:swizzle=96", {"expected a swizzle", "'96'"});
  expect_refused("tensor:@x:f32:20x7:boxes=4x3", {"expected box=", "'boxes=4x3'"});
  expect_refused("tensor:x:f32:20x7:box=4x3", {"tensor:x"});
}

}  // namespace
}  // namespace convladder
