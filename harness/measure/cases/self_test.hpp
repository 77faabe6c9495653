// Whether a problem tells right from wrong at all: what nobody computed must not pass.
#pragma once

#include "harness/measure/cases/workload.hpp"

namespace convladder {

/// Holds an output of zeros, a copy of each input that has its size, and the answer to another input against the
/// reference. Throws UserError, one line that says what would pass.
void require_telling_problem(const Workload& workload);

}  // namespace convladder
