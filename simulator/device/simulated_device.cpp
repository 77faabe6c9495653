#include "simulator/device/simulated_device.hpp"
#include "simulator/instructions/decoder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>

#include "devices/cpu/cpu_facts.hpp"
#include "devices/device_error.hpp"
#include "devices/device_registry.hpp"
#include "devices/kernel_resources.hpp"
#include "devices/ptx_images.hpp"
#include "simulator/ptx/parser.hpp"
#include "simulator/state/global_place.hpp"

namespace convladder::simulated {
namespace {

/// Addresses for small tensors; the host also needs memory for their copies and for the threads.
constexpr std::size_t kLeastAddresses = std::size_t{512} << 20;

/// A kernel and the module that it was compiled in.
struct FoundKernel {
  const ptx::Module* module = nullptr;
  const ptx::Kernel* kernel = nullptr;
};

/// Looks for a kernel in the PTX that a compiler made for this build; both members are nullptr if it is not there. Only
/// files that name the kernel are parsed, once for all devices: otherwise a process that measures one case would spend
/// more time on the other files than on the case.
FoundKernel find_kernel(const PtxImages& images, const std::string& name) {
  static std::mutex mutex;
  static std::map<const EmbeddedFile*, ptx::Module> modules;
  const std::scoped_lock lock(mutex);
  for (const EmbeddedFile& image : images.files) {
    if (image.content.find(name) == std::string::npos) continue;
    auto module = modules.find(&image);
    if (module == modules.end()) {
      module = modules.emplace(&image, ptx::parse_module(image.content, image.name)).first;
    }
    if (const ptx::Kernel* const kernel = module->second.find_kernel(name)) return {&module->second, kernel};
  }
  return {};
}

std::uint64_t device_address(const void* address) { return reinterpret_cast<std::uint64_t>(address); }

std::string unavailable() {
  if (ptx_images().empty()) return "this build has no PTX: there was no compiler for the kernels";
  const auto left = address_space_left();
  if (!left || *left >= kLeastAddresses) return "";
  return fmt::format("it needs {} MiB of addresses, {} MiB are left{}", kLeastAddresses >> 20, *left >> 20,
                     address_space_remark());
}

std::vector<DeviceFact> facts() {
  if (ptx_images().empty()) return {};
  std::string compilers;  // the one whose PTX runs first comes first
  for (const PtxImages& images : ptx_images()) {
    if (!compilers.empty()) compilers += ", ";
    compilers += images.compiler + ' ' + images.version;
  }
  return {{"name", "simulated GPU (PTX executed on the CPU)"},
          {"modelled GPU", default_gpu_model().title},  // whose caches and multiprocessors
          {"kernels compiled by", compilers},
          {"host threads", std::to_string(usable_cores())}};
}

DeviceMemory open_memory() {
  try {
    return DeviceMemory(available_memory_bytes());
  } catch (const std::bad_alloc&) {
    throw OutOfDeviceMemory("the simulated device: no address space is left for its memory" + address_space_remark());
  }
}

const DeviceRegistration registration{{.name = "simulated",
                                       .family = "cuda",
                                       .order = 30,
                                       .unavailable = unavailable,
                                       .open =
                                           [] {
                                             SimulatedDeviceOptions options;
                                             options.keeps_instructions = true;
                                             return std::unique_ptr<Device>(
                                                 std::make_unique<SimulatedDevice>(std::move(options)));
                                           },
                                       .facts = facts,
                                       .has_clock = false}};

}  // namespace

SimulatedDevice::SimulatedDevice(SimulatedDeviceOptions options)
    : options_(std::move(options)), memory_(open_memory()) {
  const std::vector<PtxImages>& all = ptx_images();
  const auto wanted = std::ranges::find(all, options_.ptx_compiler, &PtxImages::compiler);
  if (wanted == all.end() && !options_.ptx_compiler.empty()) {
    throw DeviceError(fmt::format("this build has no PTX of {}", options_.ptx_compiler));
  }
  if (!all.empty()) images_ = wanted == all.end() ? &all.front() : &*wanted;
}

DeviceBuffer SimulatedDevice::allocate(std::size_t bytes, std::string_view label) {
  const std::uint64_t address = allocate_address(bytes, label);
  if (options_.checkers.initialization) written_.allocated(address, bytes);
  // Addresses are numbers here.
  return {*this, reinterpret_cast<void*>(address), bytes};  // NOLINT(performance-no-int-to-ptr)
}

std::uint64_t SimulatedDevice::allocate_address(std::size_t bytes, std::string_view label) {
  try {
    return memory_.allocate(bytes, label);
  } catch (const std::bad_alloc&) {
    throw OutOfDeviceMemory(fmt::format("{} needs {} bytes, {} bytes are free{}", label, bytes, free_bytes(),
                                        memory_.is_cramped() ? address_space_remark() : ""));
  }
}

void SimulatedDevice::free(void* address, std::size_t /*bytes*/) noexcept {
  try {
    memory_.free(device_address(address));
    filled_.erase(device_address(address));
    written_.freed(device_address(address));
    std::erase_if(inputs_, [address](const AddressRange& input) { return input.begin == device_address(address); });
  } catch (const std::exception&) {
    // Only buffers that this device gave out come here, each once.
  }
}

std::byte* SimulatedDevice::checked_host(const void* address, std::size_t bytes, const char* what) const {
  const Allocation* const allocation = memory_.find(device_address(address));
  if (allocation == nullptr || bytes > allocation->end - device_address(address)) {
    throw DeviceError(
        fmt::format("{} of {} bytes at 0x{:x} leaves its allocation", what, bytes, device_address(address)));
  }
  return memory_.host(device_address(address));
}

void SimulatedDevice::copy_to_device(void* destination, const void* source, std::size_t bytes) {
  if (bytes == 0) return;
  std::memcpy(checked_host(destination, bytes, "copy to the device"), source, bytes);
  host_wrote(destination, bytes);
}

void SimulatedDevice::host_wrote(const void* address, std::size_t bytes) {
  written_.written(device_address(address), bytes);
  const std::uint64_t begin = memory_.find(device_address(address))->begin;
  const std::uint64_t offset = device_address(address) - begin;
  std::uint64_t& filled = filled_[begin];
  if (offset <= filled) filled = std::max(filled, offset + bytes);
}

void SimulatedDevice::copied(const void* to, const void* from, std::size_t bytes) {
  written_.copied(device_address(to), device_address(from), bytes);
}

void SimulatedDevice::look_for_unwritten(UnwrittenBytes& unwritten, const void* from, std::size_t bytes) {
  if (WrittenMemory::Piece* const piece = written_.find(device_address(from)); piece != nullptr) {
    piece->bytes.look(unwritten, piece->begin, device_address(from) - piece->begin, bytes);
  }
}

std::string SimulatedDevice::place_of(const void* address, std::string& label) const {
  return global_place(memory_, device_address(address), label);
}

DeviceBuffer SimulatedDevice::allocate_visible(std::size_t bytes, std::string_view label) {
  try {
    const std::uint64_t address = memory_.allocate_visible(bytes, label);
    has_visible_memory_ = true;
    return {*this, reinterpret_cast<void*>(address), bytes};  // NOLINT(performance-no-int-to-ptr)
  } catch (const std::bad_alloc&) {
    throw OutOfDeviceMemory(fmt::format("{} needs {} bytes, {} bytes are free", label, bytes, free_bytes()));
  }
}

void SimulatedDevice::adopt(void* address, std::size_t bytes, std::string_view label) {
  try {
    memory_.adopt(address, bytes, label);
    has_visible_memory_ = true;
  } catch (const std::invalid_argument& error) {
    throw DeviceError(error.what());
  }
}

void SimulatedDevice::release(void* address) { free(address, 0); }

const Allocation* SimulatedDevice::allocation_at(const void* address) const {
  return memory_.find(device_address(address));
}

void SimulatedDevice::copy_to_host(void* destination, const void* source, std::size_t bytes) {
  if (bytes == 0) return;
  const std::byte* const from = checked_host(source, bytes, "copy to the host");
  std::memcpy(destination, from, bytes);
  host_reads(from, bytes);
}

PinnedBuffer SimulatedDevice::allocate_pinned(std::size_t bytes, std::string_view label) {
  constexpr std::size_t alignment = 64;
  const std::size_t rounded = (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  void* const address = rounded < bytes ? nullptr : std::aligned_alloc(alignment, rounded);
  if (address == nullptr) throw OutOfDeviceMemory(fmt::format("{} needs {} bytes of pinned memory", label, bytes));
  return {address, bytes, std::free};
}

void SimulatedDevice::stream_waits_for(int stream, int event) {
  check_stream(stream);
  check_event(event);
}

void SimulatedDevice::copy_to_device_async(void* destination, const void* source, std::size_t bytes) {
  copy_to_device(destination, source, bytes);
}

void SimulatedDevice::copy_to_host_async(void* destination, const void* source, std::size_t bytes) {
  copy_to_host(destination, source, bytes);
}

std::uint64_t SimulatedDevice::place(const ptx::Module& module, const ptx::Symbol& symbol) {
  const int device = symbol.is_managed ? 0 : memory_.device();  // there is one managed variable for all of them
  const auto [found, is_new] = variables_.try_emplace({device, &module, symbol.name}, 0);
  if (is_new) {  // zero where nothing is given; initcheck takes these bytes as written
    const std::string label = symbol.name.starts_with("_Z") ? demangle(symbol.name) : symbol.name;
    found->second =
        symbol.is_managed ? memory_.allocate_visible(symbol.bytes, label) : allocate_address(symbol.bytes, label);
    has_visible_memory_ = has_visible_memory_ || symbol.is_managed;
    const std::uint64_t address = found->second;
    if (!symbol.opaque_type.empty()) textures_.declare(address, symbol.opaque_type, symbol.name, symbol.fields);
    if (!symbol.initial_bytes.empty()) {
      std::memcpy(memory_.host(address), symbol.initial_bytes.data(), symbol.initial_bytes.size());
    }
    for (const ptx::InitialAddress& initial : symbol.initial_addresses) {
      const std::uint64_t value = (address_of(module, initial.name) + initial.addend) >> initial.shift;
      std::memcpy(memory_.host(address) + initial.offset, &value, static_cast<std::size_t>(initial.bytes));
    }
    return address;
  }
  return found->second;
}

std::uint64_t SimulatedDevice::address_of(const ptx::Module& module, const std::string& name) {
  const auto symbol = std::ranges::find(module.symbols, name, &ptx::Symbol::name);
  if (symbol == module.symbols.end()) return function_address(module, name);
  if (symbol->space == ptx::Space::shared) {
    throw DeviceError(fmt::format("{}: where shared memory lies is not known before a launch", name));
  }
  return place(module, *symbol);
}

std::unique_ptr<Program> SimulatedDevice::decoded(const ptx::Module& module, const ptx::Kernel& kernel) {
  const auto address_of = [&](const ptx::Symbol& symbol) { return place(module, symbol); };
  auto program = std::make_unique<Program>(decode(module, kernel, address_of));
  program->tensor_cores = options_.tensor_cores;
  return program;
}

void SimulatedDevice::fill(const ptx::Module& module, const VariableContent& content) {
  const std::string name = variable_mangled_name(content.variable);
  const auto symbol = std::ranges::find(module.symbols, name, &ptx::Symbol::name);
  if (name.empty() || symbol == module.symbols.end()) {
    throw DeviceError(fmt::format("{} is not a variable of the kernel's module",
                                  name.empty() ? "what is to be filled" : demangle(name)));
  }
  if (content.bytes > symbol->bytes) {
    throw DeviceError(fmt::format("{}: {} bytes do not fit into its {}", demangle(name), content.bytes, symbol->bytes));
  }
  const std::byte* const source = checked_host(content.source, content.bytes, "copy into a variable");
  std::memcpy(memory_.host(place(module, *symbol)), source, content.bytes);
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> SimulatedDevice::own_allocations() const {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> own;
  for (const Allocation* at = memory_.next(0); at != nullptr && at->begin < kVisibleWindow;
       at = memory_.next(at->begin)) {
    if (!at->freed) own.emplace_back(at->begin, at->end);
  }
  return own;
}

const Program& SimulatedDevice::program_of(const void* kernel) {
  std::unique_ptr<Program>& program = programs_[{memory_.device(), kernel}];
  if (program) return *program;
  const std::string name = kernel_mangled_name(kernel);
  if (images_ == nullptr) throw DeviceError("this build has no PTX: there was no compiler for the kernels");
  const FoundKernel found = find_kernel(*images_, name);
  if (found.kernel == nullptr) throw DeviceError(fmt::format("no PTX of the kernel '{}' is in this build", name));
  program = decoded(*found.module, *found.kernel);
  return *program;
}

const void* SimulatedDevice::load(const ptx::Module& module, const ptx::Kernel& kernel) {
  programs_[{memory_.device(), &kernel}] = decoded(module, kernel);
  return &kernel;
}

void SimulatedDevice::unload(const ptx::Module& module) {
  for (const ptx::Kernel& kernel : module.kernels) {
    std::erase_if(programs_, [&](const auto& entry) {
      if (entry.first.second != &kernel) return false;
      seconds_of_block_.erase(entry.second.get());
      mutants_.erase(entry.second.get());
      for (auto& [name, executions] : executions_) {
        if (executions.program == entry.second.get()) executions.program = nullptr;
      }
      return true;
    });
  }
  std::erase_if(variables_, [&](const auto& entry) {
    if (std::get<1>(entry.first) != &module) return false;
    free(reinterpret_cast<void*>(entry.second), 0);  // NOLINT(performance-no-int-to-ptr): addresses are numbers here
    return true;
  });
}

void SimulatedDevice::only_read(const DeviceBuffer& buffer) {
  inputs_.push_back({device_address(buffer.address()), device_address(buffer.address()) + buffer.bytes()});
}

void SimulatedDevice::only_read(std::uint64_t begin, std::uint64_t end, bool is_so) {
  std::erase_if(inputs_, [begin](const AddressRange& input) { return input.begin == begin; });
  if (is_so) inputs_.push_back({begin, end});
}

void* SimulatedDevice::variable(const ptx::Module& module, const ptx::Symbol& symbol) {
  return reinterpret_cast<void*>(place(module, symbol));  // NOLINT(performance-no-int-to-ptr): addresses are numbers
}

std::string SimulatedDevice::blind_checkers() const {
  std::string names = written_.is_blind() ? std::string(checker_name(Checker::initialization)) : std::string();
  if (race_is_blind_) names += fmt::format("{}{}", names.empty() ? "" : " and ", checker_name(Checker::race));
  return names;
}

std::vector<Finding> SimulatedDevice::leaks() const {
  std::vector<Finding> leaks;
  for (const Allocation* at = memory_.next(0); at != nullptr; at = memory_.next(at->begin)) {
    const auto is_here = [at](const auto& variable) { return variable.second == at->begin; };
    if (at->freed || std::ranges::any_of(variables_, is_here) || std::ranges::any_of(texts_, is_here)) continue;
    Finding leak;
    leak.problem = fmt::format("'{}' ({} bytes) is never freed", at->label, at->end - at->begin);
    leak.space = "global";
    leak.address = at->begin;
    leak.allocation = at->label;
    leak.count = 1;
    leaks.push_back(std::move(leak));
  }
  return leaks;
}

double SimulatedDevice::time_ns(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace convladder::simulated
