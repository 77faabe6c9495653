// Surfaces: loads, stores and reductions of every size on every geometry, inside and outside, against arrays of bytes.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "devices/device_error.hpp"
#include "simulator/textures/texture_device.hpp"
#include "support/half.hpp"

namespace convladder::simulated {
namespace {

struct Surface {
  Geometry geometry;
  const char* name;
  ArraySize size;
};
constexpr std::array kSurfaces{Surface{Geometry::one, "1d", {16, 1, 1}}, Surface{Geometry::two, "2d", {12, 5, 1}},
                               Surface{Geometry::three, "3d", {8, 3, 4}},
                               Surface{Geometry::one_layered, "a1d", {16, 1, 3}},
                               Surface{Geometry::two_layered, "a2d", {8, 3, 4}}};

/// Bytes of an element and how many there are.
struct Access {
  int bytes;
  int elements;
};
constexpr std::array kAccesses{Access{1, 1}, Access{1, 4}, Access{2, 1}, Access{2, 2}, Access{4, 1},
                               Access{4, 2}, Access{4, 4}, Access{8, 1}, Access{8, 2}};

/// Where an access of a thread goes: byte, row, slice.
struct Target {
  std::array<std::int64_t, 3> at{};
  bool is_inside = false;
};

std::vector<Target> targets(const Surface& surface, int bytes, std::size_t count, bool clamped) {
  std::vector<Target> list;
  const std::array<std::int64_t, 3> sizes{surface.size.width * 4, surface.size.height, surface.size.depth};
  for (std::uint32_t state = 5; list.size() < count;) {
    Target target;
    target.is_inside = true;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      state = state * 1664525U + 1013904223U;
      std::int64_t value = state >> 16;
      const std::int64_t last = axis == 0 ? sizes[0] - bytes : sizes[axis] - 1;
      value = (state & 0x700U) == 0 ? (state & 0x800U ? -0x7fffff00 : 0x7fffff00)
                                    : value % (sizes[axis] + 2 * bytes) - bytes;
      if (axis == 0) value = value / bytes * bytes;
      const bool has_axis = axis == 0 || sizes[axis] > 1;
      if (!has_axis) value = 0;
      target.at[axis] = value;
      target.is_inside = target.is_inside && value >= 0 && value <= last;
      if (clamped) {
        const bool is_layer = axis == 2 && is_layered(surface.geometry);  // layers have no sign: below 0 is far above
        target.at[axis] = is_layer && value < 0 ? last : std::clamp<std::int64_t>(value, 0, last);
      }
    }
    list.push_back(target);
  }
  return list;
}

Words coordinates_of(const Surface& surface, const std::vector<Target>& list) {
  Words words;
  for (const Target& target : list) {
    const int axes = dimensions(surface.geometry);
    if (is_layered(surface.geometry)) words.push_back(static_cast<std::uint32_t>(target.at[2]));
    for (int axis = 0; axis < axes; ++axis)
      words.push_back(static_cast<std::uint32_t>(target.at[static_cast<std::size_t>(axis)]));
    while (words.size() % 3 != 0) words.push_back(0);
  }
  return words;
}

/// "{%r10, %r11, %r12, %r12}" with as many as the geometry has.
std::string coordinate_text(Geometry geometry) {
  const int count = dimensions(geometry) + (is_layered(geometry) ? 1 : 0);
  return count == 1 ? "{%r10}" : count == 2 ? "{%r10, %r11}" : "{%r10, %r11, %r12, %r12}";
}

std::size_t place_in(const Surface& surface, const Target& target) {
  return static_cast<std::size_t>((target.at[2] * surface.size.height + target.at[1]) * surface.size.width * 4 +
                                  target.at[0]);
}

std::string vector_text(const Access& access, const char* prefix, int first) {
  std::string text;
  for (int i = 0; i < access.elements; ++i) text += fmt::format("{}%{}{}", i == 0 ? "" : ", ", prefix, first + i);
  return "{" + text + "}";
}

std::string opcode_of(const char* base, const Surface& surface, const Access& access, const char* clamp) {
  const std::string vector = access.elements == 1 ? "" : fmt::format(".v{}", access.elements);
  return fmt::format("{}.b.{}{}.b{}.{}", base, surface.name, vector, 8 * access.bytes, clamp);
}

TEST(Surfaces, LoadsOfEverySizeInsideAndOutside) {
  constexpr std::size_t kThreads = 64;
  TextureDevice device;
  for (const Surface& surface : kSurfaces) {
    std::vector<std::uint8_t> bytes(
        static_cast<std::size_t>(4 * surface.size.width * surface.size.height * surface.size.depth));
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * 151 + i / 256);
    const TexelResource array = device.array(surface.geometry, {ChannelType::u32, 1}, surface.size, bytes);
    const std::uint64_t handle = device.get().textures().create_surface(array);
    for (const Access& access : kAccesses) {
      const bool wide = access.bytes == 8;
      const int all = access.bytes * access.elements;
      for (const char* const clamp : {"clamp", "zero"}) {
        const bool clamped = clamp[0] == 'c';
        const std::vector<Target> list = targets(surface, all, kThreads, false);
        const std::vector<Target> clamped_list = targets(surface, all, kThreads, true);
        std::string body =
            fmt::format("{} {}, [%rd3, {}];\n", opcode_of("suld", surface, access, clamp),
                        vector_text(access, wide ? "rd" : "r", wide ? 6 : 20), coordinate_text(surface.geometry));
        if (wide) body += "mov.b64 {%r20, %r21}, %rd6; mov.b64 {%r22, %r23}, %rd7;\n";
        if (wide) body = "mov.u64 %rd7, 0;\n" + body;
        const Words found = device.launch(body, std::vector(kThreads, handle), coordinates_of(surface, list), 4);
        for (std::size_t i = 0; i < kThreads; ++i) {
          const std::size_t at = place_in(surface, clamped ? clamped_list[i] : list[i]);
          const bool is_read = clamped || list[i].is_inside;
          std::array<std::uint8_t, 16> expected{};
          std::array<std::uint8_t, 16> words{};
          for (int e = 0; e < access.elements && is_read; ++e) {
            const int register_bytes = std::max(4, access.bytes);
            std::memcpy(expected.data() + e * register_bytes,
                        bytes.data() + at + static_cast<std::size_t>(e * access.bytes),
                        static_cast<std::size_t>(access.bytes));
          }
          std::memcpy(words.data(), &found[4 * i], 16);
          ASSERT_EQ(words, expected) << opcode_of("suld", surface, access, clamp) << " at " << list[i].at[0] << ", "
                                     << list[i].at[1] << ", " << list[i].at[2];
        }
      }
    }
  }
}

