// Libraries of the process that launch kernels of their own, of which no PTX is there.
#pragma once

#include <string_view>

namespace convladder::stand_in {

class Report;

/// Notes each of NVIDIA's libraries that is loaded now and holds machine code only.
void note_libraries_without_ptx(Report& report);

}  // namespace convladder::stand_in
