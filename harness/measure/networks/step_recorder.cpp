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

void StepRecorder::before(const NetworkStep& step, int images, const float* /*input*/, float* output) {
  device_.wait();
  if (step.in_place()) return;
  fill_output(device_, output, ElementType::f32, static_cast<std::int64_t>(step.output.elements()) * images,
              step_fill(seed_, index_of(step)));
}

void StepRecorder::after(const NetworkStep& step, int images, float* output) {
  const std::size_t elements = step.output.elements();
  const int begin = std::max(chunk_first_, wanted_.first);
  const int end = std::min(chunk_first_ + images, wanted_.first + wanted_.count);
  if (begin < end) {
    keep(output + static_cast<std::size_t>(begin - chunk_first_) * elements,
         static_cast<std::size_t>(end - begin) * elements,
         record_offset(steps_, index_of(step), wanted_.count) +
             static_cast<std::size_t>(begin - wanted_.first) * elements);
  }
  if (&step == &steps_.back()) chunk_first_ += images;
}

/// Keeps values in the record. They are written, not mapped: data that is only handed out is no memory of this process,
/// whose peak is in the record.
void StepRecorder::keep(const float* values, std::size_t count, std::size_t at) {
  if (!device_.is_host_memory()) {
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
