// The line of Python that makes a call, where the process runs Python.
#pragma once

#include "simulator/stand_in/report/host_place.hpp"

namespace convladder::stand_in {

/// Notes the innermost line of Python on this thread's stack that is of the program; where there is none, of a package
/// other than torch and Triton. To be called at the
/// begin of a call, while this thread holds no lock of ours: it waits for Python's own (the GIL), which another thread
/// may hold that waits for us.
void note_python_caller() noexcept;

/// The line noted last by this thread; without a line where there is none.
const CallPlace& python_caller();

}  // namespace convladder::stand_in