TEST(Surfaces, StoresOfEverySizeInsideAndOutside) {
  SimulatedDeviceOptions options;
  options.host_threads = 1;  // threads store to the same places: the last one's stays
  TextureDevice device(options);
  for (const Surface& surface : kSurfaces) {
    const auto size = static_cast<std::size_t>(4 * surface.size.width * surface.size.height * surface.size.depth);
    for (const Access& access : kAccesses) {
      for (const char* const clamp : {"clamp", "zero"}) {
        const bool clamped = clamp[0] == 'c';
        std::vector<std::uint8_t> expected(size, 0xee);
        const TexelResource array = device.array(surface.geometry, {ChannelType::u32, 1}, surface.size, expected);
        const std::uint64_t handle = device.get().textures().create_surface(array);
        const int all = access.bytes * access.elements;
        const std::vector<Target> list = targets(surface, all, 64, false);
        const std::vector<Target> clamped_list = targets(surface, all, 64, true);
        Words words;
        for (std::size_t i = 0; i < list.size(); ++i) {
          const Words one = coordinates_of(surface, {list[i]});
          words.insert(words.end(), one.begin(), one.end());
          for (std::uint32_t v = 0; v < 4; ++v) words.push_back(0x01020304U * static_cast<std::uint32_t>(i + 1) + v);
          if (!clamped && !list[i].is_inside) continue;
          const std::size_t at = place_in(surface, clamped ? clamped_list[i] : list[i]);
          for (int e = 0; e < access.elements; ++e) {
            const auto* const from =
                reinterpret_cast<const std::uint8_t*>(words.data() + words.size() - 4) + e * std::max(4, access.bytes);
            std::copy_n(from, access.bytes, expected.begin() + static_cast<std::ptrdiff_t>(at) + e * access.bytes);
          }
        }
        const bool wide = access.bytes == 8;
        std::string body = wide ? "mov.b64 %rd6, {%r13, %r14}; mov.b64 %rd7, {%r15, %r16};\n" : "";
        body += fmt::format("{} [%rd3, {}], {};\n", opcode_of("sust", surface, access, clamp),
                            coordinate_text(surface.geometry), vector_text(access, wide ? "rd" : "r", wide ? 6 : 13));
        device.launch(body, std::vector(list.size(), handle), words, 1);
        ASSERT_EQ(device.read<std::uint8_t>(array), expected) << opcode_of("sust", surface, access, clamp);
        device.get().textures().destroy(handle);
        device.forget(array);
      }
    }
  }
}

