// Handles of textures, references that are variables of a module, and what is said of those that are wrong.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "devices/device_error.hpp"
#include "simulator/ptx/parser.hpp"
#include "simulator/textures/texture_device.hpp"

namespace convladder::simulated {
namespace {

TEST(TextureHandles, LanesMayHaveDifferentTextures) {
  TextureDevice device;
  std::vector<std::uint64_t> handles;
  for (int t = 0; t < 3; ++t) {
    handles.push_back(device.get().textures().create_texture(
        {.resource = device.linear({ChannelType::f32, 1}, 4, std::vector<float>(4, static_cast<float>(t)))}));
  }
  EXPECT_EQ(device.floats(device.fetch_each("tex.1d.v4.f32.s32", {handles[2], handles[0], handles[1], handles[2]})),
            (std::vector<float>{2, 0, 1, 2}));
}

TEST(TextureHandles, WhatIsNoTextureIsAFaultThatSaysSo) {
  TextureDevice device;
  const TexelResource array = device.array(Geometry::two, {ChannelType::f32, 1}, {4, 4, 1}, std::vector<float>(16, 1));
  TextureTable& textures = device.get().textures();
  const std::uint64_t destroyed = textures.create_texture({.resource = array});
  textures.destroy(destroyed);
  const std::uint64_t surface = textures.create_surface(array);
  const std::uint64_t flat = textures.create_texture({.resource = array});
  const auto fault = [&](const std::string& opcode, std::uint64_t handle) {
    try {
      device.fetch(opcode, handle, 1, {0, 0, 0});
    } catch (const DeviceError& error) {
      return std::string(error.what());
    }
    return std::string("no fault");
  };
  const auto has = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  EXPECT_PRED2(has, fault("tex.2d.v4.f32.f32", 17), "the handle 0x11, which is no texture or surface");
  EXPECT_PRED2(has, fault("tex.2d.v4.f32.f32", 0), "which is no texture or surface");
  EXPECT_PRED2(has, fault("tex.2d.v4.f32.f32", ~std::uint64_t{0}), "which is no texture or surface");
  EXPECT_PRED2(has, fault("tex.2d.v4.f32.f32", kParameterWindow + 4096), "which is no texture or surface");
  EXPECT_PRED2(has, fault("tex.2d.v4.f32.f32", destroyed), "a texture or surface that was destroyed");
  EXPECT_PRED2(has, fault("tex.2d.v4.f32.f32", surface), "which is a surface");
  EXPECT_PRED2(has, fault("tex.3d.v4.f32.f32", flat), "access as .3d to a texture that is .2d");
  EXPECT_THROW(textures.destroy(destroyed), DeviceError);
  EXPECT_THROW(textures.destroy(4711), DeviceError);
  device.forget(array);  // its memory is freed: the texture is still there
  EXPECT_PRED2(has, fault("tex.2d.v4.f32.f32", flat), "which was freed");
}

TEST(TextureHandles, QueriesSayWhatATextureOrSurfaceIs) {
  TextureDevice device;
  const auto answers = [&](const std::string& opcode, std::initializer_list<const char*> queries,
                           std::uint64_t handle) {
    std::string body;
    for (const char* const query : queries) {
      body += opcode + '.' + query + ".b32 %r" + std::to_string(20 + std::count(body.begin(), body.end(), ';')) +
              ", [%rd3];\n";
    }
    return device.launch(body, {handle}, {0}, queries.size());
  };
  TextureTable& textures = device.get().textures();
  TextureDescription volume{.resource = device.empty_array(Geometry::three, {ChannelType::f16, 2}, {5, 4, 3})};
  volume.sampler = {.address = {AddressMode::mirror, AddressMode::clamp, AddressMode::border},
                    .filter = FilterMode::linear,
                    .normalized_coordinates = true};
  const std::uint64_t texture = textures.create_texture(volume);
  EXPECT_EQ(answers("txq", {"width", "height", "depth", "array_size", "channel_data_type", "channel_order"}, texture),
            (Words{5, 4, 3, 0, 0x10dd, 0x10b2}));
  EXPECT_EQ(answers("txq", {"normalized_coords", "filter_mode", "addr_mode_0", "addr_mode_1", "addr_mode_2"}, texture),
            (Words{1, 1, 1, 3, 4}));
  EXPECT_EQ(answers("txq", {"num_mipmap_levels", "num_samples", "force_unnormalized_coords"}, texture),
            (Words{1, 1, 0}));
  const std::uint64_t surface =
      textures.create_surface(device.empty_array(Geometry::two_layered, {ChannelType::s16, 4}, {7, 2, 9}));
  EXPECT_EQ(answers("suq", {"width", "height", "depth", "array_size", "channel_data_type", "channel_order"}, surface),
            (Words{7, 2, 0, 9, 0x10d8, 0x10b5}));
  EXPECT_THROW(answers("suq", {"width"}, texture), DeviceError);
}

TEST(TextureHandles, DescriptionsThatCudaRefusesAreRefused) {
  TextureDevice device;
  const TexelResource array = device.array(Geometry::two, {ChannelType::f32, 1}, {4, 4, 1}, std::vector<float>(16, 1));
  TextureTable& textures = device.get().textures();
  const auto refused = [&](const auto& change) {
    TextureDescription description{.resource = array};
    change(description);
    EXPECT_THROW(textures.create_texture(description), DeviceError);
  };
  using D = TextureDescription;
  refused([](D& d) { d.resource.format.channels = 3; });
  refused([](D& d) { d.resource.width = 0; });
  refused([](D& d) { d.resource.height = 1 << 20; });
  refused([](D& d) { d.resource.height = ~std::uint64_t{0}; });
  refused([](D& d) { d.resource.row_pitch = ~std::uint64_t{3}; });
  refused([](D& d) {
    d.resource.slice_pitch = ~std::uint64_t{3}, d.resource.depth = 5, d.resource.geometry = Geometry::three;
  });
  refused([](D& d) { d.resource.address += 2; });
  refused([](D& d) { d.resource.row_pitch += 2; });
  refused([](D& d) { d.resource.address = 0; });
  refused([](D& d) { d.resource.geometry = Geometry::one; });
  refused([](D& d) { d.resource.geometry = Geometry::cube; });
  refused([](D& d) { d.resource.is_linear = true; });
  refused([](D& d) { d.srgb = true; });
  refused([](D& d) { d.resource.format.type = ChannelType::u32, d.sampler.filter = FilterMode::linear; });
  refused([](D& d) { d.resource.format.type = ChannelType::s32, d.read = ReadMode::normalized; });
  EXPECT_THROW(array_resource(Geometry::three, {ChannelType::f32, 4}, 1ULL << 40, 1ULL << 40, 2), DeviceError);
  EXPECT_THROW(array_resource(Geometry::two, {ChannelType::f32, 4}, 4, 0, 1), DeviceError);
}

TEST(TextureHandles, NamedReferencesAndSamplersAreBound) {
  TextureDevice device;
  const std::string text =
      ".version 8.0\n.target sm_75, texmode_independent\n.address_size 64\n.global .texref image;\n.tex .u64 older;\n"
      ".global .samplerref soft = { addr_mode_0 = wrap, filter_mode = linear };\n"
      ".global .samplerref hard = { addr_mode_0 = clamp_to_border, filter_mode = nearest };\n"
      ".visible .entry test(.param .u64 out, .param .texref given)\n{\n"
      ".reg .pred %p<8>; .reg .b32 %r<20>; .reg .b64 %rd<6>; .reg .f32 %f<40>;\n"
      "ld.param.u64 %rd1, [out]; mov.u64 %rd2, image; mov.u64 %rd3, soft;\n"
      "mov.f32 %f1, 0f3F000000;\n"  // 0.5: the middle of two texels
      "tex.1d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [image, soft, {%f1}];\n st.global.f32 [%rd1], %f2;\n"
      "tex.1d.v4.f32.f32 {%f2, %f3, %f4, %f5}|%p1, [%rd2, hard, {%f1}];\n st.global.f32 [%rd1+4], %f2;\n"
      "tex.1d.v4.f32.f32 {%f2, _, _, _}, [%rd2, %rd3, {%f1}];\n st.global.f32 [%rd1+8], %f2;\n"
      "tex.1d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [given, hard, {%f1}];\n st.global.f32 [%rd1+12], %f2;\n"
      "tex.1d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [older, {%f1}];\n st.global.f32 [%rd1+16], %f2;\n"
      "txq.width.b32 %r1, [image]; st.global.u32 [%rd1+20], %r1;\n"
      "txq.filter_mode.b32 %r1, [soft]; st.global.u32 [%rd1+24], %r1;\n"
      "txq.addr_mode_0.b32 %r1, [hard]; st.global.u32 [%rd1+28], %r1;\n"
      "istypep.texref %p2, %rd2; selp.u32 %r1, 1, 0, %p2; istypep.surfref %p2, %rd2; selp.u32 %r2, 2, 0, %p2;\n"
      "istypep.samplerref %p2, %rd3; selp.u32 %r3, 4, 0, %p2; selp.u32 %r4, 8, 0, %p1;\n"
      "add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3; add.u32 %r1, %r1, %r4; st.global.u32 [%rd1+32], %r1;\nret;\n}\n";
  const ptx::Module module = ptx::parse_module(text, "references.ptx");
  const auto address = [&](const char* name) {
    const auto symbol = std::ranges::find(module.symbols, name, &ptx::Symbol::name);
    return reinterpret_cast<std::uint64_t>(device.get().variable(module, *symbol));
  };
  const TexelResource array = device.array(Geometry::one, {ChannelType::f32, 1}, {2, 1, 1}, std::vector<float>{1, 2});
  TextureTable& textures = device.get().textures();
  const std::uint64_t given = textures.create_texture({.resource = array});
  std::string unbound;
  try {
    device.run(module, 9, given);
  } catch (const DeviceError& error) {
    unbound = error.what();
  }
  EXPECT_NE(unbound.find("the .texref 'image', which nothing is bound to"), std::string::npos) << unbound;
  TextureDescription normalized{.resource = array};
  normalized.sampler.normalized_coordinates = true;
  textures.bind_texture(address("image"), normalized);
  textures.bind_texture(address("older"), normalized);
  EXPECT_THROW(textures.bind_surface(address("image"), array), DeviceError);
  EXPECT_THROW(textures.bind_texture(address("soft"), normalized), DeviceError);
  EXPECT_THROW(textures.bind_texture(1234, normalized), DeviceError);
  const Words words = device.run(module, 9, given);
  EXPECT_EQ(device.floats(words, 1),
            (std::vector<float>{1.5F, 2, 1.5F, 1, 2, std::bit_cast<float>(2U), std::bit_cast<float>(1U),
                                std::bit_cast<float>(4U), std::bit_cast<float>(13U)}));
}

}  // namespace
}  // namespace convladder::simulated
