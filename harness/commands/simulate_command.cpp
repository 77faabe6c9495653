// `convladder simulate`: runs a kernel of any PTX file on the simulated device, checks it and counts.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "devices/kernel_resources.hpp"
#include "harness/commands/command.hpp"
#include "harness/commands/kernel_file_options.hpp"
#include "harness/commands/line_page.hpp"
#include "harness/commands/option_checks.hpp"
#include "harness/commands/printed.hpp"
#include "harness/commands/simulate_program.hpp"
#include "harness/measure/simulation/checkers_argument.hpp"
#include "harness/measure/simulation/cuda_source.hpp"
#include "harness/measure/simulation/expected_content.hpp"
#include "harness/measure/simulation/kernel_list.hpp"
#include "harness/measure/simulation/launch_limit.hpp"
#include "harness/measure/simulation/side_by_side.hpp"
#include "harness/measure/simulation/simulation.hpp"
#include "harness/measure/simulation/simulation_json.hpp"
#include "simulator/device/launch_checks.hpp"
#include "simulator/instructions/decoder.hpp"
#include "simulator/ptx/parser.hpp"
#include "simulator/state/program.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/interruption.hpp"
#include "support/nearest_name.hpp"
#include "support/printable.hpp"
#include "support/text.hpp"

namespace convladder {
namespace {

/// The command line, not checked yet.
struct SimulateArguments {
  std::vector<std::string> files;
  std::vector<std::string> entries;
  std::string grid = "1";
  std::string block = "1";
  std::string cluster;
  bool cooperative = false;
  std::string shared = "0";
  std::vector<std::string> arguments;
  std::vector<std::string> buffers;
  std::vector<std::string> variables;
  std::vector<std::string> saved;
  std::vector<std::string> expectations;
  std::string output;
  std::string format;
  bool verbose = false;
  std::string checkers = "all";
  simulated::SchedulesWanted schedules;
  std::string threads;
  std::vector<std::string> limits;
  bool no_counters = false;
  bool lines = false;
  std::string html;
  CudaCompiler compiler;
  bool list = false;
  ProgramOptions program;
};

// As kMostSharedBytes.
constexpr std::array<int, 3> kGridLimits = {2147483647, 65535, 65535};
constexpr std::array<int, 3> kClusterLimits = {16, 16, 16};

constexpr const char* kSimulateFooter =
    R"text(convladder simulate [options] -- ./program arguments
runs a whole CUDA program as nvcc or CMake has built it, and says on the standard error, at its end, what
compute-sanitizer and a profiler would have said. Its own output is not touched. Options: --gpu, --gpu-count, --memory,
--driver-version, --checkers, --lines, --html, --schedules, --seed, --leak-check, --error-exitcode, --threads, --limit, --sample,
--estimate, --format, --output, --verbose.
Its exit code is the program's; --error-exitcode (1) where that is 0 and something was found; 2 where that is 0, but no CUDA was
seen, or not all of it; 128 + the signal. convladder simulate --estimate -- ./program says how long that would take.
With eval "$(convladder simulate --env [options])" every program that is started then is simulated, as by ctest.

convladder simulate FILE... [options] runs a kernel of a PTX or CUDA file:

one --arg for each parameter, in order; put NAME= before it to choose the name that messages use:
  TYPE:VALUE                 a number                           --arg i32:1000  --arg f32:0.5
  @BUFFER[+BYTES]            an address in another's buffer     --arg x=inout:f32:1,2,3 --arg @x --arg @x+8
  struct:{FIELD,...}         a structure passed by value        --arg 'struct:{@x,i32:5,f32:[0.5,1]}'
  bytes:@FILE                the same from a file               --arg bytes:@sizes.bin
  in:TYPE:CONTENT            a buffer that the kernel reads     --arg in:f32:1,2,3  --arg x=in:@x.npy
  inout:TYPE:CONTENT         one that it reads and writes       --arg inout:i32:fill:256:0
  out:TYPE:SHAPE[=VALUE]     one that it writes                 --arg y=out:f32:64x32  --arg sum=out:f32:1=0
  texture[,WORD...]:TYPE:CONTENT             a texture      --arg t=texture,linear,wrap,normalized:@image.npy
  surface[,in|inout|out,WORD]:TYPE:CONTENT   a surface      --arg s=surface,out:f32:48x64
  TYPE     i8 i16 i32 i64 u8 u16 u32 u64 f16 f32 f64
  CONTENT  1,2,3   @FILE.bin   @FILE.npy   fill:SHAPE:VALUE   iota:SHAPE[:FIRST]   random:SHAPE[:SEED]
  SHAPE    a number of elements, or sizes as in 64x32
  FIELD    TYPE:VALUE   TYPE:[VALUE,...]   @BUFFER[+BYTES]   {FIELD,...}: laid out as C does
  WORD     1d 2d 3d 1d-layers 2d-layers cube cube-layers, buffer (linear memory);
           of a texture: point linear, clamp wrap mirror border, normalized (coordinates), as-float (integers), srgb
The sizes of texels are [layer or slice] x [row] x texels x [2 or 4 channels].
A buffer 'out' without a value is uninitialised: reading it before writing is reported.

--buffer NAME=... makes a buffer for addresses only. --set NAME=VALUE sets a variable of the file: TYPE:CONTENT,
@FILE.npy, @BUFFER, struct: or bytes: as above, and a .texref or .surfref: texture or surface. --save NAME[:TYPE]=FILE writes it, as bytes without a TYPE.

--expect y=@reference.npy:1e-6, y=1,2,3 or y=fill:64x32:0:1e-6,1e-9: the shape is compared, and each value passes if
|found - expected| <= ABSOLUTE + RELATIVE * |expected|, for TOLERANCE = RELATIVE[,ABSOLUTE]; without one only the same
value passes. NaN passes only for NaN.

--limit: 500M, 10G: so many instructions of warps; 30s, 5min, 2h: so long; both may be given; or none. Without it a
kernel ends after 10 minutes, and after 5 G instructions of a block that change no memory, as in an endless loop.

examples:
  convladder simulate scale.ptx --list
  convladder simulate scale.ptx --grid 4 --block 256 --arg x=in:f32:iota:1000 --arg y=out:f32:1000 --arg f32:2 --arg i32:1000
  convladder simulate scale.cu --compiler clang --compiler-flags '-DTILE=16' --list
  convladder simulate scale.ptx ... --save y=y.npy --output everything.json
  convladder simulate naive.ptx tiled.ptx --grid 8 ...            the same launch of each, their counters side by side
  convladder simulate both.ptx --entry naive --entry tiled ...    likewise for kernels of one file
  convladder simulate scale.ptx ... --no-counters --checkers none --expect y=@y.npy:1e-6    results only, quickly
  convladder simulate scale.ptx ... --lines            which line costs what; of two files: which lines differ
  convladder simulate scale.ptx ... --schedules 100    are the results the same in other orders of warps and blocks?
  convladder simulate scale.ptx ... --format json      the JSON document on the standard output, no text
  convladder simulate --checkers memory,race -- ./program --its options

exit codes:
  0  the kernel came to its end, nothing was found, and all is as expected
  1  something was found, or the kernel was ended by a fault
  2  nothing of 1 and 5, but it was ended by a limit
  3  bad input, or PTX that is not supported: one line says where and what
  5  nothing was found, but a value is not as expected)text";

ptx::Module load_module(const std::string& file, const CudaCompiler& compiler) {
  return parse_ptx_of(file, ptx_text(file, compiler));
}

/// A buffer or variable that is to be written to a file.
struct WantedFile {
  ReadContent content;
  std::string file;
};

std::vector<WantedFile> parse_saved(const std::vector<std::string>& texts, const SimulationInputs& inputs,
                                    const ptx::Module& module) {
  std::vector<WantedFile> wanted;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals + 1 == text.size()) {
      throw UserError(fmt::format("--save {}: expected NAME=FILE", text));
    }
    const std::string file = text.substr(equals + 1);
    wanted.push_back({find_content("--save " + text, text.substr(0, equals), inputs, module), file});
    static_cast<void>(buffer_file({}, file));  // so that its ending is checked before anything runs
  }
  return wanted;
}

