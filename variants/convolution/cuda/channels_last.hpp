// Conversions between NCHW and NHWC on a CUDA device.
#pragma once

#include "devices/kernel_launch.hpp"

namespace convladder {

/// `images` images of `channels` x `pixels` floats.
struct ChannelPlanes {
  int images = 1;
  int channels = 1;
  int pixels = 1;

  /// Whether both layouts are the same, as they are with one channel or one pixel.
  bool is_same_in_both() const { return channels == 1 || pixels == 1; }
};

/// Copies NCHW `from` to NHWC `to`; neither is aligned to more than a float.
KernelLaunch to_channels_last(const ChannelPlanes& planes, const float* from, float* to);
/// Copies NHWC `from` to NCHW `to`.
KernelLaunch from_channels_last(const ChannelPlanes& planes, const float* from, float* to);

}  // namespace convladder
