// The places where CUPTI's library may lie. Nothing here needs it.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace convladder {

/// Names to open, in this order: where the dynamic linker looks (a bundle's lib/ is the program's RUNPATH), then the
/// folders of the toolkit and of pip's packages, by the variables CUDA_HOME, CUDA_PATH and VIRTUAL_ENV, and
/// /usr/local/cuda. `variable` gives the value of one, or nullptr.
std::vector<std::string> cupti_candidates(int cuda_major, const std::function<const char*(const char*)>& variable);

}  // namespace convladder
