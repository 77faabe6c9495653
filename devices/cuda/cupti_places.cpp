#include "devices/cuda/cupti_places.hpp"

#include <fmt/format.h>
#include <glob.h>

namespace convladder {

std::vector<std::string> cupti_candidates(int cuda_major, const std::function<const char*(const char*)>& variable) {
  const std::string name = fmt::format("libcupti.so.{}", cuda_major);
  std::vector<std::string> candidates = {name};
  const auto add_toolkit = [&](const std::string& folder) {
    // The toolkit keeps it in folders of its own, which the dynamic linker need not know.
    for (const char* const place : {"extras/CUPTI/lib64", "lib64", "lib"}) {
      candidates.push_back(fmt::format("{}/{}/{}", folder, place, name));
    }
  };
  for (const char* const home : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* const folder = variable(home); folder != nullptr && *folder != '\0') add_toolkit(folder);
  }
  add_toolkit("/usr/local/cuda");
  if (const char* const folder = variable("VIRTUAL_ENV"); folder != nullptr && *folder != '\0') {
    // nvidia-cuda-cupti-cu12 and, from CUDA 13 on, nvidia-cuda-cupti.
    for (const std::string& place : {std::string("cuda_cupti"), fmt::format("cu{}", cuda_major)}) {
      const std::string pattern = fmt::format("{}/lib/python3*/site-packages/nvidia/{}/lib/{}", folder, place, name);
      glob_t found{};
      if (glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found) == 0) {
        candidates.insert(candidates.end(), found.gl_pathv, found.gl_pathv + found.gl_pathc);
      }
      globfree(&found);
    }
  }
  return candidates;
}

}  // namespace convladder
