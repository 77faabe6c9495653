#include "variants/convolution/reference.hpp"

#include <algorithm>
#include <cmath>

namespace convladder {
namespace {

// Maps x output columns of a tile whose sums stay in registers.
constexpr int kTileMaps = 4;
constexpr int kTileColumns = 16;

/// Images in float64 with their padding, each row's columns sorted by their place in a stride, so that neighbouring
/// outputs read neighbouring values: column c lies at [c % stride][c / stride].
class PaddedImages {
 public:
  template <typename Input>
  PaddedImages(const ConvShape& shape, int count, const Input* input)
      : shape_(shape),
        rows_(shape.height + 2 * shape.padding),
        columns_((shape.width + 2 * shape.padding - 1) / shape.stride + 1 + kTileColumns),
        values_(static_cast<std::size_t>(count) * shape.in_channels * rows_ * shape.stride * columns_) {
    const int planes = count * shape.in_channels;
#pragma omp parallel for schedule(static)
    for (int plane = 0; plane < planes; ++plane) {
      const Input* from = input + static_cast<std::int64_t>(plane) * shape.height * shape.width;
      for (int h = 0; h < shape.height; ++h) {
        double* const to = values_.data() + row_offset(plane, h + shape.padding);
        for (int w = 0; w < shape.width; ++w) {
          const int column = w + shape.padding;
          to[column % shape.stride * columns_ + column / shape.stride] = *from++;
        }
      }
    }
  }

  /// The input that tap `q` of the output at column 0 reads in that row; those of the following columns come after it.
  const double* tap(int image, int channel, int row, int q) const {
    return values_.data() + row_offset(image * shape_.in_channels + channel, row) + q % shape_.stride * columns_ +
           q / shape_.stride;
  }

 private:
  std::size_t row_offset(int plane, int row) const {
    return (static_cast<std::size_t>(plane) * rows_ + row) * shape_.stride * columns_;
  }
  const ConvShape& shape_;
  int rows_;
  int columns_;
  std::vector<double> values_;
};

inline double add_product(double sum, double w, double x) {
#ifdef __FMA__
  return __builtin_fma(w, x, sum);
#else
  return sum + w * x;
#endif
}

/// The terms that are added up: the products, or their absolute values.
enum class Sum { products, magnitudes };

/// Computes the sums of a tile, each channel by channel and row by row. A product of two float32 numbers is exact in
/// float64, so it gives the same bits whether or not it is fused with the addition, and a tap in the padding adds zero.
template <Sum kSum>
void convolve_tile(const ConvShape& s, const PaddedImages& images, int image, int oh, int ow,
                   const float* const* filters, int first_channel, double (&result)[kTileMaps][kTileColumns]) {
  double sums[kTileMaps][kTileColumns] = {};  // local, so that they stay in registers
  int tap = 0;
  for (int c = 0; c < s.channels_per_group(); ++c) {
    for (int p = 0; p < s.kernel; ++p) {
      for (int q = 0; q < s.kernel; ++q, ++tap) {
        const double* const x = images.tap(image, first_channel + c, oh * s.stride + p, q) + ow;
        for (int m = 0; m < kTileMaps; ++m) {
          const double w = kSum == Sum::products ? filters[m][tap] : std::abs(filters[m][tap]);
          for (int i = 0; i < kTileColumns; ++i) {
            sums[m][i] = add_product(sums[m][i], w, kSum == Sum::products ? x[i] : std::abs(x[i]));
          }
        }
      }
    }
  }
  std::copy_n(&sums[0][0], kTileMaps * kTileColumns, &result[0][0]);
}

constexpr int kImagesAtOnce = 64;  // images that are kept in float64

/// Computes the sums of `count` images, which lie one after the other, rounded to the output's type.
template <Sum kSum, typename Input, typename Output>
void sums_of_images(const ConvShape& shape, int count, const Input* input, const float* weights, Output* output) {
  const PaddedImages images(shape, count, input);
  const std::int64_t map_elements = shape.output_elements_per_image() / shape.out_channels;
  const std::int64_t filter_elements = shape.weight_elements() / shape.out_channels;
  const int blocks_per_group = (shape.maps_per_group() - 1) / kTileMaps + 1;
#pragma omp parallel for collapse(2) schedule(static)
  for (int image = 0; image < count; ++image) {
    for (int block = 0; block < shape.groups * blocks_per_group; ++block) {
      const int group = block / blocks_per_group;
      const int first_map = group * shape.maps_per_group() + block % blocks_per_group * kTileMaps;
      const int maps = std::min(kTileMaps, (group + 1) * shape.maps_per_group() - first_map);
      const float* filters[kTileMaps];  // filters beyond the group's last map repeat it
      for (int m = 0; m < kTileMaps; ++m) filters[m] = weights + (first_map + std::min(m, maps - 1)) * filter_elements;
      double sums[kTileMaps][kTileColumns];
      for (int oh = 0; oh < shape.out_height(); ++oh) {
        for (int ow = 0; ow < shape.out_width(); ow += kTileColumns) {
          convolve_tile<kSum>(shape, images, image, oh, ow, filters, group * shape.channels_per_group(), sums);
          const int columns = std::min(kTileColumns, shape.out_width() - ow);
          for (int m = 0; m < maps; ++m) {
            Output* const to = output + image * shape.output_elements_per_image() + (first_map + m) * map_elements +
                               std::int64_t{oh} * shape.out_width() + ow;
            for (int i = 0; i < columns; ++i) to[i] = static_cast<Output>(sums[m][i]);
          }
        }
      }
    }
  }
}

/// Computes the sums of any number of images.
template <Sum kSum, typename Input, typename Output>
void sums_of_batch(const ConvShape& shape, int count, const Input* input, const float* weights, Output* output) {
  for (int first = 0; first < count; first += kImagesAtOnce) {
    sums_of_images<kSum>(shape, std::min(kImagesAtOnce, count - first),
                         input + first * shape.input_elements_per_image(), weights,
                         output + first * shape.output_elements_per_image());
  }
}

/// Computes outputs of one pixel each as dot products of a map's filter and the whole image.
void dot_products(const ConvShape& shape, const double* input, const float* weights, double* value) {
  const std::int64_t elements = shape.input_elements_per_image();
#pragma omp parallel for schedule(static)
  for (int m = 0; m < shape.out_channels; ++m) {
    const float* const filter = weights + m * elements;
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t i = 0; i < elements; ++i) sum += filter[i] * input[i];
    value[m] = sum;
  }
}

class ConvReference final : public LinearReference {
 public:
  ConvReference(const ConvShape& shape, const float* weights) : shape_(shape), weights_(weights) {}

