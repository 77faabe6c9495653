// The functions that the dynamic linker calls in every process, as those of a library of LD_AUDIT (rtld-audit(7)): for
// each object that has been loaded, before it is relocated and before a constructor of it runs, and for each name that
// is looked for.
#include <dlfcn.h>
#include <link.h>

#include <array>
#include <climits>
#include <cstdint>

#include "simulator/stand_in/redirection/static_runtime.hpp"
#include "simulator/stand_in/redirection/system.hpp"

using namespace convladder::stand_in;

namespace {

/// The names of the runtime and of the driver as shared libraries.
bool is_shared_cuda(std::string_view file) {
  return file.starts_with("libcudart.so.") || file.starts_with("libcuda.so.");
}

/// Whether a stand-in of this name is taken wherever the library is looked for. Of libraries that compute, which a
/// package brings for itself, it is taken where they are named by a path, as Python's loaders do.
bool is_replaced(std::string_view name) {
  const std::string_view file = file_of(name);
  if (is_shared_cuda(file) || file.starts_with("libnvrtc.so.") || file.starts_with("libnvJitLink.so.")) return true;
  if (file.size() == name.size()) return false;
  for (const std::string_view one :
       {"libnvidia-ml.so.", "libcublas.so.", "libcublasLt.so.", "libcufft.so.", "libcurand.so.", "libcusolver.so."}) {
    if (file.starts_with(one)) return true;
  }
  return false;
}

constexpr std::uintptr_t kOurs = 1;  ///< the cookie of the stand-in's own libraries; others are addresses, or 0

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

unsigned la_version(unsigned version) { return version; }

/// Gives the stand-in's library for one of CUDA's, wherever it is looked for: programs may name its path, or hold it in
/// an RPATH. `cookie` is that of the object that asks: a stand-in that asks for the real compiler gets it.
char* la_objsearch(const char* name, std::uintptr_t* cookie, unsigned flag) {
  static std::array<char, PATH_MAX> ours{};  // the dynamic linker does one search at a time
  const std::string_view file = file_of(name);
  if (flag != LA_SER_ORIG || !is_replaced(name)) return const_cast<char*>(name);
  if (!is_shared_cuda(file) && cookie != nullptr && *cookie == kOurs) return const_cast<char*>(name);
  const std::string_view folder = own_folder();
  if (folder.empty() || folder.size() + file.size() >= ours.size()) return const_cast<char*>(name);
  std::size_t length = 0;
  for (const char c : folder) ours[length++] = c;
  for (const char c : file) ours[length++] = c;
  ours[length] = '\0';
  return is_there(ours.data()) ? ours.data() : const_cast<char*>(name);
}

unsigned la_objopen(link_map* object, Lmid_t space, std::uintptr_t* cookie) {
  *cookie = 0;
  if (space == LM_ID_BASE) set_program(*object);
  std::array<char, PATH_MAX> path{};
  const char* name = object->l_name;
  if (name == nullptr ||
      *name == '\0') {  // the program, which a dynamic linker may have loaded that was called by name
    const bool is_known = mapped_file(object->l_ld, path.data(), path.size()) && is_there(path.data());
    name = is_known ? path.data() : "/proc/self/exe";
  }
  if (file_of(name).starts_with("libconvladder_")) {
    *cookie = kOurs;
  } else if (!is_shared_cuda(file_of(name))) {
    *cookie = reinterpret_cast<std::uintptr_t>(redirect(*object, name));
  }
  return 0;  // bindings of symbols are nothing to us
}

unsigned la_objclose(std::uintptr_t* cookie) {
  if (*cookie != 0 && *cookie != kOurs) forget(reinterpret_cast<StaticRuntime*>(*cookie));
  *cookie = 0;
  return 0;
}

}  // extern "C"
#pragma GCC visibility pop
