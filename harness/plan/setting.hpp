// A field of a record's `context.options`, read back. The limits are those of the command line.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace convladder {

// docs/command_line.md
inline constexpr int kMostRepetitions = 100'000;
inline constexpr double kMostSeconds = 1e6;
inline constexpr double kShortestTimeout = 0.1;

/// What is wrong is a UserError "context.options.NAME: expected …, got …".
class Setting {
 public:
  /// Throws where the field is missing.
  Setting(const nlohmann::ordered_json& options, const char* name);

  std::string text() const;
  bool truth() const;
  std::uint64_t seed() const;
  int whole(int smallest, int largest) const;
  double number(double smallest, double largest) const;
  std::vector<std::string> texts() const;
  std::vector<int> wholes(int smallest, int largest) const;
  const nlohmann::ordered_json& list() const;

  [[noreturn]] void fail(const std::string& what) const;

 private:
  [[noreturn]] void wrong(const std::string& expected) const;
  int whole(const nlohmann::ordered_json& value, int smallest, int largest) const;

  const char* name_;
  const nlohmann::ordered_json* json_ = nullptr;
};

/// The settings of a record by name.
class Settings {
 public:
  /// `options` must outlive it.
  explicit Settings(const nlohmann::ordered_json& options) : options_(options) {}
  Setting operator()(const char* name) const { return {options_, name}; }
  /// Whether the field is there and not null.
  bool has(const char* name) const;
  /// None where it is null or missing.
  std::optional<int> whole_if_any(const char* name, int smallest, int largest) const;
  std::optional<double> number_if_any(const char* name, double smallest, double largest) const;

 private:
  const nlohmann::ordered_json& options_;
};

}  // namespace convladder
