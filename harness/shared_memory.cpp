#include "harness/shared_memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "harness/machine_fault.hpp"

namespace convladder {
namespace {

[[noreturn]] void fail(std::size_t bytes) {
  throw MachineFault(fmt::format("cannot share {} bytes between processes: {}", bytes, system_error_text(errno)));
}

}  // namespace

SharedMemory::SharedMemory(std::size_t bytes)
    : descriptor_(memfd_create("convladder workload", MFD_CLOEXEC)), bytes_(bytes) {
  if (descriptor_ < 0 || ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0) {
    const int error = errno;
    if (descriptor_ >= 0) close(descriptor_);
    errno = error;
    fail(bytes);
  }
  map(PROT_READ | PROT_WRITE);
}

SharedMemory::SharedMemory(int descriptor, std::size_t bytes) : descriptor_(descriptor), bytes_(bytes) {
  map(PROT_READ);
}

void SharedMemory::map(int protection) {
  void* const address = mmap(nullptr, bytes_, protection, MAP_SHARED, descriptor_, 0);
  if (address == MAP_FAILED) {
    const int error = errno;
    close(descriptor_);
    errno = error;
    fail(bytes_);
  }
  data_ = static_cast<std::byte*>(address);
}

SharedMemory::~SharedMemory() {
  munmap(data_, bytes_);
  close(descriptor_);
}

}  // namespace convladder
