// A simulated device with arrays, and kernels of one instruction on a texture or surface.
#pragma once

#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "simulator/device/simulated_device.hpp"
#include "simulator/ptx/parser.hpp"

namespace convladder::simulated {

using Words = std::vector<std::uint32_t>;

struct ArraySize {
  std::int64_t width = 1;
  std::int64_t height = 1;
  std::int64_t depth = 1;
};

class TextureDevice {
 public:
  explicit TextureDevice(SimulatedDeviceOptions options = {}) : device_(std::move(options)) {}
  SimulatedDevice& get() { return device_; }

  /// With these texels, one behind the other.
  template <typename T>
  TexelResource array(Geometry geometry, TexelFormat format, ArraySize size, const std::vector<T>& texels) {
    TexelResource resource = empty_array(geometry, format, size);
    const std::uint64_t row = resource.width * static_cast<std::uint64_t>(format.bytes());
    const auto* from = reinterpret_cast<const std::byte*>(texels.data());
    for (std::uint64_t i = 0; i < resource.height * resource.depth; ++i, from += row) {
      device_.copy_to_device(pointer(resource.address + i * resource.row_pitch), from, row);
    }
    return resource;
  }
  TexelResource empty_array(Geometry geometry, TexelFormat format, ArraySize size) {
    const auto unsigned_of = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
    TexelResource resource =
        array_resource(geometry, format, unsigned_of(size.width), unsigned_of(size.height), unsigned_of(size.depth));
    resource.address = allocate(resource_bytes(resource));
    return resource;
  }
  /// The texels of an array, one behind the other.
  template <typename T>
  std::vector<T> read(const TexelResource& resource) {
    const std::uint64_t row = resource.width * static_cast<std::uint64_t>(resource.format.bytes());
    std::vector<T> values(row * resource.height * resource.depth / sizeof(T));
    auto* to = reinterpret_cast<std::byte*>(values.data());
    for (std::uint64_t i = 0; i < resource.height * resource.depth; ++i, to += row) {
      device_.copy_to_host(to, pointer(resource.address + i * resource.row_pitch), row);
    }
    return values;
  }
  template <typename T>
  TexelResource linear(TexelFormat format, std::size_t width, const std::vector<T>& texels) {
    TexelResource resource = array_resource(Geometry::one, format, width, 1, 1);
    resource.is_linear = true;
    resource.address = allocate(texels.size() * sizeof(T));
    device_.copy_to_device(pointer(resource.address), texels.data(), texels.size() * sizeof(T));
    return resource;
  }
  void forget(const TexelResource& resource) { buffers_.erase(resource.address); }

  /// For each thread its layer, if there are any, and its coordinates.
  static Words coordinates(Geometry geometry, const std::array<std::vector<float>, 3>& u, const Words& layers) {
    Words words;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      if (is_layered(geometry)) words.push_back(layers[i]);
      for (int axis = 0; axis < dimensions(geometry); ++axis) {
        words.push_back(std::bit_cast<std::uint32_t>(u[static_cast<std::size_t>(axis)][i]));
      }
    }
    return words;
  }

  /// Four words for each thread, who all fetch from `handle`; `behind` are further operands.
  Words fetch(const std::string& opcode, std::uint64_t handle, std::size_t threads, const Words& coordinates,
              const std::string& behind = "") {
    return fetch(opcode, std::vector(threads, handle), coordinates, behind);
  }
  Words fetch_each(const std::string& opcode, const std::vector<std::uint64_t>& handles) {
    return fetch(opcode, handles, Words(handles.size(), 0), "");
  }
  Words fetch(const std::string& opcode, const std::vector<std::uint64_t>& handles, const Words& coordinates,
              const std::string& behind) {
    const std::size_t threads = handles.size();
    const std::size_t count = coordinates.size() / threads;
    const bool pairs = opcode.find("f16x2") != std::string::npos;
    std::string list;
    for (std::size_t i = 0; i < 4; ++i) list += fmt::format("{}%r{}", i == 0 ? "" : ", ", 10 + std::min(i, count - 1));
    return launch(fmt::format("{} {{{}}}, [%rd3, {{{}}}]{};\n", opcode, pairs ? "%r20, %r21" : "%r20, %r21, %r22, %r23",
                              list, behind),
                  handles, coordinates, 4);
  }

