// Memory that several processes share: the one that has allocated it gives a handle to another, which opens it.
//
// The memory is then in a file without a name, which the other finds by the number of the process and of its
// descriptor; both see what either writes.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "simulator/stand_in/runtime/answer.hpp"

using namespace convladder::stand_in;

namespace {

/// The content of a handle.
struct Shared {
  std::uint64_t mark = kMark;
  std::int32_t process = 0;
  std::int32_t file = 0;
  std::uint64_t bytes = 0;
  std::uint64_t place = 0;  ///< of the file: its inode, so that no other is taken for it

  static constexpr std::uint64_t kMark = 0x72656464616c7663;  // "cvladder"
};
static_assert(sizeof(Shared) <= sizeof(cudaIpcMemHandle_t));

}  // namespace

extern "C" {

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* address) {
  return answer("cudaIpcGetMemHandle", [&](Machine& machine) {
    require(handle != nullptr);
    Shared shared;
    shared.process = getpid();
    shared.file = machine.share(address, shared.bytes);
    struct stat known {};
    require(fstat(shared.file, &known) == 0, kUnknown);
    shared.place = known.st_ino;
    *handle = {};
    std::memcpy(handle, &shared, sizeof shared);
  });
}

cudaError_t cudaIpcOpenMemHandle(void** address, cudaIpcMemHandle_t handle, unsigned flags) {
  return answer("cudaIpcOpenMemHandle", [&](Machine& machine) {
    require(address != nullptr && flags == cudaIpcMemLazyEnablePeerAccess);
    Shared shared;
    std::memcpy(static_cast<void*>(&shared), &handle, sizeof shared);
    require(shared.mark == Shared::kMark);
    if (shared.process == getpid()) {
      throw Failure(kInvalidContext, "the process that has made a handle cannot open it, on a GPU neither");
    }
    const std::string path = fmt::format("/proc/{}/fd/{}", shared.process, shared.file);
    const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
    struct stat known {};
    if (file < 0 || fstat(file, &known) != 0 || known.st_ino != shared.place ||
        static_cast<std::uint64_t>(known.st_size) < shared.bytes) {
      if (file >= 0) close(file);
      throw Failure(kInvalidHandle, fmt::format("the memory of process {} is not there any more", shared.process));
    }
    try {
      *address = machine.open_shared(file, shared.bytes, shared.place);
    } catch (...) {
      close(file);
      throw;
    }
    close(file);
  });
}

cudaError_t cudaIpcCloseMemHandle(void* address) {
  return answer("cudaIpcCloseMemHandle", [&](Machine& machine) { machine.close_shared(address); });
}

}  // extern "C"
