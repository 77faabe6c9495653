#include "simulator/execution/call_frames.hpp"

#include <algorithm>

namespace convladder::simulated {
namespace {

constexpr std::size_t kLineBytes = 64;

}  // namespace

void CallFrames::begin(const Program& program) {
  bytes_ = program.register_bytes;
  if (lines_.empty()) lines_.resize(bytes_ / kLineBytes);
  calls_.assign(1, {});
  free_.clear();
  taken_since_ = 0;
}

int CallFrames::take(const Call& call, std::span<const Path> paths) {
  // Frames of ended calls are looked for once half as many have been taken as there are, which makes the cost per frame
  // small, and before there is no room for more.
  const bool is_full = (calls_.size() + 1) * bytes_ > kMostBytes;
  if (free_.empty() && (2 * taken_since_ >= calls_.size() || is_full)) collect(paths);
  ++taken_since_;
  int frame = static_cast<int>(calls_.size());
  if (!free_.empty()) {
    frame = free_.back();
    free_.pop_back();
  } else {
    if (is_full) return -1;
    calls_.emplace_back();
    lines_.resize(std::max(lines_.size(), calls_.size() * bytes_ / kLineBytes));
  }
  calls_[static_cast<std::size_t>(frame)] = call;
  return frame;
}

void CallFrames::collect(std::span<const Path> paths) {
  std::vector<bool> used(calls_.size(), false);
  used[0] = true;
  for (const Path& path : paths) {
    if (path.mask == 0) continue;
    for (int frame = path.frame; !used[static_cast<std::size_t>(frame)]; frame = call(frame).caller) {
      used[static_cast<std::size_t>(frame)] = true;
    }
  }
  for (std::size_t frame = calls_.size(); frame-- > 0;) {
    if (!used[frame]) free_.push_back(static_cast<int>(frame));
  }
  taken_since_ = 0;
}

}  // namespace convladder::simulated
