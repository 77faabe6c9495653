// A library that is opened at run time: the program starts without it, and can say what is missing.
#pragma once

#include <initializer_list>
#include <string>

namespace convladder {

/// A library, which is never closed: NVIDIA's libraries open others that stay in use until the process ends.
class DynamicLibrary {
 public:
  /// Opens the first of the names that is found where the dynamic linker looks: the program's RUNPATH, LD_LIBRARY_PATH,
  /// the system's folders.
  explicit DynamicLibrary(std::initializer_list<const char*> names);

  /// Sets a pointer to the function of that name; null if there is none, or no library.
  template <typename Function>
  void load(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(symbol(name));
  }

  /// The missing parts, in one line: for the library, why the first name was not opened. Empty if the library and all
  /// functions asked for were found.
  const std::string& missing() const { return missing_; }
  /// The full path of the opened file; empty if none was opened.
  std::string file() const;

 private:
  void* symbol(const char* name);

  void* handle_ = nullptr;
  std::string name_;
  std::string missing_;
};

/// The full path of the library, other than the program itself, that has a function of this name; empty if there is
/// none.
std::string library_with(const char* function);

}  // namespace convladder
