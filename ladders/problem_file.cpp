#include "ladders/problem_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "support/file_bytes.hpp"
#include "support/json_place.hpp"
#include "support/json_text.hpp"
#include "support/text.hpp"

namespace convladder {
namespace {

constexpr std::uint64_t kLargestFile = 1 << 20;  // bytes: nobody writes a longer one
constexpr std::size_t kMostDimensions = 26;
constexpr std::size_t kMostTensors = 64;
constexpr std::size_t kMostRanks = 8;
constexpr std::size_t kMostSizes = 1000;
constexpr std::size_t kMostIncludeFolders = 16;
constexpr std::size_t kMostChoices = 256;
constexpr double kMostElements = 2147483648.0;  // of a tensor: kernels index inside it with 32 bits

/// Keywords of C++, CUDA and Python that somebody might choose as a tensor's name.
constexpr std::array<std::string_view, 26> kWords{
    "and", "auto", "bool", "char", "class", "const", "delete", "double", "else",  "float",  "for",    "if",   "in",
    "int", "is",   "long", "new",  "not",   "or",    "return", "short",  "solve", "static", "struct", "this", "void"};

/// A name that can be an argument in C, C++ and Python.
std::string identifier(const JsonPlace& place) {
  std::string name = place.name();
  const bool is_good =
      is_letter(name[0]) && name.size() <= kLongestLadderName && std::ranges::all_of(name, is_of_identifier);
  if (!is_good) place.expected("a name of letters, digits and '_'");
  if (std::ranges::find(kWords, name) != kWords.end()) place.expected("a name that C++ and Python do not keep");
  return name;
}

std::string problem_name(const JsonPlace& place) {
  std::string name = place.name();
  const bool is_good =
      is_small_letter(name[0]) && name.size() <= kLongestLadderName && name.back() != '-' &&
      std::ranges::all_of(name, [](char one) { return is_small_letter(one) || is_digit(one) || one == '-'; });
  if (!is_good) place.expected("a name of small letters, digits and '-'");
  return name;
}

template <typename T, std::size_t count>
T one_of(const JsonPlace& place, const std::array<std::pair<std::string_view, T>, count>& known) {
  const std::string text = place.text();
  std::string names;
  for (const auto& [name, value] : known) {
    if (name == text) return value;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
  }
  place.expected("one of " + names);
}

constexpr std::array<std::pair<std::string_view, TensorRole>, 3> kRoles{
    {{"in", TensorRole::in}, {"out", TensorRole::out}, {"in-out", TensorRole::in_out}}};
constexpr std::array<std::pair<std::string_view, TensorFill::Kind>, 8> kFills{
    {{"uniform", TensorFill::Kind::uniform},
     {"whole", TensorFill::Kind::whole},
     {"normal", TensorFill::Kind::normal},
     {"constant", TensorFill::Kind::constant},
     {"permutation", TensorFill::Kind::permutation},
     {"choice", TensorFill::Kind::choice},
     {"shares", TensorFill::Kind::shares},
     {"offsets", TensorFill::Kind::offsets}}};

/// The least and the largest value of a type; for 64-bit types, those that a double, by which all values are made,
/// holds exactly.
std::pair<double, double> held_range(ElementType type) {
  return with_element_type(type, []<typename T>(T) -> std::pair<double, double> {
    if constexpr (kIsSmallFloat<T>) {
      const double most = std::is_same_v<T, Half> ? 65504 : 0x1.fep127;
      return {-most, most};
    } else if constexpr (std::is_integral_v<T> && sizeof(T) == 8) {
      return {std::is_signed_v<T> ? -0x1p53 : 0, 0x1p53};
    } else {
      return {std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max()};
    }
  });
}

/// The last of the whole numbers from 0 upwards that the type holds without a gap.
double last_counted(ElementType type) {
  switch (type) {
    case ElementType::f16:
      return 0x1p11;
    case ElementType::bf16:
      return 0x1p8;
    case ElementType::f32:
      return 0x1p24;
    default:
      return held_range(type).second;
  }
}

bool holds(ElementType type, double value) {
  const auto [least, most] = held_range(type);
  return value >= least && value <= most && (is_floating(type) || value == std::floor(value));
}

double held_number(const JsonPlace& place, ElementType type) {
  const double value = place.number();
  if (!holds(type, value)) place.expected(fmt::format("a value that {} holds", element_name(type)));
  return value;
}

/// Reads one file; each part that is read adds to the names that expressions may use.
class Reader {
 public:
  Reader(const nlohmann::ordered_json& json, const std::string& file) : fields_(json, file) {}

