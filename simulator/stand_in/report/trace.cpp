#include "simulator/stand_in/report/trace.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "simulator/stand_in/report/report_json.hpp"
#include "support/errors.hpp"

namespace convladder::stand_in {

Trace::Trace(const std::string& file, bool with_calls) : with_calls_(with_calls) {
  if (file.empty()) return;
  descriptor_ = open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0) throw UserError(fmt::format("{} cannot be written: {}", file, std::strerror(errno)));
}

Trace::~Trace() {
  if (descriptor_ >= 0) close(descriptor_);
}

void Trace::add(const std::string& what, int stream, Timeline::Span span) const {
  if (descriptor_ >= 0) append_line(descriptor_, event_line(getpid(), what, stream, span));
}

void Trace::add_call(std::string_view name, Timeline::Span span) const {
  if (descriptor_ >= 0 && with_calls_) append_line(descriptor_, call_line(getpid(), name, span));
}

bool append_line(int descriptor, const std::string& line) {
  std::size_t written = 0;
  while (written < line.size()) {
    const ssize_t now = ::write(descriptor, line.data() + written, line.size() - written);
    if (now < 0 && errno == EINTR) continue;
    if (now <= 0) return false;
    written += static_cast<std::size_t>(now);
  }
  return true;
}

}  // namespace convladder::stand_in
