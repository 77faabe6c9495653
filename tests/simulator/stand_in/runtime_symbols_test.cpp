#include "simulator/stand_in/redirection/runtime_symbols.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace convladder::stand_in {
namespace {

/// An ELF file with these functions in its symbol table, of this type.
std::string file_with(const std::vector<std::string>& functions, Elf64_Word table = SHT_SYMTAB) {
  std::string names(1, '\0');
  std::vector<Elf64_Sym> symbols(1);
  for (const std::string& function : functions) {
    Elf64_Sym symbol{};
    symbol.st_name = static_cast<Elf64_Word>(names.size());
    symbol.st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC);
    symbol.st_shndx = 1;
    symbol.st_value = 0x1000 + 64 * symbols.size();
    symbol.st_size = 64;
    symbols.push_back(symbol);
    names += function + '\0';
  }
  names.resize((names.size() + 7) / 8 * 8);
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_shoff = sizeof header;
  header.e_shnum = 2;
  std::vector<Elf64_Shdr> sections(2);
  sections[0].sh_type = table;
  sections[0].sh_link = 1;
  sections[0].sh_offset = sizeof header + 2 * sizeof(Elf64_Shdr);
  sections[0].sh_size = symbols.size() * sizeof(Elf64_Sym);
  sections[1].sh_type = SHT_STRTAB;
  sections[1].sh_offset = sections[0].sh_offset + sections[0].sh_size;
  sections[1].sh_size = names.size();
  const auto bytes = [](const auto* first, std::size_t count) {
    return std::string(reinterpret_cast<const char*>(first), count * sizeof *first);
  };
  return bytes(&header, 1) + bytes(sections.data(), 2) + bytes(symbols.data(), symbols.size()) + names;
}

std::vector<std::string> runtime_names() {
  std::vector<std::string> names{"main", "cudaRuntimeGetVersion", "__cudaRegisterFatBinary"};
  for (int i = 0; i < 98; ++i) names.push_back("cudaFunction" + std::to_string(i));
  return names;
}

bool has_runtime_in(const std::string& file) { return has_runtime(FileSymbols(file)); }

TEST(RuntimeSymbols, AWholeRuntimeIsKnownByItsNames) {
  std::vector<std::string> names = runtime_names();
  EXPECT_TRUE(has_runtime_in(file_with(names)));
  EXPECT_TRUE(has_runtime_in(file_with(names, SHT_DYNSYM)));
  EXPECT_FALSE(FileSymbols(file_with(names)).is_stripped());
  EXPECT_TRUE(FileSymbols(file_with(names, SHT_DYNSYM)).is_stripped());
  names.pop_back();  // a library that watches some calls has fewer
  EXPECT_FALSE(has_runtime_in(file_with(names)));
  for (const std::size_t missing : {1, 2}) {
    names = runtime_names();
    names[missing] = "cudaSomethingElse";
    EXPECT_FALSE(has_runtime_in(file_with(names)));
  }
}

TEST(RuntimeSymbols, NamesOfTheProgramAreNotTheRuntimes) {
  for (const char* const name : {"cudaMalloc", "__cudaRegisterVar", "cudaX"})
    EXPECT_TRUE(is_like_runtime(name)) << name;
  for (const char* const name :
       {"", "cuda", "__cuda", "cuda_init", "cudart", "cudamalloc", "myCudaMalloc", "_cudaMalloc", "cuMemAlloc", "__"}) {
    EXPECT_FALSE(is_like_runtime(name)) << name;
  }
}

TEST(RuntimeSymbols, AFileThatEndsAnywhereOrLiesIsReadWithoutHarm) {
  const std::string file = file_with(runtime_names());
  for (std::size_t bytes = 0; bytes < file.size(); ++bytes)
    EXPECT_FALSE(has_runtime_in(file.substr(0, bytes))) << bytes;
  for (std::size_t place = 0; place < sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Shdr) + 2 * sizeof(Elf64_Sym); ++place) {
    std::string changed = file;
    changed[place] = static_cast<char>(0xff);
    static_cast<void>(has_runtime_in(changed));
  }
}

}  // namespace
}  // namespace convladder::stand_in
