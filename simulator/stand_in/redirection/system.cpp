#include "simulator/stand_in/redirection/system.hpp"

#include <fcntl.h>
#include <linux/stat.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace convladder::stand_in {
namespace {

constexpr std::uintptr_t kPage = 4096;

long system_call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  long result = 0;
  register long fourth __asm__("r10") = d;
  register long fifth __asm__("r8") = e;
  register long sixth __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
                   : "rcx", "r11", "memory");
  return result;  // -errno for a failure
}

long number(const void* pointer) { return reinterpret_cast<long>(pointer); }

long open_to_read(const char* path) { return system_call(SYS_openat, AT_FDCWD, number(path), O_RDONLY | O_CLOEXEC); }

bool set_protection(std::uintptr_t begin, std::uintptr_t end, int protection) {
  const std::uintptr_t first = begin / kPage * kPage;
  const std::uintptr_t last = (end + kPage - 1) / kPage * kPage;
  return system_call(SYS_mprotect, static_cast<long>(first), static_cast<long>(last - first), protection) == 0;
}

/// Reads a hexadecimal number and steps behind it and one more character.
std::uintptr_t read_hexadecimal(const char*& text, const char* end) {
  std::uintptr_t value = 0;
  for (; text != end; ++text) {
    const char c = *text;
    if (c >= '0' && c <= '9') {
      value = value * 16 + static_cast<std::uintptr_t>(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      value = value * 16 + static_cast<std::uintptr_t>(c - 'a' + 10);
    } else {
      ++text;
      break;
    }
  }
  return value;
}

/// The path in a line of /proc/self/maps, if its addresses contain `address`.
std::string_view path_at(std::string_view line, std::uintptr_t address) {
  const char* text = line.data();
  const char* const end = text + line.size();
  const std::uintptr_t first = read_hexadecimal(text, end);
  const std::uintptr_t last = text < end ? read_hexadecimal(text, end) : 0;
  if (address < first || address >= last) return {};
  while (text < end && *text != '/') ++text;
  return {text, static_cast<std::size_t>(text < end ? end - text : 0)};
}

}  // namespace

FileBytes::FileBytes(const char* path) {
  const long descriptor = open_to_read(path);
  if (descriptor < 0) return;
  const long bytes = system_call(SYS_lseek, descriptor, 0, SEEK_END);
  if (bytes > 0) {
    const long place = system_call(SYS_mmap, 0, bytes, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (place > 0) text_ = {reinterpret_cast<const char*>(place), static_cast<std::size_t>(bytes)};
  }
  system_call(SYS_close, descriptor);
}

FileBytes::~FileBytes() {
  if (!text_.empty()) free_memory(const_cast<char*>(text_.data()), text_.size());
}

void* new_memory(std::size_t bytes) {
  const long place =
      system_call(SYS_mmap, 0, static_cast<long>(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return place > 0 ? reinterpret_cast<void*>(place) : nullptr;
}

void free_memory(void* memory, std::size_t bytes) { system_call(SYS_munmap, number(memory), static_cast<long>(bytes)); }

bool make_writable(std::uintptr_t begin, std::uintptr_t end) {
  return set_protection(begin, end, PROT_READ | PROT_WRITE);
}

bool make_executable(std::uintptr_t begin, std::uintptr_t end) {
  return set_protection(begin, end, PROT_READ | PROT_EXEC);
}

bool is_there(const char* path) { return system_call(SYS_faccessat, AT_FDCWD, number(path), R_OK) == 0; }

bool mapped_file(const void* address, char* path, std::size_t bytes) {
  const long descriptor = open_to_read("/proc/self/maps");
  if (descriptor < 0) return false;
  constexpr std::size_t kLongestLine = 8192;
  char text[kLongestLine] = {};
  std::size_t held = 0;
  std::string_view found;
  while (found.empty()) {
    const long read = system_call(SYS_read, descriptor, number(text + held), static_cast<long>(sizeof text - held));
    if (read <= 0) break;
    held += static_cast<std::size_t>(read);
    std::size_t begin = 0;
    for (std::size_t end = 0; end < held && found.empty(); ++end) {
      if (text[end] != '\n') continue;
      found = path_at({text + begin, end - begin}, reinterpret_cast<std::uintptr_t>(address));
      begin = end + 1;
    }
    if (!found.empty() || (begin == 0 && held == sizeof text)) break;
    for (std::size_t i = begin; i < held; ++i) text[i - begin] = text[i];
    held -= begin;
  }
  system_call(SYS_close, descriptor);
  if (found.empty() || found.size() >= bytes) return false;
  for (std::size_t i = 0; i < found.size(); ++i) path[i] = found[i];
  path[found.size()] = '\0';
  return true;
}

void say_and_end(std::string_view part, std::string_view second, std::string_view third) {
  constexpr int kError = 3;
  char line[4096];
  std::size_t length = 0;
  for (const std::string_view one : {std::string_view("convladder: "), part, second, third, std::string_view("\n")}) {
    for (const char c : one) {
      if (length < sizeof line) line[length++] = c;
    }
  }
  system_call(SYS_write, STDERR_FILENO, number(line), static_cast<long>(length));
  system_call(SYS_exit_group, kError);
  __builtin_unreachable();
}

}  // namespace convladder::stand_in

// Functions that the compiler takes to be there in any program.
extern "C" {

void* memcpy(void* to, const void* from, std::size_t bytes) {
  void* target = to;
  __asm__ volatile("rep movsb" : "+D"(target), "+S"(from), "+c"(bytes) : : "memory");
  return to;
}

void* memset(void* to, int value, std::size_t bytes) {
  void* target = to;
  __asm__ volatile("rep stosb" : "+D"(target), "+c"(bytes) : "a"(value) : "memory");
  return to;
}

int memcmp(const void* one, const void* other, std::size_t bytes) {
  const auto* const a = static_cast<const unsigned char*>(one);
  const auto* const b = static_cast<const unsigned char*>(other);
  for (std::size_t i = 0; i < bytes; ++i) {
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  }
  return 0;
}

std::size_t strlen(const char* text) {
  std::size_t length = 0;
  while (text[length] != '\0') {
    ++length;
    __asm__ volatile("");  // otherwise the compiler sees that this is strlen, and calls it
  }
  return length;
}

}  // extern "C"