  LadderProblem read() {
    std::string name = problem_name(fields_.at("name"));
    std::string title = fields_.has("title") ? fields_.at("title").name() : name;
    read_dimensions();
    read_derived();
    read_tensors();
    read_scalars();
    const JsonPlace work = fields_.at("work");
    Expression flop = expression(work.at("flop"));
    std::optional<Expression> least_bytes;
    if (work.has("least_bytes")) least_bytes = expression(work.at("least_bytes"));
    work.refuse_others();
    std::vector<std::string> sizes = read_sizes("sizes");
    std::vector<std::string> counted = fields_.has("counted_sizes") ? read_sizes("counted_sizes") : sizes;
    std::vector<std::string> include_folders = read_include_folders();
    static_cast<void>(fields_.at("comment"));
    static_cast<void>(fields_.at("$schema"));
    fields_.refuse_others();
    return {.name = std::move(name),
            .title = std::move(title),
            .dimensions = std::move(dimensions_),
            .derived = std::move(derived_),
            .tensors = std::move(tensors_),
            .scalars = std::move(scalars_),
            .sizes = std::move(sizes),
            .counted_sizes = std::move(counted),
            .flop = std::move(flop),
            .least_bytes = std::move(least_bytes),
            .include_folders = std::move(include_folders)};
  }

 private:
  /// Refuses a name that is taken: all names in a file are arguments or used in expressions.
  void take_name(const JsonPlace& place, const std::string& name) {
    if (!taken_.insert(name).second) place.fail(fmt::format("'{}' is the name of something else already", name));
  }

  Expression expression(const JsonPlace& place) const {
    std::string text = place.json().is_number() ? fmt::format("{}", place.number()) : place.some_text();
    try {
      return Expression(text, names_);
    } catch (const std::invalid_argument& error) {
      place.fail(error.what());
    }
  }

  std::vector<std::string> read_sizes(const char* field) const {
    std::vector<std::string> sizes;
    for (const JsonPlace& size : fields_.at(field).list()) sizes.push_back(size.name());
    if (sizes.empty() || sizes.size() > kMostSizes) fields_.at(field).expected("1 to 1000 sizes");
    return sizes;
  }

  /// Takes folders of the form ../NAME only: a folder from somebody else must not make compilers read anything further
  /// away.
  std::vector<std::string> read_include_folders() const {
    std::vector<std::string> folders;
    if (!fields_.has("include_folders")) return folders;
    for (const JsonPlace& place : fields_.at("include_folders").list()) {
      if (folders.size() == kMostIncludeFolders) fields_.at("include_folders").expected("at most 16 folders");
      std::string folder = place.name();
      const bool is_beside =
          folder.starts_with("../") && folder.size() > 3 &&
          std::all_of(folder.begin() + 3, folder.end(), [](char one) { return is_of_identifier(one) || one == '-'; });
      if (!is_beside) place.expected("a folder beside this one, \"../NAME\" of letters, digits, '_' and '-'");
      folders.push_back(std::move(folder));
    }
    return folders;
  }

  void read_dimensions() {
    for (const auto& [letter, place] : fields_.at("dimensions").fields()) {
      if (letter.empty() || letter.size() > kLongestLadderName || !std::ranges::all_of(letter, is_capital)) {
        place.fail("a dimension is called by capital letters");
      }
      LadderDimension one;
      one.letter = letter;
      one.name = place.at("name").name();
      if (place.has("from")) one.smallest = place.at("from").whole(0, 1 << 30);
      if (place.has("to")) one.largest = place.at("to").whole(1, 1 << 30);
      if (one.smallest > one.largest) place.fail("'from' is more than 'to'");
      if (place.has("usual")) one.usual = place.at("usual").whole(one.smallest, one.largest);
      place.refuse_others();
      take_name(place, letter);
      names_.push_back(letter);
      dimensions_.push_back(std::move(one));
    }
    if (dimensions_.empty() || dimensions_.size() > kMostDimensions) {
      fields_.at("dimensions").expected("1 to 26 dimensions");
    }
  }

  /// Reads derived values, each in terms of those above it, so that none can be defined by itself.
  void read_derived() {
    if (!fields_.has("derived")) return;
    for (const auto& [name, place] : fields_.at("derived").fields()) {
      if (derived_.size() == kMostTensors) fields_.at("derived").expected("at most 64 values");
      if (name.empty() || name.size() > kLongestLadderName || !std::ranges::all_of(name, is_capital)) {
        place.fail("a derived value is called by capital letters");
      }
      Expression value = expression(place);
      take_name(place, name);
      names_.push_back(name);
      derived_.push_back({name, std::move(value)});
    }
  }

