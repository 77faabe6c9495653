// Whatever happens on the device, one by one, for who wants to see the timeline: a file that is whole up to the last
// line however the process ends.
#pragma once

#include <string>
#include <string_view>

#include "simulator/stand_in/timeline.hpp"

namespace convladder::stand_in {

/// One line of JSON each: {"process", "what", "stream", "begin_ns", "end_ns"}. `what` is a kernel's name,
/// "[CUDA memcpy HtoD]" or "event", which has no length. Where calls are asked for they follow what they have done, as
/// {"process", "call", "begin_ns", "end_ns"}. Several processes may write into one file.
class Trace {
 public:
  /// Nothing is written to an empty name. Throws UserError if the file cannot be opened.
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

/// Appends a whole line, however many others append to the file; whether that went well. `errno` says why not.
bool append_line(int descriptor, const std::string& line);

}  // namespace convladder::stand_in
