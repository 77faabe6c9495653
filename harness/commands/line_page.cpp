#include "harness/commands/line_page.hpp"

#include "harness/commands/report_script.hpp"
#include "support/file_bytes.hpp"
#include "support/temporary_file.hpp"

namespace convladder {

void write_line_page(const std::string& page, const std::string& json) {
  const TemporaryFile document("convladder-lines");
  write_file_atomically(document.path(), json);
  draw_page("--html", page, "line_page.py", {}, document.path());
}

}  // namespace convladder
