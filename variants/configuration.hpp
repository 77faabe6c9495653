// The parameters of a variant that can be chosen for a layer: a few named numbers, "maps=8,pixels=9,images=2".
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace convladder {

struct Parameter {
  std::string name;
  int value = 0;

  bool operator==(const Parameter&) const = default;
};

/// Values of some parameters, in the order in which the variant names them. The variant chooses those that are left
/// out.
class Configuration {
 public:
  Configuration() = default;
  explicit Configuration(std::vector<Parameter> parameters) : parameters_(std::move(parameters)) {}

  /// Reads "maps=8,pixels=9". Throws std::invalid_argument, one line, if the text cannot be read or a name occurs
  /// twice. Any name is accepted here: a variant says which it knows.
  static Configuration parse(std::string_view text);

  bool empty() const { return parameters_.empty(); }
  const std::vector<Parameter>& parameters() const { return parameters_; }
  std::optional<int> value(std::string_view name) const;
  /// Whether that parameter is left out or has that value.
  bool allows(std::string_view name, int value) const { return this->value(name).value_or(value) == value; }
  /// Whether `complete` has all the values that are given here.
  bool agrees_with(const Configuration& complete) const;
  /// A copy without that parameter.
  Configuration without(std::string_view name) const;
  /// A copy with the values of `others` instead of its own, or after them.
  Configuration with(const Configuration& others) const;
  /// The text that `parse` reads.
  std::string text() const;

  bool operator==(const Configuration&) const = default;

 private:
  std::vector<Parameter> parameters_;
};

/// The complete configurations that a variant could use for a shape.
struct Configurations {
  /// Configurations worth trying. The first is the variant's default.
  std::vector<Configuration> candidates;
  /// The configuration that the variant's own model chooses: the first one, unless a tuning table says something else.
  Configuration by_model;
  /// The number of all possible configurations; those that are no candidates are left out because the model finds them
  /// worse.
  long possible = 0;
  /// The parameters whose best value depends on the batch.
  std::vector<std::string> of_batch;
};

/// Who made the choice, for the record.
enum class ChosenBy { model, table, request };

/// ", by the model", ", from the table" or ", as asked for".
const char* chosen_by_text(ChosenBy chosen_by);

/// Those of `all`, complete configurations with the model's choice first, that agree with `wanted`: each once, at most
/// `most` (at least 1).
std::vector<Configuration> candidates_of(const std::vector<Configuration>& all, const Configuration& wanted, int most);

/// Why none of `all`, complete configurations, agrees with `wanted`: the first unknown parameter, or the first value
/// that does not go with those before it, and the values that would. `for_what` is the shape's name. Empty if one
/// agrees.
std::string impossible_configuration(const Configuration& wanted, std::span<const Configuration> all,
                                     std::string_view for_what);

}  // namespace convladder
