#include "harness/commands/report_script.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <iterator>
#include <system_error>
#include <vector>

#include "ladders/compilers.hpp"
#include "ladders/program_output.hpp"
#include "support/errors.hpp"
#include "support/own_program.hpp"
#include "support/printable.hpp"
#include "support/text.hpp"

namespace convladder {

namespace fs = std::filesystem;

namespace {

/// The folder that lies beside our scripts only: other projects may have a report.py in a folder of that name as well.
constexpr const char* kOurs = "convladder_charts";

std::string last_line(const std::string& text) {
  std::string last;
  for (const std::string& line : split(text, '\n')) {
    if (!line.empty()) last = line;
  }
  return printable(last);
}

/// Draws with a script; false if that fails, and then one line has said why.
bool draw(const fs::path& program, const char* script, const std::vector<std::string>& words) {
  const std::optional<fs::path> found = find_script(program, script);
  if (!found) return false;  // the program was copied without the scripts
  std::vector<std::string> all{python(), "-B", found->string()};
  all.insert(all.end(), words.begin(), words.end());
  try {
    const ProgramOutput output = run_program(all);
    if (output.succeeded()) {
      fmt::print("{}", output.text);
      return true;
    }
    fmt::print(stderr, "convladder: nothing is drawn: {}\n", last_line(output.messages));
  } catch (const UserError& error) {
    fmt::print(stderr, "convladder: nothing is drawn: {}\n", error.what());
  }
  return false;
}

}  // namespace

std::optional<fs::path> find_script(const fs::path& program, const std::string& name) {
  std::error_code none;
  const auto found_in = [&](const fs::path& scripts) {
    return fs::is_regular_file(scripts / name, none) && fs::is_directory(scripts / kOurs, none);
  };
  for (fs::path folder = program.parent_path(); !folder.empty(); folder = folder.parent_path()) {
    for (const fs::path& scripts : {folder / "scripts", folder / "share/convladder/scripts"}) {
      if (found_in(scripts)) return scripts / name;
    }
    if (folder == folder.root_path()) break;
  }
  return std::nullopt;
}

void become_script(const std::string& command, const std::string& name, std::vector<std::string> words,
                   const std::string& needs) {
  const fs::path program = own_program();
  const std::optional<fs::path> script = find_script(program, name);
  if (!script) {
    throw UserError(fmt::format("scripts/{} was not found beside {} or in a folder above it", name, program.string()));
  }
  // -B: the program's folder may be read-only.
  words.insert(words.begin(), {python(), "-B", script->string(), "--program=" + program.string()});
  execvp(words.front().c_str(), null_terminated(words).data());
  throw UserError(fmt::format("{}: cannot start {}: {}; {}", command, words.front(), system_error_text(errno), needs));
}

void draw_page(const std::string& option, const std::string& page, const std::string& script,
               std::vector<std::string> words, const fs::path& document) {
  const fs::path program = own_program();
  const std::optional<fs::path> found = find_script(program, script);
  if (!found) {
    throw UserError(fmt::format("{}: scripts/{} was not found beside {}", option, script, program.string()));
  }
  std::vector<std::string> all{"/usr/bin/env", python(), "-B", found->string()};
  std::ranges::move(words, std::back_inserter(all));
  all.insert(all.end(), {"--output=" + page, "--", document.string()});
  const ProgramOutput output = run_program(all);
  if (output.succeeded()) return;
  const std::string said = output.messages.substr(0, output.messages.find('\n'));
  throw UserError(fmt::format("{} {}: {}", option, page, said.empty() ? "Python could not write it" : printable(said)));
}

void draw_record(const fs::path& record) {
  const fs::path program = own_program();
  if (!draw(program, "charts.py", {record.string()})) return;
  draw(program, "report.py", {"--program", program.string(), "--", record.string()});
}

}  // namespace convladder
