#include "simulator/stand_in/libraries/toolkits/toolkits.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <system_error>

namespace convladder::stand_in {
namespace {

namespace fs = std::filesystem;

/// The stand-in's own folder.
fs::path own_folder() {
  Dl_info info{};
  dladdr(reinterpret_cast<const void*>(&open_real_library), &info);
  std::error_code error;
  return fs::weakly_canonical(info.dli_fname == nullptr ? "" : info.dli_fname, error).parent_path();
}

std::vector<fs::path> loaded_libraries() {
  std::vector<fs::path> loaded;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* to) {
        if (info->dlpi_name != nullptr && *info->dlpi_name != '\0') {
          static_cast<std::vector<fs::path>*>(to)->emplace_back(info->dlpi_name);
        }
        return 0;
      },
      &loaded);
  return loaded;
}

/// The folders in which the loader looks for the program's libraries.
std::vector<fs::path> loader_folders() {
  std::vector<fs::path> folders;
  void* const program = dlopen(nullptr, RTLD_LAZY);
  Dl_serinfo size{};
  if (program == nullptr || dlinfo(program, RTLD_DI_SERINFOSIZE, &size) != 0) return folders;
  std::vector<std::uint64_t> memory(size.dls_size / sizeof(std::uint64_t) + 1);
  auto* const list = reinterpret_cast<Dl_serinfo*>(memory.data());
  if (dlinfo(program, RTLD_DI_SERINFOSIZE, list) != 0 || dlinfo(program, RTLD_DI_SERINFO, list) != 0) return folders;
  for (unsigned i = 0; i < list->dls_cnt; ++i) folders.emplace_back(list->dls_serpath[i].dls_name);
  return folders;
}

std::vector<fs::path> folders_to_look_in() {
  std::vector<fs::path> folders = loader_folders();
  const auto add_toolkit = [&](const fs::path& toolkit) {
    folders.push_back(toolkit / "lib64");
    folders.push_back(toolkit / "lib");
    folders.push_back(toolkit / "targets/x86_64-linux/lib");
  };
  for (const char* const name : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* const toolkit = std::getenv(name)) add_toolkit(toolkit);
  }
  // Python's packages have each library in a folder of its own, or all of a version in one.
  for (const fs::path& library : loaded_libraries()) {
    const fs::path folder = library.parent_path();
    folders.push_back(folder);
    for (fs::path packages = folder; packages.has_relative_path(); packages = packages.parent_path()) {
      if (packages.filename() != "site-packages" && packages.filename() != "dist-packages") continue;
      for (const char* const package : {"cuda_nvrtc/lib", "nvjitlink/lib", "cu13/lib", "cu12/lib"}) {
        folders.push_back(packages / "nvidia" / package);
      }
    }
  }
  if (const fs::path compiler = find_compiler(); !compiler.empty()) add_toolkit(compiler.parent_path().parent_path());
  add_toolkit("/usr/local/cuda");
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator("/usr/local", error)) {
    if (entry.path().filename().string().starts_with("cuda-")) add_toolkit(entry.path());
  }
  return folders;
}

}  // namespace

fs::path find_compiler() {
  std::error_code error;
  std::vector<fs::path> folders;
  if (const char* const path = std::getenv("PATH")) {
    std::istringstream list(path);
    for (std::string folder; std::getline(list, folder, ':');) folders.emplace_back(folder);
  }
  for (const char* const name : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* const toolkit = std::getenv(name)) folders.push_back(fs::path(toolkit) / "bin");
  }
  folders.emplace_back("/usr/local/cuda/bin");
  for (const fs::path& folder : folders) {
    if (folder.is_absolute() && fs::is_regular_file(folder / "nvcc", error)) {
      return fs::weakly_canonical(folder / "nvcc", error);
    }
  }
  return {};
}

void* open_real_library(std::vector<std::string> names) {
  const std::vector<fs::path> loaded = loaded_libraries();
  std::stable_partition(names.begin(), names.end(), [&](const std::string& name) {
    return std::ranges::any_of(loaded, [&](const fs::path& library) { return library.filename() == name; });
  });
  const fs::path own = own_folder();
  const std::vector<fs::path> folders = folders_to_look_in();
  for (const std::string& name : names) {
    for (const fs::path& folder : folders) {
      std::error_code error;
      const fs::path library = folder / name;
      if (!fs::exists(library, error) || fs::weakly_canonical(library, error).parent_path() == own) continue;
      // It calls itself by its own names, not the stand-in's of the same name.
      if (void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND)) return handle;
    }
  }
  return nullptr;
}

}  // namespace convladder::stand_in
