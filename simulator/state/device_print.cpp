#include "simulator/state/device_print.hpp"

#include <array>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>

#include "simulator/memory/device_memory.hpp"
#include "simulator/state/block_context.hpp"

namespace convladder::simulated {
namespace {

constexpr std::size_t kLongestText = 1 << 16;  // bytes
constexpr int kWidest = 4096;                  // characters of one value

/// The host's place of a generic address, if `bytes` can be read there.
const std::byte* readable(const WarpState& warp, int lane, std::uint64_t address, std::uint64_t bytes) {
  const BlockContext& block = *warp.block;
  if (address >= kLocalWindow && address - kLocalWindow < block.program->local_bytes) {
    const std::uint64_t offset = address - kLocalWindow;
    const std::uint64_t of_thread = block.program->local_bytes;
    if (bytes > of_thread - offset) return nullptr;
    const auto thread = static_cast<std::uint64_t>(warp.index) * kLanes + static_cast<std::uint64_t>(lane);
    return block.local.data() + thread * of_thread + offset;
  }
  const std::uint64_t own_window = kSharedWindow + block.shared_begin;
  if (address >= own_window && address - own_window < block.shared.size()) {
    const std::uint64_t offset = address - own_window;
    return bytes > block.shared.size() - offset ? nullptr : block.shared.data() + offset;
  }
  const Allocation* const allocation = block.memory->find(address);
  if (allocation == nullptr || bytes > allocation->end - address) return nullptr;
  return block.memory->host(address);
}

/// The arguments of printf, each at a multiple of its size.
class ArgumentList {
 public:
  ArgumentList(const WarpState& warp, int lane, std::uint64_t address) : warp_(warp), lane_(lane), address_(address) {}

  template <typename T>
  T take() {
    at_ = (at_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    T value{};
    const std::byte* const from = readable(warp_, lane_, address_ + at_, sizeof value);
    if (from != nullptr) std::memcpy(&value, from, sizeof value);
    at_ += sizeof(T);
    ++taken_;
    return value;
  }
  int taken() const { return taken_; }

 private:
  const WarpState& warp_;
  int lane_;
  std::uint64_t address_;
  std::uint64_t at_ = 0;
  int taken_ = 0;
};

/// The parts of a conversion such as "%-08.3lld".
struct Conversion {
  std::string flags;
  std::optional<int> width;
  std::optional<int> precision;
  bool is_long = false;
  char letter = 0;
};

class Printer {
 public:
  Printer(const WarpState& warp, int lane, std::string_view format, std::uint64_t list)
      : warp_(warp), lane_(lane), format_(format), arguments_(warp, lane, list) {}

  std::string run() {
    while (at_ < format_.size()) {
      const char c = format_[at_++];
      if (c != '%') {
        text_ += c;
      } else if (at_ < format_.size() && format_[at_] == '%') {
        text_ += format_[at_++];
      } else {
        value(conversion());
      }
    }
    return text_;
  }
  int values() const { return arguments_.taken(); }

 private:
  char peek() const { return at_ < format_.size() ? format_[at_] : '\0'; }

  std::optional<int> number() {
    if (peek() == '*') {
      ++at_;
      return arguments_.take<std::int32_t>();
    }
    std::optional<int> value;
    while (peek() >= '0' && peek() <= '9') value = std::min(kWidest, value.value_or(0) * 10 + (format_[at_++] - '0'));
    return value;
  }

  Conversion conversion() {
    Conversion result;
    constexpr std::string_view flags = "-+ #0";
    while (peek() != '\0' && flags.find(peek()) != std::string_view::npos) result.flags += format_[at_++];
    result.width = number();
    if (result.width && *result.width < 0) {
      result.flags += '-';
      result.width = -std::max(*result.width, -kWidest);
    }
    if (peek() == '.') {
      ++at_;
      result.precision = number().value_or(0);
    }
    constexpr std::string_view sizes = "hljztL";
    while (peek() != '\0' && sizes.find(peek()) != std::string_view::npos) {
      result.is_long = result.is_long || (peek() != 'h' && peek() != 'L');
      ++at_;
    }
    result.letter = peek();
    if (at_ < format_.size()) ++at_;
    return result;
  }

  void value(const Conversion& how) {
    constexpr std::string_view whole = "diouxXc";
    constexpr std::string_view real = "fFeEgGaA";
    if (how.letter == 's') return string(how);
    if (how.letter == 'p') return append(how, "", arguments_.take<std::uint64_t>(), "#", 'x');
    if (how.letter != '\0' && real.find(how.letter) != std::string_view::npos) {
      return append(how, "", arguments_.take<double>(), "", how.letter);
    }
    if (how.letter == '\0' || whole.find(how.letter) == std::string_view::npos) return;
    if (how.is_long && how.letter != 'c') return append(how, "ll", arguments_.take<long long>(), "", how.letter);
    append(how, "", arguments_.take<std::int32_t>(), "", how.letter);
  }

  /// Formats a value with the host's own printf.
  template <typename T>
  void append(const Conversion& how, const char* size, T argument, const char* more_flags, char letter) {
    std::string one = '%' + how.flags + more_flags;
    if (how.width) one += std::to_string(std::min(*how.width, kWidest));
    if (how.precision && *how.precision >= 0) one += '.' + std::to_string(std::min(*how.precision, kWidest));
    if constexpr (std::is_same_v<T, std::uint64_t>) size = "l";
    one += size;
    one += letter;
    std::array<char, 3 * kWidest> buffer{};
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    const int written = std::snprintf(buffer.data(), buffer.size(), one.c_str(), argument);
#pragma GCC diagnostic pop
    if (written > 0)
      text_.append(buffer.data(), std::min<std::size_t>(static_cast<std::size_t>(written), buffer.size() - 1));
  }

  void string(const Conversion& how) {
    std::string text = device_text(warp_, lane_, arguments_.take<std::uint64_t>());
    if (how.precision && *how.precision >= 0)
      text.resize(std::min(text.size(), static_cast<std::size_t>(*how.precision)));
    const std::size_t width = static_cast<std::size_t>(std::min(how.width.value_or(0), kWidest));
    const std::string padding(width > text.size() ? width - text.size() : 0, ' ');
    const bool left = how.flags.find('-') != std::string::npos;
    text_ += left ? text + padding : padding + text;
  }

  const WarpState& warp_;
  int lane_;
  std::string_view format_;
  ArgumentList arguments_;
  std::size_t at_ = 0;
  std::string text_;
};

}  // namespace

std::string device_text(const WarpState& warp, int lane, std::uint64_t address) {
  std::string text;
  for (; text.size() < kLongestText; ++address) {
    const std::byte* const at = readable(warp, lane, address, 1);
    if (at == nullptr) return "(not a text)";
    if (*at == std::byte{0}) break;
    text += static_cast<char>(*at);
  }
  return text;
}

std::string printed_text(const WarpState& warp, int lane, std::uint64_t format, std::uint64_t list, int& values) {
  const std::string text = device_text(warp, lane, format);
  Printer printer(warp, lane, text, list);
  std::string printed = printer.run();
  values = printer.values();
  return printed;
}

}  // namespace convladder::simulated
