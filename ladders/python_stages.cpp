#include "ladders/python_stages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <system_error>

#include "ladders/compiler_settings.hpp"
#include "ladders/compilers.hpp"
#include "ladders/launch_texts.hpp"
#include "ladders/program_output.hpp"
#include "ladders/python_call_text.hpp"
#include "ladders/source_literal.hpp"
#include "support/errors.hpp"
#include "support/file_bytes.hpp"
#include "support/folder_links.hpp"
#include "support/json_text.hpp"
#include "support/printable.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"

namespace convladder {

const std::vector<EmbeddedFile>& embedded_python_stages();

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kCaller = "stage_caller.py";
constexpr int kUsualDivisor = 16;  // elements: with it a kernel may load and store vectors

/// Whether a size that the stage runs makes the dimension a multiple of 16: `@requires mod(N, 64) == 0` says so.
bool is_divisible(const StageSource& stage, const std::string& name) {
  return std::ranges::any_of(stage.needs, [&](const std::string& need) {
    std::string text = need;
    std::erase(text, ' ');
    const std::string begin = fmt::format("mod({},", name);
    if (!text.starts_with(begin) || !text.ends_with(")==0")) return false;
    const std::string number = text.substr(begin.size(), text.size() - begin.size() - std::string_view(")==0").size());
    if (number.empty() || number.size() > 9 || !std::ranges::all_of(number, is_digit)) return false;
    const int divisor = std::stoi(number);
    return divisor > 0 && divisor % kUsualDivisor == 0;
  });
}

Json described(const LadderTensor& tensor) {
  Json shape = Json::array();
  for (const Expression& one : tensor.shape) shape.push_back(one.text());
  return {{"text", tensor.name},
          {"kind", "tensor"},
          {"type", element_name(tensor.type)},
          {"shape", shape},
          {"divisible", true}};
}

Json described(const LadderScalar& scalar) {
  return {{"text", scalar.name}, {"kind", "scalar"}, {"type", element_name(scalar.type)}, {"divisible", false}};
}

Json described_number(const StageSource& stage, const std::string& text) {
  return {{"text", text}, {"kind", "value"}, {"type", "i32"}, {"divisible", is_divisible(stage, text)}};
}

Json described_argument(const LadderProblem& problem, const StageSource& stage, const std::string& text) {
  const auto tensor = std::ranges::find(problem.tensors, text, &LadderTensor::name);
  if (tensor != problem.tensors.end()) return described(*tensor);
  const auto scalar = std::ranges::find(problem.scalars, text, &LadderScalar::name);
  return scalar != problem.scalars.end() ? described(*scalar) : described_number(stage, text);
}

/// The arguments of `solve`, in their order.
Json solve_arguments(const LadderProblem& problem, const StageSource& stage) {
  Json all = Json::array();
  for (const LadderTensor& one : problem.tensors) all.push_back(described(one));
  for (const LadderScalar& one : problem.scalars) all.push_back(described(one));
  for (const LadderDimension& one : problem.dimensions) all.push_back(described_number(stage, one.letter));
  return all;
}

/// Pairs of names and values as an object.
Json by_name(const auto& pairs) {
  Json object = Json::object();
  for (const auto& [name, value] : pairs) object[name] = value;
  return object;
}

/// A list of expressions; null for none.
Json sizes_or_null(const std::vector<std::string>& sizes) { return sizes.empty() ? Json() : Json(sizes); }

/// A checksum of the program.
std::string program_hash() {
  std::string all;
  for (const EmbeddedFile& file : embedded_python_stages()) all += file.name + '\n' + file.content;
  return sha256_hex(all);
}

/// The folder with the program, in the cache.
fs::path program_folder(const fs::path& cache) {
  fs::path folder = cache / (program_hash() + ".stages");
  std::error_code error;
  if (fs::exists(folder / "complete", error)) return folder;
  fs::create_directories(folder, error);
  if (error) throw UserError(fmt::format("{}: cannot be made: {}", folder.string(), error.message()));
  for (const EmbeddedFile& file : embedded_python_stages()) write_file_atomically(folder / file.name, file.content);
  write_file_atomically(folder / "complete", "");
  return folder;
}

std::vector<std::string> texts_of(const Json& list) {
  return list.is_array() ? list.get<std::vector<std::string>>() : std::vector<std::string>();
}

PtxField field_of(const Json& json) {
  PtxField field{.type = json.at("type").get<std::string>()};
  const auto take = [&](const char* name, PtxField::Kind kind) {
    if (!json.contains(name)) return;
    field.kind = kind;
    field.text = json.at(name).get<std::string>();
  };
  take("tensor", PtxField::Kind::tensor);
  take("scalar", PtxField::Kind::scalar);
  take("value", PtxField::Kind::value);
  if (json.contains("scratch")) {
    field.kind = PtxField::Kind::scratch;
    field.bytes = json.at("scratch").get<std::int64_t>();
  }
  return field;
}

PtxLaunch launch_of(const Json& json, const fs::path& scratch) {
  const fs::path file = json.at("ptx").get<std::string>();
  // The module may have written this answer: what it names is a file of its own, and no way to another.
  std::error_code error;
  const bool is_file = fs::is_regular_file(fs::symlink_status(file, error));
  if (file.parent_path() != scratch || !is_file) throw UserError("it left its PTX outside of its folder");
  PtxLaunch launch{.ptx = read_file_text(file.string()),
                   .entry = json.at("entry").get<std::string>(),
                   .grid = texts_of(json.at("grid")),
                   .block = texts_of(json.at("block"))};
  if (json.at("shared").is_string()) launch.shared = json.at("shared").get<std::string>();
  for (const Json& parameter : json.at("parameters")) {
    std::vector<PtxField>& fields = launch.parameters.emplace_back();
    for (const Json& field : parameter) fields.push_back(field_of(field));
  }
  return launch;
}

PythonResult result_of(const Json& json, const fs::path& scratch) {
  PythonResult result;
  if (json.contains("error")) result.error = printable(json.at("error").get<std::string>());
  if (json.contains("missing")) result.missing = printable(json.at("missing").get<std::string>());
  if (!result.error.empty() || !result.missing.empty()) return result;
  result.files = texts_of(json.at("read"));
  for (const Json& one : json.value("launches", Json::array())) result.launches.push_back(launch_of(one, scratch));
  if (json.contains("interpreter")) {
    const Json& found = json.at("interpreter");
    result.library = found.at("library").get<std::string>();
    result.home = found.at("home").get<std::string>();
    result.prefix = found.at("prefix").get<std::string>();
    result.path = texts_of(found.at("path"));
    for (const auto& [name, file] : found.at("modules").items()) {
      result.modules.emplace_back(name, file.get<std::string>());
    }
  }
  return result;
}

const char* array_type(ElementType type) {
  switch (type) {
    case ElementType::f16:
      return "float16";
    case ElementType::bf16:
      return "uint16";  // its bits, as in C++
    case ElementType::f32:
      return "float32";
    case ElementType::f64:
      return "float64";
    case ElementType::i8:
      return "int8";
    case ElementType::i16:
      return "int16";
    case ElementType::i32:
      return "int32";
    case ElementType::i64:
      return "int64";
    case ElementType::u8:
      return "uint8";
    case ElementType::u16:
      return "uint16";
    case ElementType::u32:
      return "uint32";
    case ElementType::u64:
      break;
  }
  return "uint64";
}

}  // namespace

