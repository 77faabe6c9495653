// The record of `convladder fused`: fused.json, complete and readable at every moment.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "datasets/image_set.hpp"
#include "harness/fused/fused_case.hpp"
#include "harness/records/record_folder.hpp"

namespace convladder {

/// A case and what came of it.
struct FusedResult {
  FusedCase planned;
  FusedOutcome outcome;
};

class FusedRecord {
 public:
  /// Creates the folder; throws UserError if it cannot, if it holds such a record already, or if another program
  /// writes into it.
  FusedRecord(const std::filesystem::path& folder, const FusedOptions& options,
              const std::vector<std::string>& command_line, const std::vector<FusedCase>& plan, const ImageSet& images);

  /// Adds a finished case and writes the file.
  void add(const FusedResult& result, const std::string& input_kind);
  void complete();

  const std::filesystem::path& file() const { return file_.path(); }

 private:
  void write();

  RecordFile file_;
  nlohmann::ordered_json json_;
};

}  // namespace convladder
