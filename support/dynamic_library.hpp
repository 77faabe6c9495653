// A library that is opened at run time: the program starts without it, and says what is missing.
#pragma once

#include <initializer_list>
#include <string>

namespace convladder {

/// Never closed: libraries of NVIDIA's open others that stay in use until the process ends.
class DynamicLibrary {
 public:
  /// Opens the first of the names that is found where the dynamic linker looks: the program's RUNPATH,
  /// LD_LIBRARY_PATH, the system's folders.
  explicit DynamicLibrary(std::initializer_list<const char*> names);

  /// Sets a pointer to the function of that name; null if there is none, or no library.
  template <typename Function>
  void load(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(symbol(name));
  }

  /// Empty if the library and all that was asked for were found, otherwise what is missing, in one line: of the
  /// library, why the first name was not opened.
  const std::string& missing() const { return missing_; }
  /// The file that was opened, by its full path; empty without one.
  std::string file() const;

 private:
  void* symbol(const char* name);

  void* handle_ = nullptr;
  std::string name_;
  std::string missing_;
};

/// The library, other than the program itself, that has a function of this name; by its full path, empty without one.
std::string library_with(const char* function);

}  // namespace convladder
