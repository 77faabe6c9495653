#include "simulator/stand_in/report/libraries_without_ptx.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <string>

#include "simulator/stand_in/report/report.hpp"

namespace convladder::stand_in {
namespace {

std::string_view folder_of(std::string_view path) { return path.substr(0, path.rfind('/') + 1); }

int note(dl_phdr_info* info, std::size_t /*bytes*/, void* report) {
  const std::string_view path = info->dlpi_name == nullptr ? "" : info->dlpi_name;
  if (!holds_no_ptx(path)) return 0;
  Dl_info own{};
  dladdr(reinterpret_cast<const void*>(&note), &own);
  if (own.dli_fname != nullptr && folder_of(path) == folder_of(own.dli_fname)) return 0;  // it is a stand-in as well
  static_cast<Report*>(report)->note(without_ptx_text(path));
  return 0;
}

}  // namespace

void note_libraries_without_ptx(Report& report) { dl_iterate_phdr(note, &report); }

}  // namespace convladder::stand_in
