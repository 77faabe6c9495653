// `convladder simulate`: runs a kernel of any PTX file on the simulated device, checks it and counts.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "devices/kernel_resources.hpp"
#include "devices/simulated/ptx/parser.hpp"
#include "harness/commands/command.hpp"
#include "harness/commands/printed.hpp"
#include "harness/simulation/checkers_argument.hpp"
#include "harness/simulation/cuda_source.hpp"
#include "harness/simulation/kernel_argument.hpp"
#include "harness/simulation/kernel_list.hpp"
#include "harness/simulation/launch_limit.hpp"
#include "harness/simulation/simulation.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/nearest_name.hpp"
#include "support/printable.hpp"
#include "support/split.hpp"
#include "support/whole_number.hpp"

namespace convladder {
namespace {

/// The command line, not checked yet.
struct SimulateArguments {
  std::string file;
  std::string entry;
  std::string grid = "1";
  std::string block = "1";
  std::string shared = "0";
  std::vector<std::string> arguments;
  std::vector<std::string> saved;
  std::string output;
  std::string format;
  std::string checkers = "all";
  std::string threads;
  std::vector<std::string> limits;
  CudaCompiler compiler;
  bool list = false;
};

// "Technical Specifications per Compute Capability" in the CUDA C++ programming guide.
constexpr std::array<int, 3> kGridLimits = {2147483647, 65535, 65535};
constexpr std::array<int, 3> kBlockLimits = {1024, 1024, 64};
constexpr unsigned kMostBlockThreads = 1024;
constexpr std::uint64_t kLargestPtx = 64 << 20;  // bytes; what compilers make has a few
constexpr int kMostSharedBytes = 227 * 1024;     // of a block, static ones included, on compute capability 9.0

constexpr const char* kSimulateFooter =
    R"(one --arg for each parameter, in order; put NAME= before it to choose the name that messages use:
  TYPE:VALUE                 a number                           --arg i32:1000  --arg f32:0.5
  bytes:@FILE                a structure passed by value        --arg bytes:@sizes.bin
  in:TYPE:CONTENT            a buffer that the kernel reads     --arg in:f32:1,2,3  --arg x=in:@x.npy
  inout:TYPE:CONTENT         one that it reads and writes       --arg inout:i32:fill:256:0
  out:TYPE:SHAPE[=VALUE]     one that it writes                 --arg y=out:f32:64x32  --arg sum=out:f32:1=0
  TYPE     i8 i16 i32 i64 u8 u16 u32 u64 f16 f32 f64
  CONTENT  1,2,3   @FILE.bin   @FILE.npy   fill:SHAPE:VALUE   iota:SHAPE[:FIRST]   random:SHAPE[:SEED]
  SHAPE    a number of elements, or sizes as in 64x32
A buffer 'out' without a value is uninitialised: reading it before writing is reported.

--limit: 500M, 10G: so many instructions of warps; 30s, 5min, 2h: so long; both may be given; or none. Without it a
kernel ends after 10 minutes, and after 5 G instructions of a block that change no memory: it is in an endless loop.

examples:
  convladder simulate scale.ptx --list
  convladder simulate scale.ptx --grid 4 --block 256 --arg x=in:f32:iota:1000 --arg y=out:f32:1000 --arg f32:2 --arg i32:1000
  convladder simulate scale.cu --compiler clang --compiler-flags '-DTILE=16' --list
  convladder simulate scale.ptx ... --save y=y.npy --output everything.json
  convladder simulate scale.ptx ... --format json      the JSON document on the standard output, no text

exit codes: 0 the kernel ran and nothing was found - 1 something was found, or the kernel was ended by a fault -
2 it was ended by a limit, and nothing was found until then - 3 bad input, or PTX that is not supported: one line says where and what)";

/// "X[,Y[,Z]]"
Dim3 parse_dim(const char* option, const std::string& text, const std::array<int, 3>& limits) {
  const std::vector<std::string> parts = split(text, ',');
  if (parts.empty() || parts.size() > 3) throw UserError(fmt::format("{} {}: expected X[,Y[,Z]]", option, text));
  std::array<unsigned, 3> sizes = {1, 1, 1};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    sizes[i] = static_cast<unsigned>(parse_whole_number(fmt::format("{} {}", option, text), parts[i], 1, limits[i]));
  }
  return {sizes[0], sizes[1], sizes[2]};
}

