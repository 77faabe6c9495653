// libFuzzer target for the execution of PTX. Whatever a kernel does, it comes to its end or to a KernelFault in one
// line; nothing outside of the simulated device is touched, which the sanitizers see.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <new>
#include <string_view>

#include "ptx_fuzzing.hpp"
#include "simulator/execution/executor.hpp"
#include "simulator/instructions/decoder.hpp"
#include "simulator/memory/device_memory.hpp"
#include "simulator/ptx/parser.hpp"
#include "simulator/textures/texture_table.hpp"

namespace convladder {
namespace {

constexpr std::uint64_t kMemoryBytes = 1 << 20;
constexpr std::uint64_t kBufferBytes = 1024;  // of each buffer whose address the kernel gets
constexpr std::uint32_t kDynamicSharedBytes = 512;
constexpr std::uint64_t kMostOperations = 100'000;  // ends the loops that do not end themselves

/// What a launch of it would need fits a GPU, and is not only large.
bool is_small(const simulated::Program& program) {
  return program.static_shared_bytes <= 227 * 1024 && program.local_bytes <= 40 * 1024 &&
         program.parameter_bytes <= 4096 && program.register_bytes <= 1 << 18;
}

/// Something is bound to every texture and surface of the module: its name says of which geometry.
void bind(const ptx::Symbol& symbol, std::uint64_t address, simulated::DeviceMemory& memory,
          simulated::TextureTable& textures) {
  using simulated::Geometry;
  constexpr Geometry geometries[] = {Geometry::one,         Geometry::two,         Geometry::three,
                                     Geometry::one_layered, Geometry::two_layered, Geometry::cube};
  const Geometry geometry = geometries[symbol.name.size() % std::size(geometries)];
  const bool is_flat = simulated::dimensions(geometry) == 1;
  const bool has_depth = geometry == Geometry::three || simulated::is_layered(geometry);
  textures.declare(address, symbol.opaque_type, symbol.name, symbol.fields);
  simulated::TextureDescription texture;
  texture.resource =
      simulated::array_resource(geometry, {simulated::ChannelType::u8, 4}, 5, is_flat ? 1 : 5, has_depth ? 6 : 1);
  texture.resource.address = memory.allocate(simulated::resource_bytes(texture.resource), "texels");
  texture.read = simulated::ReadMode::normalized;
  texture.sampler.filter = simulated::FilterMode::linear;
  texture.sampler.address.fill(static_cast<simulated::AddressMode>(symbol.name.size() % 4));
  texture.sampler.normalized_coordinates = symbol.name.size() % 2 == 0;
  if (symbol.opaque_type == "texref") textures.bind_texture(address, texture);
  if (symbol.opaque_type == "surfref") textures.bind_surface(address, texture.resource);
}

void run(const ptx::Module& module, const ptx::Kernel& kernel) {
  simulated::DeviceMemory memory(kMemoryBytes);
  simulated::TextureTable textures(memory);
  const simulated::Program program = simulated::decode(module, kernel, [&](const ptx::Symbol& symbol) {
    const std::uint64_t address = memory.allocate(symbol.bytes, symbol.name);
    std::memcpy(memory.host(address), symbol.initial_bytes.data(), symbol.initial_bytes.size());
    if (!symbol.opaque_type.empty()) bind(symbol, address, memory, textures);
    return address;
  });
  if (!is_small(program)) return;
  simulated::LaunchConfiguration configuration;
  configuration.grid = {2, 1, 1};
  configuration.block = {40, 1, 1};  // a full warp and a part of one
  configuration.dynamic_shared_bytes = kDynamicSharedBytes;
  configuration.limits.operations = kMostOperations;
  configuration.textures = &textures;
  configuration.parameters.resize(program.parameter_bytes);
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    // An address for what is as large as one, a small number otherwise.
    const std::uint64_t bytes = kernel.parameters[i].bytes;
    const std::uint64_t value = bytes == 8 ? memory.allocate(kBufferBytes, "buffer") : 37;
    std::memcpy(configuration.parameters.data() + program.parameter_offsets[i], &value,
                std::min<std::uint64_t>(bytes, sizeof value));
  }
  for (const bool collect_findings : {false, true}) {
    configuration.collect_findings = collect_findings;
    try {
      const simulated::LaunchResult result = simulated::execute(program, memory, configuration);
      ptx::require(result.counters.size() == program.kernel->instructions.size());
      ptx::require(result.blocks == 2);
    } catch (const simulated::KernelFault& fault) {
      ptx::require(std::string_view(fault.what()).find('\n') == std::string_view::npos);
    }
  }
}

}  // namespace
}  // namespace convladder

// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace convladder;
  try {
    const ptx::Module module = ptx::parse_module({reinterpret_cast<const char*>(data), size}, "fuzzed");
    for (const ptx::Kernel& kernel : module.kernels) {
      run(module, kernel);
    }
  } catch (const ptx::PtxError& error) {
    ptx::require_place_and_one_line(error.what());
  } catch (const std::bad_alloc&) {
    // Variables that do not fit into the device's memory.
  }
  return 0;
}
