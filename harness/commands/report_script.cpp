#include "harness/commands/report_script.hpp"

namespace convladder {

namespace fs = std::filesystem;

std::optional<fs::path> find_report_script(const fs::path& program) {
  for (fs::path folder = program.parent_path(); !folder.empty(); folder = folder.parent_path()) {
    const fs::path script = folder / "scripts" / "report.py";
    std::error_code none;
    if (fs::is_regular_file(script, none)) return script;
    if (folder == folder.root_path()) break;
  }
  return std::nullopt;
}

}  // namespace convladder
