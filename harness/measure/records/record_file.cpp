#include "harness/measure/records/record_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>
#include <streambuf>
#include <utility>

#include "harness/measure/machine/environment.hpp"
#include "harness/measure/records/recorded_run.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/json_text.hpp"
#include "support/printable.hpp"

namespace convladder {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

namespace {

constexpr int kMostFoldersOfASecond = 1000;

UserError cannot_make(const fs::path& folder, const std::error_code& error) {
  return UserError(fmt::format("cannot create the folder {}: {}", folder.string(), system_error_text(error.value())));
}

/// Whether the file exists. A link to nothing exists too.
bool is_there(const fs::path& file) {
  std::error_code ignored;
  return fs::symlink_status(file, ignored).type() != fs::file_type::not_found;
}

/// Writes all of the text at that place. Returns 0, or the error.
int write_all_at(int descriptor, std::string_view text, std::size_t place) {
  while (!text.empty()) {
    const ssize_t count = ::pwrite(descriptor, text.data(), text.size(), static_cast<off_t>(place));
    if (count == 0) return ENOSPC;
    if (count < 0 && errno != EINTR) return errno;
    if (count < 0) continue;
    text.remove_prefix(static_cast<std::size_t>(count));
    place += static_cast<std::size_t>(count);
  }
  return 0;
}

}  // namespace

fs::path make_default_folder() {
  const fs::path results = "results";
  const std::string name = fmt::format("{}-{}", host_name(), local_time_for_names());
  std::error_code error;
  fs::create_directories(results, error);
  if (error) throw cannot_make(results / name, error);
  for (int number = 1; number < kMostFoldersOfASecond; ++number) {
    fs::path folder = results / (number == 1 ? name : fmt::format("{}-{}", name, number));
    // Only one of several programs makes it.
    if (fs::create_directory(folder, error)) return folder;
    if (error && error != std::errc::file_exists) throw cannot_make(folder, error);
  }
  throw UserError(fmt::format("{} and the next names already exist; use --output", (results / name).string()));
}

RecordFile::RecordFile(fs::path path, bool on_disk)
    : path_(std::move(path)), lock_(FolderLock::of_file(path_, WhileLocked::refuse)), on_disk_(on_disk) {
  remove_unfinished_files(path_);
}

RecordFile RecordFile::create(const fs::path& file, const std::string& remedy) {
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  if (error) throw cannot_make(file.parent_path(), error);
  RecordFile record(file, false);
  if (is_there(file)) throw UserError(fmt::format("{} already exists: {}", file.string(), remedy));
  return record;
}

RecordFile RecordFile::open(const fs::path& file) {
  if (!is_there(file)) throw UserError(fmt::format("cannot read {}: No such file or directory", file.string()));
  return {file, true};
}

void RecordFile::write(const ordered_json& record) {
  ordered_json before = ordered_json::object();
  ordered_json behind = ordered_json::object();
  bool reached = false;
  for (const auto& [name, value] : record.items()) {
    if (name == "cases") {
      reached = true;
    } else {
      (reached ? behind : before)[name] = value;
    }
  }
  body_ = fmt::format("{{{},{}", fields_text(before), kCasesLine);
  cases_ = 0;
  for (const ordered_json& one_case : record.at("cases")) body_ += (cases_++ > 0 ? "," : "") + case_text(one_case);
  // A complete record grows no more, and is written to be read.
  const bool complete = record.value("complete", false);
  end_ = complete && !behind.empty() ? fmt::format("{},{}{}", kEndOfCases, fields_text(behind), kEndOfRecord)
                                     : end_text(behind);
  if (on_disk_) return write_file_atomically(path_, body_ + end_);
  create_file_atomically(path_, body_ + end_);
  on_disk_ = true;
}

void RecordFile::append(const ordered_json& one_case, const ordered_json& behind) {
  const std::string added = (cases_ > 0 ? "," : "") + case_text(one_case);
  const std::string end = end_text(behind);
  const bool in_place = write_at_end(added, end);
  body_ += added;
  end_ = end;
  ++cases_;
  if (!in_place) write_file_atomically(path_, body_ + end_);
}

/// Writes a case over the end. Returns false where the file is not the one that was written last: somebody moved it
/// away or wrote into it.
bool RecordFile::write_at_end(const std::string& added, const std::string& end) {
  const auto failed = [this](int error) {
    return UserError(fmt::format("cannot write {}: {}", path_.string(), system_error_text(error)));
  };
  const int descriptor = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
  if (descriptor < 0 && errno != ENOENT) throw failed(errno);
  if (descriptor < 0) return false;
  struct stat about = {};
  const bool as_written = ::fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode) &&
                          static_cast<std::size_t>(about.st_size) == body_.size() + end_.size();
  int error = 0;
  if (as_written) {
    error = write_all_at(descriptor, added + end, body_.size());
    const auto size = static_cast<off_t>(body_.size() + added.size() + end.size());
    if (error == 0 && about.st_size > size && ::ftruncate(descriptor, size) != 0) error = errno;
    if (error == 0 && ::fsync(descriptor) != 0 && errno != EINVAL && errno != EROFS) error = errno;
    if (error != 0) {  // restores the old end: there is room for that
      const bool restored = ::ftruncate(descriptor, about.st_size) == 0;
      static_cast<void>(restored && write_all_at(descriptor, end_, body_.size()) == 0);
    }
  }
  ::close(descriptor);
  if (error != 0) throw failed(error);
  return as_written;
}

