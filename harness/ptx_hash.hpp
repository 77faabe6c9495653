// What makes the kernels of two builds the same: a checksum of the PTX that is executed.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace convladder {

/// The PTX without what says only where it came from: comments, `.file` and `.loc` lines, debug sections. The same
/// source from another folder, or with another comment, is the same text.
std::string executed_ptx(std::string_view ptx);

/// `context.program.ptx` of the record: [{"compiler", "version", "sha256"}], one for each compiler of this build, the
/// one whose PTX runs first in front. The checksum is of all sources' names and executed PTX.
nlohmann::ordered_json ptx_json();

}  // namespace convladder
