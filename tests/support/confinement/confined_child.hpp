// Something done in a process of its own that was confined before.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <functional>
#include <string>

#include "support/confinement/confinement.hpp"
#include "support/errors.hpp"

namespace convladder {

/// "done" for a call that worked, otherwise the text of its error.
inline std::string outcome(long result) { return result >= 0 ? "done" : strerror(errno); }

inline const std::string kNotPermitted = strerror(EPERM);
inline const std::string kNoAccess = strerror(EACCES);

/// What `act` returns in a child that confined itself, or how the child ended: "signal 9", "exit code 3".
inline std::string in_confined_child(const ConfinementWish& wish, const std::function<std::string()>& act) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    std::string text;
    try {
      confine(wish);
      text = act();
    } catch (const std::exception& error) {
      text = std::string("exception: ") + error.what();
    }
    _exit(write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 3);
  }
  close(ends[1]);
  std::string text;
  std::array<char, 4096> buffer{};
  for (ssize_t count = 0; (count = read(ends[0], buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) return "signal " + std::to_string(WTERMSIG(status));
  return WEXITSTATUS(status) == 0 ? text : "exit code " + std::to_string(WEXITSTATUS(status));
}

}  // namespace convladder
