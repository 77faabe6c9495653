// Libraries of the process that launch kernels of their own and contain no PTX.
#pragma once

#include <string_view>

namespace convladder::stand_in {

class Report;

/// Notes each loaded library of NVIDIA's that holds only machine code.
void note_libraries_without_ptx(Report& report);

}  // namespace convladder::stand_in