/// The inputs of a launch, and everything that is asked for after it.
struct WholeRequest {
  SimulationInputs inputs;
  std::vector<WantedFile> saved;
  std::vector<ExpectedContent> expected;

  /// The variables that are saved or compared.
  std::vector<ReadContent> variables() const {
    std::vector<ReadContent> all;
    for (const WantedFile& one : saved) all.push_back(one.content);
    for (const ExpectedContent& one : expected) all.push_back(one.content);
    std::vector<ReadContent> variables;
    for (const ReadContent& one : all) {
      const auto same = [&one](const ReadContent& other) { return other.name == one.name && other.type == one.type; };
      if (one.variable != nullptr && std::ranges::none_of(variables, same)) variables.push_back(one);
    }
    return variables;
  }
};

WholeRequest parse_request(const SimulateArguments& given, const ptx::Module& module, const ptx::Kernel& kernel) {
  WholeRequest request;
  request.inputs = inputs_for(parse_inputs(given.arguments, given.buffers, given.variables), module, kernel);
  request.saved = parse_saved(given.saved, request.inputs, module);
  request.expected = parse_expectations(given.expectations, request.inputs, module);
  return request;
}

const BufferContent& content_in(const SimulationReport& report, const ReadContent& wanted) {
  const auto is_it = [&wanted](const BufferContent& content) {
    return content.name == wanted.name && content.type == wanted.type.value_or(ElementType::u8);
  };
  return *std::ranges::find_if(report.buffers, is_it);
}