  void read_tensors() {
    for (const JsonPlace& place : fields_.at("tensors").list()) {
      if (tensors_.size() == kMostTensors) fields_.at("tensors").expected("at most 64 tensors");
      LadderTensor tensor;
      tensor.name = identifier(place.at("name"));
      take_name(place.at("name"), tensor.name);
      tensor.role = one_of(place.at("role"), kRoles);
      tensor.type = element_type(place.at("type"));
      for (const JsonPlace& size : place.at("shape").list()) tensor.shape.push_back(expression(size));
      if (tensor.shape.size() > kMostRanks) place.at("shape").expected("at most 8 numbers");
      if (tensor.role != TensorRole::out) tensor.fill = fill(place.at("fill"), tensor.type);
      if (tensor.role != TensorRole::in) tensor.comparison = comparison(place.at("compare"), tensor.type);
      static_cast<void>(place.at("comment"));
      place.refuse_others();
      tensors_.push_back(std::move(tensor));
    }
    if (std::ranges::all_of(tensors_, [](const LadderTensor& one) { return one.role == TensorRole::in; })) {
      fields_.at("tensors").expected("a tensor that is written");
    }
  }

  static ElementType element_type(const JsonPlace& place) {
    const std::optional<ElementType> type = element_type_of(place.text());
    if (type) return *type;
    std::string names;
    for (const ElementType one : element_types())
      names += fmt::format("{}{}", names.empty() ? "" : ", ", element_name(one));
    place.expected("one of " + names);
  }

  /// A tensor's fill; where nothing is said, random from -1 to 1, or whole from 0 to 100.
  TensorFill fill(const JsonPlace& place, ElementType type) const {
    TensorFill fill;
    if (place.is_null()) return is_floating(type) ? fill : TensorFill{TensorFill::Kind::whole, 0, 100};
    fill.kind = one_of(place.at("kind"), kFills);
    switch (fill.kind) {
      case TensorFill::Kind::uniform:
      case TensorFill::Kind::whole:
        read_range(place, type, fill);
        break;
      case TensorFill::Kind::normal:
        fill.low = held_number(place.at("mean"), type);
        fill.high = place.at("deviation").number({.least = kAboveZero, .most = held_range(type).second});
        break;
      case TensorFill::Kind::constant:
        fill.low = fill.high = held_number(place.at("value"), type);
        break;
      case TensorFill::Kind::choice:
        for (const JsonPlace& value : place.at("values").list()) fill.values.push_back(held_number(value, type));
        if (fill.values.empty() || fill.values.size() > kMostChoices) place.at("values").expected("1 to 256 values");
        break;
      case TensorFill::Kind::offsets:
        fill.most = expression(place.at("last"));
        break;
      case TensorFill::Kind::shares:
      case TensorFill::Kind::permutation:
        break;
    }
    const bool is_of_floats = fill.kind == TensorFill::Kind::uniform || fill.kind == TensorFill::Kind::normal ||
                              fill.kind == TensorFill::Kind::shares;
    if (!is_floating(type) && is_of_floats) {
      place.at("kind").expected("whole, constant, permutation, choice or offsets: its type is whole");
    }
    if (is_floating(type) && fill.kind == TensorFill::Kind::offsets) {
      place.at("kind").expected("another kind: offsets are whole, and so is their type");
    }
    place.refuse_others();
    return fill;
  }

  /// The range of a uniform or whole fill. The most of a whole one may depend on the size, as that of indices does.
  void read_range(const JsonPlace& place, ElementType type, TensorFill& fill) const {
    const bool is_whole = fill.kind == TensorFill::Kind::whole;
    fill.low = held_number(place.at("low"), type);
    if (is_whole && std::ceil(fill.low) != fill.low) place.at("low").expected("a whole number");
    if (is_whole && place.at("high").json().is_string()) {
      fill.most = expression(place.at("high"));
      return;
    }
    fill.high = held_number(place.at("high"), type);
    if (!(fill.low <= fill.high)) place.fail("'low' is more than 'high'");
    if (is_whole && std::ceil(fill.high) != fill.high) place.at("high").expected("a whole number");
  }

  static TensorComparison comparison(const JsonPlace& place, ElementType type) {
    if (place.is_null() && !is_floating(type)) return {TensorComparison::Kind::exact, 0};
    if (place.json().is_string()) {
      static constexpr std::array<std::pair<std::string_view, TensorComparison::Kind>, 2> kExact{
          {{"exact", TensorComparison::Kind::exact}, {"any-order", TensorComparison::Kind::any_order}}};
      return {one_of(place, kExact), 0};
    }
    if (!is_floating(type)) place.expected(R"("exact" or "any-order": its type is whole)");
    if (!place.json().is_object()) place.expected(R"({"tolerance": 1e-5}, "exact" or "any-order")");
    TensorComparison comparison;
    comparison.tolerance = place.at("tolerance").number({.least = kAboveZero, .most = 1});
    place.refuse_others();
    return comparison;
  }

