#include "simulator/stand_in/redirection/static_runtime.hpp"

#include <dlfcn.h>

#include <array>
#include <climits>
#include <cstdint>

#include "simulator/stand_in/redirection/loaded_symbols.hpp"
#include "simulator/stand_in/redirection/runtime_symbols.hpp"
#include "simulator/stand_in/redirection/system.hpp"

// Functions lead here until they are called for the first time, and to the answer "not supported" if the stand-in has
// none of their name. Both get the function's slot in r11, and all other registers as the caller has set them.
extern "C" [[gnu::visibility("hidden")]] void convladder_resolve_at_first_call();
extern "C" [[gnu::visibility("hidden")]] void convladder_refuse_call();

__asm__(R"(
  .text
  .type convladder_resolve_at_first_call, @function
  .hidden convladder_resolve_at_first_call
convladder_resolve_at_first_call:
  .cfi_startproc
  endbr64
  push %rax
  push %rdi
  push %rsi
  push %rdx
  push %rcx
  push %r8
  push %r9
  push %r10
  push %r11
  .cfi_adjust_cfa_offset 72
  sub $128, %rsp
  .cfi_adjust_cfa_offset 128
  movups %xmm0, 0(%rsp)
  movups %xmm1, 16(%rsp)
  movups %xmm2, 32(%rsp)
  movups %xmm3, 48(%rsp)
  movups %xmm4, 64(%rsp)
  movups %xmm5, 80(%rsp)
  movups %xmm6, 96(%rsp)
  movups %xmm7, 112(%rsp)
  mov %r11, %rdi
  call convladder_resolve
  movups 0(%rsp), %xmm0
  movups 16(%rsp), %xmm1
  movups 32(%rsp), %xmm2
  movups 48(%rsp), %xmm3
  movups 64(%rsp), %xmm4
  movups 80(%rsp), %xmm5
  movups 96(%rsp), %xmm6
  movups 112(%rsp), %xmm7
  add $128, %rsp
  .cfi_adjust_cfa_offset -128
  pop %r11
  pop %r10
  pop %r9
  pop %r8
  pop %rcx
  pop %rdx
  pop %rsi
  pop %rdi
  pop %rax
  .cfi_adjust_cfa_offset -72
  jmp *(%r11)
  .cfi_endproc
  .size convladder_resolve_at_first_call, . - convladder_resolve_at_first_call

  .type convladder_refuse_call, @function
  .hidden convladder_refuse_call
convladder_refuse_call:
  .cfi_startproc
  endbr64
  mov 8(%r11), %rdi
  mov 16(%r11), %r11
  jmp *(%r11)
  .cfi_endproc
  .size convladder_refuse_call, . - convladder_refuse_call
)");

