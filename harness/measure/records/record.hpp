// The record of a command that runs cases: run.json, network.json, sweep.json, rank.json. Complete JSON and readable at
// every moment; its cases are appended as they end, and the figures derived from them are added once, after the last.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

#include "harness/measure/records/record_file.hpp"
#include "support/json_place.hpp"

namespace convladder {

/// The properties in which the records of the commands differ.
struct RecordKind {
  const char* kind;            ///< "run": the field, and the command
  const char* schema_version;  ///< the version that this program writes, and the only one with which it goes on
  bool stays = true;           ///< stays on the machine that began it; otherwise each session says where it was
  std::string file() const { return std::string(kind) + ".json"; }
};
inline constexpr RecordKind kRunKind{"run", "1.1"};
inline constexpr RecordKind kNetworkKind{"network", "1.1"};
inline constexpr RecordKind kSweepKind{"sweep", "1.1"};
inline constexpr RecordKind kRankKind{"rank", "1.1"};
inline constexpr RecordKind kShardKind{"shard", "1.1", false};

/// JSON that is part of a record, behind a pointer: only what reads or writes it needs its library.
using RecordPart = std::shared_ptr<const nlohmann::ordered_json>;
RecordPart record_part(nlohmann::ordered_json json);

/// The command's contents of a record from the start, besides the machine and the program. Parts without a value are
/// empty.
struct RecordContent {
  std::vector<std::string> command_line;
  RecordPart options;
  std::uint64_t seed = 1;
  RecordPart dataset;
  std::vector<std::string> planned;  ///< the ids of its cases
  RecordPart fields = {};            ///< fields that stand before the cases
  RecordPart behind = {};            ///< fields that stand after the cases, until there are any
  RecordPart context = {};           ///< further fields of the context
  RecordPart session = {};           ///< of the session that begins
};

class Record {
 public:
  using Fields = nlohmann::ordered_json;  ///< an object: some fields of the record
  Record(Record&&) noexcept;
  Record& operator=(Record&&) noexcept;
  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;
  ~Record();
  /// Creates a new record. Creates the folder; throws UserError if it cannot, if it holds such a record already, or if
  /// another program writes into it.
  static Record create(const std::filesystem::path& folder, const RecordKind& kind, const RecordContent& content);
  /// Opens an interrupted record. Throws UserError if there is none, or it is damaged, or of another kind or schema
  /// version, of another build of this program, of another host or processor if its kind stays, or if another program
  /// writes into its folder. `check` sees the parsed file first, and its name, and throws UserError where its command
  /// cannot go on with it.
  using Check = std::function<void(const nlohmann::ordered_json& record, const std::string& file)>;
  static Record open(const std::filesystem::path& folder, const RecordKind& kind, const Check& check = {});

  /// `context.options`, valid as long as nothing is added.
  JsonPlace options() const;
  /// Checks that the cases to be run now match those that were started: same data, plan and fields before the cases.
  /// Throws UserError that names the difference. Adds a session unless the record is complete. The fields after the
  /// cases stay until a case is added.
  void go_on(const RecordContent& now);

  /// Gives an existing record, complete or not, another plan: cases stay where the new plan has them and `keep` says
  /// so. The data, the command line, the options and the fields become those of now, and a session is added.
  using Keep = std::function<bool(const nlohmann::ordered_json& one_case)>;
  void plan_anew(const RecordContent& now, const Keep& keep);
  /// Removes the cases of these ids, to be run once more; the record is not complete then.
  void drop(const std::function<bool(const std::string& id)>& unwanted);
  /// The number of the current session.
  std::size_t session() const;

  bool has(const std::string& id) const { return recorded_.contains(id); }
  /// Appends a finished case with its session; `behind` are all fields that stand after the cases from now on.
  void add(nlohmann::ordered_json one_case, const Fields& behind);
  bool is_complete() const;
  /// Whether it was merged of shards.
  bool was_merged() const;
  /// Completes the record when all planned cases have a status: they are put in the order of the plan, and `derived`
  /// stands after them.
  void complete(const Fields& derived);
  /// Puts `derived`, from the recorded cases, after them, until one more is added.
  void derive(const Fields& derived);
  /// Whether a recorded case failed.
  bool any_failed() const;

  const std::filesystem::path& file() const { return file_.path(); }
  const nlohmann::ordered_json& json() const { return *json_; }
  /// The cases by their ids; valid until one is added.
  std::map<std::string, const nlohmann::ordered_json*> cases_by_id() const;

 private:
  explicit Record(RecordFile file);
  void put_cases_in_order();
  void put_in_order(const RecordContent& now);
  bool remove_cases(const Keep& unwanted);
  void begin_session(const RecordContent& now);
  void set_behind(const Fields& behind);

  RecordFile file_;
  std::unique_ptr<nlohmann::ordered_json> json_;  ///< never null but in a record that was moved from
  std::set<std::string> recorded_;
};

}  // namespace convladder
