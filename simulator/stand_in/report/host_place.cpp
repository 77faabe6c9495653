#include "simulator/stand_in/report/host_place.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <string_view>
#include <utility>

#include "support/function_name.hpp"
#include "support/short_names.hpp"
#include "support/text.hpp"

namespace convladder::stand_in {
namespace {

constexpr std::array<std::string_view, 4> kSystemFolders = {"/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/"};

bool is_of_the_system(std::string_view file) {
  return std::ranges::any_of(kSystemFolders, [file](std::string_view folder) { return file.starts_with(folder); });
}

/// Whether a source is a header of a compiler, library or toolkit, wherever it is installed.
bool is_header_of_others(std::string_view source) {
  const bool is_installed = source.starts_with("/usr/") || source.starts_with("/opt/");
  return (is_installed && source.find("/include/") != std::string_view::npos) ||
         source.find("/targets/x86_64-linux/include/") != std::string_view::npos || source.ends_with("cuda_runtime.h");
}

/// The output of a tool; empty if it cannot be started. It sees neither our libraries nor the program's input.
std::string output_of(std::vector<std::string> words) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return "";
  posix_spawn_file_actions_t actions{};
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  std::vector<char*> pointers = null_terminated(words);
  std::vector<char*> environment;
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string_view text = *one;
    if (text.starts_with("LD_LIBRARY_PATH=") || text.starts_with("LD_PRELOAD=") || text.starts_with("LD_AUDIT="))
      continue;
    environment.push_back(*one);
  }
  environment.push_back(nullptr);
  pid_t process = 0;
  const int failed = posix_spawnp(&process, words[0].c_str(), &actions, nullptr, pointers.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string text;
  if (failed == 0) {
    std::array<char, 4096> buffer{};
    ssize_t count = 0;
    while ((count = read(ends[0], buffer.data(), buffer.size())) != 0) {
      if (count > 0) {
        text.append(buffer.data(), static_cast<std::size_t>(count));
      } else if (errno != EINTR) {
        break;
      }
    }
    while (waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  close(ends[0]);
  return text;
}

std::string symbolized(const std::string& file, const std::vector<const CallPlace*>& places) {
  const std::array<std::vector<std::string>, 2> tools = {
      {{"addr2line", "-a", "-f", "-C", "-i", "-e", file},
       {"llvm-symbolizer", "--output-style=GNU", "-a", "-f", "-C", "-i", "-e", file}}};
  for (std::vector<std::string> words : tools) {
    for (const CallPlace* place : places) words.push_back(fmt::format("0x{:x}", place->offset));
    if (std::string text = output_of(std::move(words)); !text.empty()) return text;
  }
  return "";
}

/// Reads "/path/x.cu:31 (discriminator 2)".
void read_source(std::string_view text, HostPlace& place) {
  text = text.substr(0, text.find(" (discriminator"));
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || text.starts_with("??")) return;
  const std::string_view number = text.substr(colon + 1);
  if (std::from_chars(number.data(), number.data() + number.size(), place.line).ec != std::errc() || place.line == 0) {
    return;
  }
  place.file = text.substr(0, colon);
}

/// A call, behind the calls that were inlined there, innermost first.
using InlinedPlaces = std::vector<HostPlace>;

/// Reads, for every address, its line, then a function and its source, two lines each, the innermost first.
std::vector<InlinedPlaces> parse_symbolized(std::string_view text, const std::string& binary) {
  std::vector<InlinedPlaces> found;
  bool function_follows = true;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (function_follows && line.starts_with("0x")) {
      found.emplace_back();
      continue;
    }
    if (found.empty()) found.emplace_back();
    if (function_follows) {
      found.back().push_back(
          {.function = line == "??" ? "" : std::string(line), .file = "", .line = 0, .binary = binary});
    } else {
      read_source(line, found.back().back());
    }
    function_follows = !function_follows;
  }
  return found;
}

/// The name without return type, namespaces and arguments: "void space::copy<float>(float*)" -> "copy".
std::string short_name(std::string_view function) {
  std::string name = function_name(function);
  if (!name.starts_with("operator")) name.erase(std::min(name.find('<'), name.size()));
  const std::size_t colon = name.rfind(':');
  return colon == std::string::npos ? name : name.substr(colon + 1);
}

/// Whether it is the stub that nvcc makes for <<<>>>, which is called by a function with the kernel's name, or by a
/// wrapper if that function is a template's or static.
bool is_stub(std::string_view function) { return function.find("__device_stub_") != std::string_view::npos; }

/// Whether the function has the name of the kernel that the stub launches: mangled names hold the length of a name.
bool is_of_kernel(std::string_view stub, std::string_view function) {
  const std::string name = short_name(function);
  return !name.empty() && (stub.find(fmt::format("{}{}", name.size(), name)) != std::string_view::npos ||
                           short_name(stub).ends_with("_" + name));
}

/// Removes a kernel's function of the host, which calls the stub, where it was inlined: the wrapper in the file that
/// nvcc makes, and the kernel's definition, which addr2line may give the name of the function around it.
void leave_out_kernel(InlinedPlaces& places, std::string_view stub) {
  const auto is_wrapper = [](const HostPlace& place) { return place.file.ends_with(".cudafe1.stub.c"); };
  bool has_wrapper = false;
  while (!places.empty() && is_wrapper(places.front())) {
    has_wrapper = true;
    places.erase(places.begin());
  }
  if (places.empty()) return;
  const bool is_misnamed = !has_wrapper && places.size() > 1 && places.front().function == places.back().function;
  if (is_misnamed || is_of_kernel(stub, places.front().function)) places.erase(places.begin());
}

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

HostPlace own_place(const std::vector<CallPlace>& places) {
  if (places.empty()) return {};
  if (const CallPlace& python = places.front(); python.line > 0) {
    return {.function = python.function, .file = python.file, .line = python.line, .binary = python.file};
  }
  std::vector<const CallPlace*> looked;
  for (const CallPlace& place : places) {
    if (!is_of_the_system(place.file)) looked.push_back(&place);
  }
  HostPlace best{
      .function = "", .file = "", .line = 0, .binary = (looked.empty() ? places.front() : *looked.front()).file};
  while (!looked.empty()) {
    const std::string file = looked[0]->file;
    std::vector<const CallPlace*> of_file;
    for (const CallPlace* place : looked) {
      if (place->file == file) of_file.push_back(place);
    }
    std::string stub;  // one that the next call may have made
    for (InlinedPlaces& call : parse_symbolized(symbolized(file, of_file), file)) {
      const auto found = std::ranges::find_if(call, [](const HostPlace& place) { return is_stub(place.function); });
      if (found != call.end()) {
        stub = found->function;
        continue;
      }
      if (!stub.empty()) leave_out_kernel(call, stub);
      // A function of the kernel's name, or a wrapper, that was not inlined leaves nothing here.
      if (!call.empty()) stub.clear();
      for (const HostPlace& place : call) {
        if (place.function.starts_with("cudaError") || place.function.starts_with("__cuda")) continue;  // nvcc's own
        if (!place.file.empty() && !is_header_of_others(place.file)) return place;
        if (best.function.empty() && place.file.empty()) best = place;
      }
    }
    std::erase_if(looked, [&file](const CallPlace* place) { return place->file == file; });
  }
  return best;
}

std::string place_text(const HostPlace& place) {
  if (place.binary.empty()) return "";
  if (place.function == "<module>") return fmt::format("{} line {}", base_name(place.file), place.line);
  std::string function = function_name(place.function);
  if (const auto shorter = short_names({function}); !shorter.empty()) function = shorter.begin()->second;
  if (!place.file.empty()) return fmt::format("{}, {} line {}", function, base_name(place.file), place.line);
  return fmt::format("{}{} (compile it with -g for the line)", function.empty() ? "" : function + " in ",
                     base_name(place.binary));
}

}  // namespace convladder::stand_in
