#include "support/confinement/left_processes.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <system_error>
#include <vector>

namespace convladder {
namespace {

namespace fs = std::filesystem;

std::mutex own_children_lock;  // held while one is started, and while orphans are told from them
std::set<pid_t> own_children;

std::vector<pid_t> children_of(pid_t process) {
  std::vector<pid_t> children;
  std::error_code error;
  for (fs::directory_iterator at(fmt::format("/proc/{}/task", process), error), end; !error && at != end;
       at.increment(error)) {
    std::ifstream list(at->path() / "children");
    for (pid_t child = 0; list >> child;) children.push_back(child);
  }
  return children;
}

/// Ends a process and its descendants. It is stopped first, so that it starts no more while its children are looked
/// for.
int end_family(pid_t process) {
  kill(process, SIGSTOP);
  int count = 1;
  for (const pid_t child : children_of(process)) count += end_family(child);
  kill(process, SIGKILL);
  return count;
}

}  // namespace

void adopt_orphans() { static_cast<void>(prctl(PR_SET_CHILD_SUBREAPER, 1)); }

pid_t start_own_child(const std::function<pid_t()>& start) {
  const std::scoped_lock lock(own_children_lock);
  const pid_t process = start();
  if (process >= 0) own_children.insert(process);
  return process;
}

void remove_own_child(pid_t process) {
  const std::scoped_lock lock(own_children_lock);
  own_children.erase(process);
}

int end_left_processes(pid_t process) {
  int count = 0;
  for (const pid_t child : children_of(process)) count += end_family(child);
  const std::scoped_lock lock(own_children_lock);
  for (const pid_t child : children_of(getpid())) {
    if (own_children.contains(child)) continue;
    count += end_family(child);
    waitpid(child, nullptr, 0);
  }
  return count;
}

}  // namespace convladder
