// Makes what ptxas reported of this folder's kernels known to `kernel_resources` (devices/kernel_resources.hpp).
#include "devices/kernel_resources.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "devices/cuda/ptxas_report.hpp"
#include "devices/embedded_file.hpp"

namespace convladder {

/// Generated at build time, see cmake/PtxasReports.cmake: one report per .cu file.
const std::vector<EmbeddedFile>& embedded_ptxas_reports();

namespace {

using ResourcesByKernel = std::map<std::string, std::vector<KernelResources>>;

ResourcesByKernel read_embedded_reports() {
  ResourcesByKernel all;
  for (const EmbeddedFile& report : embedded_ptxas_reports()) {
    for (KernelResources& kernel : parse_ptxas_report(report.content)) {
      all[kernel.kernel].push_back(std::move(kernel));
    }
  }
  return all;
}

std::vector<KernelResources> resources_of(const std::string& mangled_name) {
  static const ResourcesByKernel all = read_embedded_reports();
  const auto found = all.find(mangled_name);
  return found == all.end() ? std::vector<KernelResources>() : found->second;
}

const KernelResourcesRegistration registration{resources_of};

}  // namespace
}  // namespace convladder
