// The system's calls without the C library: the redirection is loaded into every process, before that process has one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace convladder::stand_in {

/// The bytes of a file, mapped while this object lives; empty if it cannot be read.
class FileBytes {
 public:
  explicit FileBytes(const char* path);
  ~FileBytes();
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;

  std::string_view text() const { return text_; }

 private:
  std::string_view text_;
};

/// Memory of the process that is zero, or nullptr.
void* new_memory(std::size_t bytes);
void free_memory(void* memory, std::size_t bytes);

/// Makes the pages that hold [begin, end) writable instead of executable, or executable again; whether it could.
bool make_writable(std::uintptr_t begin, std::uintptr_t end);
bool make_executable(std::uintptr_t begin, std::uintptr_t end);

bool is_there(const char* path);

/// The part of a path behind its last slash. (std::string_view's own searches call the C library.)
inline std::string_view file_of(std::string_view path) {
  std::size_t begin = path.size();
  while (begin > 0 && path[begin - 1] != '/') --begin;
  return {path.data() + begin, path.size() - begin};
}

/// Writes the path of the file that is mapped at an address, ended by NUL; whether there is one, and it fits.
bool mapped_file(const void* address, char* path, std::size_t bytes);

/// Prints "convladder: " and the parts, as one line on the standard error, and ends the process.
[[noreturn]] void say_and_end(std::string_view part, std::string_view second = {}, std::string_view third = {});

}  // namespace convladder::stand_in
