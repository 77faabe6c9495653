#include "simulator/stand_in/modules/fat_binary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "expect_error.hpp"
#include "simulator/stand_in/fat_binary_bytes.hpp"
#include "support/errors.hpp"

namespace convladder::stand_in {
namespace {

std::string long_text() {
  std::string text = ".version 8.0\n";
  for (int i = 0; i < 3000; ++i) text += "add.s32 %r1, %r1, 1;\n";
  return text;
}

TEST(FatBinary, HoldsImagesOfSeveralArchitectures) {
  const auto bytes =
      made_fat_binary({{.kind = 2, .architecture = 80, .content = "\177ELF machine code"},
                       {.architecture = 75, .content = ".version 7.0\n"},
                       {.kind = 16, .architecture = 80, .content = "of a kind that is left out"},
                       {.architecture = 90, .content = ".version 8.0\n", .header_bytes = 112, .name = "kernels.cu"}});
  const auto images = read_fat_binary(bytes);
  ASSERT_EQ(images.size(), 3U);
  EXPECT_EQ(images[0].kind, ImageKind::machine_code);
  EXPECT_EQ(images[0].ptx, "");
  EXPECT_EQ(images[1].architecture, 75);
  EXPECT_EQ(images[1].ptx, ".version 7.0\n");
  EXPECT_EQ(images[2].ptx, ".version 8.0\n");
  EXPECT_EQ(images[2].name, "kernels.cu");
  EXPECT_EQ(machine_code_text(images), "machine code for sm_80");
  EXPECT_EQ(fat_binary_bytes(bytes.data()), bytes.size());
}

TEST(FatBinary, IsUnpacked) {
  const std::string text = long_text();
  for (const Packing packing : {Packing::none, Packing::lz4, Packing::zstd}) {
    // What is stated of the size may be too little, or far too much.
    for (const std::uint64_t stated : {std::uint64_t{0}, std::uint64_t{100}, std::uint64_t{1000000}}) {
      const auto images = read_fat_binary(
          made_fat_binary({{.content = text, .packing = packing, .header_bytes = 80, .stated_bytes = stated}}));
      ASSERT_EQ(images.size(), 1U);
      EXPECT_EQ(images[0].ptx, text);
    }
  }
}

TEST(FatBinary, PicksTheNewestThatIsNotNewerThanTheGpu) {
  const auto images = read_fat_binary(made_fat_binary({{.architecture = 80, .content = "80"},
                                                       {.kind = 2, .architecture = 90, .content = "code"},
                                                       {.architecture = 70, .content = "70"},
                                                       {.architecture = 100, .content = "100"},
                                                       {.architecture = 120, .content = "120"}}));
  EXPECT_EQ(ptx_for(images, 90)->ptx, "80");
  EXPECT_EQ(ptx_for(images, 80)->ptx, "80");
  EXPECT_EQ(ptx_for(images, 75)->ptx, "70");
  EXPECT_EQ(ptx_for(images, 120)->ptx, "120");
  EXPECT_EQ(ptx_for(images, 60)->ptx, "70") << "nothing fits: the oldest is nearest";
  EXPECT_EQ(ptx_for({}, 90), nullptr);
  const auto machine_code = read_fat_binary(made_fat_binary({{.kind = 2, .architecture = 90, .content = "code"}}));
  EXPECT_EQ(ptx_for(machine_code, 90), nullptr);
}

TEST(FatBinary, PicksWhatOnlyThisGpuHas) {
  // As `nvcc -arch=sm_90a` of CUDA 13 makes it.
  const auto images = read_fat_binary(made_fat_binary({{.architecture = 90, .content = ".target sm_90\n"},
                                                       {.architecture = 90, .content = "// .\n.target sm_90a, debug\n"},
                                                       {.architecture = 100, .content = ".target sm_100a\n"},
                                                       {.architecture = 100, .content = ".target sm_100\n"}}));
  EXPECT_EQ(ptx_for(images, 90)->ptx, "// .\n.target sm_90a, debug\n");
  EXPECT_EQ(ptx_for(images, 100)->ptx, ".target sm_100a\n");
  EXPECT_EQ(ptx_for(images, 120)->ptx, ".target sm_100\n") << "what only sm_100 has is not there";
  EXPECT_EQ(ptx_for(images, 80)->architecture, 90);
}

TEST(FatBinary, IsRefusedWhereverItEndsTooEarly) {
  const MadeImage first{.architecture = 75, .content = long_text(), .packing = Packing::zstd};
  const auto whole = made_fat_binary({first, {.architecture = 90, .content = long_text(), .packing = Packing::lz4}});
  for (std::size_t length = 0; length < whole.size(); length += length < 200 ? 1 : 37) {
    const std::vector<std::byte> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
    EXPECT_THROW(read_fat_binary(cut), UserError) << length;
    // The same where the header says that this is all, and no image ends there.
    if (length < 17 || length == made_fat_binary({first}).size()) continue;
    std::vector<std::byte> shorter = cut;
    put(shorter, 8, std::uint64_t{length - 16});
    EXPECT_THROW(read_fat_binary(shorter), UserError) << length;
  }
}

TEST(FatBinary, SaysWhatIsWrongAndWhere) {
  const auto wrong = [](std::size_t at, auto value) {
    auto bytes = made_fat_binary({{.architecture = 75, .content = long_text(), .packing = Packing::lz4}});
    put(bytes, at, value);
    return bytes;
  };
  const auto message = [](const std::vector<std::byte>& bytes) {
    try {
      read_fat_binary(bytes);
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message(wrong(0, std::uint32_t{0x12345678})), "no fat binary at byte 0");
  EXPECT_EQ(message(wrong(8, ~std::uint64_t{0})), "a fat binary that ends too early at byte 8");
  EXPECT_EQ(message(wrong(16 + 4, std::uint32_t{63})), "an image that ends too early at byte 16");
  EXPECT_EQ(message(wrong(16 + 4, ~std::uint32_t{0})), "an image that ends too early at byte 16");
  EXPECT_EQ(message(wrong(16 + 8, ~std::uint64_t{0})), "an image that ends too early at byte 16");
  EXPECT_EQ(message(wrong(16 + 8, ~std::uint64_t{0} - 63)), "an image that ends too early at byte 16");
  EXPECT_THAT(message(wrong(16 + 64, ~std::uint64_t{0})), testing::HasSubstr("LZ4 cannot unpack at byte 16"));
  // A size of the packed bytes that is more than there are is the padding's.
  EXPECT_THAT(message(wrong(16 + 16, ~std::uint32_t{0})), testing::AnyOf("", testing::HasSubstr("LZ4")));
  // A name that lies elsewhere is no name.
  auto bytes = wrong(16 + 32, ~std::uint32_t{0});
  put(bytes, 16 + 36, std::uint32_t{8});
  EXPECT_EQ(read_fat_binary(bytes)[0].name, "");
  EXPECT_EQ(fat_binary_bytes(wrong(0, std::uint32_t{1}).data()), 0U);
  EXPECT_EQ(fat_binary_bytes(wrong(8, ~std::uint64_t{0}).data()), 0U);
}

}  // namespace
}  // namespace convladder::stand_in
