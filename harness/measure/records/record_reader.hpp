// A record that may be larger than memory: its cases are read one at a time, by the lines that they stand on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

namespace convladder {

/// Whether a file begins as a record of this program does; about anything else RecordReader can say nothing.
bool begins_as_record(const std::filesystem::path& file);

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
