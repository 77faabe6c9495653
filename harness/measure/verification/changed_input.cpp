#include "harness/measure/verification/changed_input.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "devices/cpu/other_threads.hpp"
#include "harness/measure/verification/fresh_input.hpp"
#include "support/seeded_random.hpp"

namespace convladder {

namespace {

constexpr std::uint32_t kDecoySeed = 0x0dec0;
constexpr int kFewestToShare = 64;                        // images from which on several threads poke them
constexpr std::size_t kFewestBytesToShare = 1024 * 1024;  // bytes from which on several threads write them
constexpr std::int64_t kFreshPiece = 1 << 16;             // elements of an image that a thread writes at a time

/// The elements replaced in a tensor until call number `call` has its own: they lie all over the tensor.
ReplacedElements planted(InputChange change, const InputLayout& layout, std::int64_t call) {
  change.everywhere = true;
  change.thorough = true;
  return change.replaced(-call, layout);
}

}  // namespace

ValuesOnDevice::ValuesOnDevice(Device& device, const void* values, std::size_t bytes) {
  constexpr const char* label = "the problem's own values";
  if (bytes <= device.free_bytes() / 2) {
    buffer_ = device.allocate(bytes, label);
    device.copy_to_device(buffer_.address(), values, bytes);
    return;
  }
  pinned_ = device.allocate_pinned(bytes, label);
  const auto pieces = static_cast<std::int64_t>((bytes - 1) / kFewestBytesToShare + 1);
#pragma omp parallel for schedule(static)
  for (std::int64_t piece = 0; piece < pieces; ++piece) {
    const std::size_t first = static_cast<std::size_t>(piece) * kFewestBytesToShare;
    std::memcpy(static_cast<std::byte*>(pinned_.address()) + first, static_cast<const std::byte*>(values) + first,
                std::min(kFewestBytesToShare, bytes - first));
  }
}

void ChangedInput::write_images(const std::function<void(void* to, int image)>& write) {
  const std::size_t bytes = layout_.bytes_per_image();
  poked_ = false;
  if (device_->is_host_memory()) {
#pragma omp parallel for schedule(static) if (bytes * static_cast <std::size_t>(layout_.batch) >= kFewestBytesToShare)
    for (int image = 0; image < layout_.batch; ++image) write(place(image, 0), image);
    return;
  }
  std::vector<std::byte> values(bytes);
  for (int image = 0; image < layout_.batch; ++image) {
    write(values.data(), image);
    device_->copy_to_device(place(image, 0), values.data(), bytes);
  }
}

/// The address of an element on the device.
std::byte* ChangedInput::place(int image, std::int64_t element) const {
  const std::int64_t at = image * layout_.elements_per_image() + element;
  return static_cast<std::byte*>(input_) + static_cast<std::size_t>(at) * element_bytes(layout_.type);
}

void ChangedInput::write_decoy() {
  const std::int64_t elements = layout_.elements_per_image();
  if (DeviceFilling* const filling = device_->filling()) {
    if (layout_.range) {
      filling->fill_in_range(changed_tensor(), kDecoySeed, layout_.range->low, layout_.range->high);
    } else {
      filling->fill(input_, layout_.type, layout_.batch * elements, {.seed = kDecoySeed});
    }
    return device_->wait();
  }
  write_images([&](void* to, int image) {
    if (!layout_.range) return write_fill(to, layout_.type, {kDecoySeed, 1}, image * elements, elements);
    with_element_type(layout_.type, [&]<typename T>(T) {
      SeededRandom random(kDecoySeed, static_cast<std::uint64_t>(image));
      for (std::int64_t i = 0; i < elements; ++i) {
        const double value = value_in_range(random.next(), layout_.range->low, layout_.range->high);
        static_cast<T*>(to)[i] = from_double<T>(is_floating(layout_.type) ? value : std::round(value));
      }
    });
  });
}

void ChangedInput::set(const InputChange& change) {
  change_ = change;
  last_call_ = 0;
  if (device_->filling() != nullptr && standing_.address() == nullptr) {
    from_on_device_ =
        ValuesOnDevice(*device_, from_, layout_.bytes_per_image() * static_cast<std::size_t>(layout_.batch));
    standing_ = device_->allocate(sizeof(StandingChange), "what an input is changed by");
    const StandingChange none{};
    device_->copy_to_device(standing_.address(), &none, sizeof none);
  }
  if (!change_.fresh || layout_.stays_as_filled) write_changed();  // otherwise each call has an input of its own
  plant(1);
  if (device_->filling() != nullptr) device_->wait();
}

/// The changed tensor, without the replaced elements.
ChangedTensor ChangedInput::changed_tensor() const {
  return {.to = input_,
          .from = from_on_device_.address(),
          .type = layout_.type,
          .items = layout_.batch,
          .elements = layout_.elements_per_image(),
          .rotation = change_.rotation,
          .first = change_.first_element(layout_),
          .factor = change_.factor};
}

StandingChange* ChangedInput::standing() const { return static_cast<StandingChange*>(standing_.address()); }

void ChangedInput::write_changed() {
  if (DeviceFilling* const filling = device_->filling()) return filling->write_changed(changed_tensor(), standing());
  write_images([&](void* to, int image) { write_changed_image(to, change_, layout_, from_, image); });
}

void ChangedInput::plant(std::int64_t call) {
  DeviceFilling* const filling = device_->filling();
  if (filling == nullptr || change_.pokes == 0) return;
  filling->replace(changed_tensor(), standing(), planted(change_, layout_, call));
}

void ChangedInput::before_call(std::int64_t call) {
  if (DeviceFilling* const filling = device_->filling()) {
    if (renewed_) write_changed();
    if (change_.pokes != 0) filling->replace(changed_tensor(), standing(), change_.replaced(call, layout_));
    last_call_ = call;
    return;
  }
  if (change_.fresh && !layout_.stays_as_filled) {
    write_fresh(call);
    last_call_ = call;
    return;
  }
  if (renewed_ && last_call_ > 0) write_changed();
  if (change_.pokes != 0) {
    if (device_->is_host_memory()) {
      poke(call);
    } else if (change_.everywhere) {
      // Too many for a separate copy of each.
      write_images([&](void* to, int image) {
        write_changed_image(to, change_, layout_, from_, image);
        poke_image(to, change_, layout_, from_, image, call);
      });
    } else {
      poke_by_copies(call);
    }
    poked_ = true;
  }
  last_call_ = call;
}

void ChangedInput::write_fresh(std::int64_t call) {
  poked_ = false;
  const std::int64_t elements = layout_.elements_per_image();
  const auto write = [&](void* to, int image, std::int64_t first, std::int64_t count) {
    write_fresh_elements(to, change_, layout_, from_, image, call, first, count);
  };
  if (!device_->is_host_memory()) {
    const std::size_t bytes = layout_.bytes_per_image();
    for_call_.resize(bytes * static_cast<std::size_t>(layout_.batch));
    for (int image = 0; image < layout_.batch; ++image) {
      write(for_call_.data() + static_cast<std::size_t>(image) * bytes, image, 0, elements);
    }
    return device_->copy_for_call(input_, for_call_.data(), for_call_.size());
  }
  // A timed call follows, as below: OpenMP's threads are not to be where a library's own want to be.
  const bool is_shared = layout_.bytes_per_image() * static_cast<std::size_t>(layout_.batch) >= kFewestBytesToShare &&
                         !OtherThreads::any();
  const std::int64_t pieces = (elements - 1) / kFreshPiece + 1;
#pragma omp parallel for collapse(2) schedule(static) if (is_shared)
  for (int image = 0; image < layout_.batch; ++image) {
    for (std::int64_t piece = 0; piece < pieces; ++piece) {
      const std::int64_t first = piece * kFreshPiece;
      write(place(image, 0), image, first, std::min(kFreshPiece, elements - first));
    }
  }
}

void ChangedInput::poke(std::int64_t call) {
  // A timed call follows: OpenMP's threads, which spin when they are done, must not be where a library's own want to
  // be.
#pragma omp parallel for schedule(static) if (layout_.batch >= kFewestToShare && !OtherThreads::any())
  for (int image = 0; image < layout_.batch; ++image) {
    std::byte* const to = place(image, 0);
    if (poked_) unpoke_image(to, change_, layout_, from_, image, last_call_);
    poke_image(to, change_, layout_, from_, image, call);
  }
}

/// Replaces one element in every image, by copies.
void ChangedInput::poke_by_copies(std::int64_t call) {
  with_element_type(layout_.type, [&]<typename T>(T) {
    std::vector<T> column(static_cast<std::size_t>(layout_.batch));
    const auto write = [&](std::int64_t of_call, const auto& value) {
      const PokedElements poked = ImageChange<T>(change_, layout_, from_, 0).poked(of_call);
      poked.for_each(layout_, [&](int, int, std::int64_t element) {
        for (int image = 0; image < layout_.batch; ++image) {
          column[static_cast<std::size_t>(image)] = value(ImageChange<T>(change_, layout_, from_, image), element);
        }
        write_column(column.data(), element);
      });
    };
    if (poked_) write(last_call_, [](const ImageChange<T>& image, std::int64_t at) { return image.unchanged(at); });
    write(call, [call](const ImageChange<T>& image, std::int64_t at) { return image.replaced(at, image.value(call)); });
  });
}

/// Writes one element of every image, from `column`.
void ChangedInput::write_column(const void* column, std::int64_t element) {
  const std::size_t bytes = element_bytes(layout_.type);
  for (int image = 0; image < layout_.batch; ++image) {
    device_->copy_to_device(place(image, element),
                            static_cast<const std::byte*>(column) + static_cast<std::size_t>(image) * bytes, bytes);
  }
}

void fill_output(Device& device, void* output, ElementType type, std::int64_t elements, const OutputFill& fill) {
  if (DeviceFilling* const filling = device.filling()) {
    if (fill.part != FillPart::nothing) filling->fill(output, type, elements, fill.formula(elements));
    return device.wait();
  }
  constexpr std::int64_t at_once = OutputFill::kPiece;
  const std::int64_t pieces = (elements - 1) / at_once + 1;
  const std::size_t bytes = element_bytes(type);
  const auto size = [&](std::int64_t piece) { return std::min(at_once, elements - piece * at_once); };
  const auto place = [&](std::int64_t piece) {
    return static_cast<std::byte*>(output) + static_cast<std::size_t>(piece * at_once) * bytes;
  };
  if (device.is_host_memory()) {
#pragma omp parallel for schedule(static)
    for (std::int64_t piece = 0; piece < pieces; ++piece) {
      if (!fill.writes_piece(piece, elements)) continue;
      write_fill(place(piece), type, fill, piece * at_once, size(piece));
    }
    return;
  }
  std::vector<std::byte> values(static_cast<std::size_t>(std::min(elements, at_once)) * bytes);
  for (std::int64_t piece = 0; piece < pieces; ++piece) {
    if (!fill.writes_piece(piece, elements)) continue;
    write_fill(values.data(), type, fill, piece * at_once, size(piece));
    device.copy_to_device(place(piece), values.data(), static_cast<std::size_t>(size(piece)) * bytes);
  }
}

void fill_part(Device& device, PreparedVariant& prepared, std::size_t part, std::int64_t elements,
               const OutputFill& fill) {
  if (float* const output = prepared.part_output(part)) {
    return fill_output(device, output, ElementType::f32, elements, fill);
  }
  std::vector<float> on_host(static_cast<std::size_t>(elements));
  fill_output(device, on_host.data(), ElementType::f32, elements, fill);
  prepared.write_part(part, on_host.data());
}

}  // namespace convladder
