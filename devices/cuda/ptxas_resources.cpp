#include "devices/cuda/ptxas_resources.hpp"

#include <map>
#include <string>

#include "devices/kernel_resources.hpp"
#include "devices/ptxas_report.hpp"

namespace convladder {
namespace {

using Reports = const std::vector<EmbeddedFile>& (*)();
using ResourcesByKernel = std::map<std::string, std::vector<KernelResources>>;

// A function-local static: registrars run before main in no particular order of files.
std::vector<Reports>& registered_reports() {
  static std::vector<Reports> all;
  return all;
}

ResourcesByKernel read_reports() {
  ResourcesByKernel all;
  for (const Reports reports : registered_reports()) {
    for (const EmbeddedFile& report : reports()) {
      for (KernelResources& kernel : parse_ptxas_report(report.content)) {
        all[kernel.kernel].push_back(std::move(kernel));
      }
    }
  }
  return all;
}

std::vector<KernelResources> resources_of(const std::string& mangled_name) {
  static const ResourcesByKernel all = read_reports();
  const auto found = all.find(mangled_name);
  return found == all.end() ? std::vector<KernelResources>() : found->second;
}

const KernelResourcesRegistration resources_registration{resources_of};

}  // namespace

PtxasReportsRegistration::PtxasReportsRegistration(Reports reports) { registered_reports().push_back(reports); }

}  // namespace convladder
