// The registers of a warp's calls: each call of a function, by some of its lanes, has a frame of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "simulator/execution/warp_paths.hpp"
#include "simulator/state/program.hpp"

namespace convladder::simulated {

class CallFrames {
 public:
  /// The origin and the storage of a call.
  struct Call {
    int caller = 0;     ///< the caller's frame
    int function = -1;  ///< index into Program::functions; -1 for the kernel
    const CallSite* site = nullptr;
    int depth = 0;
    std::uint64_t local_base = 0;  ///< where its local variables begin, in bytes
  };
  /// The most nested calls of a warp.
  static constexpr int kDeepest = 1024;
  /// The most memory for the frames of a warp, whose 32 lanes may be on ways of their own.
  static constexpr std::size_t kMostBytes = std::size_t{1} << 28;

  /// Leaves only the kernel's own frame, with its contents.
  void begin(const Program& program);
  std::byte* base(int frame) {
    return reinterpret_cast<std::byte*>(lines_.data()) + static_cast<std::size_t>(frame) * bytes_;
  }
  const std::byte* base(int frame) const {
    return reinterpret_cast<const std::byte*>(lines_.data()) + static_cast<std::size_t>(frame) * bytes_;
  }
  const Call& call(int frame) const { return calls_[static_cast<std::size_t>(frame)]; }
  /// A frame that no path is in; -1 if there is no room for one. Frames may move.
  int take(const Call& call, std::span<const Path> paths);
  /// The contents of all registers of the warp.
  std::span<const std::byte> content() const { return {base(0), calls_.size() * bytes_}; }

 private:
  struct Line {
    alignas(64) std::byte bytes[64];
  };
  void collect(std::span<const Path> paths);

  std::size_t bytes_ = 0;  // size of a frame
  std::vector<Line> lines_;
  std::vector<Call> calls_;
  std::vector<int> free_;
  std::size_t taken_since_ = 0;  // since the last look for those of ended calls
};

}  // namespace convladder::simulated
