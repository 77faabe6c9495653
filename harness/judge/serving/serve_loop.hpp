// The loop of a server: takes lines from its clients, hands them to the front, and sends what comes back.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "harness/judge/serving/front.hpp"
#include "harness/judge/serving/job_queue.hpp"

namespace convladder {

/// How a server came to its end.
enum class ServeEnd {
  no_more_input,  ///< everything that was asked is answered
  interrupted     ///< what was not answered yet is cancelled; a submission may still run
};

/// A local socket that clients connect to; for this user only. Its file is removed with it.
class ServerSocket {
 public:
  /// A file that a killed server has left is replaced. Throws UserError, one line, if a server listens there, or
  /// something else lies there.
  explicit ServerSocket(std::filesystem::path path);
  ServerSocket(const ServerSocket&) = delete;
  ServerSocket& operator=(const ServerSocket&) = delete;
  ~ServerSocket();
  int descriptor() const { return descriptor_; }

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  std::uint64_t inode_ = 0;
};

/// Serves the client at the standard input and output until its input ends. Throws UserError where the standard output
/// cannot be written.
ServeEnd serve_standard_streams(Front& front, JobQueue& queue);
/// Serves all clients of the socket, until an interrupt leaves its mark (WaitingInterrupts).
ServeEnd serve_socket(Front& front, JobQueue& queue, const ServerSocket& socket);

}  // namespace convladder
