// How a call's input differs from the problem's own: so that no answer can be kept from one call to the next, and yet
// the float64 reference holds exactly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "devices/device_filling.hpp"
#include "support/element_type.hpp"
#include "variants/problem_size.hpp"

namespace convladder {

struct ProblemData;

/// The smallest and the largest value of a tensor.
struct ValueRange {
  double low = 0;
  double high = 0;
  double largest() const;  ///< of the magnitudes
};

/// A batch of inputs as changes see it: images of channels, rows and columns.
struct InputLayout {
  int batch = 1;
  int channels = 1;
  int height = 1;
  int width = 1;
  int window = 1;  ///< rows and columns of the input from which an output comes, at least
  ElementType type = ElementType::f32;
  std::uint64_t tensor = 0;         ///< its place among the given tensors
  std::optional<ValueRange> range;  ///< replacing values stay in it; none: the change decides
  bool stays_as_filled = false;     ///< no element is replaced
  bool may_move = false;            ///< its elements may begin at another place

  /// The layout of the first input of a size, as the images that the problem sees in it.
  explicit InputLayout(const ProblemSize& size);
  /// The layout of items that are no images: each is a single row.
  InputLayout(int items, std::int64_t elements, ElementType its_type, std::uint64_t its_place)
      : batch(items), width(static_cast<int>(elements)), type(its_type), tensor(its_place) {}
  std::int64_t elements_per_image() const { return std::int64_t{channels} * height * width; }
  std::size_t bytes_per_image() const { return static_cast<std::size_t>(elements_per_image()) * element_bytes(type); }
};

/// The layouts of all given tensors, without ranges; and below it with ranges, taken from the values, for all tensors
/// except a linear problem's.
std::vector<InputLayout> input_layouts(const ProblemData& data);
std::vector<InputLayout> input_layouts_with_ranges(const ProblemData& data);

/// The elements of every image that a call finds replaced: in one channel those of a grid.
struct PokedElements {
  int channel = 0;
  int first_row = 0;
  int first_column = 0;
  int step = 1;  ///< between rows, and between columns

  /// Calls `visit` with the row, the column and the element's number in its image, CHW.
  template <typename Visit>
  void for_each(const InputLayout& shape, const Visit& visit) const {
    for (int row = first_row; row < shape.height; row += step) {
      for (int column = first_column; column < shape.width; column += step) {
        visit(row, column, (std::int64_t{channel} * shape.height + row) * shape.width + column);
      }
    }
  }
};

/// Image b of the input is image (b + rotation) % batch of the problem, times `factor`; before each call elements are
/// replaced in every image, other ones each time, or all of them (fresh_input.hpp).
struct InputChange {
  int rotation = 0;
  float factor = 1;         ///< plus or minus a power of two: sums become exactly so much larger
  std::uint64_t pokes = 0;  ///< the seed of the replaced elements; 0: none are replaced
  /// Whether half of the calls get so many replaced elements that every output has one in its window, except at
  /// borders; the other calls get one. Code that looks at only a part of the input misses the one; code that computes
  /// only changed outputs has to compute all.
  bool everywhere = false;
  /// Whether each call finds another value in every element, on devices whose tensors the host writes. Nothing in an
  /// input then tells whether anybody looks at its call, and nothing that was computed before is of use.
  bool fresh = false;
  float poke_size = 1;  ///< values are between half of it and it, of either sign
  bool whole = false;   ///< values are whole numbers

  // For untrusted code, which may look at all of its input and remember all of it.
  std::uint64_t shift = 0;  ///< tensors whose elements may move begin with this one, in a circle: all of it is new
  bool thorough = false;    ///< `everywhere` not in half of the calls but in all

  /// The elements that call number `call` finds replaced, and below it by which value: the same in all of an image's
  /// elements. A tensor with a range gets values between half of its largest and its largest, of a sign that it has.
  PokedElements poked(std::int64_t call, const InputLayout& shape) const;
  ReplacingValue poked_value(std::int64_t call, const InputLayout& layout) const;
  /// The replaced elements and their values, as a device takes them.
  ReplacedElements replaced(std::int64_t call, const InputLayout& layout) const;
  /// The change of one given tensor: each has changes of its own, at other places.
  InputChange of_tensor(const InputLayout& layout) const;
  /// The element of the problem's image with which the changed image begins.
  std::int64_t first_element(const InputLayout& layout) const {
    const auto elements = static_cast<std::uint64_t>(layout.elements_per_image());
    return layout.may_move ? static_cast<std::int64_t>(shift % elements) : 0;
  }
  /// Which of the problem's images is image `image` of the input.
  int source(int image, int batch) const { return (image + rotation) % batch; }
};

/// The change as the elements of one image find it, whose C++ type is `T`. `input` is the problem's, all images of it.
template <typename T>
class ImageChange {
 public:
  ImageChange(const InputChange& change, const InputLayout& layout, const void* input, int image)
      : change_(change.of_tensor(layout)),
        layout_(layout),
        image_(image),
        from_(static_cast<const T*>(input) + change.source(image, layout.batch) * layout.elements_per_image()),
        first_(change.first_element(layout)) {}

  PokedElements poked(std::int64_t call) const { return change_.poked(call, layout_); }
  /// The replacing value in that call.
  T value(std::int64_t call) const { return from_double<T>(change_.poked_value(call, layout_).of(image_)); }
  /// The value in the place of an element that would be replaced by `value`: in a tensor with a range it differs from
  /// the element's own, if the tensor has two values.
  T replaced(std::int64_t element, T value) const {
    if (!layout_.range || to_double(value) != to_double(unchanged(element))) return value;
    return from_double<T>(change_.poked_value(0, layout_).instead_of(to_double(value), to_double(value)));
  }
  T unchanged(std::int64_t element) const {
    std::int64_t at = element + first_;
    if (at >= layout_.elements_per_image()) at -= layout_.elements_per_image();
    if constexpr (std::is_same_v<T, float>) return change_.factor * from_[at];
    return from_[at];
  }

 private:
  InputChange change_;
  const InputLayout& layout_;
  int image_;
  const T* from_;
  std::int64_t first_;
};

/// Writes image `image` of the changed input, without pokes. `input` is the problem's, all images of it.
void write_changed_image(void* to, const InputChange& change, const InputLayout& layout, const void* input, int image);
/// Puts the pokes of call number `call` into an image, or takes them out again.
void poke_image(void* to, const InputChange& change, const InputLayout& layout, const void* input, int image,
                std::int64_t call);
void unpoke_image(void* to, const InputChange& change, const InputLayout& layout, const void* input, int image,
                  std::int64_t call);

}  // namespace convladder
