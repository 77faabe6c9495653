#include "harness/judge/history/history_index.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "harness/judge/history/history_json.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"

namespace convladder {

namespace {

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
  const std::string_view beginning = bytes.substr(0, std::min(kIndexBeginning.size(), bytes.find('\n')));
  return kIndexBeginning.starts_with(beginning);
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
  char beginning[kIndexBeginning.size()];
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

void HistoryIndex::add(const FileState& state, const RecordedRun& run) {
  if (path_.empty() || !trouble_.empty()) return;
  const int error = append_line(path_, index_line(state, run));
  if (error != 0) {
    trouble_ = fmt::format("{}: cannot be written, so nothing is kept for the next call: {}", path_.string(),
                           std::strerror(error));
  }
}

}  // namespace convladder
