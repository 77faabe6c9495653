#include "simulator/stand_in/modules/images.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "simulator/ptx/parser.hpp"
#include "simulator/stand_in/fat_binary_bytes.hpp"
#include "simulator/stand_in/status.hpp"
#include "temporary_folder.hpp"

namespace convladder::stand_in {
namespace {

constexpr int kArchitecture = 90;

template <typename Work>
int status_of(const Work& work) {
  try {
    work();
  } catch (const Failure& failure) {
    return failure.status;
  }
  return kSuccess;
}

TEST(Images, AreTextFatBinariesAndWrappersOfThem) {
  const std::string text = "// a comment\n.version 7.0\n";
  EXPECT_EQ(ptx_of_image(text.c_str(), kArchitecture), text);
  const auto fat = made_fat_binary({{.architecture = 75, .content = text}, {.architecture = 100, .content = "newer"}});
  EXPECT_EQ(ptx_of_image(fat.data(), kArchitecture), text);
  const FatBinaryWrapper wrapper{FatBinaryWrapper::kMagic, 1, fat.data(), nullptr};
  EXPECT_EQ(ptx_of_image(&wrapper, kArchitecture), text);
  EXPECT_EQ(ptx_of_bytes(fat, kArchitecture), text);
  // A length that a program gives may count the zero behind the text.
  EXPECT_EQ(ptx_of_bytes(std::as_bytes(std::span(text.c_str(), text.size() + 1)), kArchitecture), text);
}

TEST(Images, ThatCannotRunSayWhy) {
  const auto machine_code = made_fat_binary({{.kind = 2, .architecture = 86, .content = "code"}});
  try {
    ptx_of_image(machine_code.data(), kArchitecture);
    FAIL() << "it has no PTX";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.status, kNoKernelImage);
    EXPECT_THAT(failure.what(), testing::AllOf(testing::HasSubstr("sm_86"), testing::HasSubstr("-gencode")));
  }
  std::string elf = "\177ELF\2\1\1";
  elf.resize(64);  // a header
  EXPECT_EQ(status_of([&] { ptx_of_image(elf.data(), kArchitecture); }), kNoKernelImage);
  EXPECT_EQ(status_of([] { ptx_of_image("BC\xC0\xDE", kArchitecture); }), kInvalidImage);
  EXPECT_EQ(status_of([] { ptx_of_image("", kArchitecture); }), kInvalidImage);
  EXPECT_EQ(status_of([] { ptx_of_image(nullptr, kArchitecture); }), kInvalidValue);
  const FatBinaryWrapper empty{FatBinaryWrapper::kMagic, 1, nullptr, nullptr};
  EXPECT_EQ(status_of([&] { ptx_of_image(&empty, kArchitecture); }), kInvalidImage);
  EXPECT_EQ(status_of([] { ptx_of_bytes({}, kArchitecture); }), kInvalidImage);
}

TEST(Images, OfFilesAreNotTakenForAddresses) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "image").string();
  const auto write = [&](const void* bytes, std::size_t length) {
    std::ofstream(path, std::ios::binary).write(static_cast<const char*>(bytes), static_cast<std::streamsize>(length));
  };
  EXPECT_EQ(status_of([&] { ptx_of_file(path.c_str(), kArchitecture); }), kFileNotFound);
  auto fat = made_fat_binary({{.architecture = 75, .content = "ptx"}});
  write(fat.data(), fat.size());
  EXPECT_EQ(ptx_of_file(path.c_str(), kArchitecture), "ptx");
  write(fat.data(), fat.size() - 1);
  EXPECT_EQ(status_of([&] { ptx_of_file(path.c_str(), kArchitecture); }), kInvalidImage);
  // A wrapper has an address, which of a file means nothing.
  const FatBinaryWrapper wrapper{FatBinaryWrapper::kMagic, 1, fat.data(), nullptr};
  write(&wrapper, sizeof wrapper);
  EXPECT_EQ(status_of([&] { ptx_of_file(path.c_str(), kArchitecture); }), kInvalidImage);
  write(".version 7.0\n", 13);
  EXPECT_EQ(ptx_of_file(path.c_str(), kArchitecture), ".version 7.0\n");
}

TEST(Images, AreJoinedToOneModule) {
  const std::string head = ".version 7.0\n.target sm_70\n.address_size 64\n";
  const std::string first =
      head +
      ".extern .func twice (.param .b32 value);\n.visible .entry calls() {\n.reg .b32 %r<2>;\n"
      "mov.u32 %r1, 1;\n{ .param .b32 in; st.param.b32 [in], %r1;\ncall.uni twice, (in); }\nret;\n}\n";
  const std::string second =
      head + ".visible .func twice (.param .b32 value) { ret; }\n.visible .entry other() { ret; }";
  const std::string joined = joined_ptx({first, second});
  const ptx::Module module = ptx::parse_module(joined, "joined");
  EXPECT_NE(module.find_kernel("calls"), nullptr);
  EXPECT_NE(module.find_kernel("other"), nullptr);
  ASSERT_NE(module.find_function("twice"), nullptr);
  EXPECT_TRUE(module.find_function("twice")->is_defined);
  EXPECT_EQ(joined_ptx({first}), first);
  EXPECT_EQ(status_of([] { joined_ptx({}); }), kInvalidValue);
}

}  // namespace
}  // namespace convladder::stand_in
