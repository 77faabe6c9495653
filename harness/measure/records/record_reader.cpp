#include "harness/measure/records/record_reader.hpp"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <streambuf>
#include <string_view>

#include "harness/measure/records/record_file.hpp"
#include "harness/measure/records/recorded_run.hpp"
#include "support/errors.hpp"
#include "support/json_text.hpp"
#include "support/printable.hpp"

namespace convladder {

using nlohmann::ordered_json;

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
