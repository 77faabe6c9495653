#include "devices/ptxas_report.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string>

#include "support/text.hpp"

namespace convladder {
namespace {

/// The text between the next pair of single quotes at or after `position`, which moves behind it.
std::optional<std::string_view> quoted(std::string_view line, std::size_t& position) {
  const std::size_t open = line.find('\'', position);
  if (open == std::string_view::npos) return std::nullopt;
  const std::size_t close = line.find('\'', open + 1);
  if (close == std::string_view::npos) return std::nullopt;
  position = close + 1;
  return line.substr(open + 1, close - open - 1);
}

int number(std::string_view digits, std::string_view line) {
  int value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stopped, error] = std::from_chars(digits.data(), end, value);
  if (error != std::errc() || stopped != end || value < 0) {
    throw PtxasReportError(fmt::format("ptxas report: '{}' is not a number, in: {}", digits, line));
  }
  return value;
}

/// The sum of "24" or "8+16" at the start of the text; what follows the number is returned through `rest`.
int amount(std::string_view text, std::string_view line, std::string_view& rest) {
  int sum = 0;
  while (true) {
    const std::size_t length = std::min(text.find_first_not_of("0123456789"), text.size());
    sum += number(text.substr(0, length), line);
    text.remove_prefix(length);
    if (!text.starts_with('+')) break;
    text.remove_prefix(1);
  }
  rest = trimmed(text);
  return sum;
}

/// One part of a line between commas: "0 bytes spill stores", "Used 30 registers", "used 1 barriers", "24 bytes smem".
void read_part(std::string_view part, std::string_view line, KernelResources& kernel, bool& has_registers) {
  part = trimmed(part);
  if (part.starts_with("Used ") || part.starts_with("used ")) part.remove_prefix(5);
  if (part.empty() || part.front() < '0' || part.front() > '9') return;
  std::string_view what;
  const int value = amount(part, line, what);
  if (what == "registers") {
    kernel.registers = value;
    has_registers = true;
  } else if (what == "barriers") {
    kernel.barriers = value;
  } else if (what == "bytes stack frame") {
    kernel.stack_bytes = value;
  } else if (what == "bytes spill stores") {
    kernel.spill_store_bytes = value;
  } else if (what == "bytes spill loads") {
    kernel.spill_load_bytes = value;
  } else if (what == "bytes smem") {
    kernel.shared_bytes = value;
  } else if (what.starts_with("bytes cmem[")) {
    kernel.constant_bytes += value;
  }
  // Anything else ("bytes cumulative stack size", "textures", additions of a later ptxas) is ignored.
}

void read_parts(std::string_view line, KernelResources& kernel, bool& has_registers) {
  // Lines of one kernel come as "ptxas info    : Used …" or, indented, without the prefix.
  std::string_view rest = line;
  if (const std::size_t colon = rest.find(" : "); rest.starts_with("ptxas") && colon != std::string_view::npos) {
    rest.remove_prefix(colon + 3);
  }
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    read_part(rest.substr(0, comma), line, kernel, has_registers);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
}

void require_registers(const std::vector<KernelResources>& kernels, bool has_registers) {
  if (kernels.empty() || has_registers) return;
  throw PtxasReportError(fmt::format("ptxas report: no registers given for '{}' on {}", kernels.back().kernel,
                                     kernels.back().architecture));
}

}  // namespace

std::vector<KernelResources> parse_ptxas_report(std::string_view text) {
  std::vector<KernelResources> kernels;
  bool has_registers = false;  // of the last kernel
  bool in_kernel = false;      // functions that are no kernels are reported as well, and skipped
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));

    if (std::size_t position = line.find("Compiling entry function"); position != std::string_view::npos) {
      require_registers(kernels, has_registers);
      const auto name = quoted(line, position);
      const auto architecture = name ? quoted(line, position) : std::nullopt;
      if (!architecture)
        throw PtxasReportError(fmt::format("ptxas report: kernel or architecture missing in: {}", line));
      KernelResources kernel;
      kernel.kernel = *name;
      kernel.demangled = demangle(kernel.kernel);
      kernel.architecture = *architecture;
      kernel.source = "ptxas";
      kernels.push_back(std::move(kernel));
      has_registers = false;
      in_kernel = true;
    } else if (const std::size_t properties = line.find("Function properties for ");
               properties != std::string_view::npos) {
      in_kernel = !kernels.empty() && line.substr(properties + 24) == kernels.back().kernel;
    } else if (line.find("bytes gmem") != std::string_view::npos) {
      continue;  // a line about the whole file
    } else if (in_kernel || (line.find("Used ") != std::string_view::npos && !has_registers && !kernels.empty())) {
      read_parts(line, kernels.back(), has_registers);
    }
  }
  require_registers(kernels, has_registers);
  return kernels;
}

}  // namespace convladder
