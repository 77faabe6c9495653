// Each forbidden thing is tried in a real child process that has confined itself.
#include "support/confinement/confinement.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <omp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <csignal>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>
#include <vector>

#include "sanitized.hpp"
#include "support/confinement/confined_child.hpp"
#include "temporary_folder.hpp"

namespace convladder {
namespace {

namespace fs = std::filesystem;

#define REQUIRE_FILTER() \
  if (!SystemCallFilter::missing().empty()) GTEST_SKIP() << SystemCallFilter::missing()
#define REQUIRE_FILE_RULES() \
  if (!FileRules({}).missing().empty()) GTEST_SKIP() << FileRules({}).missing()

/// What ordinary programs read.
ConfinementWish usual_wish() {
  ConfinementWish wish;
  wish.files.read = {"/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/proc/self", "/sys/devices/system"};
  wish.files.devices = {"/dev/null"};
  return wish;
}

struct Forbidden {
  const char* what;
  std::function<long()> call;
};

void PrintTo(const Forbidden& forbidden, std::ostream* to) { *to << forbidden.what; }

class RefusedCall : public testing::TestWithParam<Forbidden> {};

TEST_P(RefusedCall, Fails) {
  REQUIRE_FILTER();
  EXPECT_EQ(in_confined_child(usual_wish(), [&] { return outcome(GetParam().call()); }), kNotPermitted);
}

// Where each would work without the filter or at least fail otherwise is told by its neighbour below.
const std::vector<Forbidden> kForbidden{
    {"SocketOfTheInternet", [] { return long{socket(AF_INET, SOCK_STREAM, 0)}; }},
    {"SocketOfTheSystem", [] { return long{socket(AF_UNIX, SOCK_STREAM, 0)}; }},
    {"SocketOfTheKernel", [] { return long{socket(AF_NETLINK, SOCK_RAW, 0)}; }},
    {"PairOfDatagrams",
     [] {
       std::array<int, 2> ends{};
       return long{socketpair(AF_UNIX, SOCK_DGRAM, 0, ends.data())};
     }},
    {"IoUring", [] { return syscall(425, 1, nullptr); }},
    {"Ptrace", [] { return syscall(SYS_ptrace, 16 /* PTRACE_ATTACH */, getppid(), 0, 0); }},
    {"ReadingAnothersMemory",
     [] {
       char byte = 0;
       iovec here{&byte, 1};
       return long{process_vm_readv(getppid(), &here, 1, &here, 1, 0)};
     }},
    {"WritingAnothersMemory",
     [] {
       char byte = 0;
       iovec here{&byte, 1};
       return long{process_vm_writev(getppid(), &here, 1, &here, 1, 0)};
     }},
    {"PidfdOfAnother", [] { return syscall(434, getppid(), 0); }},
    {"SignalToAnother", [] { return long{kill(getppid(), 0)}; }},
    {"SignalToItsGroup", [] { return long{kill(0, 0)}; }},
    {"KillingItself", [] { return long{kill(getpid(), SIGKILL)}; }},
    {"StoppingItself", [] { return long{raise(SIGSTOP)}; }},
    {"TerminatingAThreadOfItsOwn", [] { return syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGTERM); }},
    {"SignalToAll", [] { return long{kill(-1, 0)}; }},
    {"SignalToAnothersThread", [] { return syscall(SYS_tgkill, getppid(), getppid(), 0); }},
    {"OwnerOfSignals", [] { return long{fcntl(0, F_SETOWN, getppid())}; }},
    {"LimitsOfAnother",
     [] {
       rlimit limit{};
       return syscall(SYS_prlimit64, getppid(), RLIMIT_CORE, nullptr, &limit);
     }},
    {"ProcessorsOfAnother",
     [] {
       cpu_set_t all;
       CPU_ZERO(&all);
       CPU_SET(0, &all);
       return long{sched_setaffinity(getppid(), sizeof all, &all)};
     }},
    {"Priority", [] { return long{setpriority(PRIO_PROCESS, 0, 5)}; }},
    {"RealTime",
     [] {
       const sched_param parameters{.sched_priority = 1};
       return long{sched_setscheduler(0, SCHED_FIFO, &parameters)};
     }},
    {"SettingTheClock",
     [] {
       timespec now{};
       clock_gettime(CLOCK_REALTIME, &now);
       return long{clock_settime(CLOCK_REALTIME, &now)};
     }},
    {"Mount", [] { return syscall(SYS_mount, "none", "/mnt", "tmpfs", 0, nullptr); }},
    {"Chroot", [] { return long{chroot("/usr")}; }},
    {"Namespace", [] { return long{unshare(CLONE_NEWUSER)}; }},
    {"Bpf", [] { return syscall(SYS_bpf, 0, nullptr, 0); }},
    {"PerfEvent", [] { return syscall(SYS_perf_event_open, nullptr, 0, -1, -1, 0); }},
    {"Userfaultfd", [] { return syscall(SYS_userfaultfd, 1); }},
    {"Keys", [] { return syscall(SYS_keyctl, 0, -3, 1); }},
    {"SharedMemoryByKey", [] { return long{shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600)}; }},
    {"MessageQueue", [] { return syscall(SYS_mq_open, "convladder", O_CREAT | O_RDWR, 0600, nullptr); }},
    {"Fork", [] { return long{fork()}; }},
    {"AnotherProgram",
     [] {
       const char* const arguments[] = {"/bin/true", nullptr};
       return long{execve(arguments[0], const_cast<char* const*>(arguments), environ)};
     }},
    {"LivingOnWithoutItsParent", [] { return long{prctl(PR_SET_PDEATHSIG, 0)}; }},
    {"ClockThatTraps", [] { return long{prctl(PR_SET_TSC, PR_TSC_SIGSEGV)}; }},
    {"ModeOfAFile", [] { return long{fchmod(0, 0600)}; }},
    {"TimeOfAFile", [] { return long{futimens(0, nullptr)}; }},
    {"LengthOfAFile", [] { return long{truncate("/dev/null", 0)}; }},
};

