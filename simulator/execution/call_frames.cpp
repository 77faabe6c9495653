#include "simulator/execution/call_frames.hpp"

#include <algorithm>

namespace convladder::simulated {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 25;  // for the frames of a warp
constexpr std::size_t kLineBytes = 64;

}  // namespace

void CallFrames::begin(const Program& program) {
  bytes_ = program.register_bytes;
  if (lines_.empty()) lines_.resize(bytes_ / kLineBytes);
  calls_.assign(1, {});
  free_.clear();
  in_use_ = 1;
  made_since_ = 0;
}

int CallFrames::take(const Call& call, std::span<const Path> paths) {
  // Frames of ended calls are looked for once as many have been made as were in use, which makes the cost per frame
  // small.
  if (free_.empty() && ++made_since_ >= in_use_) collect(paths);
  int frame = static_cast<int>(calls_.size());
  if (!free_.empty()) {
    frame = free_.back();
    free_.pop_back();
  } else {
    if ((calls_.size() + 1) * bytes_ > kMostBytes) return -1;
    calls_.emplace_back();
    lines_.resize(std::max(lines_.size(), calls_.size() * bytes_ / kLineBytes));
  }
  calls_[static_cast<std::size_t>(frame)] = call;
  return frame;
}

void CallFrames::collect(std::span<const Path> paths) {
  std::vector<bool> used(calls_.size(), false);
  used[0] = true;
  for (const Path& path : paths) used[static_cast<std::size_t>(path.frame)] = true;
  for (std::size_t frame = calls_.size(); frame-- > 0;) {
    if (!used[frame]) free_.push_back(static_cast<int>(frame));
  }
  in_use_ = calls_.size() - free_.size();
  made_since_ = 0;
}

}  // namespace convladder::simulated
