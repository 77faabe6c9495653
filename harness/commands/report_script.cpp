#include "harness/commands/report_script.hpp"

#include <cstdlib>

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

std::string report_python() {
  const char* const chosen = std::getenv("PYTHON");
  return chosen != nullptr && *chosen != '\0' ? chosen : "/usr/bin/python3";
}

}  // namespace convladder
