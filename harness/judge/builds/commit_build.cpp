#include "harness/judge/builds/commit_build.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <stop_token>
#include <thread>

#include "ladders/compilers.hpp"
#include "ladders/program_output.hpp"
#include "ladders/stage_cache.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/printable.hpp"
#include "support/progress.hpp"
#include "support/sha256.hpp"
#include "support/units.hpp"

namespace convladder {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr const char* kProgram = "convladder";                 // the target, and the file that it makes
constexpr std::uintmax_t kFullDisk = std::uintmax_t{1} << 20;  // bytes; the disk is full if less is left
constexpr auto kFreshlyUsed = std::chrono::hours(24);

/// Lets one build run at a time. The compilers inherit the lock: where this program is killed, they may go on for a
/// while, and nobody builds at the same place until the last of them has ended.
class BuildLock {
 public:
  explicit BuildLock(const fs::path& file) : descriptor_(::open(file.c_str(), O_RDWR | O_CREAT, 0666)) {
    if (descriptor_ < 0) {
      throw UserError(fmt::format("{}: cannot be written: {}", file.string(), system_error_text(errno)));
    }
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
    fmt::print(stderr, "convladder: another process builds in {}; waiting for it\n",
               printable(file.parent_path().string()));
    while (::flock(descriptor_, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  BuildLock(const BuildLock&) = delete;
  BuildLock& operator=(const BuildLock&) = delete;
  ~BuildLock() { ::close(descriptor_); }

 private:
  int descriptor_;
};

/// Shows how far a build is, from its log, as long as the object lives.
class Watch {
 public:
  Watch(std::string what, fs::path log)
      : what_(std::move(what)), log_(std::move(log)), thread_([this](const std::stop_token& stop) { watch(stop); }) {}

 private:
  static constexpr auto kBetween = std::chrono::milliseconds(300);

  void watch(const std::stop_token& stop) {
    Progress progress(stderr, 0);
    const auto begin = Clock::now();
    std::mutex mutex;
    std::condition_variable_any ended;
    std::unique_lock lock(mutex);
    while (!ended.wait_for(lock, stop, kBetween, [&stop] { return stop.stop_requested(); })) {
      double share = 0;
      try {
        share = built_share(read_file_text(log_.string()));
      } catch (const UserError&) {  // nothing has been written yet
        share = 0;
      }
      const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
      progress.show_part(what_, share, share > 0 ? std::optional(seconds * (1 / share - 1)) : std::nullopt);
    }
  }

  std::string what_;
  fs::path log_;
  std::jthread thread_;  // the last member, since it uses the others
};

std::string parallel_jobs() {
  const char* const wanted = std::getenv("CMAKE_BUILD_PARALLEL_LEVEL");
  int jobs = 0;
  if (wanted != nullptr) std::from_chars(wanted, wanted + std::string_view(wanted).size(), jobs);
  return fmt::format("{}", jobs > 0 ? jobs : std::max(1U, std::thread::hardware_concurrency()));
}

class CommitBuild {
 public:
  CommitBuild(const Repository& repository, const Commit& commit, const BuildSettings& settings)
      : repository_(repository),
        commit_(commit),
        settings_(settings),
        name_(fmt::format("{}-{}", commit.id, toolchain_key(settings))),
        place_(settings.folder / name_),
        work_(settings.folder / "work"),
        log_(work_ / "build.log") {}

  std::string program() {
    if (is_finished()) return use();
    make_folder(work_);
    const BuildLock lock(settings_.folder / "lock");
    if (is_finished()) return use();  // by the build that was waited for
    const auto begin = Clock::now();
    clear();
    try {
      build();
    } catch (...) {
      clear();
      throw;
    }
    clear();
    fmt::print(stderr, "built commit {} ({}) in {}\n", commit_.short_id(), commit_.subject,
               duration_text(std::chrono::duration<double>(Clock::now() - begin).count()));
    remove_old_ones();
    return use();
  }

 private:
  bool is_finished() const {
    std::error_code error;
    return fs::exists(place_ / kProgram, error);
  }

  /// The program of a finished build; marks it as used by the time of its folder.
  std::string use() const {
    std::error_code not_ours;
    fs::last_write_time(place_, fs::file_time_type::clock::now(), not_ours);
    return (place_ / kProgram).string();
  }

  /// The folder that a build by hand uses: a compiler's cache then knows sources that it has compiled in another
  /// folder.
  fs::path build_folder() const { return work_ / "source/build/release"; }

  static void make_folder(const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) throw UserError(fmt::format("{}: cannot be made: {}", folder.string(), error.message()));
  }

  /// Removes what this build, or one that was killed, has left.
  void clear() const {
    repository_.remove_worktree(work_ / "source");
    std::error_code error;
    fs::remove_all(work_ / "finished", error);
    fs::remove(log_, error);
  }

  void build() {
    const fs::path source = work_ / "source";
    repository_.add_worktree(source, commit_);
    std::error_code error;
    if (!fs::exists(source / "CMakeLists.txt", error) ||
        read_file_text((source / "CMakeLists.txt").string()).find("project(convladder") == std::string::npos) {
      throw CommitFailure(fmt::format("commit {} of {} holds no convladder; --repository names another repository",
                                      commit_.short_id(), printable(repository_.folder().string())));
    }
    std::vector<std::string> configure{on_the_path("cmake"), "--preset", "release", "-B", build_folder().string()};
    configure.insert(configure.end(), settings_.options.begin(), settings_.options.end());
    step("configuring", configure);
    // Not through cmake: a program that is killed takes its own child with it, but not that child's children.
    const std::string ninja = on_the_path("ninja");
    if (ninja.empty()) {
      throw UserError("ninja was not found on the path, so no commit can be built ('scripts/setup.sh' installs it)");
    }
    step("building", {ninja, "-C", build_folder().string(), "-j", parallel_jobs(), kProgram});
    finish();
  }

  /// Runs a program in the commit's files, with its output into the log.
  void step(const char* what, const std::vector<std::string>& words) {
    std::vector<std::string> all{"/bin/sh", "-c", R"(log=$1; shift; exec "$@" >>"$log" 2>&1)", "sh", log_.string()};
    all.insert(all.end(), words.begin(), words.end());
    ProgramSettings settings;
    settings.folder = (work_ / "source").string();
    settings.environment = environment_for_builds();
    ProgramOutput output;
    {
      const Watch watch(fmt::format("{} commit {} ({})", what, commit_.short_id(), commit_.subject), log_);
      output = run_program(all, settings);
    }
    if (!output.succeeded()) fail(what);
  }

  [[noreturn]] void fail(const char* what) const {
    std::error_code error;
    const std::string log = fs::exists(log_, error) ? read_file_text(log_.string()) : std::string();
    // The log lies on the disk that may be full.
    const bool is_full = fs::space(work_, error).available < kFullDisk;
    if (is_full || log.find("No space left on device") != std::string::npos) {
      throw UserError(fmt::format("{}: cannot be written: No space left on device", work_.string()));
    }
    if (log.find("Killed signal terminated program") != std::string::npos) {
      throw MachineFault(
          fmt::format("{} commit {}: a compiler was killed, as the system does where memory runs out: "
                      "CMAKE_BUILD_PARALLEL_LEVEL=1 needs less",
                      what, commit_.short_id()));
    }
    const fs::path kept = settings_.folder / (name_ + ".log");
    fs::rename(log_, kept, error);
    const bool is_warning = log.find("[-Werror") != std::string::npos;
    throw CommitFailure(fmt::format("{} commit {} ({}) failed: {}; {}{}", what, commit_.short_id(), commit_.subject,
                                    telling_line(log), printable(kept.string()),
                                    is_warning ? " (--build-option -DCONVLADDER_WERROR=OFF lets warnings pass)" : ""));
  }

  /// Moves the build to its final name in one step, after it has been written to the disk.
  void finish() const {
    const fs::path built = build_folder() / kProgram;
    const fs::path finished = work_ / "finished";
    std::error_code error;
    if (!fs::exists(built, error)) fail("building");
    make_folder(finished);
    write_file_bytes((finished / kProgram).string(), read_file_bytes(built.string()));
    fs::permissions(finished / kProgram, fs::status(built).permissions());
    fs::rename(log_, finished / "build.log");
    fs::remove_all(place_, error);  // somebody may have removed it in part
    fs::rename(finished, place_);
    fs::remove(settings_.folder / (name_ + ".log"), error);  // of an earlier failure
  }

  void remove_old_ones() const {
    std::vector<std::pair<fs::file_time_type, fs::path>> builds;
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(settings_.folder, error)) {
      if (fs::exists(entry.path() / kProgram, error))
        builds.emplace_back(fs::last_write_time(entry, error), entry.path());
    }
    if (builds.size() <= kKeptBuilds) return;
    std::ranges::sort(builds, std::greater());
    for (auto one = builds.begin() + kKeptBuilds; one != builds.end(); ++one) {
      if (one->first < fs::file_time_type::clock::now() - kFreshlyUsed) fs::remove_all(one->second, error);
    }
  }

  const Repository& repository_;
  const Commit& commit_;
  const BuildSettings& settings_;
  std::string name_;
  fs::path place_;
  fs::path work_;
  fs::path log_;
};

}  // namespace

fs::path default_builds_folder() { return default_stage_cache().parent_path() / "builds"; }

std::string build_commit(const Repository& repository, const Commit& commit, const BuildSettings& settings) {
  try {
    return CommitBuild(repository, commit, settings).program();
  } catch (const fs::filesystem_error& error) {
    throw UserError(
        fmt::format("{}: cannot be written: {}", printable(error.path1().string()), error.code().message()));
  }
}

}  // namespace convladder
