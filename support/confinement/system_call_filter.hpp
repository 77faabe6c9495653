// Which system calls a process keeps (seccomp). What is refused fails with EPERM, as it does for a user without the
// right: libraries know how to go on then, and a call that was only tried does not end a case.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

struct sock_filter;

namespace convladder {

/// What is refused in any case: sockets, io_uring, looking into other processes, System V and POSIX message queues and
/// shared memory by key, setting clocks and priorities, mounting, namespaces, modules, keys, bpf, perf events.
struct SystemCallWish {
  bool may_start_programs = false;     ///< execve
  bool may_start_processes = false;    ///< fork; threads may always be started. Who may, may signal others too
  bool may_pin_threads = false;        ///< sched_setaffinity of what is not the calling thread
  bool may_ask_for_handles = false;    ///< name_to_handle_at, of files that it sees; nobody opens one by its handle
  bool may_change_attributes = false;  ///< modes, owners and times of files, and their length by name
};

class SystemCallFilter {
 public:
  explicit SystemCallFilter(const SystemCallWish& wish);
  SystemCallFilter(const SystemCallFilter&) = delete;
  SystemCallFilter& operator=(const SystemCallFilter&) = delete;
  ~SystemCallFilter();

  /// Why this system has no such filter; empty where it has.
  static std::string missing();
  /// From now on, for all threads of this process and for what it starts. The process must have no right to new
  /// privileges. Returns 0 or an error number. It allocates nothing, so that a forked process can call it.
  int enforce();

 private:
  void refuse(long number);
  void refuse_as_unknown(long number);
  void only_if_one_of(long number, int argument, std::initializer_list<std::uint32_t> values);
  void unless_one_of(long number, int argument, std::initializer_list<std::uint32_t> values);
  void only_of_this_process(long number);
  void refuse_system_wide();
  void refuse_between_processes();
  void limit_processes(const SystemCallWish& wish);
  void limit_sockets();
  void add(std::uint16_t code, std::uint32_t value, std::uint8_t if_true = 0, std::uint8_t if_false = 0);

  std::vector<sock_filter> steps_;
  std::vector<std::size_t> own_process_;  ///< steps whose value is the number of the process
};

}  // namespace convladder