TEST(Surfaces, TheEdgeOfARowIsWhereAnAlignedAccessFits) {
  TextureDevice device;
  const std::vector<std::uint8_t> bytes{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const TexelResource array = device.array(Geometry::one, {ChannelType::u8, 1}, {11, 1, 1}, bytes);
  const std::uint64_t handle = device.get().textures().create_surface(array);
  EXPECT_EQ(device.launch("suld.b.1d.b32.clamp %r20, [%rd3, {%r10}];\n", {handle, handle, handle}, {8, 400, 4}, 1),
            (Words{0x08070605, 0x08070605, 0x08070605}));
}

TEST(Surfaces, FormattedStoresConvertToTheFormat) {
  TextureDevice device;
  const auto stored = [&](TexelFormat format, const Words& words, const char* opcode) {
    const TexelResource array = device.array(
        Geometry::one, format, {4, 1, 1}, std::vector<std::uint8_t>(static_cast<std::size_t>(4 * format.bytes()), 7));
    const std::uint64_t handle = device.get().textures().create_surface(array);
    device.launch(
        fmt::format("{}.trap [%rd3, {{%r10}}], {};\n", opcode,
                    std::string(opcode).find("v4") != std::string::npos ? "{%r11, %r12, %r13, %r14}" : "%r11"),
        {handle}, words, 1);
    return device.read<std::uint8_t>(array);
  };
  const std::uint32_t minus = static_cast<std::uint32_t>(-300);
  using Bytes = std::vector<std::uint8_t>;
  EXPECT_EQ(stored({ChannelType::u8, 1}, {2, 300}, "sust.p.1d.b32"), (Bytes{7, 7, 255, 7}));
  EXPECT_EQ(stored({ChannelType::s8, 1}, {1, minus}, "sust.p.1d.b32"), (Bytes{7, 0x80, 7, 7}));
  EXPECT_EQ(stored({ChannelType::s16, 2}, {1, minus, 5, 6, 7}, "sust.p.1d.v4.b32"),
            (Bytes{7, 7, 7, 7, 0xd4, 0xfe, 5, 0, 7, 7, 7, 7, 7, 7, 7, 7}));
  EXPECT_EQ(stored({ChannelType::f16, 1}, {0, std::bit_cast<std::uint32_t>(1.5F)}, "sust.p.1d.b32"),
            (Bytes{0, 0x3e, 7, 7, 7, 7, 7, 7}));
  EXPECT_EQ(stored({ChannelType::u16, 1}, {3, 70000}, "sust.p.1d.b32"), (Bytes{7, 7, 7, 7, 7, 7, 255, 255}));
}

TEST(Surfaces, ReductionsOfManyLanesAtOnePlace) {
  TextureDevice device;
  const auto reduced = [&](const std::string& opcode, std::uint32_t begin, const Words& values) {
    const TexelResource array = device.array(Geometry::two, {ChannelType::u32, 1}, {2, 2, 1}, Words(4, begin));
    const std::uint64_t handle = device.get().textures().create_surface(array);
    Words words;
    for (const std::uint32_t value : values) words.insert(words.end(), {4, 1, value});
    const std::string x = opcode.find(".p.") != std::string::npos ? "1" : "%r10";
    device.launch(fmt::format("{} [%rd3, {{{}, %r11}}], %r12;\n", opcode, x), std::vector(values.size(), handle), words,
                  1);
    const Words found = device.read<std::uint32_t>(array);
    EXPECT_EQ(found[0], begin);
    return found[3];
  };
  const Words values{5, 0xfffffff0U, 77, 3};
  EXPECT_EQ(reduced("sured.b.add.2d.u32.trap", 100, values), 100 + 5 + 77 + 3 - 16U);
  EXPECT_EQ(reduced("sured.b.min.2d.u32.clamp", 100, values), 3U);
  EXPECT_EQ(reduced("sured.b.min.2d.s32.zero", 100, values), 0xfffffff0U);
  EXPECT_EQ(reduced("sured.b.max.2d.u32.trap", 100, values), 0xfffffff0U);
  EXPECT_EQ(reduced("sured.b.max.2d.s32.trap", 60, values), 77U);
  EXPECT_EQ(reduced("sured.b.and.2d.b32.trap", 0xff, {0x0f, 0x3c}), 0x0cU);
  EXPECT_EQ(reduced("sured.b.or.2d.b32.trap", 0x100, {0x0f, 0x30}), 0x13fU);
  EXPECT_EQ(reduced("sured.p.add.2d.u32.trap", 1, {2, 3}), 6U);
}

TEST(Surfaces, OutsideATrapEndsTheLaunchOrIsAFindingAndOtherLanesGoOn) {
  std::vector<std::uint64_t> handles;
  const auto launch = [&](TextureDevice& device, const TexelResource& array, const std::string& opcode,
                          const Words& words) {
    const std::uint64_t handle = device.get().textures().create_surface(array);
    device.launch(fmt::format("{} [%rd3, {{%r10, %r11}}], %r12;\n", opcode), std::vector(words.size() / 3, handle),
                  words, 1);
  };
  TextureDevice strict;
  const TexelResource array =
      strict.array(Geometry::two, {ChannelType::u8, 1}, {5, 2, 1}, std::vector<std::uint8_t>(10, 0));
  try {
    launch(strict, array, "sust.b.2d.b8.trap", {5, 1, 1});
    ADD_FAILURE() << "no fault";
  } catch (const DeviceError& error) {
    EXPECT_NE(
        std::string(error.what())
            .find("access to 1 bytes at byte 5 of row 1 of slice 0 of a surface of 1 slices of 2 rows of 5 bytes"),
        std::string::npos)
        << error.what();
  }
  SimulatedDeviceOptions options;
  options.checkers.memory = true;
  TextureDevice checked(options);
  const TexelResource other =
      checked.array(Geometry::two, {ChannelType::u8, 1}, {5, 2, 1}, std::vector<std::uint8_t>(10, 0));
  launch(checked, other, "sust.b.2d.b8.trap", {5, 1, 1, 4, 1, 2, 0, 2, 3, 0, 0xffffffffU, 4});
  const std::vector<Finding> findings = checked.get().take_findings();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].count, 3U);
  EXPECT_EQ(checked.read<std::uint8_t>(other), (std::vector<std::uint8_t>{0, 0, 0, 0, 0, 0, 0, 0, 0, 2}));
  launch(checked, other, "sust.b.2d.b32.trap", {2, 0, 9});  // bytes 2 to 5 of a row of 5
  launch(checked, other, "sust.b.2d.b32.trap", {1, 0, 9});  // and misaligned
  EXPECT_EQ(checked.get().take_findings().size(), 2U);
}