ptx::Module load_module(const std::string& file, const CudaCompiler& compiler) {
  if (!is_cuda_source(file)) return ptx::parse_module(read_file_text(file, kLargestPtx), file);
  return ptx::parse_module(compile_to_ptx(file, compiler), file + " (PTX)");  // whose lines are not the file's
}

std::vector<KernelArgument> parse_arguments(const std::vector<std::string>& texts, const ptx::Kernel& kernel) {
  if (texts.size() != kernel.parameters.size()) {
    throw UserError(fmt::format("{} has {} parameters, but {} --arg were given", display_name(kernel.name),
                                kernel.parameters.size(), texts.size()));
  }
  std::vector<KernelArgument> arguments;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    KernelArgument argument = parse_kernel_argument(texts[i]);
    const std::size_t bytes = argument.is_buffer() ? sizeof(std::uint64_t) : argument.bytes.size();
    const ptx::Symbol& parameter = kernel.parameters[i];
    if (bytes != parameter.bytes) {
      throw UserError(fmt::format("--arg {}: {} bytes, but parameter {} ({}) has {}", texts[i], bytes, i,
                                  parameter.name, parameter.bytes));
    }
    if (argument.name.empty()) argument.name = parameter.name;
    const auto same = [&argument](const KernelArgument& other) { return other.name == argument.name; };
    if (std::ranges::any_of(arguments, same)) {
      throw UserError(fmt::format("--arg {}: the name '{}' is already used", texts[i], argument.name));
    }
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

/// A buffer that is to be written to a file.
struct WantedFile {
  std::size_t argument = 0;
  std::string file;
};

std::vector<WantedFile> parse_outputs(const std::vector<std::string>& texts,
                                      const std::vector<KernelArgument>& arguments) {
  std::vector<WantedFile> wanted;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals + 1 == text.size()) {
      throw UserError(fmt::format("--save {}: expected NAME=FILE", text));
    }
    const std::string name = text.substr(0, equals);
    const std::string file = text.substr(equals + 1);
    std::vector<std::string> names;
    std::size_t found = arguments.size();
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (!arguments[i].is_buffer()) continue;
      names.push_back(arguments[i].name);
      if (arguments[i].name == name || std::to_string(i) == name) found = i;
    }
    if (found == arguments.size()) {
      throw UserError(fmt::format("--save {}: {}", text, unknown_name_message("buffer", name, names)));
    }
    static_cast<void>(buffer_file({}, file));  // the ending is known, before anything runs
    wanted.push_back({found, file});
  }
  return wanted;
}

/// Their progress is shown as that of `what`, until they are gone.
simulated::SimulatedDeviceOptions device_options(const SimulateArguments& given, const std::string& what) {
  simulated::SimulatedDeviceOptions options;
  options.checkers = parse_checkers(given.checkers);
  if (!given.threads.empty()) options.host_threads = parse_whole_number("--threads", given.threads, 1, 1024);
  options.limits = launch_limits(given.limits, what);
  // With several threads it would depend on the machine which block is the last.
  if (options.limits.operations > 0) options.host_threads = 1;
  return options;
}