std::string fields_text(const ordered_json& object) {
  if (object.empty()) return {};
  const std::string text = json_text(object);
  return text.substr(1, text.size() - 4);
}

std::string case_text(const ordered_json& one_case) {
  std::string text;
  for (const char c : "\n" + json_text(one_case)) {
    text += c;
    if (c == '\n') text += "  ";
  }
  return text.substr(0, text.size() - 3);
}

std::string end_text(const ordered_json& behind) {
  std::string text(kEndOfCases);
  for (const auto& [name, value] : behind.items()) {
    text += fmt::format(",\n {}: {}", json_line(name), json_line(value));
  }
  return text + std::string(kEndOfRecord);
}

std::string closed_record(std::string_view cut) {
  const std::size_t cases = cut.find(kCasesLine);
  if (cases == std::string_view::npos) return {};
  std::size_t end = cases + kCasesLine.size();  // the end of the last whole case
  for (std::size_t line = end; line < cut.size() && cut[line] == '\n';) {
    const std::size_t next = std::min(cut.find('\n', line + 1), cut.size());
    const std::string_view text = cut.substr(line, next - line);
    if (text.starts_with(kEndOfCases)) break;
    if (text.starts_with(kEndOfCase)) end = line + kEndOfCase.size();
    line = next;
  }
  std::string closed(cut.substr(0, end));
  // A complete record that was cut is not complete any more.
  const std::string_view complete = "\n \"complete\": true,";
  if (const std::size_t at = closed.find(complete); at < cases) {
    closed.replace(at, complete.size(), "\n \"complete\": false,");
  }
  return closed + std::string(kEndOfCases) + std::string(kEndOfRecord);
}

namespace {

constexpr std::uint64_t kLargestFile = std::uint64_t{16} << 30;
constexpr std::uint64_t kLargestCase = std::uint64_t{64} << 20;
constexpr std::size_t kLongestLine = std::size_t{64} << 20;
constexpr std::string_view kBeginOfCase = "\n  {";

/// Whether a line begins with a constant that itself begins with the end of the line before.
bool begins(std::string_view line, std::string_view with) { return line.starts_with(with.substr(1)); }

/// The name in a line that begins a list of a record, ` "ladders": [`; empty for any other line.
std::string_view name_of_list(std::string_view line) {
  constexpr std::string_view begin = " \"";
  constexpr std::string_view end = "\": [";
  if (!line.starts_with(begin) || !line.ends_with(end)) return {};
  return line.substr(begin.size(), line.size() - begin.size() - end.size());
}

/// Reads the next line, without its end. Returns false at the end of the file. Throws UserError for a line that no
/// record has.
bool next_line(std::ifstream& stream, std::string& line, const std::filesystem::path& file) {
  line.clear();
  std::streambuf& bytes = *stream.rdbuf();
  for (int byte = bytes.sbumpc(); byte != std::char_traits<char>::eof(); byte = bytes.sbumpc()) {
    if (byte == '\n') return true;
    if (line.size() == kLongestLine) throw UserError(fmt::format("{}: a line is too long", file.string()));
    line += static_cast<char>(byte);
  }
  return !line.empty();
}

std::ifstream open_file(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw UserError(fmt::format("{}: cannot be read: {}", file.string(), system_error_text(errno)));
  return stream;
}

}  // namespace

