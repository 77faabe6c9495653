// Commands that write a record: which folder it goes to, what an interrupt says, how to continue.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/measure/records/record.hpp"

namespace CLI {
class App;
}

namespace convladder {

/// One start of such a command, without the options that decide what is run.
struct RecordArguments {
  const CLI::App* command = nullptr;
  RecordKind kind = kRunKind;
  std::string output;  ///< empty: results/<host>-<time>
  std::string resume;  ///< empty: a new record
  bool dry_run = false;
  bool quiet = false;
};

/// Adds --output, --resume, --dry-run and --quiet. The help texts are those of the last two.
void add_record_options(CLI::App& command, const RecordKind& kind, RecordArguments& a, const char* dry_run_help,
                        const char* quiet_help);

/// Throws UserError for an option or flag beside --resume: a resumed record has its own settings.
[[noreturn]] void refuse_with_resume(std::string_view option);

/// Throws UserError "OPTION cannot be used with …: why" for any option, flag or word that is not in `allowed`.
void allow_only(const CLI::App& command, const std::vector<std::string_view>& allowed, const std::string& why);

/// The record that --resume names; none without it. `also_allowed` are options besides those of `add_record_options`
/// that say only how the record is shown. Throws UserError for any other option, and as Record::open does.
std::optional<Record> record_to_resume(const RecordArguments& a, const std::vector<std::string_view>& also_allowed = {},
                                       const Record::Check& check = {});

/// The resumed record to continue with, or else a new one. From here on an interrupt says how to continue. Throws
/// UserError.
Record begin_record(const RecordArguments& a, std::optional<Record> resumed, const RecordContent& content);

}  // namespace convladder
