#include "support/confinement/system_call_filter.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <initializer_list>

namespace convladder {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t kArchitecture = 0;
#endif

constexpr std::uint32_t kOfX32 = 0x40000000;  // x86-64: the same calls under other numbers
constexpr std::uint32_t kRefused = SECCOMP_RET_ERRNO | EPERM;
constexpr std::uint32_t kUnknown = SECCOMP_RET_ERRNO | ENOSYS;

// From 424 on the numbers are the same on every architecture, and headers may be older than the kernel.
namespace number {
constexpr long kPidfdSendSignal = 424;
constexpr long kIoUringSetup = 425;
constexpr long kIoUringEnter = 426;
constexpr long kIoUringRegister = 427;
constexpr long kOpenTree = 428;
constexpr long kMoveMount = 429;
constexpr long kFsopen = 430;
constexpr long kFsconfig = 431;
constexpr long kFsmount = 432;
constexpr long kFspick = 433;
constexpr long kPidfdOpen = 434;
constexpr long kClone3 = 435;
constexpr long kPidfdGetfd = 438;
constexpr long kProcessMadvise = 440;
constexpr long kMountSetattr = 442;
constexpr long kQuotactlFd = 443;
constexpr long kProcessMrelease = 448;
constexpr long kFchmodat2 = 452;
constexpr long kSetxattrat = 463;
constexpr long kRemovexattrat = 466;
constexpr long kOpenTreeAttr = 467;
constexpr long kFileSetattr = 469;
}  // namespace number

constexpr std::uint32_t offset_of_argument(int argument) {  // of its lower half: both architectures are little-endian
  return static_cast<std::uint32_t>(offsetof(seccomp_data, args) + 8 * static_cast<std::size_t>(argument));
}

constexpr std::uint32_t kNamespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
                                      CLONE_NEWPID | CLONE_NEWNET | 0x80 /* CLONE_NEWTIME */;

// Headers older than these requests do not name them.
constexpr std::uint32_t kSetMm = 35;
constexpr std::uint32_t kSetTracer = 0x59616d61;

}  // namespace

void SystemCallFilter::add(std::uint16_t code, std::uint32_t value, std::uint8_t if_true, std::uint8_t if_false) {
  steps_.push_back({code, if_true, if_false, value});
}

void SystemCallFilter::refuse(long number) {
  add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(number), 0, 1);
  add(BPF_RET | BPF_K, kRefused);
}

/// For calls that a library replaces by others where the system does not know them.
void SystemCallFilter::refuse_as_unknown(long number) {
  add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(number), 0, 1);
  add(BPF_RET | BPF_K, kUnknown);
}

void SystemCallFilter::only_if_one_of(long number, int argument, std::initializer_list<std::uint32_t> values) {
  add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(number), 0,
      static_cast<std::uint8_t>(2 * values.size() + 2));
  add(BPF_LD | BPF_W | BPF_ABS, offset_of_argument(argument));
  for (const std::uint32_t value : values) {
    add(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
    add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  }
  add(BPF_RET | BPF_K, kRefused);
}

void SystemCallFilter::unless_one_of(long number, int argument, std::initializer_list<std::uint32_t> values) {
  add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(number), 0,
      static_cast<std::uint8_t>(2 * values.size() + 2));
  add(BPF_LD | BPF_W | BPF_ABS, offset_of_argument(argument));
  for (const std::uint32_t value : values) {
    add(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
    add(BPF_RET | BPF_K, kRefused);
  }
  add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
}

/// For calls whose first argument is a process, which must be 0 or this one.
void SystemCallFilter::only_of_this_process(long number) {
  own_process_.push_back(steps_.size() + 4);
  only_if_one_of(number, 0, {0, 0});
}

