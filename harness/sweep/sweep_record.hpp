// sweep.json: everything a parameter sweep saw, complete and readable at every moment.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "datasets/image_set.hpp"
#include "harness/records/record_folder.hpp"
#include "harness/sweep/sweep.hpp"

namespace convladder {

class SweepRecord {
 public:
  /// Creates the folder; throws UserError if it cannot, if it holds a sweep already, or if another program writes into
  /// it. Writes nothing yet.
  SweepRecord(const std::filesystem::path& folder, const RunOptions& options,
              const std::vector<std::string>& command_line, const ImageSet& images);

  /// Writes the file with all sweeps as they are now; `complete` once none has anything left to try.
  void write(const std::vector<Sweep>& sweeps, bool complete);

  const std::filesystem::path& file() const { return file_.path(); }

 private:
  RecordFile file_;
  nlohmann::ordered_json json_;
};

/// `sweeps[]` of the record.
nlohmann::ordered_json sweep_json(const Sweep& sweep);

}  // namespace convladder