  void sums(int items, const float* input, double* value, float* magnitude) const override {
    sums_of_batch<Sum::products>(shape_, items, input, weights_, value);
    sums_of_batch<Sum::magnitudes>(shape_, items, input, weights_, magnitude);
  }
  void rounded_sums(int items, const float* input, float* value) const override {
    reference_forward(shape_, items, input, weights_, value);
  }
  void sums_of_combination(const double* input, double* value) const override {
    // An output of one pixel is a dot product with the whole input; the tiled code would compute a tile of columns for
    // one.
    if (shape_.groups == 1 && shape_.padding == 0 && shape_.kernel == shape_.height && shape_.kernel == shape_.width) {
      return dot_products(shape_, input, weights_, value);
    }
    sums_of_batch<Sum::products>(shape_, 1, input, weights_, value);
  }
  ElementSum sum_of_element(const float* input, std::int64_t element) const override {
    const ConvShape& s = shape_;
    const std::int64_t pixels = s.output_elements_per_image() / s.out_channels;
    const auto map = static_cast<int>(element / pixels);
    const int top = static_cast<int>(element % pixels) / s.out_width() * s.stride - s.padding;
    const int left = static_cast<int>(element % pixels) % s.out_width() * s.stride - s.padding;
    const int first_channel = map / s.maps_per_group() * s.channels_per_group();
    const float* w = weights_ + map * (s.weight_elements() / s.out_channels);
    ElementSum sum;
    for (int c = first_channel; c < first_channel + s.channels_per_group(); ++c) {
      for (int h = top; h < top + s.kernel; ++h) {
        for (int column = left; column < left + s.kernel; ++column, ++w) {
          if (h < 0 || h >= s.height || column < 0 || column >= s.width) continue;
          const double x = input[(std::int64_t{c} * s.height + h) * s.width + column];
          sum.value = add_product(sum.value, *w, x);
          sum.magnitude += std::abs(*w * x);
        }
      }
    }
    return sum;
  }
  /// Adds to all outputs in whose windows the element lies.
  void add_change(const ElementChange& change, int channel, double* value, float* magnitude) const override {
    const ConvShape& s = shape_;
    const int in_group = s.channels_per_group();
    if (change.channel / in_group != channel / s.maps_per_group()) return;
    const float* const filter =
        weights_ + (std::int64_t{channel} * in_group + change.channel % in_group) * s.kernel * s.kernel;
    const int height = s.out_height();
    const int width = s.out_width();
    for (int p = 0; p < s.kernel; ++p) {
      const int top = change.row + s.padding - p;
      if (top < 0 || top % s.stride != 0 || top / s.stride >= height) continue;
      for (int q = 0; q < s.kernel; ++q) {
        const int left = change.column + s.padding - q;
        if (left < 0 || left % s.stride != 0 || left / s.stride >= width) continue;
        const std::int64_t at = std::int64_t{top / s.stride} * width + left / s.stride;
        const double w = filter[p * s.kernel + q];
        value[at] += change.value * w;
        magnitude[at] = static_cast<float>(magnitude[at] + change.absolute * std::abs(w));
      }
    }
  }

 private:
  ConvShape shape_;
  const float* weights_;
};

}  // namespace

ReferenceOutput reference_convolution(const ConvShape& shape, const float* input, const float* weights) {
  const auto elements = static_cast<std::size_t>(shape.output_elements_per_image());
  ReferenceOutput output{std::vector<double>(elements), std::vector<double>(elements)};
  sums_of_batch<Sum::products>(shape, 1, input, weights, output.value.data());
  sums_of_batch<Sum::magnitudes>(shape, 1, input, weights, output.magnitude.data());
  return output;
}

void reference_forward(const ConvShape& shape, int count, const float* input, const float* weights, float* output) {
  sums_of_batch<Sum::products>(shape, count, input, weights, output);
}

std::unique_ptr<LinearReference> conv_reference(const ConvShape& shape, const float* weights) {
  return std::make_unique<ConvReference>(shape, weights);
}

}  // namespace convladder