std::string python_request(const LadderFolder& folder, const StageSource& stage, const fs::path& source,
                           const std::string& python, const StageDefinitions& parameters) {
  const LadderProblem& problem = folder.problem;
  Json includes = Json::array();
  for (const fs::path& one : folder.include_folders) includes.push_back(one.string());
  Json names = solve_arguments(problem, stage);
  for (const DerivedValue& one : problem.derived) names.push_back(described_number(stage, one.name));
  Json launches = Json::array();
  for (const StageLaunch& one : stage.launches) {
    Json arguments;
    if (one.arguments) {
      arguments = Json::array();
      for (const std::string& text : *one.arguments) arguments.push_back(described_argument(problem, stage, text));
    }
    Json block = sizes_or_null(one.block);
    for (Json& size : block) {  // a parameter's value is known here
      const auto known = std::ranges::find(parameters, size.get<std::string>(), &StageDefinitions::value_type::first);
      if (known != parameters.end()) size = std::to_string(known->second);
    }
    launches.push_back({{"line", one.line},
                        {"kernel", one.kernel},
                        {"block", block},
                        {"threads", sizes_or_null(one.threads)},
                        {"arguments", arguments}});
  }
  const char* const beyond = std::getenv("PYTHONPATH");
  const Json request{{"program", program_hash()},
                     {"source", source.string()},
                     {"python_path", beyond == nullptr ? "" : beyond},
                     {"include_folders", includes},
                     {"target", stage.target},
                     {"python", python},
                     {"parameters", by_name(parameters)},
                     {"names", names},
                     {"solve", solve_arguments(problem, stage)},
                     {"launches", launches}};
  return request.dump();
}

