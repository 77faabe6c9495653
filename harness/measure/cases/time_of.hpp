// The names of the times of a case.
#pragma once

#include <string>

namespace convladder {

/// The part of the work that a time is of, as in the record.
namespace time_of {
inline constexpr const char* kOp = "op";
inline constexpr const char* kLayer = "layer";
inline constexpr const char* kLoadInput = "load input";
inline constexpr const char* kStoreOutput = "store output";
inline constexpr const char* kPrepare = "prepare";
/// A launch of a kernel that does nothing, timed as a single call is: the part of a single call's time that is not
/// work.
inline constexpr const char* kEmptyKernel = "empty kernel";
/// How calls follow each other. Hot: back to back, so that caches hold what the call before has used. Launched: back to
/// back, with the host enqueuing each call separately, where the hot ones were recorded. Cold: after a flush of the
/// last-level cache.
inline constexpr const char* kHot = "hot";
inline constexpr const char* kLaunched = "launched";
inline constexpr const char* kCold = "cold";
/// A part of the variant, by its name.
inline std::string part(const std::string& name) { return "part " + name; }
}  // namespace time_of

}  // namespace convladder
