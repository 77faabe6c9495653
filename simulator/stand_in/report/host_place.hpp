// Places of a program's calls in its own source: from addresses in files to functions and lines, by the system's tools.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace convladder::stand_in {

/// An address in a file, as its debug information counts.
struct CallPlace {
  std::string file;  ///< of the program or library; of a line of Python, its source
  std::uint64_t offset = 0;
  int line = 0;                                        ///< of Python; 0: it is a place in machine code
  std::string function{};                              ///< of Python
  auto operator<=>(const CallPlace&) const = default;  // NOLINT(modernize-use-nullptr): a false alarm
  static void each_field(auto&& field, auto& its) {
    field("file", its.file, "offset", its.offset);
    field.lately("line", its.line);
    field.lately("function", its.function);
  }
};

/// Places of a call, innermost first. Programs call from few places many times, so each is kept once.
using CallPlaces = std::shared_ptr<const std::vector<CallPlace>>;

/// The tools' knowledge of a place.
struct HostPlace {
  std::string function;  ///< demangled; empty if not known
  std::string file;      ///< source file; empty without debug information
  int line = 0;
  std::string binary;  ///< the program or library
};

/// The first of the places, innermost first, that is the program's own: not in a header of the system or the toolkit,
/// and not in a library of the system. Inlined functions count as places of their own. Calls addr2line or
/// llvm-symbolizer; without them, or if nothing is known, only `binary` is set. Everything is empty if there are no
/// places.
HostPlace own_place(const std::vector<CallPlace>& places);

/// A place in words: "main, scale.cu line 31", "main in ./scale (compile it with -g for the line)"; "" for an empty
/// place.
std::string place_text(const HostPlace& place);

}  // namespace convladder::stand_in
