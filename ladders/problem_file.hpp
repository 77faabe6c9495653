// problem.json of a folder: what is computed, before anything is compiled. docs/extend/problem_json.md describes the
// fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ladders/expression.hpp"
#include "support/element_type.hpp"

namespace convladder {

/// Characters of a name in a folder: of a problem, a dimension, a tensor, a parameter.
inline constexpr std::size_t kLongestLadderName = 60;

enum class TensorRole : std::uint8_t {
  in,     ///< read
  out,    ///< every element is written
  in_out  ///< holds its values before each call, and the result after it
};

/// How a tensor's values are made.
struct TensorFill {
  enum class Kind : std::uint8_t {
    uniform,
    whole,
    normal,
    constant,
    permutation,
    choice,  ///< each element is one of `values`
    shares,  ///< above 0; the elements along the last axis add up to 1
    offsets  ///< where parts begin: from 0 to `most`, never falling
  };
  Kind kind = Kind::uniform;
  double low = -1;  ///< the least of uniform and whole; the mean of normal; the value of constant
  double high = 1;  ///< the most of uniform (excluded) and whole (included); the deviation of normal
  std::optional<Expression> most = {};  ///< instead of `high` for whole, where it depends on the size; of offsets
  std::vector<double> values = {};      ///< of choice

  /// Whether the tensor would lose its meaning if elements were replaced or began at another place.
  bool is_fixed() const { return kind == Kind::permutation || kind == Kind::offsets; }
};

/// When a result is right.
struct TensorComparison {
  enum class Kind : std::uint8_t {
    exact,     ///< the very values
    relative,  ///< |error| <= tolerance * what the reference says that errors are relative to
    any_order  ///< the very values, in any order
  };
  Kind kind = Kind::relative;
  double tolerance = 0;
};

struct LadderDimension {
  std::string letter;  ///< one or more capitals: "M"
  std::string name;    ///< "rows"
  int smallest = 1;
  int largest = 1 << 20;
  std::optional<int> usual;  ///< the value where a size gives none
};

struct LadderTensor {
  std::string name;  ///< an identifier of C: the argument of `solve`
  TensorRole role = TensorRole::in;
  ElementType type = ElementType::f32;
  std::vector<Expression> shape;  ///< row-major: neighbours in the last dimension lie next to each other
  TensorFill fill;                ///< for a tensor that is read
  TensorComparison comparison;    ///< for a tensor that is written

  /// Whether the reference says what the tensor's errors are relative to.
  bool has_scale() const { return role != TensorRole::in && comparison.kind == TensorComparison::Kind::relative; }
};

/// A number that `solve` gets by value.
struct LadderScalar {
  std::string name;
  ElementType type = ElementType::f32;
  Expression value;
};

/// A value in terms of the dimensions and of those before it: "OH": "div(H - K, S) + 1".
struct DerivedValue {
  std::string name;
  Expression value;
};

/// The values of one size of a problem: those of its dimensions, then the derived ones.
using SizeValues = std::vector<double>;

struct LadderProblem {
  std::string name;   ///< as typed: lower case, digits and '-'
  std::string title;  ///< as drawn
  std::vector<LadderDimension> dimensions;
  std::vector<DerivedValue> derived;
  std::vector<LadderTensor> tensors;
  std::vector<LadderScalar> scalars;
  std::vector<std::string> sizes;                 ///< the sizes that are run by default: "M64N64K64"
  std::vector<std::string> counted_sizes;         ///< the sizes for a device that counts, which takes its time
  Expression flop;                                ///< operations by the definition
  std::optional<Expression> least_bytes;          ///< given where not all of the tensors have to be moved once
  std::vector<std::string> include_folders = {};  ///< folders with headers, beside the ladder's: "../tiles"

  /// The values of a size, checked: dimensions within their limits, shapes that are whole and not too large. Throws
  /// std::invalid_argument, one line that says what is expected.
  SizeValues size_values(const std::vector<int>& dimensions) const;
  /// Elements of a tensor; the size is one of `size_values`.
  std::int64_t elements(const LadderTensor& tensor, const SizeValues& size) const;
  /// The declaration of a stage's function: "extern \"C\" void solve(const float* x, float* y, int M)". CUDA has types
  /// for f16 and bf16; in C++ their bits are uint16_t.
  std::string signature(bool is_cuda) const;
  /// The declaration of `solve` in Python, for a stage on the CPU: "def solve(x, y, M)".
  std::string python_signature() const;
  /// The declaration of a C++ reference's function: floats as double, whole numbers as themselves. Each float that is
  /// compared with a tolerance is followed by NAME_scale, of the same shape: what its errors are relative to.
  std::string reference_signature() const;
  /// The text of a function that calls `solve` or `reference` with arguments from a list of addresses: those of the
  /// tensors, and where each number lies. "extern \"C\" void NAME(void* const* a) { solve((const float*)a[0], …,
  /// *(const int*)a[2]); }"
  std::string solve_call(bool is_cuda, const std::string& name) const;
  std::string reference_call(const std::string& name) const;
  /// The names that expressions may use, in the order of `SizeValues`.
  std::vector<std::string> names() const;
};

/// The type of an element as C++ writes it, or CUDA C++: "float", "uint16_t" or "__half".
std::string c_type(ElementType type, bool is_cuda);

/// Reads problem.json. Throws UserError "FILE: where: what".
LadderProblem parse_problem(std::string_view text, const std::string& file);
LadderProblem read_problem(const std::string& file);

}  // namespace convladder
