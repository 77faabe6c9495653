#include "harness/measure/networks/step_recorder.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "harness/measure/verification/changed_input.hpp"

namespace convladder {

std::size_t record_offset(const std::vector<NetworkStep>& steps, std::size_t step, int images) {
  std::size_t elements = 0;
  for (std::size_t i = 0; i < step; ++i) elements += steps[i].output.elements();
  return elements * static_cast<std::size_t>(images);
}

OutputFill step_fill(std::uint32_t seed, std::size_t step) {
  return {.seed = seed + 0x9e3779b9U * static_cast<std::uint32_t>(step), .scale = 1};
}

StepRecorder::StepRecorder(Device& device, const std::vector<NetworkStep>& steps, const SharedMemory& memory,
                           const PassImages& wanted, std::uint32_t seed)
    : device_(device), steps_(steps), memory_(memory), wanted_(wanted), seed_(seed) {
  std::size_t offset = 0;
  for (std::size_t step = 0; step < steps.size(); ++step) {
    offsets_.push_back(offset);
    offset += elements(step, wanted.count);
  }
}

std::size_t StepRecorder::elements(std::size_t part, int images) const {
  return steps_[part].output.elements() * static_cast<std::size_t>(images);
}

void StepRecorder::before(std::size_t part, int images, PreparedVariant& network) {
  device_.wait();
  if (steps_[part].in_place()) return;
  fill_part(device_, network, part, static_cast<std::int64_t>(elements(part, images)), step_fill(seed_, part));
}

void StepRecorder::after(std::size_t part, int images, PreparedVariant& network) {
  const int begin = std::max(chunk_first_, wanted_.first);
  const int end = std::min(chunk_first_ + images, wanted_.first + wanted_.count);
  if (begin < end) {
    const float* output = network.part_output(part);
    const bool is_own_layout = output == nullptr;
    if (is_own_layout) {
      on_host_.resize(elements(part, images));
      network.read_part(part, on_host_.data());
      output = on_host_.data();
    }
    keep(output + elements(part, begin - chunk_first_), is_own_layout || device_.is_host_memory(),
         elements(part, end - begin), offsets_[part] + elements(part, begin - wanted_.first));
  }
  if (part + 1 == steps_.size()) chunk_first_ += images;
}

/// Keeps values in the record. They are written, not mapped: data that is only handed out is no memory of this process,
/// whose peak is in the record.
void StepRecorder::keep(const float* values, bool is_on_host, std::size_t count, std::size_t at) {
  if (!is_on_host) {
    on_host_.resize(count);
    device_.copy_to_host(on_host_.data(), values, count * sizeof(float));
    values = on_host_.data();
  }
  const auto* from = reinterpret_cast<const std::byte*>(values);
  std::size_t left = count * sizeof(float);
  for (auto to = static_cast<off_t>(at * sizeof(float)); left > 0;) {
    const ssize_t written = pwrite(memory_.descriptor(), from, left, to);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      throw std::runtime_error(
          fmt::format("cannot hand out {} bytes of a step: {}", count * sizeof(float), std::strerror(errno)));
    }
    from += written;
    to += written;
    left -= static_cast<std::size_t>(written);
  }
}

}  // namespace convladder
