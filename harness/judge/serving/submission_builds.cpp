#include "harness/judge/serving/submission_builds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include "ladders/expression.hpp"
#include "ladders/stage_cache.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/sha256.hpp"

namespace convladder {
namespace {

namespace fs = std::filesystem;

constexpr int kMostServers = 64;          // of one user at a time
constexpr std::size_t kLookedAfter = 64;  // builds
constexpr const char* kSources = "sources";

/// The first folder that no other server has.
std::pair<fs::path, FolderLock> free_folder() {
  const fs::path all = default_stage_cache() / "served";
  for (int number = 0; number < kMostServers; ++number) {
    const fs::path folder = all / std::to_string(number);
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) throw UserError(fmt::format("{}: cannot be made: {}", folder.string(), error.message()));
    try {
      return {folder, FolderLock(folder, WhileLocked::refuse)};
    } catch (const UserError&) {
      continue;  // another server's
    }
  }
  throw UserError(fmt::format("{}: {} servers run already", all.string(), kMostServers));
}

/// A folder with one source, for as long as it is compiled.
class SourceFolder {
 public:
  SourceFolder(const fs::path& above, const std::string& text, const std::string& file)
      : path_(above / sha256_hex(text)) {
    std::error_code error;
    fs::create_directories(path_, error);
    if (error) throw UserError(fmt::format("{}: cannot be made: {}", path_.string(), error.message()));
    write_file_atomically(path_ / file, text);
  }
  SourceFolder(const SourceFolder&) = delete;
  SourceFolder& operator=(const SourceFolder&) = delete;
  ~SourceFolder() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// The stage's head as its source has it. Throws UserError for an error in it.
StageSource head_of(const ServedSubmission& submission, const LadderProblem& problem, const std::string& file) {
  StageSource source = parse_stage(submission.source, fmt::format("library_submission.{}", submission.word), file);
  source.file = file;
  for (const std::string& need : source.needs) {
    try {
      static_cast<void>(Expression(need, problem.names()));
    } catch (const std::invalid_argument& error) {
      throw UserError(fmt::format("{}: @requires: {}", file, error.what()));
    }
  }
  return source;
}

void without(std::string& text, const std::string& part) {
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at)) text.erase(at, part.size());
}

}  // namespace

SubmissionBuilds::SubmissionBuilds(std::size_t most_kept) : SubmissionBuilds(free_folder(), most_kept) {}

SubmissionBuilds::SubmissionBuilds(std::pair<fs::path, FolderLock> free, std::size_t most_kept)
    : folder_(std::move(free.first)), lock_(std::move(free.second)), builder_(folder_), most_kept_(most_kept) {
  leave_nothing();  // of a server that was killed
  forget_old_ones();
}

SubmissionBuilds::~SubmissionBuilds() { forget_old_ones(); }

void SubmissionBuilds::leave_nothing() const {
  std::error_code error;
  fs::remove_all(folder_ / kSources, error);
  for (fs::directory_iterator entry(folder_, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    std::error_code ignored;
    if (entry->path().extension() == ".new") fs::remove_all(entry->path(), ignored);
  }
}

BuiltSubmission SubmissionBuilds::build(const LadderProblem& problem, const ServedSubmission& submission) {
  const std::string file = fmt::format("solve.{}", submission.word);
  BuiltSubmission built;
  try {
    built.source = head_of(submission, problem, file);
  } catch (const UserError& error) {
    built.build.error = error.what();
    return built;
  }
  const SourceFolder source(folder_ / kSources, submission.source, file);
  built.build = builder_.build({source.path(), problem, {}, {}}, built.source, {});
  // A path that is gone tells the client nothing.
  for (std::string* const text : {&built.build.error, &built.build.messages}) {
    without(*text, source.path().string() + "/");
  }
  if (built.build.was_built_before) {
    std::error_code error;  // it was asked for now
    fs::last_write_time(built.build.library, fs::file_time_type::clock::now(), error);
  } else if (++built_ >= kLookedAfter) {
    forget_old_ones();
  }
  return built;
}

/// Removes libraries, with what lies beside them, until there are not too many: those that were asked for least
/// recently.
void SubmissionBuilds::forget_old_ones() {
  built_ = 0;
  struct Kept {
    fs::file_time_type asked_for{};
    std::vector<fs::path> files;
  };
  std::map<std::string, Kept> kept;
  std::error_code error;
  for (fs::directory_iterator entry(folder_, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    std::error_code ignored;
    if (!entry->is_regular_file(ignored)) continue;
    Kept& one = kept[entry->path().stem().string()];
    one.asked_for = std::max(one.asked_for, fs::last_write_time(entry->path(), ignored));
    one.files.push_back(entry->path());
  }
  if (kept.size() <= most_kept_) return;
  std::vector<const Kept*> by_age;
  for (const auto& [stem, one] : kept) by_age.push_back(&one);
  std::ranges::sort(by_age, {}, &Kept::asked_for);
  by_age.resize(by_age.size() - most_kept_);
  for (const Kept* const one : by_age) {
    for (const fs::path& file : one->files) fs::remove(file, error);
  }
}

}  // namespace convladder
