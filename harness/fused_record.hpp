// The record of `convladder fused`: fused.json, complete and readable at every moment.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "datasets/image_set.hpp"
#include "harness/fused_case.hpp"

namespace convladder {

/// A case and what came of it.
struct FusedResult {
  FusedCase planned;
  FusedOutcome outcome;
};

class FusedRecord {
 public:
  /// Creates the folder; throws UserError if it cannot, or if it holds such a record already.
  FusedRecord(const std::filesystem::path& folder, const FusedOptions& options,
              const std::vector<std::string>& command_line, const std::vector<FusedCase>& plan, const ImageSet& images);

  /// Adds a finished case and writes the file.
  void add(const FusedResult& result, const std::string& input_kind);
  void complete();

  std::filesystem::path file() const { return folder_ / "fused.json"; }

 private:
  void write();

  std::filesystem::path folder_;
  nlohmann::ordered_json json_;
};

}  // namespace convladder