/// Allows a signal only to this process, and none that ends or stops it as others do, by hand, by a limit or where
/// memory runs out: a process that ends by one was ended from outside.
void SystemCallFilter::only_signals_of_ones_own(long number, int signal) {
  constexpr std::array<int, 7> kFromOutside{SIGKILL, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGXCPU, SIGSTOP};
  own_process_.push_back(steps_.size() + 2);
  add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(number), 0,
      static_cast<std::uint8_t>(2 * kFromOutside.size() + 5));
  add(BPF_LD | BPF_W | BPF_ABS, offset_of_argument(0));
  add(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0);
  add(BPF_RET | BPF_K, kRefused);
  add(BPF_LD | BPF_W | BPF_ABS, offset_of_argument(signal));
  for (const int one : kFromOutside) {
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(one), 0, 1);
    add(BPF_RET | BPF_K, kRefused);
  }
  add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
}

/// Refuses calls that affect the whole machine.
void SystemCallFilter::refuse_system_wide() {
  for (const long number : std::initializer_list<long>{
           SYS_mount,
           SYS_umount2,
           SYS_pivot_root,
           SYS_chroot,
           number::kOpenTree,
           number::kMoveMount,
           number::kFsopen,
           number::kFsconfig,
           number::kFsmount,
           number::kFspick,
           number::kMountSetattr,
           number::kOpenTreeAttr,
           SYS_swapon,
           SYS_swapoff,
           SYS_reboot,
           SYS_sethostname,
           SYS_setdomainname,
           SYS_init_module,
           SYS_finit_module,
           SYS_delete_module,
           SYS_kexec_load,
           SYS_kexec_file_load,
           SYS_acct,
           SYS_quotactl,
           number::kQuotactlFd,
           SYS_syslog,
           SYS_clock_settime,
           SYS_settimeofday,
           SYS_adjtimex,
           SYS_clock_adjtime,
           SYS_bpf,
           SYS_perf_event_open,
           SYS_userfaultfd,
           SYS_keyctl,
           SYS_add_key,
           SYS_request_key,
           SYS_fanotify_init,
           SYS_open_by_handle_at,
           number::kIoUringSetup,
           number::kIoUringEnter,
           number::kIoUringRegister,
           SYS_unshare,
           SYS_setns,
           SYS_seccomp,
#ifdef SYS_iopl
           SYS_iopl,
           SYS_ioperm,
#endif
       }) {
    refuse(number);
  }
}

/// Refuses looking into other processes, and objects that outlive a process and that others can find.
void SystemCallFilter::refuse_between_processes() {
  for (const long number : std::initializer_list<long>{SYS_ptrace,
                                                       SYS_process_vm_readv,
                                                       SYS_process_vm_writev,
                                                       SYS_kcmp,
                                                       number::kProcessMadvise,
                                                       number::kProcessMrelease,
                                                       number::kPidfdOpen,
                                                       number::kPidfdGetfd,
                                                       number::kPidfdSendSignal,
                                                       SYS_shmget,
                                                       SYS_shmat,
                                                       SYS_shmctl,
                                                       SYS_semget,
                                                       SYS_semctl,
                                                       SYS_semop,
                                                       SYS_semtimedop,
                                                       SYS_msgget,
                                                       SYS_msgsnd,
                                                       SYS_msgrcv,
                                                       SYS_msgctl,
                                                       SYS_mq_open,
                                                       SYS_mq_unlink,
                                                       SYS_setpriority,
                                                       SYS_ioprio_set,
                                                       SYS_sched_setscheduler,
                                                       SYS_sched_setparam,
                                                       SYS_sched_setattr}) {
    refuse(number);
  }
  only_of_this_process(SYS_prlimit64);
  only_of_this_process(SYS_migrate_pages);
  only_of_this_process(SYS_move_pages);
  // A signal to the owner of a file, and letters typed into a terminal.
  unless_one_of(SYS_fcntl, 1, {F_SETOWN, 15 /* F_SETOWN_EX */});
  unless_one_of(SYS_ioctl, 1, {TIOCSTI, 0x541c /* TIOCLINUX */, 0x8901 /* FIOSETOWN */, 0x8902 /* SIOCSPGRP */});
  // Living on without the parent; being traced; a wrong clock or disguised code.
  unless_one_of(
      SYS_prctl, 0,
      {PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_SET_TSC, kSetMm, kSetTracer, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER});
}