int exit_code_of(const SimulationReport& report) {
  if (interrupt_waits()) return kExitInterrupted;
  if (simulated::count_findings(report.findings) > 0 || !report.fault.empty()) return kExitCasesFailed;
  if (!std::ranges::all_of(report.expectations, &ExpectationOutcome::met)) return kExitUnexpected;
  return report.stopped.empty() ? kExitOk : kExitInconclusive;
}

/// The options of a device. Its progress is shown as that of `what` until the devices are gone.
simulated::SimulatedDeviceOptions device_options(const SimulateArguments& given, const std::string& what) {
  simulated::SimulatedDeviceOptions options;
  options.checkers = parse_checkers(given.checkers);
  options.schedules = given.schedules;
  options.keeps_instructions = given.lines;
  if (given.lines && given.no_counters) throw UserError("--lines shows counters, and --no-counters counts nothing");
  if (!given.threads.empty()) options.host_threads = parse_whole_number("--threads", given.threads, 1, 1024);
  options.limits = launch_limits(given.limits, what);
  // With several threads the last block would depend on the machine.
  if (options.limits.operations > 0) options.host_threads = 1;
  return options;
}

KernelLaunch parse_launch(const SimulateArguments& given, const ptx::Module& module, const ptx::Kernel& kernel) {
  KernelLaunch launch;
  launch.grid = parse_dim("--grid", given.grid, kGridLimits);
  launch.block = parse_block(given.block);
  if (const std::string problem = simulated::block_problem(kernel, launch.block); !problem.empty()) {
    throw UserError(fmt::format("--block {}: {}: {}", given.block, display_name(kernel.name), problem));
  }
  launch.cooperative = given.cooperative;
  if (!given.cluster.empty()) launch.cluster = parse_dim("--cluster", given.cluster, kClusterLimits);
  if (const std::string problem = simulated::cluster_problem(kernel, launch); !problem.empty()) {
    throw UserError(given.cluster.empty() ? fmt::format("--grid {}: {}", given.grid, problem)
                                          : fmt::format("--cluster {}: {}", given.cluster, problem));
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
  simulate.add_option("FILE", a.files,
                      "a PTX file, or a .cu file, which nvcc or clang compiles; of several, each; or -- PROGRAM");
  simulate.add_flag("--list", a.list, "only list the kernels: parameters, resources, and what cannot be run here");
  simulate.add_option("--entry", a.entries, "the kernel's name, if there are several; of several names, each")
      ->allow_extra_args(false);
  simulate.add_option("--grid", a.grid, "blocks, X[,Y[,Z]] (default 1)");
  simulate.add_option("--block", a.block, "threads per block, X[,Y[,Z]] (default 1)");
  simulate.add_option("--cluster", a.cluster, "blocks of a cluster, X[,Y[,Z]] (default: as the kernel was compiled)");
  simulate.add_flag("--cooperative", a.cooperative, "all blocks are there at a time, and grid.sync() works");
  simulate.add_option("--shared", a.shared, "bytes of dynamic shared memory (default 0)");
  simulate.add_option("--arg", a.arguments, "an argument, see below")->allow_extra_args(false);
  simulate
      .add_option("--buffer", a.buffers, "NAME=in:…, out:… or inout:…: a buffer that no parameter points to itself")
      ->allow_extra_args(false);
  simulate.add_option("--set", a.variables, "NAME=TYPE:CONTENT: what a __device__ or __constant__ variable holds")
      ->allow_extra_args(false);
  add_compiler_options(simulate, a.compiler);
  simulate.add_option("--save", a.saved, "NAME=FILE: writes a buffer or a variable to FILE.bin, .npy or .json")
      ->allow_extra_args(false);
  simulate
      .add_option("--expect", a.expectations, "NAME=CONTENT[:TOLERANCE]: what a buffer or a variable has to hold then")
      ->allow_extra_args(false);
  simulate.add_option("--checkers", a.checkers,
                      "memory, initialization, race, synchronization: a list of them, all (default) or none");
  add_schedule_options(simulate, a.schedules);
  simulate.add_option("--html", a.html,
                      "with --lines: also one page of HTML, with the source (needs Python with Jinja2)");
  simulate.add_flag("--lines", a.lines, "counters by line of the source; of two kernels, the lines that differ");
  simulate.add_flag("--no-counters", a.no_counters,
                    "counts nothing: quicker, most with --checkers none; the output says that nothing was counted");
  simulate.add_option("--threads", a.threads, "host threads (default all cores); the results do not depend on it");
  simulate.add_option("--limit", a.limits, "ends a kernel after instructions (10G) or a time (30s), see below")
      ->allow_extra_args(false);
  simulate.add_option("--output", a.output, "file for everything, as JSON");
  add_program_options(simulate, a.program);
  add_format_option(simulate, a.format, {"text", "json"});
  add_verbose(simulate, a.verbose);
}

/// A kernel of one of the files, and how it is started.
struct Job {
  std::string file;
  std::shared_ptr<const ptx::Module> module_owner;
  const ptx::Module& module() const { return *module_owner; }
  const ptx::Kernel* kernel = nullptr;
  KernelLaunch launch{};
};

/// Checks the whole command line before anything runs.
std::vector<Job> parse_jobs(const SimulateArguments& given) {
  std::vector<Job> jobs;
  const std::size_t files = given.files.size();
  const std::size_t entries = std::max<std::size_t>(given.entries.size(), 1);
  if (files > 1 && entries > 1 && files != entries) {
    throw UserError(fmt::format("--entry is given {} times for {} files: expected once, or for each", entries, files));
  }
  std::map<std::string, std::shared_ptr<const ptx::Module>> modules;
  for (std::size_t i = 0; i < std::max(files, entries); ++i) {
    const std::string& file = given.files[files == 1 ? 0 : i];
    std::shared_ptr<const ptx::Module>& module = modules[file];
    if (!module) module = std::make_shared<const ptx::Module>(load_module(file, given.compiler));
    const std::string entry = given.entries.empty() ? "" : given.entries[entries == 1 ? 0 : i];
    jobs.push_back({file, module, &find_kernel(*module, entry)});
  }
  for (Job& job : jobs) {
    job.launch = parse_launch(given, job.module(), *job.kernel);
    if (jobs.size() == 1) continue;
    static_cast<void>(parse_request(given, job.module(), *job.kernel));
    const std::vector<ptx::Refusal> refusals = simulated::refusals(job.module(), *job.kernel);
    if (!refusals.empty()) throw ptx::PtxError(job.module().file, refusals[0].position, refusals[0].what);
  }
  return jobs;
}

SimulationReport run_job(const SimulateArguments& given, const Job& job) {
  const WholeRequest request = parse_request(given, job.module(), *job.kernel);
  SimulationReport report = run_simulation(job.module(), *job.kernel, job.launch, request.inputs, request.variables(),
                                           device_options(given, display_name(job.kernel->name)), !given.no_counters);
  for (const ExpectedContent& one : request.expected) {
    report.expectations.push_back(compare(one, content_in(report, one.content)));
  }
  for (const WantedFile& one : request.saved) {
    write_file_bytes(one.file, buffer_file(content_in(report, one.content), one.file));
  }
  return report;
}

/// Prints the result, and writes it to --output.
void give_out(const SimulateArguments& given, const Report& report, const std::string& json) {
  if (!given.output.empty()) write_file_atomically(given.output, json);
  print_as({.format = given.format, .verbose = given.verbose}, report, [&] { return json; });
  if (!given.html.empty()) write_line_page(given.html, json);
}

int list_files(const SimulateArguments& given) {
  Report report;
  std::list<ptx::Module> modules;  // stay where they are, for the lists
  std::vector<KernelList> lists;
  for (const std::string& file : given.files) {
    const ptx::Module& module = modules.emplace_back(load_module(file, given.compiler));
    lists.push_back(list_kernels(module, given.entries.empty() ? nullptr : &find_kernel(module, given.entries[0])));
    add_kernel_list(report, lists.back());
  }
  give_out(given, report, kernel_lists_json(lists));
  return kExitOk;
}

int run_side_by_side(const SimulateArguments& given, const std::vector<Job>& jobs) {
  std::vector<LabelledReport> launches;
  std::vector<int> codes;
  for (const Job& job : jobs) {
    launches.push_back({job.file, run_job(given, job)});
    codes.push_back(exit_code_of(launches.back().report));
  }
  give_out(given, side_by_side_report(launches), simulations_json(launches));
  for (const int code : {kExitInterrupted, kExitCasesFailed, kExitUnexpected, kExitInconclusive}) {
    if (std::ranges::find(codes, code) != codes.end()) return code;
  }
  return kExitOk;
}

int simulate_command(SimulateArguments& given, const CommandLine& command_line) {
  if (const std::size_t equals = given.output.find('='); equals != std::string::npos) {
    throw UserError(fmt::format("--output {}: a buffer is now written by --save NAME=FILE", given.output));
  }
  check_output_file("--output", given.output);
  check_output_file("--html", given.html);
  if (!given.html.empty() && !given.lines) throw UserError("--html is a page of lines: with --lines");
  if (asks_for_program(command_line)) {
    return simulate_program(command_line, {.options = given.program,
                                           .checkers = given.checkers,
                                           .schedules = given.schedules,
                                           .lines = given.lines,
                                           .html = given.html,
                                           .threads = given.threads,
                                           .limits = given.limits,
                                           .format = given.format,
                                           .verbose = given.verbose,
                                           .output = given.output});
  }
  refuse_program_options(command_line);
  if (given.files.empty()) throw UserError("FILE is required (see 'convladder simulate --help')");
  refuse_program_as_file(given.files);
  if (given.list && given.entries.size() > 1) throw UserError("--list takes one --entry");
  if (given.list) return list_files(given);
  const std::vector<Job> jobs = parse_jobs(given);
  if (jobs.size() > 1 && !given.saved.empty()) {
    throw UserError(fmt::format("--save {}: each of the {} kernels would write it", given.saved[0], jobs.size()));
  }
  if (jobs.size() > 1) return run_side_by_side(given, jobs);
  const SimulationReport report = run_job(given, jobs[0]);
  give_out(given, simulation_report(report), simulation_json(report));
  return exit_code_of(report);
}

const CommandRegistration simulate_registration(
    {.name = "simulate",
     .group = CommandGroup::without_a_gpu,
     .help = "run a PTX or CUDA kernel on the simulated device",
     .footer = kSimulateFooter,
     .add = command_of<SimulateArguments, add_simulate_options, simulate_command>});

}  // namespace
}  // namespace convladder