  /// Each thread: %rd3 its handle, %r10 and so on its words; %r20 and so on become its `results`.
  Words launch(const std::string& body, const std::vector<std::uint64_t>& handles, const Words& words,
               std::size_t results) {
    const std::size_t threads = handles.size();
    const std::size_t count = words.size() / threads;
    std::string text =
        ".version 8.0\n.target sm_75\n.address_size 64\n"
        ".visible .entry test(.param .u64 out, .param .u64 in, .param .u64 handles)\n{\n"
        ".reg .pred %p<4>; .reg .b32 %r<40>; .reg .b64 %rd<20>; .reg .f32 %f<9>;\n"
        "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r1, %r1, 32, %r2; mov.f32 %f1, 0f00000000;\n"
        "mov.f32 %f2, 0f40A00000; ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [in]; ld.param.u64 %rd4, [handles];\n"
        "mad.wide.u32 %rd4, %r1, 8, %rd4; ld.global.u64 %rd3, [%rd4];\n";
    text +=
        fmt::format("mad.wide.u32 %rd1, %r1, {}, %rd1; mad.wide.u32 %rd2, %r1, {}, %rd2;\n", 4 * results, 4 * count);
    for (std::size_t i = 0; i < count; ++i) text += fmt::format("ld.global.u32 %r{}, [%rd2+{}];\n", 10 + i, 4 * i);
    for (std::size_t i = 0; i < results; ++i) text += fmt::format("mov.u32 %r{}, 0;\n", 20 + i);
    text += body;
    for (std::size_t i = 0; i < results; ++i) text += fmt::format("st.global.u32 [%rd1+{}], %r{};\n", 4 * i, 20 + i);
    text += "ret;\n}\n";
    std::shared_ptr<ptx::Module>& module = modules_[text];
    if (!module) module = std::make_shared<ptx::Module>(ptx::parse_module(text, "test.ptx"));
    const DeviceBuffer out = device_.allocate(4 * results * threads, "out");
    const DeviceBuffer in = device_.allocate(std::max<std::size_t>(4 * words.size(), 4), "in");
    const DeviceBuffer all = device_.allocate(8 * threads, "handles");
    device_.copy_to_device(in.address(), words.data(), 4 * words.size());
    device_.copy_to_device(all.address(), handles.data(), 8 * threads);
    KernelLaunch kernel;
    kernel.kernel = device_.load(*module, module->kernels[0]);
    kernel.block = {static_cast<unsigned>(std::min<std::size_t>(threads, 32))};
    kernel.grid = {static_cast<unsigned>((threads + 31) / 32)};
    for (const DeviceBuffer* const buffer : {&out, &in, &all}) kernel.arguments.push_back(bytes_of(buffer->address()));
    device_.launch(kernel);
    Words found(results * threads);
    device_.copy_to_host(found.data(), out.address(), 4 * found.size());
    return found;
  }

  /// A kernel of one thread that takes where its words go, and a handle.
  Words run(const ptx::Module& module, std::size_t results, std::uint64_t handle) {
    const DeviceBuffer out = device_.allocate(4 * results, "out");
    KernelLaunch kernel;
    kernel.kernel = device_.load(module, module.kernels[0]);
    kernel.arguments = {bytes_of(out.address()), bytes_of(handle)};
    device_.launch(kernel);
    Words found(results);
    device_.copy_to_host(found.data(), out.address(), 4 * found.size());
    return found;
  }

  /// Every `stride`-th word as a float.
  static std::vector<float> floats(const Words& words, std::size_t stride = 4) {
    std::vector<float> values;
    for (std::size_t i = 0; i < words.size(); i += stride) values.push_back(std::bit_cast<float>(words[i]));
    return values;
  }

 private:
  static void* pointer(std::uint64_t address) { return reinterpret_cast<void*>(address); }
  template <typename T>
  static std::vector<std::byte> bytes_of(T value) {
    std::vector<std::byte> bytes(sizeof value);
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
  }
  std::uint64_t allocate(std::size_t bytes) {
    DeviceBuffer buffer = device_.allocate(bytes, "texels");
    const auto address = reinterpret_cast<std::uint64_t>(buffer.address());
    buffers_.emplace(address, std::move(buffer));
    return address;
  }

  std::map<std::string, std::shared_ptr<ptx::Module>> modules_;
  SimulatedDevice device_;
  std::map<std::uint64_t, DeviceBuffer> buffers_;
};

}  // namespace convladder::simulated