TEST(Surfaces, TheCheckersSeeTexelsNobodyWroteAndRaces) {
  SimulatedDeviceOptions options;
  options.checkers.initialization = true;
  options.checkers.race = true;
  options.checkers.memory = true;
  TextureDevice device(options);
  const TexelResource array = device.empty_array(Geometry::two, {ChannelType::u8, 1}, {64, 2, 1});
  const std::uint64_t surface = device.get().textures().create_surface(array);
  const std::uint64_t texture = device.get().textures().create_texture({.resource = array});
  const auto problems = [&] {
    std::vector<std::string> all;
    for (const Finding& finding : device.get().take_findings()) all.push_back(finding.problem);
    return all;
  };
  // Neighbouring bytes by different warps are no race, the same byte is one.
  const std::string store = "sust.b.2d.b8.trap [%rd3, {%r1, 0}], %r1;\n";
  device.launch(store, std::vector(64, surface), Words(64), 1);
  EXPECT_TRUE(problems().empty());
  device.fetch("tex.2d.v4.u32.s32", texture, 2, {63, 0, 5, 0});
  EXPECT_TRUE(problems().empty());
  device.fetch("tex.2d.v4.u32.s32", texture, 2, {63, 0, 5, 1});
  const std::vector<std::string> unwritten = problems();
  ASSERT_EQ(unwritten.size(), 1U);
  EXPECT_NE(unwritten[0].find("which nothing has written"), std::string::npos);
  device.launch("sust.b.2d.b8.trap [%rd3, {0, 0}], %r1;\n", std::vector(64, surface), Words(64), 1);
  const std::vector<std::string> races = problems();
  ASSERT_FALSE(races.empty());
  EXPECT_NE(races[0].find("write after write"), std::string::npos);
  device.launch("sured.b.add.2d.u32.trap [%rd3, {0, 0}], %r1;\n", std::vector(64, surface), Words(64), 1);
  EXPECT_TRUE(problems().empty());
}

