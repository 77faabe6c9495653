#include "harness/commands/recorded_command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <utility>

#include "support/errors.hpp"
#include "support/interruption.hpp"

namespace convladder {

void add_record_options(CLI::App& command, const RecordKind& kind, RecordArguments& a, const char* dry_run_help,
                        const char* quiet_help) {
  a.command = &command;
  a.kind = kind;
  const auto add = [&command](const char* name, std::string& value, const std::string& help) {
    command.add_option(name, value, help)->group("Where");
  };
  add("--output", a.output, fmt::format("folder for {} (default results/<host>-<time>)", kind.file()));
  add("--resume", a.resume, fmt::format("continue the interrupted {} in this folder, with its settings", kind.kind));
  command.add_flag("--dry-run", a.dry_run, dry_run_help)->group("Where");
  command.add_flag("--quiet", a.quiet, quiet_help)->group("Where");
}

void refuse_with_resume(std::string_view option) {
  throw UserError(fmt::format("{} cannot be used with --resume: what is resumed has its own settings", option));
}

void allow_only(const CLI::App& command, const std::vector<std::string_view>& allowed, const std::string& why) {
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = option->get_name();
    if (option->count() > 0 && std::ranges::find(allowed, name) == allowed.end()) {
      throw UserError(fmt::format("{} cannot be used with {}", name, why));
    }
  }
  for (const std::string& word : command.remaining()) {
    throw UserError(fmt::format("{} cannot be used with {}", word, why));
  }
}

std::optional<Record> record_to_resume(const RecordArguments& a, const std::vector<std::string_view>& also_allowed,
                                       const Record::Check& check) {
  if (a.resume.empty()) return std::nullopt;
  constexpr std::array<std::string_view, 3> allowed{"--resume", "--dry-run", "--quiet"};
  for (const CLI::Option* option : a.command->get_options()) {
    const std::string name = option->get_name();
    if (option->count() == 0 || std::ranges::find(allowed, name) != allowed.end()) continue;
    if (std::ranges::find(also_allowed, name) == also_allowed.end()) refuse_with_resume(name);
  }
  return Record::open(a.resume, a.kind, check);
}

Record begin_record(const RecordArguments& a, std::optional<Record> resumed, const RecordContent& content) {
  const bool is_new = !resumed;
  if (is_new) {
    const std::filesystem::path folder = a.output.empty() ? make_default_folder() : std::filesystem::path(a.output);
    resumed = Record::create(folder, a.kind, content);
  }
  advise_on_interrupt(
      fmt::format("'convladder {} --resume {}' continues", a.kind.kind, resumed->file().parent_path().string()));
  if (!is_new) resumed->go_on(content);
  return *std::move(resumed);
}

}  // namespace convladder
