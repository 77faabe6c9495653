#include "support/confinement/left_processes.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

namespace convladder {
namespace {

TEST(LeftProcesses, AChildOfOurOwnIsNoOrphanBeforeItsNumberIsKnown) {
  std::atomic<bool> is_started{false};
  std::atomic<bool> is_done{false};
  int ended = 0;
  std::thread other([&] {
    while (!is_started) std::this_thread::yield();
    while (!is_done) ended += end_left_processes(getpid() + (1 << 22));  // of a process that is not there
  });
  const pid_t child = start_own_child([&] {
    const pid_t process = fork();
    if (process == 0) {
      pause();
      _exit(0);
    }
    is_started = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the other thread looks for orphans meanwhile
    return process;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  is_done = true;
  other.join();
  EXPECT_EQ(ended, 0);
  EXPECT_EQ(waitpid(child, nullptr, WNOHANG), 0) << "it is there no longer";
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  remove_own_child(child);
}

TEST(LeftProcesses, AChildThatNobodyWaitsForIsEnded) {
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  EXPECT_EQ(end_left_processes(getpid() + (1 << 22)), 1);
  EXPECT_EQ(waitpid(child, nullptr, WNOHANG), -1);
}

}  // namespace
}  // namespace convladder