namespace convladder::stand_in {

/// Where a function leads. Code above and in the functions uses the first three members by their places.
struct Slot {
  const void* target;
  const char* name;
  StaticRuntime* runtime;
};

struct StaticRuntime {
  const void* refuse;    ///< the stand-in's function that answers calls that it lacks; has to be the first member
  std::size_t bytes;     ///< of this object and everything behind it
  const char* path;      ///< of the file
  int (*version)(int*);  ///< null where the runtime has no names
  void* library;         ///< the stand-in for this version, once it is loaded
};

namespace {

/// The names of all functions that the runtime's header declares.
constexpr auto kRuntimeNames = std::to_array<std::string_view>({
#define CONVLADDER_NAME(name) #name,
#include "runtime_names.inc"
#undef CONVLADDER_NAME
});

const link_map* first_of_program = nullptr;

bool is_declared(std::string_view name) {
  for (const std::string_view one : kRuntimeNames) {
    if (one == name) return true;
  }
  return false;
}

/// The runtime's functions lie beside each other, since they are one file of the archive. A function outside of these
/// addresses has a name like theirs and is the program's.
struct Range {
  std::uint64_t first = ~std::uint64_t{0};
  std::uint64_t last = 0;
  std::uint64_t end = 0;
  bool contains(const FunctionSymbol& function) const {
    return function.address >= first && function.address <= last && is_like_runtime(function.name) &&
           function.name != kVersionFunction;
  }
};

Range range_of(const FileSymbols& symbols) {
  Range range;
  symbols.for_each_function([&](const FunctionSymbol& function) {
    if (!is_like_runtime(function.name) || !is_declared(function.name)) return;
    if (function.address < range.first) range.first = function.address;
    if (function.address > range.last) range.last = function.address;
    if (function.address + function.bytes > range.end) range.end = function.address + function.bytes;
  });
  return range;
}

/// The bytes of a jump to where a slot leads: movabs $slot, %r11; jmp *(%r11).
constexpr std::size_t kJumpBytes = 13;

void write_jump(unsigned char* code, const Slot* slot) {
  const auto address = reinterpret_cast<std::uintptr_t>(slot);
  code[0] = 0x49;
  code[1] = 0xbb;
  for (std::size_t i = 0; i < sizeof address; ++i) code[2 + i] = static_cast<unsigned char>(address >> (8 * i));
  code[10] = 0x41;
  code[11] = 0xff;
  code[12] = 0x23;
}

/// Whether the function, with what fills up its last 16 bytes, has room for the jump.
bool has_room(const FunctionSymbol& function, const FileSymbols& symbols) {
  if (function.bytes >= kJumpBytes) return true;
  bool is_free = function.address % 16 == 0 && !symbols.is_stripped();
  symbols.for_each([&](const Elf64_Sym& symbol) {
    if (symbol.st_value > function.address && symbol.st_value < function.address + kJumpBytes &&
        symbol.st_shndx < SHN_LORESERVE && symbol.st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol.st_info) != STT_TLS) {
      is_free = false;
    }
  });
  return is_free;
}

/// Whether the file is the one that has been loaded, and [first, end) lies in its code.
bool is_code(const FileSymbols& file, const link_map& object, std::uint64_t first, std::uint64_t end) {
  const auto* const header = file.at<Elf64_Ehdr>(0);
  const auto* const segments = header == nullptr ? nullptr : file.at<Elf64_Phdr>(header->e_phoff, header->e_phnum);
  if (segments == nullptr) return false;
  bool is_same = false;
  bool is_inside = false;
  for (std::size_t i = 0; i < header->e_phnum; ++i) {
    const Elf64_Phdr& segment = segments[i];
    if (segment.p_type == PT_DYNAMIC) {
      is_same = object.l_addr + segment.p_vaddr == reinterpret_cast<std::uintptr_t>(object.l_ld);
    }
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0 && first >= segment.p_vaddr &&
        end <= segment.p_vaddr + segment.p_memsz) {
      is_inside = true;
    }
  }
  return is_same && is_inside;
}

using Open = void* (*)(Lmid_t, const char*, int);
using Find = void* (*)(void*, const char*);

/// A function of the C library that the program has.
template <typename Function>
Function of_c_library(std::string_view name) {
  for (const link_map* object = first_of_program; object != nullptr; object = object->l_next) {
    const std::string_view file = file_of(object->l_name == nullptr ? "" : object->l_name);
    if (!file.starts_with("libc.so.") && !file.starts_with("libdl.so.")) continue;
    if (const void* const found = find_function(*object, name))
      return reinterpret_cast<Function>(const_cast<void*>(found));
  }
  say_and_end("the C library has no function ", name);
}

class Path {
 public:
  void add(std::string_view text) {
    for (const char c : text) {
      if (length_ + 1 < text_.size()) text_[length_++] = c;
    }
  }
  void add(unsigned number) {
    if (number >= 10) add(number / 10);
    const char digit = static_cast<char>('0' + number % 10);
    add(std::string_view(&digit, 1));
  }
  const char* text() const { return text_.data(); }

 private:
  std::array<char, PATH_MAX + 64> text_{};
  std::size_t length_ = 0;
};

/// The text from a place on. (std::string_view's own calls the C++ library where there is no such place.)
std::string_view from(std::string_view text, std::size_t at) { return {text.data() + at, text.size() - at}; }

bool contains(std::string_view text, std::string_view part) {
  for (std::size_t at = 0; at + part.size() <= text.size(); ++at) {
    if (from(text, at).starts_with(part)) return true;
  }
  return false;
}

/// The version of a runtime without names, as packages for Python call their folders by it.
unsigned major_of(std::string_view path) { return contains(path, "/cu12/") ? 12 : 13; }

