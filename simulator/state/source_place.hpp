// Places in the source that a kernel was compiled from, for people.
#pragma once

#include <string>
#include <vector>

namespace convladder::ptx {
struct Module;
struct SourceLocation;
}  // namespace convladder::ptx

namespace convladder::simulated {

struct SourcePlace {
  std::string file;  ///< base name
  int line = 0;

  bool operator==(const SourcePlace&) const = default;
  static void each_field(auto&& field, auto& its) { field("file", its.file, "line", its.line); }
};

/// The line of an instruction, and behind it the lines of the calls by which its code was inlined, innermost first.
/// Lines in headers of the toolkit and of the compiler are left out, unless there are no others. Empty where nothing is
/// known.
std::vector<SourcePlace> places_of(const ptx::Module& module, const ptx::SourceLocation& location);

/// "scale.cu line 7".
std::string place_text(const SourcePlace& place);

}  // namespace convladder::simulated
