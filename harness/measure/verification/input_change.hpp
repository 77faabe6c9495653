// How a call's input differs from the problem's own: so that no answer can be kept from one call to the next, and yet
// the float64 reference holds exactly.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "devices/device_filling.hpp"
#include "support/element_type.hpp"
#include "variants/convolution/conv_shape.hpp"

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
  int window = 1;  ///< rows and columns of the input that an output comes from, at least
  ElementType type = ElementType::f32;
  std::uint64_t tensor = 0;         ///< its place among those that are given
  std::optional<ValueRange> range;  ///< what replaces an element stays in it; none: whatever the change says
  bool stays_as_filled = false;     ///< nothing is replaced
  bool may_move = false;            ///< its elements may begin at another place

  InputLayout(const ConvShape& shape);  // NOLINT(google-explicit-constructor): a shape has one layout
  /// An item that is no image is a single row.
  InputLayout(int items, std::int64_t elements, ElementType its_type, std::uint64_t its_place)
      : batch(items), width(static_cast<int>(elements)), type(its_type), tensor(its_place) {}
  std::int64_t elements_per_image() const { return std::int64_t{channels} * height * width; }
  std::size_t bytes_per_image() const { return static_cast<std::size_t>(elements_per_image()) * element_bytes(type); }
};

/// Of every tensor that is given, without ranges; and with those of all tensors but a convolution's, from their values.
std::vector<InputLayout> input_layouts(const ProblemData& data);
std::vector<InputLayout> input_layouts_with_ranges(const ProblemData& data);

/// The elements of every image that a call finds replaced: of one channel those in a grid.
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
/// replaced in every image, other ones each time.
struct InputChange {
  int rotation = 0;
  float factor = 1;         ///< plus or minus a power of two: sums come out exactly so much larger
  std::uint64_t pokes = 0;  ///< the seed of what is replaced; 0: nothing is
  /// Whether half of the calls get so many that every output has one in its window, but for borders; the others one.
  /// Who only looks at a part of the input does not see the one; who computes only what has changed has all to compute.
  bool everywhere = false;
  std::array<std::int64_t, 2> looked_at{};  ///< calls whose output may be looked at: these get one
  float poke_size = 1;                      ///< values are between a half of it and it, of either sign
  bool whole = false;                       ///< values are whole numbers

  // For code of strangers, which may look at all of its input and remember all of it.
  std::uint64_t shift = 0;     ///< tensors whose elements may move begin with this one, in a circle: all of it is new
  bool thorough = false;       ///< `everywhere` not in half of the calls but in all that are not looked at
  bool one_is_unseen = false;  ///< and in those as well, since no result would show one element

  /// What call number `call` finds replaced, and by what: the same value in all of an image's elements. A tensor that
  /// has a range gets values between a half of its largest and it, of a sign that it has.
  PokedElements poked(std::int64_t call, const InputLayout& shape) const;
  ReplacingValue poked_value(std::int64_t call, const InputLayout& layout) const;
  /// Both, as a device takes them.
  ReplacedElements replaced(std::int64_t call, const InputLayout& layout) const;
  /// Each tensor that is given has changes of its own, at other places.
  InputChange of_tensor(const InputLayout& layout) const;
  /// The element of an image that a changed one begins with.
  std::int64_t first_element(const InputLayout& layout) const {
    const auto elements = static_cast<std::uint64_t>(layout.elements_per_image());
    return layout.may_move ? static_cast<std::int64_t>(shift % elements) : 0;
  }
  /// Which of the problem's images it is.
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
  /// What that call finds there.
  T value(std::int64_t call) const { return from_double<T>(change_.poked_value(call, layout_).of(image_)); }
  /// An element that is `value` for a call: of a tensor that has a range another than its own, if the tensor has two.
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