void SystemCallFilter::limit_processes(const SystemCallWish& wish) {
  if (!wish.may_start_programs) {
    refuse(SYS_execve);
    refuse(SYS_execveat);
  }
  refuse_as_unknown(number::kClone3);  // its flags are in memory; the C library then uses clone
  if (wish.may_start_processes) {
    add(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 4);
    add(BPF_LD | BPF_W | BPF_ABS, offset_of_argument(0));
    add(BPF_JMP | BPF_JSET | BPF_K, kNamespaces, 0, 1);
    add(BPF_RET | BPF_K, kRefused);
    add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    return;
  }
#ifdef SYS_fork
  refuse(SYS_fork);
  refuse(SYS_vfork);
#endif
  add(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 6);
  add(BPF_LD | BPF_W | BPF_ABS, offset_of_argument(0));
  add(BPF_JMP | BPF_JSET | BPF_K, kNamespaces, 0, 1);
  add(BPF_RET | BPF_K, kRefused);
  add(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1);
  add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  add(BPF_RET | BPF_K, kRefused);
  for (const long number : {SYS_kill, SYS_rt_sigqueueinfo}) only_signals_of_ones_own(number, 1);
  for (const long number : {SYS_tgkill, SYS_rt_tgsigqueueinfo}) only_signals_of_ones_own(number, 2);
  refuse(SYS_tkill);
}

/// Allows only a pair of connected ends, which stays in the process; a datagram's end could be used to send to any
/// address.
void SystemCallFilter::limit_sockets() {
  for (const long number : {SYS_socket, SYS_connect, SYS_bind, SYS_listen, SYS_accept, SYS_accept4}) refuse(number);
  only_if_one_of(SYS_socketpair, 1,
                 {SOCK_STREAM, SOCK_STREAM | SOCK_CLOEXEC, SOCK_STREAM | SOCK_NONBLOCK,
                  SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK});
}

SystemCallFilter::SystemCallFilter(const SystemCallWish& wish) {
  add(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch));
  add(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0);
  add(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
  add(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr));
  if (kArchitecture == AUDIT_ARCH_X86_64) {
    add(BPF_JMP | BPF_JGE | BPF_K, kOfX32, 0, 1);
    add(BPF_RET | BPF_K, kRefused);
  }
  refuse_system_wide();
  refuse_between_processes();
  limit_processes(wish);
  limit_sockets();
  if (!wish.may_ask_for_handles) refuse(SYS_name_to_handle_at);
  if (!wish.may_pin_threads) only_of_this_process(SYS_sched_setaffinity);
  if (!wish.may_change_attributes) {
    for (const long number : std::initializer_list<long>{
             SYS_fchmod,
             SYS_fchmodat,
             number::kFchmodat2,
             SYS_fchown,
             SYS_fchownat,
             SYS_utimensat,
             SYS_setxattr,
             SYS_lsetxattr,
             SYS_fsetxattr,
             number::kSetxattrat,
             SYS_removexattr,
             SYS_lremovexattr,
             SYS_fremovexattr,
             number::kRemovexattrat,
             number::kFileSetattr,
             SYS_truncate,
#ifdef SYS_chmod
             SYS_chmod,
             SYS_chown,
             SYS_lchown,
             SYS_utime,
             SYS_utimes,
             SYS_futimesat,
#endif
         }) {
      refuse(number);
    }
  }
  // The kernel finds out which calls are always allowed and does not run the filter for these (since 5.11), so its
  // length costs a timed call nothing.
  add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
}

SystemCallFilter::~SystemCallFilter() = default;

std::string SystemCallFilter::missing() {
  if (kArchitecture == 0) return "no system-call filter: it is known for x86-64 and aarch64 only";
  // Called without any filter: a system that supports them reports a bad address.
  static_cast<void>(
      syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, static_cast<void*>(nullptr)));
  if (errno == EFAULT) return {};
  return fmt::format("no system-call filter (seccomp): {}", std::strerror(errno));
}

int SystemCallFilter::enforce() {
  for (const std::size_t step : own_process_) steps_[step].k = static_cast<std::uint32_t>(getpid());
  sock_fprog program{static_cast<unsigned short>(steps_.size()), steps_.data()};
  const long result = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
  if (result == 0) return 0;
  return result > 0 ? EBUSY : errno;  // a thread has a filter of its own
}

}  // namespace convladder