/// In ASCII: names from the PTX need not be UTF-8, and the terminal may be where it goes.
std::string ascii_json(const nlohmann::ordered_json& json) {
  return json.dump(1, ' ', true, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

KernelLaunch parse_launch(const SimulateArguments& given, const ptx::Module& module, const ptx::Kernel& kernel) {
  KernelLaunch launch;
  launch.grid = parse_dim("--grid", given.grid, kGridLimits);
  launch.block = parse_dim("--block", given.block, kBlockLimits);
  const unsigned threads = launch.block.x * launch.block.y * launch.block.z;
  if (threads > kMostBlockThreads) {
    throw UserError(
        fmt::format("--block {}: {} threads, a block has at most {}", given.block, threads, kMostBlockThreads));
  }
  if (kernel.max_threads_per_block > 0 && threads > static_cast<unsigned>(kernel.max_threads_per_block)) {
    throw UserError(fmt::format("--block {}: {} threads, but {} was compiled for at most {}", given.block, threads,
                                display_name(kernel.name), kernel.max_threads_per_block));
  }
  const int dynamic_bytes = parse_whole_number("--shared", given.shared, 0, kMostSharedBytes);
  const std::uint64_t bytes =
      variable_bytes(module, kernel, ptx::Space::shared) + static_cast<std::uint64_t>(dynamic_bytes);
  if (bytes > kMostSharedBytes) {
    throw UserError(fmt::format("--shared {}: {} bytes together with the kernel's own; a block can have at most {}",
                                given.shared, bytes, kMostSharedBytes));
  }
  launch.dynamic_shared_bytes = static_cast<std::size_t>(dynamic_bytes);
  return launch;
}

void add_simulate_options(CLI::App& simulate, SimulateArguments& a) {
  simulate.add_option("FILE", a.file, "a PTX file, or a .cu file, which nvcc or clang compiles")->required();
  simulate.add_flag("--list", a.list, "only list the kernels: parameters, resources, and what cannot be run here");
  simulate.add_option("--entry", a.entry, "the kernel's name, if there are several");
  simulate.add_option("--grid", a.grid, "blocks, X[,Y[,Z]] (default 1)");
  simulate.add_option("--block", a.block, "threads per block, X[,Y[,Z]] (default 1)");
  simulate.add_option("--shared", a.shared, "bytes of dynamic shared memory (default 0)");
  simulate.add_option("--arg", a.arguments, "an argument, see below")->allow_extra_args(false);
  simulate.add_option("--compiler", a.compiler.name,
                      "of a .cu file: nvcc, clang, or the path of one (default: who is there)");
  simulate.add_option("--compiler-flags", a.compiler.flags, "further flags for it, as in '-arch=sm_90 -DN=3'");
  simulate.add_option("--save", a.saved, "NAME=FILE: writes a buffer to FILE.bin, .npy or .json")
      ->allow_extra_args(false);
  simulate.add_option("--checkers", a.checkers,
                      "memory, initialization, race, synchronization: a list of them, all (default) or none");
  simulate.add_option("--threads", a.threads, "host threads (default all cores); the results do not depend on it");
  simulate.add_option("--limit", a.limits, "ends a kernel after instructions (10G) or a time (30s), see below")
      ->allow_extra_args(false);
  simulate.add_option("--output", a.output, "file for everything, as JSON");
  add_format_option(simulate, a.format, {"text", "json"});
}

int simulate_command(SimulateArguments& given, const CommandLine& /*command_line*/) {
  if (const std::size_t equals = given.output.find('='); equals != std::string::npos) {
    throw UserError(fmt::format("--output {}: a buffer is now written by --save NAME=FILE", given.output));
  }
  check_output_file("--output", given.output);
  const ptx::Module module = load_module(given.file, given.compiler);
  if (given.list) {
    const ptx::Kernel* const only = given.entry.empty() ? nullptr : &find_kernel(module, given.entry);
    const std::string document = ascii_json(kernel_list_json(module, only));
    if (!given.output.empty()) write_file_atomically(given.output, document);
    fmt::print("{}", given.format == "json" ? document : kernel_list_text(module, only));
    return kExitOk;
  }
  const ptx::Kernel& kernel = find_kernel(module, given.entry);
  const KernelLaunch launch = parse_launch(given, module, kernel);
  const std::vector<KernelArgument> arguments = parse_arguments(given.arguments, kernel);
  const std::vector<WantedFile> wanted = parse_outputs(given.saved, arguments);
  const SimulationReport report =
      run_simulation(module, kernel, launch, arguments, device_options(given, display_name(kernel.name)));

  for (const WantedFile& one : wanted) {
    const auto buffer = std::ranges::find(report.buffers, arguments[one.argument].name, &BufferContent::name);
    write_file_bytes(one.file, buffer_file(*buffer, one.file));
  }
  const std::string document = ascii_json(to_json(report));
  if (!given.output.empty()) write_file_atomically(given.output, document);
  if (given.format == "json") {
    fmt::print("{}", document);
  } else {
    print_report(report);
  }
  if (!report.findings.empty() || !report.fault.empty()) return kExitCasesFailed;
  return report.stopped.empty() ? kExitOk : kExitInconclusive;
}

const CommandRegistration simulate_registration(
    {.name = "simulate",
     .group = CommandGroup::without_a_gpu,
     .help = "run a PTX or CUDA kernel on the simulated device",
     .footer = kSimulateFooter,
     .add = command_of<SimulateArguments, add_simulate_options, simulate_command>});

}  // namespace
}  // namespace convladder
