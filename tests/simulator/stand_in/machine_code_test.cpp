#include "simulator/stand_in/modules/machine_code.hpp"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "simulator/stand_in/fat_binary_bytes.hpp"
#include "simulator/stand_in/modules/images.hpp"
#include "simulator/stand_in/status.hpp"

namespace convladder::stand_in {
namespace {

constexpr int kTheGpu = 90;
constexpr std::uint64_t kFunction = 3;  // the number of its symbol

/// An ELF file with these sections, as ptxas lays them out.
std::string elf_with(const std::vector<std::pair<std::string, std::string>>& sections) {
  std::string bytes(sizeof(Elf64_Ehdr), '\0');
  std::string names(1, '\0');
  std::vector<Elf64_Shdr> headers(1);
  const auto add = [&](const std::string& name, const std::string& content, Elf64_Word type) {
    Elf64_Shdr header{};
    header.sh_name = static_cast<Elf64_Word>(names.size());
    header.sh_type = type;
    header.sh_offset = bytes.size();
    names += name + '\0';
    header.sh_size = (content.empty() ? names : content).size();
    bytes += content.empty() ? names : content;
    headers.push_back(header);
  };
  for (const auto& [name, content] : sections) add(name, content, name.starts_with(".rela") ? SHT_RELA : SHT_PROGBITS);
  add(".shstrtab", "", SHT_STRTAB);
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_shoff = bytes.size();
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = static_cast<Elf64_Half>(headers.size());
  header.e_shstrndx = static_cast<Elf64_Half>(headers.size() - 1);
  bytes.append(reinterpret_cast<const char*>(headers.data()), headers.size() * sizeof(Elf64_Shdr));
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

/// A table of lines (DWARF 2) of one file, with a row for each (address, line), and the relocation of its function.
std::pair<std::string, std::string> table_of(const std::string& file, const std::vector<std::pair<int, int>>& rows) {
  const auto number = [](auto value) { return std::string(reinterpret_cast<const char*>(&value), sizeof value); };
  // Steps of a byte, lines from -5 in a range of 14, special operations from 10.
  std::string header = std::string("\x01\x01\xfb\x0e\x0a\x00\x01\x01\x01\x01\x00\x00\x00\x01", 14) + '\0';
  header += file + std::string("\0\0\0\0\0", 5);
  const std::string before = number(std::uint16_t{2}) + number(static_cast<std::uint32_t>(header.size())) + header;
  std::string program = std::string("\0\x09\x02", 3);
  const std::size_t place = 4 + before.size() + program.size();
  program += number(std::uint64_t{0});
  int address = 0;
  int line = 1;
  for (const auto& [next, its_line] : rows) {
    program += std::string("\x02", 1) + static_cast<char>(next - address) + "\x03" +
               static_cast<char>((its_line - line) & 0x7f) + "\x01";
    address = next;
    line = its_line;
  }
  program += std::string("\x02\x10\0\x01\x01", 5);  // the function's end
  const Elf64_Rela relocation{place, ELF64_R_INFO(kFunction, 2), 0};
  return {number(static_cast<std::uint32_t>(before.size() + program.size())) + before + program, number(relocation)};
}

std::string with_zeros(std::string text) {
  for (char& c : text) c = c == '\n' ? '\0' : c;
  return text;
}

const std::string kText =
    "\n.version 7.0\n.target sm_90\n.address_size 64\n\n.visible .entry f() {\n.reg .b32 %r;\n\nmov.b32 %r, 1;\n\n"
    "bar.sync 0;\nret;\n}\n";

std::string machine_code() {
  const auto [sources, of_sources] = table_of("kernel.py", {{0, 7}, {16, 9}});
  const auto [texts, of_texts] = table_of("", {{0, 9}, {16, 11}});
  return elf_with({{".nv_debug_ptx_txt", with_zeros(kText)},
                   {".debug_line", sources},
                   {".rela.debug_line", of_sources},
                   {".nv_debug_line_sass", texts},
                   {".rela.nv_debug_line_sass", of_texts}});
}

TEST(MachineCode, HoldsItsPtxAndTheLinesOfTheSource) {
  const std::string elf = machine_code();
  EXPECT_EQ(machine_code_bytes(elf.data()), elf.size());
  const std::string ptx = ptx_in_machine_code(std::as_bytes(std::span(elf)));
  EXPECT_EQ(ptx,
            "\n.version 7.0\n.target sm_90\n.address_size 64\n\n.visible .entry f() {\n.reg .b32 %r;\n.loc 1 7 0\n"
            "mov.b32 %r, 1;\n.loc 1 9 0\nbar.sync 0;\nret;\n}\n.file 1 \"kernel.py\"\n");
  EXPECT_EQ(ptx_of_image(elf.data(), kTheGpu), ptx);
  const auto fat = made_fat_binary({{.kind = 2, .architecture = 90, .content = elf, .packing = Packing::zstd}});
  EXPECT_EQ(ptx_of_image(fat.data(), kTheGpu), ptx);
}

TEST(MachineCode, GivesItsPtxWithoutLinesWhereTablesAreNotReadable) {
  auto [sources, of_sources] = table_of("kernel.py", {{0, 7}});
  for (std::size_t length = 0; length < sources.size(); ++length) {
    const std::string elf = elf_with({{".nv_debug_ptx_txt", with_zeros(kText)},
                                      {".debug_line", sources.substr(0, length) + '\1'},
                                      {".nv_debug_line_sass", sources}});
    EXPECT_THAT(ptx_in_machine_code(std::as_bytes(std::span(elf))), testing::StartsWith(kText)) << length;
  }
}

TEST(MachineCode, ATableThatLeadsBackToItselfIsNotReadForEver) {
  auto [sources, of_sources] = table_of("kernel.py", {{0, 7}});
  // An operation whose length, added to its place modulo 2^64, is where it begins.
  const std::string operation("\0\xf5\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11);
  sources.replace(sources.find(std::string("\0\x09\x02", 3)), operation.size(), operation);
  const std::string elf =
      elf_with({{".nv_debug_ptx_txt", with_zeros(kText)}, {".debug_line", sources}, {".nv_debug_line_sass", sources}});
  EXPECT_THAT(ptx_in_machine_code(std::as_bytes(std::span(elf))), testing::StartsWith(kText));
}

TEST(MachineCode, WithoutPtxIsRefused) {
  const std::string elf = elf_with({{".text.f", "code"}});
  EXPECT_EQ(ptx_in_machine_code(std::as_bytes(std::span(elf))), "");
  try {
    ptx_of_image(elf.data(), kTheGpu);
    FAIL() << "it holds no PTX";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.status, kNoKernelImage);
    EXPECT_THAT(failure.what(), testing::HasSubstr("-lineinfo"));
  }
  EXPECT_EQ(machine_code_bytes("\177ELX"), 0U);
  // A file that ends anywhere is no reason to read behind its end.
  const std::string whole = machine_code();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    ptx_in_machine_code(std::as_bytes(std::span(whole.data(), length)));
  }
}

}  // namespace
}  // namespace convladder::stand_in
