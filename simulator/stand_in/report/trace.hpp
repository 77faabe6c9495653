// A trace of every event on the device, for views of the timeline: a file that is complete up to its last line however
// the process ends.
#pragma once

#include <string>
#include <string_view>

#include "simulator/stand_in/timeline.hpp"

namespace convladder::stand_in {

/// Writes lines of JSON: {"process", "what", "stream", "begin_ns", "end_ns"}. `what` is a kernel's name, "[CUDA memcpy
/// HtoD]" or "event", which has no length. Calls, if they are asked for, follow what they have done, as {"process",
/// "call", "begin_ns", "end_ns"}. Several processes may write into one file.
class Trace {
 public:
  /// With an empty name, nothing is written. Throws UserError if the file cannot be opened.
  Trace(const std::string& file, bool with_calls);
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;
  ~Trace();

  void add(const std::string& what, int stream, Timeline::Span span) const;
  void add_call(std::string_view name, Timeline::Span span) const;

 private:
  int descriptor_ = -1;
  bool with_calls_;
};

/// Appends a whole line, however many others append to the file; whether that succeeded. `errno` is then the reason.
bool append_line(int descriptor, const std::string& line);

}  // namespace convladder::stand_in
