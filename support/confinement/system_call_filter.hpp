// The system calls that a process keeps (seccomp). Refused calls fail with EPERM, as they do for a user without the
// right: libraries can then go on, and a mere attempt does not end a case.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

struct sock_filter;

namespace convladder {

/// The calls to allow. Refused in any case are sockets, io_uring, looking into other processes, System V and POSIX
/// message queues and shared memory by key, setting clocks and priorities, mounting, namespaces, modules, keys, bpf and
/// perf events.
struct SystemCallWish {
  bool may_start_programs = false;     ///< execve
  bool may_start_processes = false;    ///< fork, and signals to others; threads may always be started
  bool may_pin_threads = false;        ///< sched_setaffinity of other threads than the calling one
  bool may_ask_for_handles = false;    ///< name_to_handle_at for files that it sees; files cannot be opened by handle
  bool may_change_attributes = false;  ///< modes, owners and times of files, and changing their length by name
};

class SystemCallFilter {
 public:
  explicit SystemCallFilter(const SystemCallWish& wish);
  SystemCallFilter(const SystemCallFilter&) = delete;
  SystemCallFilter& operator=(const SystemCallFilter&) = delete;
  ~SystemCallFilter();

  /// Why this system has no such filter; empty if it has one.
  static std::string missing();
  /// Applies the filter from now on to all threads of this process and whatever it starts. The process must have no
  /// right to new privileges. Returns 0 or an error number. It allocates nothing, so that a forked process can call it.
  int enforce();

 private:
  void refuse(long number);
  void refuse_as_unknown(long number);
  void only_if_one_of(long number, int argument, std::initializer_list<std::uint32_t> values);
  void unless_one_of(long number, int argument, std::initializer_list<std::uint32_t> values);
  void only_of_this_process(long number);
  void only_signals_of_ones_own(long number, int signal);
  void refuse_system_wide();
  void refuse_between_processes();
  void limit_processes(const SystemCallWish& wish);
  void limit_sockets();
  void add(std::uint16_t code, std::uint32_t value, std::uint8_t if_true = 0, std::uint8_t if_false = 0);

  std::vector<sock_filter> steps_;
  std::vector<std::size_t> own_process_;  ///< steps whose value is this process's number
};

}  // namespace convladder
