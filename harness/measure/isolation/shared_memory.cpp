#include "harness/measure/isolation/shared_memory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "support/errors.hpp"

namespace convladder {
namespace {

[[noreturn]] void fail(std::size_t bytes) {
  throw MachineFault(fmt::format("cannot share {} bytes between processes: {}", bytes, system_error_text(errno)));
}

}  // namespace

SharedMemory::SharedMemory(std::size_t bytes)
    : descriptor_(memfd_create("convladder workload", MFD_CLOEXEC | MFD_ALLOW_SEALING)), bytes_(bytes) {
  if (descriptor_ < 0 || ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0) {
    const int error = errno;
    if (descriptor_ >= 0) close(descriptor_);
    errno = error;
    fail(bytes);
  }
  map(PROT_READ | PROT_WRITE);
}

SharedMemory::SharedMemory(int descriptor, std::size_t bytes, Access access) : descriptor_(descriptor), bytes_(bytes) {
  map(access == Access::read ? PROT_READ : PROT_READ | PROT_WRITE);
}

void SharedMemory::seal() {
  munmap(data_, bytes_);
  // A system without seals leaves the memory writable for any process that has the descriptor.
  static_cast<void>(fcntl(descriptor_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL));
  map(PROT_READ);
}

void SharedMemory::map(int protection) {
  void* const address = mmap(nullptr, bytes_, protection, MAP_SHARED, descriptor_, 0);
  if (address == MAP_FAILED) {
    const int error = errno;
    const std::size_t bytes = std::exchange(bytes_, 0);
    data_ = nullptr;
    close(std::exchange(descriptor_, -1));
    errno = error;
    fail(bytes);
  }
  data_ = static_cast<std::byte*>(address);
}

SharedMemory::~SharedMemory() {
  if (data_ != nullptr) munmap(data_, bytes_);
  if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace convladder
