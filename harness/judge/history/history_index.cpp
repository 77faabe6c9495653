#include "harness/judge/history/history_index.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string_view>

#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/json_place.hpp"
#include "support/json_text.hpp"

namespace convladder {

using nlohmann::ordered_json;

namespace {

/// The beginning of every line, by which a file is known as an index; the number is the version of the rest.
constexpr std::string_view kBeginning = R"({"convladder_history_index":1,)";

/// A file that is open, and may be locked, as long as the object lives.
class OpenFile {
 public:
  OpenFile(const std::filesystem::path& path, int flags)
      // Opening must not wait for a pipe.
      : descriptor_(::open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK, 0666)) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  int descriptor() const { return descriptor_; }
  /// Locks the file. Some network file systems have no locks; then the single write alone has to do.
  void lock(int how) const {
    while (::flock(descriptor_, how) != 0 && errno == EINTR) {
    }
  }

 private:
  int descriptor_;
};

/// Whether a file that begins with these bytes may be appended to: it is empty, an index, or the torn beginning of one.
bool begins_as_index(std::string_view bytes) {
  const std::string_view beginning = bytes.substr(0, std::min(kBeginning.size(), bytes.find('\n')));
  return kBeginning.starts_with(beginning);
}

/// Appends one line, after the line that a killed program may have left unfinished. Returns errno, 0 on success; EINVAL
/// for a file that is no index.
int append_line(const std::filesystem::path& path, std::string line) {
  const OpenFile file(path, O_RDWR | O_APPEND | O_CREAT);
  if (file.descriptor() < 0) return errno;
  file.lock(LOCK_EX);
  struct stat about = {};
  if (::fstat(file.descriptor(), &about) != 0) return errno;
  if (!S_ISREG(about.st_mode)) return EINVAL;
  char beginning[kBeginning.size()];
  const ssize_t got = ::pread(file.descriptor(), beginning, sizeof beginning, 0);
  if (got < 0) return errno;
  if (!begins_as_index({beginning, static_cast<std::size_t>(got)})) return EINVAL;
  char last = '\n';
  if (about.st_size > 0 && ::pread(file.descriptor(), &last, 1, about.st_size - 1) < 0) return errno;
  if (last != '\n') line.insert(line.begin(), '\n');
  for (std::size_t written = 0; written < line.size();) {
    const ssize_t count = ::write(file.descriptor(), line.data() + written, line.size() - written);
    if (count < 0 && errno != EINTR) return errno;
    if (count > 0) written += static_cast<std::size_t>(count);
  }
  return 0;
}

}  // namespace

IndexLine parse_index_line(std::string_view line) {
  if (!line.starts_with(kBeginning)) throw UserError("index: expected a line of an index");
  const ordered_json json = parse_record_json(line, "index");
  const JsonPlace place(json, "index");
  FileState state{.path = place.at("path").text(),
                  .size = place.at("size").whole<std::uint64_t>(),
                  .modified_ns = place.at("modified_ns").whole<std::int64_t>(),
                  .inode = place.at("inode").whole<std::uint64_t>()};
  RecordedRun run = recorded_run_of(place.at("record").json(), state.path);
  return {.state = std::move(state), .run = std::move(run)};
}

std::string index_line(const FileState& state, const ordered_json& record) {
  const ordered_json line = {{"convladder_history_index", 1},    {"path", state.path},   {"size", state.size},
                             {"modified_ns", state.modified_ns}, {"inode", state.inode}, {"record", record}};
  return json_line(line) + '\n';  // with a name that is not UTF-8 it is never found again
}

HistoryIndex::HistoryIndex(const std::filesystem::path& path) : path_(path) {
  if (!path_.empty()) load();
}

void HistoryIndex::load() {
  std::error_code error;
  if (!std::filesystem::exists(path_, error)) return;
  if (!std::filesystem::is_regular_file(path_, error)) {
    trouble_ = fmt::format("{}: not a file, so no index is kept", path_.string());
    return;
  }
  try {
    const OpenFile file(path_, O_RDONLY);
    file.lock(LOCK_SH);  // no line is half written while it is read
    const std::string content = read_file_text(path_.string());
    std::string_view text = content;
    if (!begins_as_index(text)) {
      trouble_ = fmt::format("{}: not a history index; it is left unchanged, and no index is kept", path_.string());
      return;
    }
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      // Another program may still be writing a line without an end.
      read_line(end == std::string_view::npos ? text : text.substr(0, end));
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
  } catch (const UserError& problem) {
    trouble_ = problem.what();
  }
}

void HistoryIndex::read_line(std::string_view line) {
  if (line.empty()) return;
  try {
    IndexLine read = parse_index_line(line);
    runs_.insert_or_assign(std::move(read.state), std::move(read.run));
  } catch (const UserError&) {
    ++torn_lines_;
  }
}

const RecordedRun* HistoryIndex::find(const FileState& state) const {
  const auto found = runs_.find(state);
  return found == runs_.end() ? nullptr : &found->second;
}

void HistoryIndex::add(const FileState& state, const ordered_json& record) {
  if (path_.empty() || !trouble_.empty()) return;
  const int error = append_line(path_, index_line(state, record));
  if (error != 0) {
    trouble_ = fmt::format("{}: cannot be written, so nothing is kept for the next call: {}", path_.string(),
                           std::strerror(error));
  }
}

}  // namespace convladder