PythonResult compile_python(const std::string& request, const std::string& python,
                            const std::vector<fs::path>& readable, const fs::path& scratch, const fs::path& cache) {
  const fs::path program = program_folder(cache);
  const fs::path asked = scratch / "request.json";
  const fs::path answered = scratch / "result.json";
  write_file_atomically(asked, request);
  std::vector<fs::path> all = readable;
  all.push_back(program);
  const ProgramSettings settings = compiler_settings(python, all, scratch);
  const ProgramOutput output =
      run_program({python, "-B", program.string(), asked.string(), answered.string()}, settings);
  std::error_code error;
  if (output.timed_out) return {.error = fmt::format("its compiler took longer than {:g} s", kMostCompilingSeconds)};
  const bool is_there = fs::is_regular_file(fs::symlink_status(answered, error));
  if (!output.succeeded() || !is_there) {
    return {.error = fmt::format("its compiler ended without a result: {}", first_compiler_error(output.messages))};
  }
  try {
    PythonResult result =
        result_of(parse_json(read_file_text(answered.string()), "its compiler's result", "a result"), scratch);
    // The module may have written the answer itself. It names nothing that it could not read here.
    const auto is_open = [&](const std::string& path) {
      const FileWish& files = settings.confinement->files;
      const fs::path file = fs::path(path).lexically_normal();
      const auto holds = [&](const fs::path& folder) { return lies_in(file, folder); };
      return std::ranges::any_of(files.start, holds) || std::ranges::any_of(readable, holds);
    };
    std::erase_if(result.files, [&](const std::string& file) { return !is_open(file); });
    const bool has_interpreter = !result.library.empty();
    if (has_interpreter && (!is_open(result.library) || !is_open(result.home) || !is_open(result.prefix))) {
      return {.error = "its interpreter lies elsewhere than the one that was asked"};
    }
    return result;
  } catch (const nlohmann::json::exception&) {
    return {.error = "its compiler left a result that cannot be read"};
  } catch (const UserError& wrong) {
    return {.error = wrong.what()};
  }
}

std::string python_call_source(const LadderProblem& problem, const fs::path& source, const std::string& text,
                               const StageDefinitions& parameters, const PythonResult& result) {
  Json tensors = Json::array();
  for (const LadderTensor& one : problem.tensors) {
    tensors.push_back(
        Json::array({one.name, array_type(one.type), one.shape.size(), one.role == TensorRole::in ? 0 : 1}));
  }
  const Json setting{{"modules", by_name(result.modules)},
                     {"source", text},
                     {"file", source.string()},
                     {"path", result.path},
                     {"prefix", result.prefix},
                     {"parameters", by_name(parameters)},
                     {"tensors", tensors}};
  const auto caller = std::ranges::find(embedded_python_stages(), kCaller, &EmbeddedFile::name);
  // The interpreter reads the dictionary as JSON, since not every text of JSON is one of Python.
  const std::string program = fmt::format("import json\nCONVLADDER = json.loads({})\n{}",
                                          Json(setting.dump(-1, ' ', true)).dump(-1, ' ', true), caller->content);
  std::string calls = fmt::format("{} {{\n", problem.signature(false));
  std::vector<std::string> known;
  for (const LadderDimension& one : problem.dimensions) known.push_back(fmt::format("(double){}", one.letter));
  for (std::size_t i = 0; i < problem.derived.size(); ++i) {
    calls += fmt::format("  const double convladder_d{} = {};\n", i, problem.derived[i].value.c_text(known));
    known.push_back(fmt::format("convladder_d{}", i));
  }
  std::string arguments;
  const auto add = [&arguments](const std::string& one) { arguments += (arguments.empty() ? "" : ", ") + one; };
  for (const LadderTensor& one : problem.tensors) {
    add(fmt::format("(const void*){}", one.name));
    for (const Expression& extent : one.shape) add(fmt::format("(long long)({})", extent.c_text(known)));
  }
  for (const LadderScalar& one : problem.scalars) add(one.name);
  for (const LadderDimension& one : problem.dimensions) add(one.letter);
  calls += fmt::format("  convladder_call_python({});\n}}\n", arguments);
  return fmt::format(
      "static const char convladder_library[] = {};\nstatic const char convladder_home[] = {};\n"
      "static const char convladder_program[] = {};\n{}{}{}",
      source_literal(result.library), source_literal(result.home), source_literal(program), kExpressionText,
      kPythonCallText, calls);
}

}  // namespace convladder
