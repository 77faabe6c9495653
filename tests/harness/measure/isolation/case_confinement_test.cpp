// What a case keeps, and what one case cannot leave for another.
#include "harness/measure/isolation/case_confinement.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "support/confinement/confined_child.hpp"
#include "temporary_folder.hpp"

namespace convladder {
namespace {

#define REQUIRE_FILE_RULES() \
  if (!FileRules({}).missing().empty()) GTEST_SKIP() << FileRules({}).missing()

std::string in_case(const CaseNeeds& needs, const std::function<std::string()>& act) {
  return in_confined_child(case_confinement(needs), act);
}

TEST(CaseConfinement, ReadsTheStageAndNoOthers) {
  REQUIRE_FILE_RULES();
  const TemporaryFolder folder;
  const std::string own = folder.path() / "own.so";
  const std::string other = folder.path() / "other.so";
  for (const std::string& one : {own, other}) std::ofstream(one) << "text";
  const CaseNeeds needs{.readable = {own}};
  EXPECT_EQ(in_case(needs, [&] { return outcome(open(own.c_str(), O_RDONLY)); }), "done");
  EXPECT_EQ(in_case(needs, [&] { return outcome(open(other.c_str(), O_RDONLY)); }), kNoAccess);
}

TEST(CaseConfinement, LeavesNothingInAnyFolder) {
  REQUIRE_FILE_RULES();
  const TemporaryFolder folder;
  std::vector<std::filesystem::path> folders{folder.path(), "/tmp", "/dev/shm", "/var/tmp", "."};
  if (const char* const home = getenv("HOME"); home != nullptr) folders.emplace_back(home);
  for (const std::filesystem::path& one : folders) {
    const std::string file = one / "convladder_left";
    EXPECT_EQ(in_case({}, [&] { return outcome(open(file.c_str(), O_CREAT | O_RDWR, 0600)); }), kNoAccess) << one;
  }
}

TEST(CaseConfinement, LibrariesOfTheSystemAreLoaded) {
  EXPECT_EQ(
      in_case({}, [] { return std::string(dlopen("libresolv.so.2", RTLD_NOW) != nullptr ? "loaded" : dlerror()); }),
      "loaded");
}

const CaseNeeds kWithGpu{.readable = {}, .uses_gpu = true};

/// Drivers from 570 on do so in cuInit, by the C library's function for another thread.
std::string name_a_thread() {
  std::atomic<bool> over = false;
  std::thread other([&] {
    while (!over) std::this_thread::yield();
  });
  const int error = pthread_setname_np(other.native_handle(), "of_a_driver");
  over = true;
  other.join();
  return error == 0 ? "named" : std::strerror(error);
}

TEST(CaseConfinement, OnlyWhatUsesAGpuNamesThreads) {
  REQUIRE_FILE_RULES();
  EXPECT_EQ(in_case(kWithGpu, name_a_thread), "named");
  EXPECT_EQ(in_case({}, name_a_thread), std::strerror(EACCES));
}

TEST(CaseConfinement, OnlyWhatUsesAGpuAsksForHandlesAndNobodyOpensOne) {
  const std::string refused = std::strerror(EPERM);
  // A head, with room for the handle behind it.
  const auto call = [](const auto& with) {
    alignas(file_handle) std::array<std::byte, sizeof(file_handle) + MAX_HANDLE_SZ> room{};
    auto* const handle = reinterpret_cast<file_handle*>(room.data());
    handle->handle_bytes = MAX_HANDLE_SZ;
    return outcome(with(handle));
  };
  const auto ask = [&] {
    int mount = 0;
    return call([&](file_handle* to) { return name_to_handle_at(AT_FDCWD, "/usr", to, &mount, 0); });
  };
  const auto open_one = [&] {
    return call([](file_handle* from) { return open_by_handle_at(AT_FDCWD, from, O_RDONLY); });
  };
  EXPECT_NE(in_case(kWithGpu, ask), refused);
  EXPECT_EQ(in_case({}, ask), refused);
  EXPECT_EQ(in_case(kWithGpu, open_one), refused);
}

TEST(CaseConfinement, WhatUsesAGpuMakesNothingInItsOwnProc) {
  REQUIRE_FILE_RULES();
  EXPECT_EQ(in_case(kWithGpu, [] { return outcome(open("/proc/self/oom_score_adj", O_WRONLY)); }), kNoAccess);
  EXPECT_EQ(in_case(kWithGpu, [] { return outcome(open("/dev/shm/cuda.shm.0", O_CREAT | O_RDWR, 0600)); }), kNoAccess);
}

TEST(CaseConfinement, IsTheFirstToGoWhereMemoryRunsOut) {
  const pid_t child = fork();
  if (child == 0) {
    int score = 0;
    confine_case({});
    std::ifstream("/proc/self/oom_score_adj") >> score;
    _exit(score == 1000 && std::string_view(getenv("CUDA_CACHE_DISABLE")) == "1" ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace convladder
