// Memory that the harness fills once and every case's process reads.
#pragma once

#include <cstddef>

namespace convladder {

/// An anonymous file in memory, mapped. Its descriptor can be handed to a child process, which maps it too.
class SharedMemory {
 public:
  enum class Access { read, write };
  /// Creates `bytes` of zeros, writable. Throws MachineFault where there is not enough memory.
  explicit SharedMemory(std::size_t bytes);
  /// Maps memory that a parent created.
  SharedMemory(int descriptor, std::size_t bytes, Access access = Access::read);
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory();

  /// Ends writing, for this process and every other: from now on nobody can map the memory as writable.
  void seal();

  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  int descriptor() const { return descriptor_; }

 private:
  void map(int protection);
  int descriptor_ = -1;
  std::size_t bytes_ = 0;
  std::byte* data_ = nullptr;
};

}  // namespace convladder
