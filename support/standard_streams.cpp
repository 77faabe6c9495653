#include "support/standard_streams.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <new>
#include <string>

#include "support/errors.hpp"
#include "support/printable.hpp"

namespace convladder {
namespace {

struct StandardStream {
  int descriptor;
  int error = 0;  ///< of the first write that failed; nothing is written after it
  bool used = false;
  std::string rest{};  ///< of an incomplete character
};
StandardStream standard_output{STDOUT_FILENO};
StandardStream standard_error{STDERR_FILENO};

/// Returns 0, or the error.
int write_to(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(descriptor, text.data(), text.size());
    if (count > 0) {
      text.remove_prefix(static_cast<std::size_t>(count));
    } else if (count < 0 && errno == EAGAIN) {  // the descriptor was made non-blocking by somebody else
      pollfd event{descriptor, POLLOUT, 0};
      ::poll(&event, 1, -1);
    } else if (count == 0 || errno != EINTR) {
      return count == 0 ? ENOSPC : errno;
    }
  }
  return 0;
}

/// Always reports success.
ssize_t write_and_note(void* cookie, const char* data, std::size_t size) {
  auto* const stream = static_cast<StandardStream*>(cookie);
  stream->used = true;
  if (stream->error != 0) return static_cast<ssize_t>(size);
  try {
    const bool is_output = stream->descriptor == STDOUT_FILENO;
    const std::string_view text(data, size);
    stream->error = write_to(stream->descriptor, is_output ? printable_lines(text, stream->rest) : std::string(text));
  } catch (const std::bad_alloc&) {
    stream->error = ENOMEM;
  }
  return static_cast<ssize_t>(size);
}

std::FILE* open_noting(StandardStream& stream, int buffering) {
  cookie_io_functions_t functions{};
  functions.write = write_and_note;
  std::FILE* const file = ::fopencookie(&stream, "w", functions);
  if (file != nullptr) std::setvbuf(file, nullptr, buffering, BUFSIZ);
  return file;
}

}  // namespace

void open_standard_streams() noexcept {
  for (int wanted = STDIN_FILENO; wanted <= STDERR_FILENO; ++wanted) {
    if (::fcntl(wanted, F_GETFD) >= 0) continue;
    // The reading end of a pipe that nobody writes to: unlike /dev/null, it needs no file.
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) ::_exit(kExitError);  // and there is nowhere to say why
    ::close(ends[1]);
  }
}

void print_without_failing() {
  ::signal(SIGPIPE, SIG_IGN);  // a write fails instead
  ::signal(SIGXFSZ, SIG_IGN);
  const int buffering = ::isatty(STDOUT_FILENO) == 1 ? _IOLBF : _IOFBF;
  if (std::FILE* const file = open_noting(standard_output, buffering); file != nullptr) stdout = file;
  if (std::FILE* const file = open_noting(standard_error, _IONBF); file != nullptr) stderr = file;
}

void require_output() {
  const bool failed = std::fflush(stdout) != 0;
  if (standard_output.error != 0) {
    throw UserError(fmt::format("cannot write to the standard output: {}", system_error_text(standard_output.error)));
  }
  if (failed) throw UserError("cannot write to the standard output");
}

void print_unchanged(std::string_view text) {
  std::fflush(stdout);
  if (standard_output.error == 0) standard_output.error = write_to(STDOUT_FILENO, text);
}

bool anything_on_standard_error() noexcept { return standard_error.used; }

void print_error(std::string_view line) noexcept {
  try {
    fmt::print(stderr, "convladder: {}\n", printable(line));
  } catch (...) {  // there is no memory for it, or nobody to read it
    constexpr std::string_view short_line = "convladder: an error occurred and its message cannot be printed\n";
    static_cast<void>(write_to(STDERR_FILENO, short_line));
  }
}

}  // namespace convladder