std::string name_of(const testing::TestParamInfo<Forbidden>& info) { return info.param.what; }
INSTANTIATE_TEST_SUITE_P(All, RefusedCall, testing::ValuesIn(kForbidden), name_of);

TEST(Confinement, WhatIsRefusedWorksInAProcessThatIsNotConfined) {
  // One of each kind, so that the tests above do not pass because nothing of it works here.
  const int made = socket(AF_UNIX, SOCK_STREAM, 0);
  EXPECT_GE(made, 0) << strerror(errno);
  close(made);
  EXPECT_EQ(kill(getppid(), 0), 0) << strerror(errno);
  const int shared = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
  EXPECT_GE(shared, 0) << strerror(errno);
  shmctl(shared, IPC_RMID, nullptr);
  const pid_t child = fork();
  if (child == 0) _exit(0);
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
}

#ifdef __x86_64__
TEST(Confinement, TheOtherNumbersOfCallsAreRefusedToo) {
  REQUIRE_FILTER();
  EXPECT_EQ(in_confined_child(usual_wish(), [] { return outcome(syscall(0x40000000 + SYS_getpid)); }), kNotPermitted);
}
#endif

int sum_of_threads() {
  int sum = 0;
#pragma omp parallel for num_threads(4) reduction(+ : sum)
  for (int i = 0; i < 100; ++i) sum += i;
  std::thread([&] { sum += 1; }).join();
  return sum;
}

TEST(Confinement, ThreadsWork) {
#ifdef __clang__
  GTEST_SKIP() << "LLVM's OpenMP asks for shared memory when it starts";
#endif
  EXPECT_EQ(in_confined_child(usual_wish(), [] { return std::to_string(sum_of_threads()); }), "4951");
}

TEST(Confinement, AProcessStartsWhereThatIsWished) {
  ConfinementWish wish = usual_wish();
  wish.calls.may_start_processes = true;
  EXPECT_EQ(in_confined_child(wish,
                              [] {
                                const pid_t child = fork();
                                if (child == 0) _exit(7);
                                int status = 0;
                                waitpid(child, &status, 0);
                                return std::to_string(WEXITSTATUS(status));
                              }),
            "7");
}

