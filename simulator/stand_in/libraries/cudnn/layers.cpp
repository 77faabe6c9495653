#include "simulator/stand_in/libraries/cudnn/layers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace convladder::stand_in::cudnn {
namespace {

/// The position of a number by its index, the last dimension fastest.
std::size_t position(const Sizes& index, const Sizes& sizes) {
  std::int64_t at = 0;
  for (std::size_t i = 0; i < index.size(); ++i) at = at * sizes[i] + index[i];
  return static_cast<std::size_t>(at);
}

/// The next index, the last dimension fastest; false behind the last.
bool next(Sizes& index, const Sizes& sizes) {
  for (std::size_t i = index.size(); i-- > 0;) {
    if (++index[i] < sizes[i]) return true;
    index[i] = 0;
  }
  return false;
}

Sizes without_channels(const Sizes& sizes) { return {sizes.begin() + 2, sizes.end()}; }

/// A place of a window: its number among the window's, and the number among the image's.
struct Tap {
  std::size_t of_window;
  std::size_t of_image;
};

/// The places of a window at a result that lie in the image.
std::vector<Tap> taps_at(const Sizes& result, const Sizes& image, const Sizes& size, const Window& window) {
  std::vector<Tap> taps;
  Sizes in_window(size.size());
  Sizes in_image(size.size());
  std::size_t number = 0;
  do {
    bool is_inside = true;
    for (std::size_t i = 0; i < size.size(); ++i) {
      in_image[i] = result[i] * window.stride[i] - window.padding[i] + in_window[i] * window.dilation[i];
      is_inside = is_inside && in_image[i] >= 0 && in_image[i] < image[i];
    }
    if (is_inside) taps.push_back({number, position(in_image, image)});
    ++number;
  } while (next(in_window, size));
  return taps;
}

}  // namespace

std::int64_t result_size(std::int64_t image, std::int64_t window, std::int64_t padding, std::int64_t stride,
                         std::int64_t dilation) {
  return (image + 2 * padding - ((window - 1) * dilation + 1)) / stride + 1;
}

std::vector<double> convolved(const std::vector<double>& images, const Sizes& image_sizes,
                              const std::vector<double>& filters, const Sizes& filter_sizes, const Window& window,
                              std::int64_t groups, bool is_turned, const Sizes& result_sizes) {
  const Sizes image = without_channels(image_sizes);
  const Sizes size = without_channels(filter_sizes);
  const Sizes result = without_channels(result_sizes);
  const auto of = [](std::int64_t number) { return static_cast<std::size_t>(number); };
  const std::size_t image_points = of(count_of(image));
  const std::size_t window_points = of(count_of(size));
  const std::size_t result_points = of(count_of(result));
  const std::size_t channels = of(filter_sizes[1]);
  const std::size_t filter_count = of(filter_sizes[0]);
  const std::size_t filters_of_group = filter_count / of(groups);
  std::vector<double> made(of(count_of(result_sizes)));
  Sizes at(result.size());
  std::size_t point = 0;
  do {
    const std::vector<Tap> taps = taps_at(at, image, size, window);
    for (std::size_t n = 0; n < of(image_sizes[0]); ++n) {
      for (std::size_t k = 0; k < filter_count; ++k) {
        const std::size_t first_channel = k / filters_of_group * channels;
        double sum = 0;
        for (std::size_t c = 0; c < channels; ++c) {
          const double* const from = images.data() + (n * of(image_sizes[1]) + first_channel + c) * image_points;
          const double* const filter = filters.data() + (k * channels + c) * window_points;
          for (const Tap& tap : taps) {
            sum += from[tap.of_image] * filter[is_turned ? window_points - 1 - tap.of_window : tap.of_window];
          }
        }
        made[(n * filter_count + k) * result_points + point] = sum;
      }
    }
    ++point;
  } while (next(at, result));
  return made;
}

std::vector<double> pooled(const std::vector<double>& images, const Sizes& image_sizes, cudnnPoolingMode_t mode,
                           const Sizes& sizes, const Window& window, const Sizes& result_sizes) {
  const Sizes image = without_channels(image_sizes);
  const Sizes result = without_channels(result_sizes);
  const auto image_points = static_cast<std::size_t>(count_of(image));
  const auto result_points = static_cast<std::size_t>(count_of(result));
  const auto planes = static_cast<std::size_t>(image_sizes[0] * image_sizes[1]);
  const bool is_maximum = mode == CUDNN_POOLING_MAX || mode == CUDNN_POOLING_MAX_DETERMINISTIC;
  std::vector<double> made(planes * result_points);
  Sizes at(result.size());
  std::size_t point = 0;
  do {
    const std::vector<Tap> taps = taps_at(at, image, sizes, window);
    const auto count = mode == CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING ? static_cast<double>(count_of(sizes))
                                                                           : static_cast<double>(taps.size());
    for (std::size_t plane = 0; plane < planes; ++plane) {
      const double* const from = images.data() + plane * image_points;
      double value = is_maximum ? -std::numeric_limits<double>::infinity() : 0;
      for (const Tap& tap : taps) {
        const double number = from[tap.of_image];
        // A number that is none stays.
        if (!is_maximum) {
          value += number;
        } else if (!(number <= value)) {
          value = number;
        }
      }
      made[plane * result_points + point] = is_maximum ? value : value / count;
    }
    ++point;
  } while (next(at, result));
  return made;
}

double activated(double x, cudnnActivationMode_t mode, double coefficient) {
  switch (mode) {
    case CUDNN_ACTIVATION_SIGMOID:
      return 1 / (1 + std::exp(-x));
    case CUDNN_ACTIVATION_RELU:
      return x > 0 || std::isnan(x) ? x : 0;
    case CUDNN_ACTIVATION_TANH:
      return std::tanh(x);
    case CUDNN_ACTIVATION_CLIPPED_RELU:
      return x > 0 || std::isnan(x) ? std::min(x, coefficient) : 0;
    case CUDNN_ACTIVATION_ELU:
      return x >= 0 || std::isnan(x) ? x : coefficient * std::expm1(x);
    case CUDNN_ACTIVATION_IDENTITY:
      return x;
    case CUDNN_ACTIVATION_SWISH:
      return x / (1 + std::exp(-coefficient * x));
  }
  refuse("this activation");
}

void softmax(std::vector<double>& numbers, const Sizes& sizes, bool over_channels, bool is_logarithm) {
  const auto images = static_cast<std::size_t>(sizes[0]);
  const std::size_t of_image = numbers.size() / images;
  const std::size_t points = over_channels ? of_image / static_cast<std::size_t>(sizes[1]) : 1;
  for (std::size_t image = 0; image < images; ++image) {
    for (std::size_t point = 0; point < points; ++point) {
      double* const first = numbers.data() + image * of_image + point;
      double greatest = first[0];
      for (std::size_t i = 0; i < of_image; i += points) greatest = std::max(greatest, first[i]);
      double sum = 0;
      for (std::size_t i = 0; i < of_image; i += points) sum += std::exp(first[i] - greatest);
      for (std::size_t i = 0; i < of_image; i += points) {
        first[i] = is_logarithm ? first[i] - greatest - std::log(sum) : std::exp(first[i] - greatest) / sum;
      }
    }
  }
}

}  // namespace convladder::stand_in::cudnn