/// The stand-in for the version of the runtime that the object has.
void* library_of(const StaticRuntime& runtime) {
  int version = 0;
  if (runtime.version != nullptr) runtime.version(&version);
  const unsigned major = runtime.version != nullptr ? static_cast<unsigned>(version) / 1000 : major_of(runtime.path);
  Path name;
  name.add("libcudart.so.");
  name.add(major);
  if (major == 11) name.add(".0");
  Path path;
  path.add(own_folder());
  path.add(name.text());
  void* const library =
      is_there(path.text()) ? of_c_library<Open>("dlmopen")(LM_ID_BASE, path.text(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (library != nullptr) return library;
  Path what;
  what.add(" has a CUDA runtime linked into it for which nothing here stands in (");
  what.add(name.text());
  what.add("): compile it with CUDA 11, 12 or 13");
  say_and_end(runtime.path, what.text());
}

/// Functions that are to lead away, as they are counted before there is room for their slots.
struct Found {
  std::uintptr_t begin = ~std::uintptr_t{0};  ///< of the code to be written to, and its end
  std::uintptr_t end = 0;
  const void* version = nullptr;
  std::size_t functions = 0;
  std::size_t text_bytes = 0;
  void count(std::string_view name) {
    ++functions;
    text_bytes += name.size() + 1;
  }
};

/// Writes the jumps: `visit(write)` calls `write(code, name)` for each function of `found`.
template <typename Visit>
StaticRuntime* written(const Found& found, const char* path, const Visit& visit) {
  const std::size_t size =
      sizeof(StaticRuntime) + found.functions * sizeof(Slot) + found.text_bytes + std::string_view(path).size() + 1;
  auto* const runtime = static_cast<StaticRuntime*>(new_memory(size));
  if (runtime == nullptr) return nullptr;
  auto* slot = reinterpret_cast<Slot*>(runtime + 1);
  auto* text = reinterpret_cast<char*>(slot + found.functions);
  const auto keep = [&text](std::string_view name) {
    const char* const kept = text;
    for (const char c : name) *text++ = c;
    *text++ = '\0';
    return kept;
  };
  runtime->bytes = size;
  runtime->path = keep(path);
  runtime->version = reinterpret_cast<int (*)(int*)>(const_cast<void*>(found.version));
  if (!make_writable(found.begin, found.end)) {
    free_memory(runtime, size);
    return nullptr;
  }
  visit([&](unsigned char* code, std::string_view name) {
    if (code[0] == 0x49 && code[1] == 0xbb && code[12] == 0x23) return;  // another name of a function that leads away
    *slot = {reinterpret_cast<const void*>(&convladder_resolve_at_first_call), keep(name), runtime};
    write_jump(code, slot++);
  });
  make_executable(found.begin, found.end);
  return runtime;
}

constexpr std::size_t kMarkBytes = 4;
bool has_mark(const unsigned char* code) {
  return code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e && code[3] == 0xfa;
}

/// Where a function goes on that does nothing else than to jump (jmp rel32); nullptr if it does something.
unsigned char* jumped_to(unsigned char* code) {
  if (has_mark(code)) code += kMarkBytes;
  if (code[0] != 0xe9) return nullptr;
  std::int32_t distance = 0;
  __builtin_memcpy(&distance, code + 1, sizeof distance);
  return code + 5 + distance;
}

/// A function by which a library is known that hands the functions of a runtime without names on (the CuTe DSL's).
constexpr std::string_view kHandedOnFunction = "_cudaLaunchKernelEx";

/// The name in the runtime or driver of a function that is handed on: "_cudaMalloc", "_cuLibraryLoadData".
std::string_view handed_on(std::string_view name) {
  if (name == kHandedOnFunction) return "cudaLaunchKernelExC";
  const bool is_of_driver = name.size() > 3 && name.starts_with("_cu") && name[3] >= 'A' && name[3] <= 'Z';
  const bool is_of_runtime = name.starts_with("_") && is_declared(from(name, 1));
  return is_of_driver || is_of_runtime ? from(name, 1) : std::string_view();
}

/// Redirects a runtime without names by what leads to it: exported functions that only jump to one of its functions.
/// Where they do more, as those of the driver, they themselves lead away.
StaticRuntime* redirect_handed_on(const link_map& object, const FileSymbols& symbols, const char* path) {
  const auto visit = [&](const auto& each) {
    symbols.for_each_function([&](const FunctionSymbol& function) {
      const std::string_view name = handed_on(function.name);
      if (name.empty()) return;
      auto* const code = reinterpret_cast<unsigned char*>(object.l_addr + function.address);
      auto* const target = jumped_to(code);
      if (target != nullptr) return each(target, name);
      if (name.starts_with("cuda") || function.bytes < kJumpBytes) return;  // it calls the runtime, which leads away
      each(code, name);
    });
  };
  Found found;
  visit([&](const unsigned char* code, std::string_view name) {
    const auto address = reinterpret_cast<std::uintptr_t>(code);
    if (address < found.begin) found.begin = address;
    if (address + kJumpBytes > found.end) found.end = address + kJumpBytes;
    found.count(name);
  });
  if (found.functions == 0) return nullptr;
  if (!is_code(symbols, object, found.begin - object.l_addr, found.end - object.l_addr)) return nullptr;
  return written(found, path, visit);
}

}  // namespace

/// Lets a slot lead to the stand-in's function. Several threads may do so at the same time, to the same end: a lock
/// could wait for the dynamic linker's, whose holder waits for it.
extern "C" [[gnu::visibility("hidden")]] void convladder_resolve(Slot* slot) {
  StaticRuntime& runtime = *slot->runtime;
  void* library = __atomic_load_n(&runtime.library, __ATOMIC_ACQUIRE);
  const auto find = of_c_library<Find>("dlsym");
  if (library == nullptr) {
    library = library_of(runtime);
    __atomic_store_n(&runtime.refuse, find(library, "convladder_stand_in_refuse"), __ATOMIC_RELEASE);
    __atomic_store_n(&runtime.library, library, __ATOMIC_RELEASE);
  }
  const void* target = find(library, slot->name);
  if (target == nullptr) target = reinterpret_cast<const void*>(&convladder_refuse_call);
  __atomic_store_n(&slot->target, target, __ATOMIC_RELEASE);
}

std::string_view own_folder() {
  static std::array<char, PATH_MAX> folder{};
  static std::size_t length = 0;
  if (length > 0) return {folder.data(), length};
  if (!mapped_file(reinterpret_cast<const void*>(&own_folder), folder.data(), folder.size())) return {};
  const std::string_view path(folder.data());
  length = path.size() - file_of(path).size();
  return {folder.data(), length};
}

void set_program(const link_map& program) {
  if (first_of_program == nullptr) first_of_program = &program;
}

StaticRuntime* redirect(const link_map& object, const char* path) {
  const FileBytes bytes(path);
  const FileSymbols symbols(bytes.text());
  // Names of a stripped file are those that it exports, which the hash table finds without reading them all.
  if (symbols.is_stripped() && find_function(object, kVersionFunction) == nullptr) {
    const bool hands_on = find_function(object, kHandedOnFunction) != nullptr;
    return hands_on ? redirect_handed_on(object, symbols, path) : nullptr;
  }
  if (!has_runtime(symbols)) return nullptr;
  const Range range = range_of(symbols);
  if (!is_code(symbols, object, range.first, range.end)) return nullptr;

  Found found{.begin = object.l_addr + range.first, .end = object.l_addr + range.end + kJumpBytes};
  symbols.for_each_function([&](const FunctionSymbol& function) {
    if (function.name == kVersionFunction)
      found.version = reinterpret_cast<const void*>(object.l_addr + function.address);
    if (range.contains(function)) found.count(function.name);
  });
  return written(found, path, [&](const auto& write) {
    symbols.for_each_function([&](const FunctionSymbol& function) {
      if (!range.contains(function) || !has_room(function, symbols)) return;
      auto* code = reinterpret_cast<unsigned char*>(object.l_addr + function.address);
      // endbr64, which has to stand where an indirect call arrives.
      const bool keeps_mark = has_mark(code) && function.bytes >= kJumpBytes + kMarkBytes;
      write(keeps_mark ? code + kMarkBytes : code, function.name);
    });
  });
}

void forget(StaticRuntime* runtime) { free_memory(runtime, runtime->bytes); }

}  // namespace convladder::stand_in
