#include "support/errors.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstring>

namespace convladder {
namespace {

bool has_own_memory_limit = false;  // set once, before there is a second thread

bool is_set(decltype(RLIMIT_AS) resource) {
  rlimit limit{};
  return getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

/// The shell's option for the limit behind an error; empty if there is none.
const char* limit_behind(int error) {
  switch (error) {
    case EMFILE:
      return "ulimit -n";
    case EFBIG:
      return "ulimit -f";
    case EAGAIN:
      return is_set(RLIMIT_NPROC) ? "ulimit -u" : "";
    case ENOMEM:
      if (has_own_memory_limit) return "";
      if (is_set(RLIMIT_AS)) return "ulimit -v";
      return is_set(RLIMIT_DATA) ? "ulimit -d" : "";
    default:
      return "";
  }
}

}  // namespace

std::string system_error_text(int error) {
  const std::string limit = limit_behind(error);
  return limit.empty() ? std::strerror(error) : fmt::format("{} (see '{}')", std::strerror(error), limit);
}

bool memory_is_limited() { return !has_own_memory_limit && (is_set(RLIMIT_AS) || is_set(RLIMIT_DATA)); }

void note_own_memory_limit() { has_own_memory_limit = true; }

std::string out_of_memory_text() {
  const std::string limit = limit_behind(ENOMEM);
  return limit.empty() ? "out of memory" : fmt::format("out of memory (see '{}')", limit);
}

}  // namespace convladder
