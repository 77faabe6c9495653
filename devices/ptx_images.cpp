#include "devices/ptx_images.hpp"

#include <algorithm>

namespace convladder {
namespace {

struct Registered {
  std::string compiler;
  std::string version;
  const std::vector<EmbeddedFile>& (*files)();
};

// A function-local static: registrars run before main in no particular order of files.
std::vector<Registered>& registered_images() {
  static std::vector<Registered> all;
  return all;
}

/// One entry for each compiler, whatever the order in which the libraries were linked.
std::vector<PtxImages> images_by_compiler() {
  std::vector<PtxImages> all;
  for (const Registered& registered : registered_images()) {
    auto entry = std::ranges::find(all, registered.compiler, &PtxImages::compiler);
    if (entry == all.end()) entry = all.insert(all.end(), {registered.compiler, registered.version, {}});
    const std::vector<EmbeddedFile>& files = registered.files();
    entry->files.insert(entry->files.end(), files.begin(), files.end());
  }
  for (PtxImages& images : all) std::ranges::sort(images.files, {}, &EmbeddedFile::name);
  std::ranges::sort(all, [](const PtxImages& a, const PtxImages& b) {
    return a.compiler != b.compiler && (a.compiler == "nvcc" || (b.compiler != "nvcc" && a.compiler < b.compiler));
  });
  return all;
}

}  // namespace

const std::vector<PtxImages>& ptx_images() {
  static const std::vector<PtxImages> all = images_by_compiler();
  return all;
}

PtxImagesRegistration::PtxImagesRegistration(const char* compiler, const char* version,
                                             const std::vector<EmbeddedFile>& (*files)()) {
  registered_images().push_back({compiler, version, files});
}

}  // namespace convladder
