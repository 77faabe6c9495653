#include "ladders/stage_build.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <system_error>

#include "devices/ptxas_report.hpp"
#include "ladders/compiler_settings.hpp"
#include "ladders/compilers.hpp"
#include "ladders/launch_plan.hpp"
#include "ladders/program_output.hpp"
#include "ladders/python_stages.hpp"
#include "ladders/stage_cache.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/folder_links.hpp"
#include "support/printable.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"

namespace convladder {
namespace {

namespace fs = std::filesystem;

/// "SIZE TIME PATH": a file's state when something was made of it. Empty if it is not there.
std::string stamp(const fs::path& file) {
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(file, error);
  if (error) return {};
  const fs::file_time_type time = fs::last_write_time(file, error);
  if (error) return {};
  return fmt::format("{} {} {}", bytes, time.time_since_epoch().count(), file.string());
}

std::string find_cxx() {
  const char* const named = std::getenv("CXX");
  if (named != nullptr && *named != '\0') return is_program(named) ? named : on_the_path(named);
  for (const char* const name : {"c++", "g++", "clang++"}) {
    if (std::string found = on_the_path(name); !found.empty()) return found;
  }
  return {};
}

/// The prerequisites of a make rule, as compilers write it: `target: file file \`, with spaces as "\ ".
std::vector<std::string> prerequisites(std::string_view rule) {
  std::vector<std::string> files;
  std::string file;
  const auto finish = [&] {
    if (!file.empty()) files.push_back(std::move(file));
    file.clear();
  };
  std::size_t at = rule.find(": ");
  if (at == std::string_view::npos) return {};
  for (at += 2; at < rule.size(); ++at) {
    if (rule[at] == '\\' && at + 1 < rule.size()) {
      ++at;
      if (rule[at] == '\n') {
        finish();
      } else {
        file += rule[at];
      }
    } else if (rule[at] == ' ' || rule[at] == '\n') {
      finish();
    } else {
      file += rule[at];
    }
  }
  finish();
  return files;
}

/// Why a file that was included may not be, or empty: one whose path stays in the source's folder must not leave it by
/// a link, also not by one in a hidden folder.
std::string why_not_included(const std::vector<std::string>& files, const fs::path& source,
                             const std::vector<fs::path>& includes) {
  std::error_code error;
  const fs::path folder = source.parent_path().lexically_normal();
  std::vector<fs::path> allowed = includes;
  allowed.push_back(fs::canonical(folder, error));
  for (const std::string& file : files) {
    if (!lies_in(fs::path(file).lexically_normal(), folder)) continue;
    const std::string why = why_not_followed(file, allowed);
    if (!why.empty()) return fmt::format("{}: {}", printable(file), why);
  }
  return {};
}

/// The path of a library and those of the files beside it: the stamps of its sources, and its header.
struct Place {
  fs::path library;
  fs::path stamps;
  fs::path header;
};

/// The files with its PTX and with ptxas's report beside a library.
fs::path ptx_file(const fs::path& library) { return fs::path(library).replace_extension(".ptx"); }
fs::path report_file(const fs::path& library) { return fs::path(library).replace_extension(".ptxas"); }
/// The file with the paths that a process reads besides the library.
fs::path reads_file(const fs::path& library) { return fs::path(library).replace_extension(".reads"); }

/// The architectures that simulator/gpus asks for and that take the PTX.
constexpr std::array<const char*, 2> kReportedArchitectures = {"sm_80", "sm_90"};

/// The architectures that ptxas is asked for: those that take the PTX, or the target alone where no other does
/// ("sm_90a").
std::vector<std::string> reported_architectures(const std::string& target) {
  const auto number = [](const std::string& architecture) { return std::atoi(architecture.c_str() + 3); };
  std::vector<std::string> taking;
  if (is_digit(target.back())) {
    std::ranges::copy_if(kReportedArchitectures, std::back_inserter(taking),
                         [&](const std::string& one) { return number(one) >= number(target); });
  }
  return taking.empty() ? std::vector{target} : taking;
}

/// Has ptxas report on PTX files in the folder, and keeps both beside the library.
void keep_ptx(const std::string& nvcc, const std::string& target, const std::vector<fs::path>& files,
              const fs::path& folder, const fs::path& library) {
  std::string report;
  std::string text;
  const fs::path ptxas = fs::path(nvcc).parent_path() / "ptxas";
  for (const fs::path& file : files) {
    text += read_file_text(file.string());
    if (!is_program(ptxas.string())) continue;
    for (const std::string& architecture : reported_architectures(target)) {
      const std::string made = (folder / "stage.cubin").string();
      report += run_program({ptxas.string(), "-v", "-arch", architecture, "-o", made, file.string()},
                            compiler_settings(ptxas.string(), {file}, folder))
                    .messages;
    }
  }
  write_file_atomically(report_file(library), report);
  write_file_atomically(ptx_file(library), text);
}

/// Whether the library is there and everything that it was made of is unchanged.
bool is_up_to_date(const Place& place) {
  if (!is_file_of_ones_own(place.library) || !is_file_of_ones_own(place.stamps)) return false;
  for (const std::string& line : split(read_file_text(place.stamps.string()), '\n')) {
    if (line.empty()) continue;
    std::size_t begin = line.find(' ');
    if (begin != std::string::npos) begin = line.find(' ', begin + 1);
    if (begin == std::string::npos || stamp(line.substr(begin + 1)) != line) return false;
  }
  return true;
}

/// The values of all parameters of the stage, in their order: the first where none is chosen.
StageDefinitions all_parameters(const StageSource& stage, const StageDefinitions& chosen) {
  StageDefinitions all;
  for (const StageParameter& one : stage.parameters) {
    const auto found = std::ranges::find(chosen, one.name, &StageDefinitions::value_type::first);
    all.emplace_back(one.name, found == chosen.end() ? one.values.front() : found->second);
  }
  return all;
}

constexpr const char* kIncludes = "#pragma once\n#include <stdint.h>\n";

std::vector<std::string> cuda_words(const std::string& nvcc, const std::string& target) {
  // PTX, which every later GPU and the simulated device takes; the runtime is shared, so that a stand-in can replace
  // it.
  return {nvcc,
          "-std=c++17",
          "-O3",
          "-lineinfo",
          "-arch=compute_" + target.substr(target.find('_') + 1),
          "-cudart=shared",
          "-Xcompiler=-fPIC",
          "-Xlinker=--require-defined=solve",
          "-Xlinker=-z,defs",
          "-shared",
          "--keep"};
}

std::vector<std::string> cpp_words(const std::string& compiler) {
  return {compiler,     "-std=c++20",    "-O3",
          "-g1",        "-march=native", "-fopenmp",
          "-fPIC",      "-shared",       "-Wl,--require-defined=solve",
          "-Wl,-z,defs"};
}

/// The command for the source that launches a stage of PTX, or calls one in Python; it computes nothing itself.
std::vector<std::string> ptx_words(const std::string& compiler) {
  return {compiler, "-std=c++20", "-O2", "-fPIC", "-shared", "-Wl,--require-defined=solve"};
}

std::vector<std::string> reference_words(const std::string& compiler) {
  // These options give the same sums on every machine.
  return {compiler,     "-std=c++20",        "-O2",
          "-g1",        "-ffp-contract=off", "-fopenmp-simd",
          "-fPIC",      "-shared",           "-Wl,--require-defined=reference",
          "-Wl,-z,defs"};
}

/// A name that no other process and no other thread takes.
std::string own_name() {
  static std::atomic<unsigned> count = 0;
  return fmt::format("{}.{}.new", getpid(), ++count);
}

}  // namespace

StageBuilder::StageBuilder(fs::path cache) : cache_(std::move(cache)) {
  std::error_code error;
  fs::create_directories(cache_, error);
  if (error) throw UserError(fmt::format("{}: cannot be made: {}", cache_.string(), error.message()));
}

/// The order for one library.
struct StageBuilder::Order {
  std::vector<std::string> words;  ///< the compiler and its options
  fs::path source;
  std::vector<std::string> libraries;  ///< "-ldnnl": these stand behind the source
  std::vector<fs::path> includes;      ///< folders with headers, beside the source's own
  std::string header;          ///< included before the source: what it has to define, and the name that it is called by
  std::string signature;       ///< for the message if the source does not define it
  std::string generated = {};  ///< what is compiled instead of the source, which it includes or holds
  std::string is_both = {};    ///< the error if the source defines `solve` beside the generated one
  std::string target = kUsualTarget;      ///< of a stage for GPUs
  std::vector<std::string> modules = {};  ///< the texts of the PTX that is held, without nvcc
  std::string python = {};                ///< the interpreter that is asked first, for a stage in Python
  std::string request = {};               ///< with this
  /// Adds to the order what follows from the interpreter's answer. Throws UserError.
  std::function<void(Order& order, const PythonResult& result)> take_in = {};
};

StageBuild StageBuilder::build(const LadderFolder& folder, const StageSource& stage,
                               const StageDefinitions& definitions) const {
  if (stage.language == StageLanguage::python) return build_python(folder, stage, definitions);
  const fs::path source = fs::absolute(folder.path / stage.file);
  const std::string place = printable(source.string());
  const bool is_cuda = stage.language == StageLanguage::cuda;
  const bool is_ptx = stage.language == StageLanguage::ptx;
  if (is_ptx && stage.launches.empty()) {
    return {.error = fmt::format("{}:1: no @launch: PTX has no solve, so the head says how its kernels are launched",
                                 place)};
  }
  const std::string compiler = is_cuda ? find_nvcc() : find_cxx();
  if (compiler.empty()) return {.missing = is_cuda ? "nvcc was not found" : "no C++ compiler was found"};
  Order order{.words = is_cuda  ? cuda_words(compiler, stage.target)
                       : is_ptx ? ptx_words(compiler)
                                : cpp_words(compiler),
              .source = source,
              .libraries = {},
              .includes = folder.include_folders,
              .header = kIncludes,
              .signature = folder.problem.signature(is_cuda),
              .target = stage.target};
  if (is_cuda) order.header += "#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n";
  order.header += fmt::format("{};\n{}\n", order.signature, folder.problem.solve_call(is_cuda, kSolveCall));
  if (stage.launches.empty()) {
    for (const auto& [name, value] : definitions) order.words.push_back(fmt::format("-D{}={}", name, value));
  } else {
    try {
      add_launches(order, folder.problem, stage, definitions);
    } catch (const UserError& error) {
      return {.error = error.what()};
    }
  }
  for (const std::string& name : stage.libraries) order.libraries.push_back("-l" + name);
  if (is_ptx) order.libraries.emplace_back("-ldl");
  return carry_out(order);
}

void StageBuilder::add_launches(Order& order, const LadderProblem& problem, const StageSource& stage,
                                const StageDefinitions& definitions) {
  // The launches' sizes have to agree with the compiled code, whatever the source's own defaults are.
  std::vector<int> values;
  for (const auto& [name, value] : all_parameters(stage, definitions)) {
    values.push_back(value);
    order.words.push_back(fmt::format("-D{}={}", name, value));
  }
  const std::string place = printable(order.source.string());
  const LaunchPlan plan(stage, problem, place);
  order.header += plan.first_text();
  if (stage.language == StageLanguage::cuda) {
    order.generated = plan.cuda_source(order.source.string(), values);
    order.is_both =
        fmt::format("{}:{}: @launch beside a function solve: which of them?", place, stage.launches.front().line);
    return;
  }
  order.modules = {read_file_text(order.source.string())};
  order.generated = plan.ptx_source(plan.ptx_launches(order.modules.front()), values);
}

StageBuild StageBuilder::build_python(const LadderFolder& folder, const StageSource& stage,
                                      const StageDefinitions& definitions) const {
  const std::string python = find_python();
  const std::string compiler = find_cxx();
  if (python.empty()) return {.missing = fmt::format("{} was not found (PYTHON names another)", convladder::python())};
  if (compiler.empty()) return {.missing = "no C++ compiler was found"};
  const fs::path source = fs::absolute(folder.path / stage.file);
  const StageDefinitions parameters = all_parameters(stage, definitions);
  Order order{.words = ptx_words(compiler),
              .source = source,
              .libraries = {"-ldl"},
              .includes = folder.include_folders,
              .header = fmt::format("{}{};\n{}\n", kIncludes, folder.problem.signature(false),
                                    folder.problem.solve_call(false, kSolveCall)),
              .signature = folder.problem.signature(false),
              .target = stage.target,
              .python = python,
              .request = python_request(folder, stage, source, python, parameters)};
  order.take_in = [&](Order& taking, const PythonResult& result) {
    if (stage.launches.empty()) {
      taking.generated =
          python_call_source(folder.problem, source, read_file_text(source.string()), parameters, result);
      return;
    }
    std::vector<int> values;
    for (const auto& [name, value] : parameters) values.push_back(value);
    const LaunchPlan plan(stage, folder.problem, printable(source.string()));
    taking.header += plan.first_text();
    taking.generated = plan.ptx_source(result.launches, values);
    for (const PtxLaunch& one : result.launches) {
      if (std::ranges::find(taking.modules, one.ptx) == taking.modules.end()) taking.modules.push_back(one.ptx);
    }
  };
  return carry_out(std::move(order));
}

StageBuild StageBuilder::build_reference(const LadderFolder& folder) const {
  const std::string compiler = find_cxx();
  if (compiler.empty()) return {.missing = "no C++ compiler was found"};
  const std::string signature = folder.problem.reference_signature();
  return carry_out(
      {.words = reference_words(compiler),
       .source = fs::absolute(folder.path / folder.reference),
       .libraries = {},
       .includes = folder.include_folders,
       .header = fmt::format("{}{};\n{}\n", kIncludes, signature, folder.problem.reference_call(kReferenceCall)),
       .signature = signature});
}

namespace {

/// The paths, a line each, that a CPU stage in Python reads besides its library: the interpreter's folders, and the
/// stage's own modules.
std::string python_reads(const PythonResult& result) {
  std::string reads;
  if (result.library.empty()) return reads;
  std::vector<std::string> all{result.library, result.home, result.prefix};
  all.insert(all.end(), result.files.begin(), result.files.end());
  for (const std::string& one : all) reads += one + '\n';
  return reads;
}

}  // namespace

StageBuild StageBuilder::carry_out(Order order) const {
  std::vector<std::string> words = order.words;
  for (const fs::path& folder : order.includes) words.push_back("-I" + folder.string());
  std::string made_of = stamp(fs::canonical(words.front())) + '\n' + order.header + '\n' + order.source.string() +
                        '\n' + order.generated + '\n' + order.request + '\n' +
                        (order.python.empty() ? "" : stamp(fs::canonical(order.python))) + '\n';
  for (const auto* const list : {static_cast<const std::vector<std::string>*>(&words),
                                 static_cast<const std::vector<std::string>*>(&order.libraries)}) {
    for (const std::string& word : *list) made_of += word + '\n';
  }
  made_of += read_file_text(order.source.string());
  const std::string key = sha256_hex(made_of);
  const Place place{cache_ / (key + ".so"), cache_ / (key + ".made_of"), cache_ / (key + ".hpp")};
  if (is_up_to_date(place)) return {.library = place.library, .was_built_before = true};

  const fs::path scratch = cache_ / (key + "." + own_name());
  fs::create_directory(scratch);
  std::error_code error;
  PythonResult python;
  if (!order.python.empty()) {
    std::vector<fs::path> readable = order.includes;
    readable.push_back(order.source.parent_path());
    python = compile_python(order.request, order.python, readable, scratch, cache_);
    try {
      if (python.error.empty() && python.missing.empty()) order.take_in(order, python);
    } catch (const UserError& wrong) {
      python.error = wrong.what();
    }
    if (!python.error.empty() || !python.missing.empty()) {
      fs::remove_all(scratch, error);
      return {.error = python.error, .missing = python.missing};
    }
  }
  write_file_atomically(place.header, order.header);
  const fs::path fresh = scratch / "stage.so";
  const fs::path rule = scratch / "stage.d";
  fs::path compiled = order.source;
  if (!order.generated.empty()) {
    compiled = scratch / (words.front().ends_with("nvcc") ? "launched.cu" : "launched.cpp");
    write_file_atomically(compiled, order.generated);
  }
  words.insert(words.end(), {"-include", place.header.string(), "-MD", "-MF", rule.string(), "-o", fresh.string(),
                             compiled.string()});
  words.insert(words.end(), order.libraries.begin(), order.libraries.end());
  const bool keeps_ptx = std::ranges::find(words, "--keep") != words.end();
  if (keeps_ptx) words.insert(words.end(), {"--keep-dir", scratch.string()});
  std::vector<fs::path> readable = order.includes;
  readable.insert(readable.end(), {order.source.parent_path(), order.source, place.header});
  const ProgramOutput output = run_program(words, compiler_settings(words.front(), readable, scratch));
  StageBuild build;
  if (!output.succeeded() || !fs::exists(fresh, error)) {
    const auto says = [&](const char* text) { return output.messages.find(text) != std::string::npos; };
    if (says("No space left on device")) {
      fs::remove_all(scratch, error);
      throw UserError(fmt::format("{}: cannot be written: No space left on device", cache_.string()));
    }
    // The linkers' messages about it would not tell anybody what to write.
    const bool is_missing = says("required symbol");
    // The header declares what is expected: in the words of g++, clang++ and nvcc.
    const bool is_other = says("conflicting") || says("with \"C\" linkage") || says("has \"C\" linkage");
    const bool is_both = !order.is_both.empty() && says("\"solve\" has already been defined");
    build.error = output.timed_out ? fmt::format("the compiler took longer than {:g} s", kMostCompilingSeconds)
                  : is_both        ? order.is_both
                  : is_missing     ? "it does not define " + order.signature
                                   : first_compiler_error(output.messages);
    if (is_other) build.error += fmt::format("; expected {}", order.signature);
    build.messages = output.messages;
  } else {
    const std::vector<std::string> read = prerequisites(read_file_text(rule.string()));
    build.error = why_not_included(read, order.source, order.includes);
    if (!build.error.empty()) {
      fs::remove_all(scratch, error);
      return build;
    }
    std::string stamps;
    for (const std::string& file : read) {
      if (file != order.source.string() && file != compiled.string())
        stamps += stamp(file) + '\n';  // its text is in the key
    }
    for (const std::string& file : python.files) stamps += stamp(file) + '\n';
    std::vector<fs::path> ptx;
    if (const fs::path kept = scratch / (compiled.stem().string() + ".ptx"); keeps_ptx && fs::exists(kept, error)) {
      ptx.push_back(kept);
    }
    for (std::size_t i = 0; i < order.modules.size(); ++i) {
      ptx.push_back(scratch / fmt::format("module{}.ptx", i));
      write_file_atomically(ptx.back(), order.modules[i]);
    }
    if (!ptx.empty()) keep_ptx(keeps_ptx ? words.front() : find_nvcc(), order.target, ptx, scratch, place.library);
    if (const std::string reads = python_reads(python); !reads.empty()) {
      write_file_atomically(reads_file(place.library), reads);
    }
    fs::rename(fresh, place.library);
    write_file_atomically(place.stamps, stamps);
    build.library = place.library;
  }
  fs::remove_all(scratch, error);
  return build;
}

std::string content_of(const StageBuild& build) {
  return build.library.empty() ? std::string() : sha256_hex(read_file_text(build.library.string()));
}

std::vector<fs::path> files_to_load(const fs::path& library) {
  std::vector<fs::path> files{library};
  const fs::path reads = reads_file(library);
  if (!is_file_of_ones_own(reads)) return files;
  for (const std::string& line : split(read_file_text(reads.string()), '\n')) {
    if (!line.empty()) files.emplace_back(line);
  }
  return files;
}

std::string stage_ptx(const StageBuild& build) {
  std::error_code error;
  const fs::path file = ptx_file(build.library);
  return build.library.empty() || !fs::exists(file, error) ? std::string() : read_file_text(file.string());
}

std::vector<KernelResources> stage_resources(const StageBuild& build) {
  std::error_code error;
  const fs::path file = report_file(build.library);
  if (build.library.empty() || !fs::exists(file, error)) return {};
  try {
    std::vector<KernelResources> resources = parse_ptxas_report(read_file_text(file.string()));
    // The letter of sm_90a says which instructions there are, and nothing of registers.
    for (KernelResources& one : resources) {
      if (!one.architecture.empty() && !is_digit(one.architecture.back())) one.architecture.pop_back();
    }
    return resources;
  } catch (const PtxasReportError&) {
    return {};  // from a ptxas that words it differently
  }
}

}  // namespace convladder
