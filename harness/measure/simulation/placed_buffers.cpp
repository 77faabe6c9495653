#include "harness/measure/simulation/placed_buffers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "devices/device_error.hpp"
#include "support/errors.hpp"

namespace convladder {
namespace {

std::vector<std::byte> bytes_of(std::uint64_t number) {
  std::vector<std::byte> bytes(sizeof number);
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

/// Calls copy(where a row of texels begins in the device's buffer, where in the argument's bytes, bytes of a row).
template <typename Copy>
void for_each_row(const DeviceBuffer& buffer, const simulated::TexelResource& resource, const Copy& copy) {
  const std::uint64_t row = resource.width * static_cast<std::uint64_t>(resource.format.bytes());
  for (std::uint64_t i = 0; i < resource.height * resource.depth; ++i) {
    copy(static_cast<std::byte*>(buffer.address()) + i * resource.row_pitch, i * row, row);
  }
}

}  // namespace

PlacedBuffers::PlacedBuffers(simulated::SimulatedDevice& device, const ptx::Module& module,
                             const SimulationInputs& inputs)
    : device_(device) {
  for (const auto* const list : {&inputs.arguments, &inputs.buffers, &inputs.references}) {
    for (const KernelArgument& argument : *list) {
      if (argument.is_buffer()) argument.texture ? place_texels(argument) : place(argument);
    }
  }
  for (const KernelArgument& reference : inputs.references) bind(module, reference);
}

void PlacedBuffers::place(const KernelArgument& argument) {
  placed_.push_back({&argument, device_.allocate(argument.buffer_bytes(), argument.name)});
  const DeviceBuffer& buffer = placed_.back().buffer;
  device_.copy_to_device(buffer.address(), argument.bytes.data(), argument.bytes.size());
  if (argument.kind == ArgumentKind::input) device_.only_read(buffer);
}

void PlacedBuffers::place_texels(const KernelArgument& argument) {
  simulated::TextureDescription texture = argument.texture->description;
  placed_.push_back({&argument, device_.allocate(simulated::resource_bytes(texture.resource), argument.name)});
  Placed& placed = placed_.back();
  texture.resource.address = reinterpret_cast<std::uint64_t>(placed.buffer.address());
  if (!argument.bytes.empty()) {
    for_each_row(placed.buffer, texture.resource, [&](std::byte* at, std::uint64_t from, std::uint64_t bytes) {
      device_.copy_to_device(at, argument.bytes.data() + from, bytes);
    });
  }
  if (argument.kind == ArgumentKind::input) device_.only_read(placed.buffer);
  try {
    placed.handle = argument.texture->is_surface ? device_.textures().create_surface(texture.resource)
                                                 : device_.textures().create_texture(texture);
  } catch (const DeviceError& error) {
    throw UserError(fmt::format("{}: {}", argument.texture->what, error.what()));
  }
  placed.texture = texture;
}

void PlacedBuffers::bind(const ptx::Module& module, const KernelArgument& reference) {
  const Placed& placed = find(reference.name);
  const ptx::Symbol& symbol = find_reference(module, reference);
  const auto address = reinterpret_cast<std::uint64_t>(device_.variable(module, symbol));
  if (reference.texture->is_surface) {
    device_.textures().bind_surface(address, placed.texture.resource);
  } else {
    device_.textures().bind_texture(address, placed.texture);
  }
}

const PlacedBuffers::Placed& PlacedBuffers::find(const std::string& name) const {
  return *std::ranges::find_if(placed_, [&name](const Placed& placed) { return placed.argument->name == name; });
}

std::uint64_t PlacedBuffers::number_of(const std::string& name) const {
  const Placed& placed = find(name);
  return placed.argument->texture ? placed.handle : reinterpret_cast<std::uint64_t>(placed.buffer.address());
}

std::vector<std::byte> PlacedBuffers::value_of(const KernelArgument& argument) const {
  if (argument.is_buffer()) return bytes_of(number_of(argument.name));
  std::vector<std::byte> value = argument.bytes;
  for (const BufferAddress& address : argument.addresses) {
    const std::vector<std::byte> number = bytes_of(number_of(address.buffer) + address.offset);
    std::memcpy(value.data() + address.at, number.data(), number.size());
  }
  return value;
}

std::vector<BufferContent> PlacedBuffers::contents() const {
  std::vector<BufferContent> contents;
  for (const Placed& placed : placed_) {
    const KernelArgument& argument = *placed.argument;
    BufferContent content{argument.name, argument.kind != ArgumentKind::input, *argument.type, argument.shape,
                          std::vector<std::byte>(argument.buffer_bytes())};
    if (argument.texture) {
      for_each_row(placed.buffer, placed.texture.resource, [&](std::byte* at, std::uint64_t to, std::uint64_t bytes) {
        device_.copy_to_host(content.bytes.data() + to, at, bytes);
      });
    } else {
      device_.copy_to_host(content.bytes.data(), placed.buffer.address(), content.bytes.size());
    }
    contents.push_back(std::move(content));
  }
  return contents;
}

}  // namespace convladder
