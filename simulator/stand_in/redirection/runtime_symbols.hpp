// How a CUDA runtime that is part of a program or library is known: by the names of functions in the file's symbol
// table. Nothing here needs the C library.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace convladder::stand_in {

/// The runtime's own copy of this function says which version it is. It asks no driver.
inline constexpr std::string_view kVersionFunction = "cudaRuntimeGetVersion";

struct FunctionSymbol {
  std::string_view name;
  std::uint64_t address = 0;  ///< as in the file
  std::uint64_t bytes = 0;
};

/// The symbols of an ELF file of 64 bits: those of its symbol table, of the dynamic one if it has been stripped.
class FileSymbols {
 public:
  explicit FileSymbols(std::string_view file) : file_(file) {
    const auto* const header = at<Elf64_Ehdr>(0);
    if (header == nullptr || !file.starts_with(ELFMAG) || header->e_ident[EI_CLASS] != ELFCLASS64) return;
    if (!take_table(*header, SHT_SYMTAB)) take_table(*header, SHT_DYNSYM);
  }

  /// Calls `visit(const Elf64_Sym&)` for each symbol.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (std::size_t i = 0; i < count_; ++i) visit(first_[i]);
  }
  /// Calls `visit(const FunctionSymbol&)` for each function that the file has.
  template <typename Visit>
  void for_each_function(const Visit& visit) const {
    for_each([&](const Elf64_Sym& symbol) {
      if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF || symbol.st_value == 0) return;
      visit(FunctionSymbol{name_of(symbol), symbol.st_value, symbol.st_size});
    });
  }
  bool is_stripped() const { return type_ != SHT_SYMTAB; }

  /// The structure at a place of the file; nullptr if the file ends before its end.
  template <typename T>
  const T* at(std::uint64_t offset, std::uint64_t count = 1) const {
    const bool fits = offset <= file_.size() && count <= (file_.size() - offset) / sizeof(T);
    return fits && offset % alignof(T) == 0 ? reinterpret_cast<const T*>(file_.data() + offset) : nullptr;
  }

 private:
  bool take_table(const Elf64_Ehdr& header, std::uint32_t type) {
    const auto* const sections = at<Elf64_Shdr>(header.e_shoff, header.e_shnum);
    if (sections == nullptr || header.e_shoff == 0) return false;
    for (std::size_t i = 0; i < header.e_shnum; ++i) {
      const Elf64_Shdr& section = sections[i];
      if (section.sh_type != type || section.sh_link >= header.e_shnum) continue;
      const Elf64_Shdr& of_names = sections[section.sh_link];
      const std::uint64_t count = section.sh_size / sizeof(Elf64_Sym);
      const char* const names = at<char>(of_names.sh_offset, of_names.sh_size);
      first_ = at<Elf64_Sym>(section.sh_offset, count);
      if (first_ == nullptr || names == nullptr || of_names.sh_size == 0) return false;
      if (names[of_names.sh_size - 1] != '\0') return false;
      count_ = count;
      names_ = {names, of_names.sh_size};
      type_ = type;
      return true;
    }
    return false;
  }
  std::string_view name_of(const Elf64_Sym& symbol) const {
    return symbol.st_name < names_.size() ? std::string_view(names_.data() + symbol.st_name) : std::string_view();
  }

  std::string_view file_;
  const Elf64_Sym* first_ = nullptr;
  std::size_t count_ = 0;
  std::string_view names_;
  std::uint32_t type_ = SHT_NULL;
};

/// "cudaMalloc", "__cudaRegisterVar": the pattern of the runtime's names, which functions of the program may have too.
inline bool is_like_runtime(std::string_view name) {
  const std::size_t skipped = name.starts_with("__") ? 2 : 0;
  constexpr std::string_view kBegin = "cuda";
  if (name.size() <= skipped + kBegin.size()) return false;
  for (std::size_t i = 0; i < kBegin.size(); ++i) {
    if (name[skipped + i] != kBegin[i]) return false;
  }
  const char next = name[skipped + kBegin.size()];
  return next >= 'A' && next <= 'Z';
}

/// Whether these are the symbols of a file that has the whole runtime in it: a few functions of these names may be a
/// library's that watches the calls.
inline bool has_runtime(const FileSymbols& symbols) {
  constexpr std::size_t kFewest = 100;
  std::size_t count = 0;
  bool has_version = false;
  bool has_registration = false;
  symbols.for_each_function([&](const FunctionSymbol& function) {
    if (!is_like_runtime(function.name)) return;
    ++count;
    if (function.name == kVersionFunction) has_version = true;
    if (function.name == "__cudaRegisterFatBinary") has_registration = true;
  });
  return has_version && has_registration && count >= kFewest;
}

}  // namespace convladder::stand_in