TEST(Surfaces, RequestsAndSectorsAreCounted) {
  TextureDevice device;
  const TexelResource array =
      device.array(Geometry::two, {ChannelType::f32, 1}, {64, 4, 1}, std::vector<float>(256, 1));
  const std::uint64_t texture = device.get().textures().create_texture({.resource = array});
  const std::uint64_t surface = device.get().textures().create_surface(array);
  static_cast<void>(device.get().take_counters());
  device.launch(
      "mov.u32 %r30, 0; tex.2d.v4.u32.s32 {%r20, %r21, %r22, %r23}, [%rd3, {%r2, %r30}];\n"          // 4 sectors
      "cvt.rn.f32.s32 %f3, %r2; tex.2d.v4.f32.f32 {%r20, %r21, %r22, %r23}, [%rd3, {%f3, %r30}];\n"  // and again: hits
      "shl.b32 %r31, %r2, 3; tex.2d.v4.u32.s32 {%r20, %r21, %r22, %r23}, [%rd3, {%r30, %r2}];\n",  // 4 rows: 4 sectors
      std::vector(32, texture), Words(32), 1);
  const auto value = [](const KernelCounters& counters, const std::string& name) {
    for (const auto* list : {&counters.values, &counters.modelled}) {
      for (const auto& [known, number] : *list) {
        if (known == name) return number;
      }
    }
    return -1.0;
  };
  const KernelCounters fetches = device.get().take_counters().at(0);
  EXPECT_EQ(value(fetches, "l1tex__t_requests_pipe_tex_mem_texture.sum"), 3);
  EXPECT_EQ(value(fetches, "smsp__sass_thread_inst_executed_op_fp32_pred_on.sum"), 0);
  EXPECT_EQ(value(fetches, "l1tex__t_sectors_pipe_tex_mem_texture.sum"), 12);
  EXPECT_EQ(value(fetches, "l1tex__t_sectors_pipe_tex_mem_texture_lookup_hit.sum"), 5);
  device.launch(
      "shl.b32 %r30, %r2, 2; suld.b.2d.b32.trap %r20, [%rd3, {%r30, 1}]; sust.b.2d.b32.trap [%rd3, {%r30, 1}], %r2;\n",
      std::vector(32, surface), Words(32), 1);
  const KernelCounters accesses = device.get().take_counters().at(0);
  EXPECT_EQ(value(accesses, "l1tex__t_sectors_pipe_tex_mem_surface_op_ld.sum"), 4);
  EXPECT_EQ(value(accesses, "l1tex__t_sectors_pipe_tex_mem_surface_op_st.sum"), 4);
  EXPECT_EQ(value(accesses, "l1tex__t_requests_pipe_tex_mem_surface_op_st.sum"), 1);
  EXPECT_EQ(value(accesses, "l1tex__t_requests_pipe_tex_mem_texture.sum"), -1);
}

}  // namespace
}  // namespace convladder::simulated
