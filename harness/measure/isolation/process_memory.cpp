#include "harness/measure/isolation/process_memory.hpp"

#include <sys/uio.h>

#include <cerrno>
#include <vector>

namespace convladder {
namespace {

/// Calls `copy(local, remote)`, which copies a part at a time, until all is copied.
template <typename Copy>
int copy_all(const Copy& copy, const void* here, const void* there, std::size_t bytes) {
  for (std::size_t done = 0; done < bytes;) {
    const iovec local{static_cast<std::byte*>(const_cast<void*>(here)) + done, bytes - done};
    const iovec remote{static_cast<std::byte*>(const_cast<void*>(there)) + done, bytes - done};
    const ssize_t count = copy(local, remote);
    if (count <= 0) return count == 0 ? EFAULT : errno;
    done += static_cast<std::size_t>(count);
  }
  return 0;
}

}  // namespace

int write_to_process(pid_t process, void* there, const void* here, std::size_t bytes) {
  const auto write = [process](const iovec& local, const iovec& remote) {
    return process_vm_writev(process, &local, 1, &remote, 1, 0);
  };
  return copy_all(write, here, there, bytes);
}

int read_from_process(pid_t process, void* here, const void* there, std::size_t bytes) {
  const auto read = [process](const iovec& local, const iovec& remote) {
    return process_vm_readv(process, &local, 1, &remote, 1, 0);
  };
  return copy_all(read, here, there, bytes);
}

int read_elements_from_process(pid_t process, void* here, std::span<const void* const> there, std::size_t bytes) {
  if (there.empty()) return 0;
  std::vector<iovec> remote;
  remote.reserve(there.size());
  for (const void* const one : there) remote.push_back({const_cast<void*>(one), bytes});
  const iovec local{here, there.size() * bytes};
  const ssize_t count = process_vm_readv(process, &local, 1, remote.data(), remote.size(), 0);
  if (count == static_cast<ssize_t>(local.iov_len)) return 0;
  return count < 0 ? errno : EFAULT;
}

}  // namespace convladder