TEST(Confinement, NoNamespaceComesWithAProcess) {
  REQUIRE_FILTER();
  ConfinementWish wish = usual_wish();
  wish.calls.may_start_processes = true;
  EXPECT_EQ(in_confined_child(wish,
                              [] {
                                const long child = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
                                if (child == 0) _exit(0);
                                return outcome(child);
                              }),
            kNotPermitted);
}

TEST(Confinement, AThreadIsConfinedAsWell) {
  REQUIRE_FILTER();
  EXPECT_EQ(in_confined_child(usual_wish(),
                              [] {
                                std::string result;
                                std::thread([&] { result = outcome(socket(AF_INET, SOCK_STREAM, 0)); }).join();
                                return result;
                              }),
            kNotPermitted);
}

TEST(Confinement, AProcessMaySignalAndPinItself) {
  EXPECT_EQ(in_confined_child(usual_wish(),
                              [] {
                                cpu_set_t own;
                                sched_getaffinity(0, sizeof own, &own);
                                if (sched_setaffinity(0, sizeof own, &own) != 0) return std::string("not pinned");
                                return outcome(kill(getpid(), 0));
                              }),
            "done");
}

TEST(Confinement, ALibraryCanBeLoadedAfterwards) {
  EXPECT_EQ(in_confined_child(usual_wish(),
                              [] {
                                // One that the test itself is not linked with.
                                void* const library = dlopen("libresolv.so.2", RTLD_NOW);
                                return std::string(library == nullptr ? dlerror() : "loaded");
                              }),
            "loaded");
}

TEST(Confinement, ProcOfTheProcessItselfCanBeRead) {
  EXPECT_EQ(in_confined_child(usual_wish(),
                              [] {
                                std::ifstream maps("/proc/self/maps");
                                std::string line;
                                return std::string(std::getline(maps, line) ? "read" : "shut");
                              }),
            "read");
}

TEST(Confinement, OnlyNamedFilesAreOpened) {
  REQUIRE_FILE_RULES();
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "secret") << "text";
  const std::string secret = folder.path() / "secret";
  const auto open_it = [&](int flags) { return [&secret, flags] { return outcome(open(secret.c_str(), flags)); }; };
  ConfinementWish wish = usual_wish();
  EXPECT_EQ(in_confined_child(wish, open_it(O_RDONLY)), kNoAccess);
  EXPECT_EQ(in_confined_child(wish, [] { return outcome(open("/etc/passwd", O_RDONLY)); }), kNoAccess);
  wish.files.read.push_back(secret);
  EXPECT_EQ(in_confined_child(wish, open_it(O_RDONLY)), "done");
  EXPECT_EQ(in_confined_child(wish, open_it(O_RDWR)), kNoAccess);
}

TEST(Confinement, MemoryOfOthersIsShut) {
  REQUIRE_FILE_RULES();
  ConfinementWish wish = usual_wish();
  wish.files.read.emplace_back("/proc");
  const std::string memory = "/proc/" + std::to_string(getpid()) + "/mem";
  EXPECT_EQ(in_confined_child(wish, [&] { return outcome(open(memory.c_str(), O_RDONLY)); }), kNoAccess);
  EXPECT_EQ(in_confined_child(usual_wish(), [] { return outcome(open("/proc/self/mem", O_RDWR)); }), kNoAccess);
}

TEST(Confinement, OneFolderCanBeWrittenTo) {
  REQUIRE_FILE_RULES();
  const TemporaryFolder ours;
  const TemporaryFolder others;
  ConfinementWish wish = usual_wish();
  wish.files.write = {ours.path()};
  EXPECT_EQ(in_confined_child(wish,
                              [&] {
                                fs::create_directory(ours.path() / "inner");
                                std::ofstream(ours.path() / "inner/file") << "text";
                                fs::rename(ours.path() / "inner/file", ours.path() / "moved");
                                const bool there = fs::file_size(ours.path() / "moved") == 4;
                                fs::remove_all(ours.path() / "inner");
                                return std::string(there ? "written" : "lost");
                              }),
            "written");
  for (const fs::path& folder : {others.path(), fs::path("/dev/shm"), fs::path("/tmp")}) {
    const std::string file = folder / "convladder_confinement_test";
    EXPECT_EQ(in_confined_child(wish, [&] { return outcome(open(file.c_str(), O_CREAT | O_RDWR, 0600)); }), kNoAccess);
    EXPECT_FALSE(fs::exists(file));
  }
}

