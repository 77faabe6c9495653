// The file of a record and its folder: found or created, locked while the record is written, and grown case by case;
// and its text, laid out so that a case can be appended, and a record that was cut can be read.
//
// A record is one JSON object. Its fields are in three parts: those known when it begins, `cases`, and those after the
// cases. A finished case is written over the end of the file with one write: the case on lines of its own, then the end
// again. So the file is complete JSON after every case, and n cases are written in time that grows with n. Where a
// write was cut short, by a kill or a full disk, all cases before it are read back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "support/folder_lock.hpp"

namespace convladder {

/// Makes the folder results/<host>-<time>, with -2, -3, … after it where it exists already. Throws UserError.
std::filesystem::path make_default_folder();

/// A record on disk. While this lives, no other program writes into its folder.
class RecordFile {
 public:
  /// Creates a new record, with its folder. Throws UserError if it cannot, if another program writes into the folder,
  /// or if the file exists already; `remedy` then says what to do instead.
  static RecordFile create(const std::filesystem::path& file,
                           const std::string& remedy = "another --output starts a new run");
  /// Opens an existing record. Throws UserError.
  static RecordFile open(const std::filesystem::path& file);

  const std::filesystem::path& path() const { return path_; }

  /// Writes the whole record, an object with `cases`, atomically. Throws UserError.
  void write(const nlohmann::ordered_json& record);
  /// Appends one case, in place and synchronised; `behind` is an object with all fields that stand after the cases. On
  /// a full disk the file stays as it was. Throws UserError.
  void append(const nlohmann::ordered_json& one_case, const nlohmann::ordered_json& behind);

 private:
  RecordFile(std::filesystem::path path, bool on_disk);
  bool write_at_end(const std::string& added, const std::string& end);

  std::filesystem::path path_;
  FolderLock lock_;
  bool on_disk_;      ///< whether the file on disk is this record
  std::string body_;  ///< the text of the file up to the end of its last case
  std::string end_;   ///< the rest of its text
  std::size_t cases_ = 0;
};

// The texts that begin no other line of a record, or end no other record.
inline constexpr std::string_view kCasesLine = "\n \"cases\": [";
inline constexpr std::string_view kEndOfCase = "\n  }";  ///< whatever follows it on the line
inline constexpr std::string_view kEndOfCases = "\n ]";
inline constexpr std::string_view kEndOfRecord = "\n}\n";

/// The fields of an object, each on lines of its own, without the braces.
std::string fields_text(const nlohmann::ordered_json& object);

/// The text of a case, on lines of its own: nothing in a string breaks a line, so only the indentation tells where one
/// begins.
std::string case_text(const nlohmann::ordered_json& one_case);

/// The text after the last case. One line for each field: the rest of it after a write that was cut cannot be taken for
/// the end of a case.
std::string end_text(const nlohmann::ordered_json& behind);

/// The text of a record that was cut in its cases or after them, closed after the last whole case, as a record that is
/// not complete; empty for anything else.
std::string closed_record(std::string_view cut);

/// Whether a file begins as a record of this program does; about anything else RecordReader can say nothing.
bool begins_as_record(const std::filesystem::path& file);

/// A record that may be larger than memory: its cases are read one at a time, by the lines that they stand on.
class RecordReader {
 public:
  /// Looks at every line once and keeps where the cases begin. Throws UserError if the file cannot be read, is not laid
  /// out as this program writes it, or has other fields that are no JSON.
  explicit RecordReader(std::filesystem::path file);
  /// As the constructor with a file alone, but does not read the lists after the cases that have these names.
  RecordReader(std::filesystem::path file, std::set<std::string, std::less<>> unread);

  const std::filesystem::path& file() const { return file_; }
  /// All fields but `cases`.
  const nlohmann::ordered_json& fields() const { return *fields_; }
  /// Whether the end is missing: a write was cut short. The cases are those that are whole.
  bool is_cut() const { return cut_; }
  std::size_t cases() const { return cases_.size(); }
  /// `cases[number]`. Throws UserError if it is no JSON.
  nlohmann::ordered_json case_at(std::size_t number) const;

 private:
  struct Place {
    std::uint64_t first = 0;
    std::uint64_t bytes = 0;
  };
  void read_fields(std::string text);

  std::filesystem::path file_;
  std::shared_ptr<const nlohmann::ordered_json> fields_;  ///< never null
  std::vector<Place> cases_;
  bool cut_ = false;
};

}  // namespace convladder