bool begins_as_record(const std::filesystem::path& file) {
  constexpr std::string_view begin = "{\n \"schema_version\": ";
  std::ifstream stream(file, std::ios::binary);
  std::string text(begin.size(), '\0');
  return stream.read(text.data(), static_cast<std::streamsize>(text.size())) && text == begin;
}

RecordReader::RecordReader(std::filesystem::path file) : RecordReader(std::move(file), {}) {}

RecordReader::RecordReader(std::filesystem::path file, std::set<std::string, std::less<>> unread)
    : file_(std::move(file)) {
  refuse_folder_as_record(file_.string());
  std::ifstream stream = open_file(file_);
  std::error_code ignored;
  if (std::filesystem::file_size(file_, ignored) > kLargestFile && !ignored) {
    throw UserError(
        fmt::format("{}: cannot be read: it is larger than the limit of {} bytes", file_.string(), kLargestFile));
  }
  enum class Part { before, cases, behind } part = Part::before;
  std::string other;  // text without the cases
  std::uint64_t offset = 0;
  Place one;
  bool inside = false;  // within a case
  bool passed = false;  // within a list that is not read
  for (std::string line; next_line(stream, line, file_);) {
    const std::uint64_t next = offset + line.size() + 1;
    if (part == Part::before) {
      other += line + '\n';
      if (begins(line, kCasesLine)) part = Part::cases;
    } else if (part == Part::cases && begins(line, kEndOfCases)) {
      part = Part::behind;
      other += line + '\n';
    } else if (part == Part::cases && begins(line, kBeginOfCase)) {
      one.first = offset;
      inside = true;
    } else if (part == Part::cases && inside && begins(line, kEndOfCase)) {
      one.bytes = offset + kEndOfCase.size() - 1 - one.first;
      cases_.push_back(one);
      inside = false;
    } else if (part == Part::behind) {
      if (!passed) other += line + '\n';
      if (passed && begins(line, kEndOfCases)) {
        passed = false;
        other += line + '\n';
      } else if (!passed) {
        passed = unread.contains(name_of_list(line));
      }
    }
    offset = next;
  }
  if (stream.bad()) throw UserError(fmt::format("{}: cannot be read", file_.string()));
  if (part == Part::before) {
    throw UserError(fmt::format("{}: no record as convladder writes it", printable(file_.string())));
  }
  cut_ = part == Part::cases || inside;
  read_fields(std::move(other));
}

void RecordReader::read_fields(std::string text) {
  if (!cut_ && !ordered_json::accept(text)) {  // cut after the cases
    cut_ = true;
    text.resize(text.find(kCasesLine) + kCasesLine.size());
  }
  if (cut_) text += std::string(kEndOfCases) + std::string(kEndOfRecord);
  ordered_json fields = parse_json(text, file_.string(), "a record of convladder");
  fields.erase("cases");
  fields_ = std::make_shared<const ordered_json>(std::move(fields));
}

ordered_json RecordReader::case_at(std::size_t number) const {
  const Place& place = cases_.at(number);
  const std::string name = fmt::format("{}: cases[{}]", file_.string(), number);
  if (place.bytes > kLargestCase) throw UserError(fmt::format("{}: larger than a case can be", name));
  std::string text(place.bytes, '\0');
  std::ifstream stream = open_file(file_);
  stream.seekg(static_cast<std::streamoff>(place.first));
  if (!stream.read(text.data(), static_cast<std::streamsize>(text.size()))) {
    throw UserError(fmt::format("{}: the file became shorter while it was read", name));
  }
  return parse_json(text, name, "a case of a record");
}

}  // namespace convladder
