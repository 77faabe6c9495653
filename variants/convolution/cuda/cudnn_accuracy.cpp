#include "variants/convolution/cuda/cudnn_accuracy.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace convladder {
namespace {

constexpr int kMostAlong = 7;              // maps, rows and columns that are sampled
constexpr double kLeastMagnitude = 1e-20;  // smaller results may be lost, since such numbers may be taken for zero

/// Indices of the first and the last of `count` elements, and some in between.
std::vector<int> spread(int count) {
  std::set<int> places;
  const int most = std::min(count, kMostAlong);
  for (int i = 0; i < most; ++i)
    places.insert(most == 1 ? 0 : static_cast<int>(std::int64_t{i} * (count - 1) / (most - 1)));
  return {places.begin(), places.end()};
}

}  // namespace

SampledOutputs::SampledOutputs(Device& device, const ConvShape& shape, const float* input, const float* weights,
                               float* output, bool channels_last)
    : device_(device), output_(output), elements_(static_cast<std::size_t>(shape.output_elements_per_image())) {
  const auto input_elements = static_cast<std::size_t>(shape.input_elements_per_image());
  for (const int image : std::set{0, shape.batch - 1}) {
    std::vector<float> values(input_elements);
    device.copy_to_host(values.data(), input + static_cast<std::size_t>(image) * input_elements,
                        input_elements * sizeof(float));
    images_.push_back(static_cast<std::size_t>(image));
    sample(shape, images_.size() - 1, values, weights, channels_last);
  }
}

void SampledOutputs::sample(const ConvShape& shape, std::size_t image, const std::vector<float>& input,
                            const float* weights, bool channels_last) {
  const int plane = shape.out_height() * shape.out_width();
  for (const int map : spread(shape.out_channels)) {
    const int first = map / shape.maps_per_group() * shape.channels_per_group();
    for (const int row : spread(shape.out_height())) {
      for (const int column : spread(shape.out_width())) {
        double exact = 0;
        double magnitude = 0;
        const float* weight = weights + std::ptrdiff_t{map} * shape.channels_per_group() * shape.kernel * shape.kernel;
        for (int channel = first; channel < first + shape.channels_per_group(); ++channel) {
          for (int tap = 0; tap < shape.kernel * shape.kernel; ++tap, ++weight) {
            const int y = row * shape.stride - shape.padding + tap / shape.kernel;
            const int x = column * shape.stride - shape.padding + tap % shape.kernel;
            if (y < 0 || y >= shape.height || x < 0 || x >= shape.width) continue;
            const auto place = (static_cast<std::size_t>(channel) * shape.height + y) * shape.width + x;
            const double product = double{input[place]} * double{*weight};
            exact += product;
            magnitude += std::abs(product);
          }
        }
        if (!std::isfinite(magnitude) || magnitude < kLeastMagnitude) continue;
        const int pixel = row * shape.out_width() + column;
        const auto place =
            static_cast<std::size_t>(channels_last ? pixel * shape.out_channels + map : map * plane + pixel);
        samples_.push_back({image, place, exact, magnitude});
      }
    }
  }
}

void SampledOutputs::clear() {
  const std::vector<float> nothing(elements_, std::numeric_limits<float>::quiet_NaN());
  for (const std::size_t image : images_) {
    device_.copy_to_device(output_ + image * elements_, nothing.data(), elements_ * sizeof(float));
  }
}

double SampledOutputs::worst() {
  std::vector<std::vector<float>> values;
  for (const std::size_t image : images_) {
    std::vector<float>& one = values.emplace_back(elements_);
    device_.copy_to_host(one.data(), output_ + image * elements_, elements_ * sizeof(float));
  }
  double worst = 0;
  for (const Sample& sample : samples_) {
    const double error = std::abs(double{values[sample.image][sample.place]} - sample.exact) / sample.magnitude;
    if (!std::isfinite(error)) return std::numeric_limits<double>::infinity();
    worst = std::max(worst, error);
  }
  return worst;
}

}  // namespace convladder