  void read_scalars() {
    if (!fields_.has("scalars")) return;
    for (const JsonPlace& place : fields_.at("scalars").list()) {
      if (scalars_.size() == kMostTensors) fields_.at("scalars").expected("at most 64 scalars");
      std::string name = identifier(place.at("name"));
      take_name(place.at("name"), name);
      const ElementType type = element_type(place.at("type"));
      Expression value = expression(place.at("value"));
      place.refuse_others();
      scalars_.push_back({std::move(name), type, std::move(value)});
    }
  }

  JsonPlace fields_;
  std::set<std::string, std::less<>> taken_;
  std::vector<std::string> names_;  ///< names that expressions may use
  std::vector<LadderDimension> dimensions_;
  std::vector<DerivedValue> derived_;
  std::vector<LadderTensor> tensors_;
  std::vector<LadderScalar> scalars_;
};

/// Throws where the most that a fill computes from the size is no whole number of the tensor's type from its least.
void require_held_most(const LadderTensor& tensor, const SizeValues& values) {
  const TensorFill& fill = tensor.fill;
  const double most = fill.most->value(values);
  const double least = fill.kind == TensorFill::Kind::offsets ? 0 : fill.low;
  if (most >= least && most == std::floor(most) && holds(tensor.type, most)) return;
  throw std::invalid_argument(fmt::format("the fill of {}: '{}' is {}, it must be a whole number from {} that {} holds",
                                          tensor.name, fill.most->text(), most, least, element_name(tensor.type)));
}

}  // namespace

SizeValues LadderProblem::size_values(const std::vector<int>& of_dimensions) const {
  SizeValues values;
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    const LadderDimension& one = dimensions[i];
    const int value = of_dimensions.at(i);
    if (value < one.smallest || value > one.largest) {
      throw std::invalid_argument(
          fmt::format("{} is {}, it must be {} to {}", one.name, value, one.smallest, one.largest));
    }
    values.push_back(value);
  }
  for (const DerivedValue& one : derived) {
    values.push_back(one.value.value(values));
    if (!std::isfinite(values.back())) {
      throw std::invalid_argument(fmt::format("{}: '{}' has no value", one.name, one.value.text()));
    }
  }
  for (const LadderTensor& tensor : tensors) {
    double elements = 1;
    for (const Expression& size : tensor.shape) {
      const double value = size.value(values);
      if (!(value >= 1) || value != std::floor(value)) {
        throw std::invalid_argument(fmt::format("the shape of {}: '{}' is {}, it must be a whole number above 0",
                                                tensor.name, size.text(), value));
      }
      elements *= value;
    }
    if (!(elements < kMostElements)) {
      throw std::invalid_argument(fmt::format("{} has 2^31 elements or more", tensor.name));
    }
    if (tensor.role != TensorRole::out && tensor.fill.most) require_held_most(tensor, values);
    const bool counts_up = tensor.role != TensorRole::out && tensor.fill.kind == TensorFill::Kind::permutation;
    if (counts_up && elements - 1 > last_counted(tensor.type)) {
      throw std::invalid_argument(fmt::format("{} is a permutation of {} numbers, which {} does not hold", tensor.name,
                                              elements, element_name(tensor.type)));
    }
  }
  for (const LadderScalar& scalar : scalars) {
    const double value = scalar.value.value(values);
    if (!holds(scalar.type, value)) {
      throw std::invalid_argument(fmt::format("the scalar {}: '{}' is {}, which {} does not hold", scalar.name,
                                              scalar.value.text(), value, element_name(scalar.type)));
    }
  }
  if (const double operations = flop.value(values); !(operations > 0) || !std::isfinite(operations)) {
    throw std::invalid_argument(fmt::format("work: '{}' is {}, it must be above 0", flop.text(), operations));
  }
  return values;
}

std::int64_t LadderProblem::elements(const LadderTensor& tensor, const SizeValues& size) const {
  std::int64_t elements = 1;
  for (const Expression& one : tensor.shape) elements *= static_cast<std::int64_t>(one.value(size));
  return elements;
}

std::vector<std::string> LadderProblem::names() const {
  std::vector<std::string> names;
  for (const LadderDimension& one : dimensions) names.push_back(one.letter);
  for (const DerivedValue& one : derived) names.push_back(one.name);
  return names;
}

LadderProblem parse_problem(std::string_view text, const std::string& file) {
  const nlohmann::ordered_json json = parse_json(text, file, "a problem");
  return Reader(json, file).read();
}

LadderProblem read_problem(const std::string& file) { return parse_problem(read_file_text(file, kLargestFile), file); }

}  // namespace convladder
