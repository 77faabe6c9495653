#include "harness/judge/history/history_files.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "harness/judge/history/history_json.hpp"
#include "support/errors.hpp"
#include "support/json_text.hpp"
#include "support/printable.hpp"

namespace convladder {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kLargestRecord = std::uint64_t{64} << 20U;  // the default run has 2 MiB

void find_below(const fs::path& folder, std::set<std::string>& files, std::vector<std::string>& unreadable) {
  std::error_code error;
  fs::recursive_directory_iterator place(folder, error);
  while (!error && place != fs::recursive_directory_iterator()) {
    std::error_code ignored;
    if (place->path().filename() == "run.json") {
      files.insert(fs::absolute(place->path()).lexically_normal().string());
    } else if (place->is_directory(ignored) && ::access(place->path().c_str(), R_OK | X_OK) != 0) {
      unreadable.push_back(fmt::format("{}: cannot be opened: {}", place->path().string(), std::strerror(errno)));
      place.disable_recursion_pending();
    }
    place.increment(error);
  }
  if (error) unreadable.push_back(fmt::format("{}: cannot be opened: {}", folder.string(), error.message()));
}

/// The state of a file. Throws UserError if it is not a file or far too large to be a record.
FileState state_of(const std::string& file) {
  struct stat about = {};
  if (::stat(file.c_str(), &about) != 0) {
    throw UserError(fmt::format("{}: cannot be read: {}", file, std::strerror(errno)));
  }
  if (!S_ISREG(about.st_mode)) throw UserError(fmt::format("{}: not a file, expected a run of convladder", file));
  const auto size = static_cast<std::uint64_t>(about.st_size);
  if (size > kLargestRecord) {
    throw UserError(fmt::format("{}: {} MiB, expected a run of convladder of at most {} MiB", file, size >> 20U,
                                kLargestRecord >> 20U));
  }
  return {.path = file,
          .size = size,
          .modified_ns = static_cast<std::int64_t>(about.st_mtim.tv_sec) * 1'000'000'000 + about.st_mtim.tv_nsec,
          .inode = about.st_ino};
}

/// Whether the text is a date such as "2026-01-31T12:00:00Z", which sorts as text.
bool is_date(std::string_view text) {
  constexpr std::string_view form = "0000-00-00T00:00:00Z";
  return text.size() == form.size() && std::ranges::equal(text, form, [](char c, char expected) {
           return expected == '0' ? c >= '0' && c <= '9' : c == expected;
         });
}

HistoryRun history_run(RecordedRun run) {
  const RecordContext& context = run.context;
  HistoryRun result;
  result.date = text_or_unknown(context.date);
  if (!is_date(result.date)) {
    throw UserError(fmt::format("{}: context: date: expected a time such as \"2026-01-31T12:00:00Z\", found {}",
                                run.file, context.date ? in_quotes(*context.date) : "nothing"));
  }
  result.commit = text_or_unknown(context.commit);
  result.host = text_or_unknown(context.machine.host);
  result.dirty = context.dirty.value_or(false);
  result.run = std::move(run);
  return result;
}

}  // namespace

std::vector<std::string> find_records(const std::vector<std::string>& paths, std::vector<std::string>& unreadable) {
  std::set<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status)) throw UserError(fmt::format("{}: no such file or folder", printable(path)));
    if (fs::is_directory(status)) {
      find_below(path, files, unreadable);
    } else {
      files.insert(fs::absolute(path).lexically_normal().string());
    }
  }
  return {files.begin(), files.end()};
}

RecordedRun shortened(RecordedRun run) {
  std::erase_if(run.cases, [](const RecordedCase& one) { return one.ok() && !one.time; });
  for (RecordedCase& one : run.cases) one.counters.reset();
  run.planned.clear();
  return run;
}

HistoryRuns read_history_runs(const std::vector<std::string>& paths, HistoryIndex& index) {
  HistoryRuns result;
  std::map<std::string, std::string> file_by_content;
  for (const std::string& file : find_records(paths, result.unreadable)) {
    try {
      const FileState state = state_of(file);
      const RecordedRun* known = index.find(state);
      HistoryRun run = history_run(known != nullptr ? *known : shortened(read_recorded_run(file)));
      if (known == nullptr) index.add(state, run.run);
      const auto [first, added] = file_by_content.emplace(kept_text(run.run), file);
      if (added) {
        result.runs.push_back(std::move(run));
      } else {
        result.repeated.push_back(printable(fmt::format("{}: the same run as {}", file, first->second)));
      }
    } catch (const UserError& error) {
      result.unreadable.push_back(error.what());
    }
  }
  for (std::string& line : result.unreadable) line = printable(line);
  std::ranges::sort(result.runs, {}, [](const HistoryRun& one) { return std::tie(one.date, one.run.file); });
  return result;
}

}  // namespace convladder
