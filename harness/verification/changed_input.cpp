#include "harness/verification/changed_input.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace convladder {

using nlohmann::ordered_json;

namespace {

constexpr std::uint32_t kDecoySeed = 0x0dec0;
constexpr int kFewestToShare = 64;  // images to be poked by several threads

}  // namespace

void ChangedInput::write_images(const std::function<void(float* to, int image)>& write) {
  const std::int64_t elements = layout_.elements_per_image();
  poked_ = false;
  if (device_->is_host_memory()) {
#pragma omp parallel for schedule(static)
    for (int image = 0; image < layout_.batch; ++image) write(input_ + image * elements, image);
    return;
  }
  std::vector<float> values(static_cast<std::size_t>(elements));
  for (int image = 0; image < layout_.batch; ++image) {
    write(values.data(), image);
    device_->copy_to_device(input_ + image * elements, values.data(), values.size() * sizeof(float));
  }
}

void ChangedInput::write_decoy() {
  const std::int64_t elements = layout_.elements_per_image();
  write_images([&](float* to, int image) { write_fill(to, {kDecoySeed, 1}, image * elements, elements); });
}

void ChangedInput::set(const InputChange& change) {
  change_ = change;
  write_images([&](float* to, int image) { write_changed_image(to, change_, layout_, from_, image); });
}

void ChangedInput::before_call(std::int64_t call) {
  if (change_.pokes != 0) {
    if (device_->is_host_memory()) {
      poke(call);
    } else {
      poke_on_device(call);
    }
    poked_ = true;
  }
  last_call_ = call;
}

void ChangedInput::poke(std::int64_t call) {
  const std::int64_t elements = layout_.elements_per_image();
#pragma omp parallel for schedule(static) if (layout_.batch >= kFewestToShare)
  for (int image = 0; image < layout_.batch; ++image) {
    float* const to = input_ + image * elements;
    if (poked_) unpoke_image(to, change_, layout_, from_, image, last_call_);
    poke_image(to, change_, layout_, image, call);
  }
}

/// Of every image one element, which is one copy.
void ChangedInput::poke_on_device(std::int64_t call) {
  const std::int64_t elements = layout_.elements_per_image();
  column_.resize(static_cast<std::size_t>(layout_.batch));
  const auto write = [&](std::int64_t of_call, const auto& value) {
    change_.poked(of_call, layout_).for_each(layout_, [&](int, int, std::int64_t element) {
      for (int image = 0; image < layout_.batch; ++image)
        column_[static_cast<std::size_t>(image)] = value(image, element);
      device_->copy_floats_apart(input_ + element, static_cast<std::size_t>(elements), column_.data(), column_.size());
    });
  };
  if (poked_) {
    write(last_call_, [&](int image, std::int64_t element) {
      return change_.factor *
             from_[static_cast<std::size_t>(change_.source(image, layout_.batch) * elements + element)];
    });
  }
  write(call, [&](int image, std::int64_t) { return change_.poked_value(call, image); });
}

void fill_output(Device& device, float* output, std::int64_t elements, const OutputFill& fill) {
  constexpr std::int64_t at_once = OutputFill::kPiece;
  const std::int64_t pieces = (elements - 1) / at_once + 1;
  const auto size = [&](std::int64_t piece) { return std::min(at_once, elements - piece * at_once); };
  if (device.is_host_memory()) {
#pragma omp parallel for schedule(static)
    for (std::int64_t piece = 0; piece < pieces; ++piece) {
      if (!fill.writes_piece(piece, elements)) continue;
      write_fill(output + piece * at_once, fill, piece * at_once, size(piece));
    }
    return;
  }
  std::vector<float> values(static_cast<std::size_t>(std::min(elements, at_once)));
  for (std::int64_t piece = 0; piece < pieces; ++piece) {
    if (!fill.writes_piece(piece, elements)) continue;
    write_fill(values.data(), fill, piece * at_once, size(piece));
    device.copy_to_device(output + piece * at_once, values.data(),
                          static_cast<std::size_t>(size(piece)) * sizeof(float));
  }
}

ordered_json to_json(const InputChange& change) {
  return {{"rotation", change.rotation},   {"factor", change.factor},
          {"pokes", change.pokes},         {"everywhere", change.everywhere},
          {"looked_at", change.looked_at}, {"poke_size", change.poke_size},
          {"whole", change.whole}};
}

ordered_json to_json(const OutputFill& fill) {
  return {{"seed", fill.seed},
          {"scale", fill.scale},
          {"sparse", fill.part != FillPart::all},
          {"nothing", fill.part == FillPart::nothing}};
}

InputChange change_from_json(const ordered_json& json) {
  return {.rotation = json.at("rotation"),
          .factor = json.at("factor"),
          .pokes = json.at("pokes"),
          .everywhere = json.at("everywhere"),
          .looked_at = json.at("looked_at"),
          .poke_size = json.at("poke_size"),
          .whole = json.at("whole")};
}

OutputFill fill_from_json(const ordered_json& json) {
  // Other builds of the same protocol may not know every part: to theirs the nearest fill is as good.
  const FillPart part = json.value("nothing", false)  ? FillPart::nothing
                        : json.value("sparse", false) ? FillPart::pieces
                                                      : FillPart::all;
  return {.seed = json.at("seed"), .scale = json.at("scale"), .part = part};
}

}  // namespace convladder
