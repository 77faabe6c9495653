#include "simulator/stand_in/redirection/loaded_symbols.hpp"

#include <cstdint>

namespace convladder::stand_in {
namespace {

/// The tables of an object's dynamic section.
struct Tables {
  const Elf64_Sym* symbols = nullptr;
  const char* names = nullptr;
  const std::uint32_t* hashes = nullptr;      ///< DT_GNU_HASH
  const std::uint32_t* old_hashes = nullptr;  ///< DT_HASH
};

Tables tables_of(const link_map& object) {
  Tables tables;
  if (object.l_ld == nullptr) return tables;
  for (const Elf64_Dyn* entry = object.l_ld; entry->d_tag != DT_NULL; ++entry) {
    // The dynamic linker adds where the object lies, in some sections and in some versions of it.
    std::uintptr_t address = entry->d_un.d_ptr;
    if (address < object.l_addr) address += object.l_addr;
    if (entry->d_tag == DT_SYMTAB) tables.symbols = reinterpret_cast<const Elf64_Sym*>(address);
    if (entry->d_tag == DT_STRTAB) tables.names = reinterpret_cast<const char*>(address);
    if (entry->d_tag == DT_GNU_HASH) tables.hashes = reinterpret_cast<const std::uint32_t*>(address);
    if (entry->d_tag == DT_HASH) tables.old_hashes = reinterpret_cast<const std::uint32_t*>(address);
  }
  return tables;
}

bool is_function(const Tables& tables, std::uint32_t index, std::string_view name) {
  const Elf64_Sym& symbol = tables.symbols[index];
  return symbol.st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol.st_info) == STT_FUNC &&
         name == std::string_view(tables.names + symbol.st_name);
}

/// The index of the symbol, 0 for none.
std::uint32_t find_by_gnu_hash(const Tables& tables, std::string_view name) {
  const std::uint32_t buckets = tables.hashes[0];
  const std::uint32_t first = tables.hashes[1];
  const std::uint32_t bloom_words = tables.hashes[2];
  const std::uint32_t* const bucket = tables.hashes + 4 + std::size_t{2} * bloom_words;
  const std::uint32_t* const chain = bucket + buckets;
  if (buckets == 0) return 0;
  std::uint32_t hash = 5381;
  for (const char c : name) hash = hash * 33 + static_cast<unsigned char>(c);
  std::uint32_t index = bucket[hash % buckets];
  if (index < first) return 0;
  for (;; ++index) {
    const std::uint32_t other = chain[index - first];
    if ((other | 1) == (hash | 1) && is_function(tables, index, name)) return index;
    if ((other & 1) != 0) return 0;
  }
}

std::uint32_t find_by_old_hash(const Tables& tables, std::string_view name) {
  const std::uint32_t buckets = tables.old_hashes[0];
  if (buckets == 0) return 0;
  std::uint32_t hash = 0;
  for (const char c : name) {
    hash = (hash << 4) + static_cast<unsigned char>(c);
    const std::uint32_t high = hash & 0xf0000000;
    hash = (hash ^ (high >> 24)) & ~high;
  }
  for (std::uint32_t index = tables.old_hashes[2 + hash % buckets]; index != 0;
       index = tables.old_hashes[2 + buckets + index]) {
    if (is_function(tables, index, name)) return index;
  }
  return 0;
}

}  // namespace

const void* find_function(const link_map& object, std::string_view name) {
  const Tables tables = tables_of(object);
  if (tables.symbols == nullptr || tables.names == nullptr) return nullptr;
  std::uint32_t index = 0;
  if (tables.hashes != nullptr) {
    index = find_by_gnu_hash(tables, name);
  } else if (tables.old_hashes != nullptr) {
    index = find_by_old_hash(tables, name);
  }
  if (index == 0) return nullptr;
  return reinterpret_cast<const void*>(object.l_addr + tables.symbols[index].st_value);
}

}  // namespace convladder::stand_in