TEST(Confinement, ADeviceCanBeWrittenToAndControlled) {
  EXPECT_EQ(in_confined_child(usual_wish(),
                              [] {
                                const int null = open("/dev/null", O_RDWR);
                                return outcome(write(null, "x", 1));
                              }),
            "done");
}

TEST(Confinement, AFileThatGrowsTooLargeEndsTheProcess) {
  const TemporaryFolder folder;
  ConfinementWish wish = usual_wish();
  wish.files.write = {folder.path()};
  wish.file_bytes = 4096;
  EXPECT_EQ(in_confined_child(wish,
                              [&] {
                                const int file = memfd_create("large", 0);
                                const std::string text(8192, 'x');
                                for (int i = 0; i < 3; ++i) {
                                  if (write(file, text.data(), text.size()) < 0) return outcome(-1);
                                }
                                return std::string("done");
                              }),
            "signal " + std::to_string(SIGXFSZ));
}

TEST(Confinement, MemoryIsLimited) {
  if (kSanitized) GTEST_SKIP() << "AddressSanitizer's shadow counts as memory";
  ConfinementWish wish = usual_wish();
  wish.memory_bytes = std::uint64_t{256} << 20U;
  const auto map = [](std::size_t bytes, int protection) {
    return mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) == MAP_FAILED
               ? strerror(errno)
               : "mapped";
  };
  EXPECT_EQ(in_confined_child(wish, [&] { return map(std::size_t{1} << 30U, PROT_READ | PROT_WRITE); }),
            strerror(ENOMEM));
  // What is only reserved, as CUDA does, is not limited.
  EXPECT_EQ(in_confined_child(wish, [&] { return map(std::size_t{1} << 40U, PROT_NONE); }), "mapped");
}

TEST(Confinement, ProcessorTimeIsLimited) {
  ConfinementWish wish = usual_wish();
  wish.processor_seconds = 1;
  EXPECT_EQ(in_confined_child(wish,
                              []() -> std::string {
                                std::signal(SIGXCPU, SIG_IGN);
                                for (;;) getppid();
                              }),
            "signal " + std::to_string(SIGKILL));
}

TEST(Confinement, RootKeepsNoRightButThatToFiles) {
  if (getuid() != 0) GTEST_SKIP() << "not root";
  EXPECT_EQ(in_confined_child(usual_wish(),
                              [] {
                                std::string kept;
                                for (int one = 0; one < 40; ++one) {
                                  if (prctl(PR_CAPBSET_READ, one) == 1) kept += std::to_string(one) + " ";
                                }
                                return kept;
                              }),
            FileRules({}).missing().empty() ? "1 2 " : "");
}

TEST(Confinement, SaysWhatHoldsAndWhatDoesNot) {
  ConfinementWish wish = usual_wish();
  wish.more_threads = 64;
  const Confinement expected = PreparedConfinement(wish).confinement();
  if (SystemCallFilter::missing().empty()) {
    EXPECT_THAT(expected.holds, testing::IsSupersetOf({"no network", "no other programs", "no other processes"}));
  } else {
    EXPECT_THAT(expected.missing, testing::Contains(SystemCallFilter::missing()));
  }
  EXPECT_EQ(in_confined_child({},
                              [&] {
                                // A second time nobody may add a filter.
                                const std::string missing = SystemCallFilter::missing();
                                return missing.substr(0, missing.find(':'));
                              }),
            SystemCallFilter::missing().empty() ? "no system-call filter (seccomp)" : "");
}

TEST(Confinement, ThreadsThatWereThereBeforeAreNamed) {
  REQUIRE_FILE_RULES();
  const std::string said = in_confined_child({}, [] { return std::string(); });
  EXPECT_EQ(said, "");
  const pid_t child = fork();
  if (child == 0) {
    std::thread sleeper([] { pause(); });
    sleeper.detach();
    const Confinement now = confine(usual_wish());
    _exit(std::ranges::find(now.missing, "file rules for 1 threads that were there before") != now.missing.end() ? 0
                                                                                                                 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace convladder
