// The same convolution with its images at other places of the grid, and launches that say so, say nothing or say what
// is not so. tests/scaled_counters_test.cpp compares their counters with those of the batch executed whole.
#include "variants/convolution/cuda/layer_sizes.hpp"
#include "variants/convolution/cuda_variant.hpp"

namespace convladder {

enum class Places { x, y, z, x_guarded, x_with_maps, persistent, pairs, inner_loop, skips_zeros, last_block_more };

constexpr int places_threads = 64;

template <bool skips_zeros>
__device__ void convolve_map(const float* x, const float* w, float* y, const LayerSizes& sizes, int image, int map) {
  const int plane = sizes.out_height * sizes.out_width;
  x += static_cast<std::size_t>(image) * static_cast<std::size_t>(sizes.in_channels * sizes.height * sizes.width);
  y += static_cast<std::size_t>(image) * static_cast<std::size_t>(sizes.out_channels * plane);
  for (int pixel = static_cast<int>(threadIdx.x); pixel < plane; pixel += places_threads) {
    float sum = 0.0F;
    for (int channel = 0; channel < sizes.in_channels; ++channel) {
      for (int p = 0; p < sizes.kernel; ++p) {
#pragma unroll 1
        for (int q = 0; q < sizes.kernel; ++q) {
          const int row = pixel / sizes.out_width + p;
          const int column = pixel % sizes.out_width + q;
          const float input = x[(channel * sizes.height + row) * sizes.width + column];
          if (skips_zeros && input == 0.0F) continue;
          sum += input * w[((map * sizes.in_channels + channel) * sizes.kernel + p) * sizes.kernel + q];
        }
      }
    }
    y[map * plane + pixel] = sum;
  }
}

template <Places places>
__global__ void conv_image_places(const float* x, const float* w, float* y, LayerSizes sizes, int batch) {
  const int block_x = static_cast<int>(blockIdx.x);
  const int block_y = static_cast<int>(blockIdx.y);
  if constexpr (places == Places::x) {
    convolve_map<false>(x, w, y, sizes, block_x, block_y);
  } else if constexpr (places == Places::y) {
    convolve_map<false>(x, w, y, sizes, block_y, block_x);
  } else if constexpr (places == Places::z) {
    convolve_map<false>(x, w, y, sizes, static_cast<int>(blockIdx.z), block_x);
  } else if constexpr (places == Places::x_guarded) {
    if (block_x < batch) convolve_map<false>(x, w, y, sizes, block_x, block_y);
  } else if constexpr (places == Places::x_with_maps) {
    convolve_map<false>(x, w, y, sizes, block_x / sizes.out_channels, block_x % sizes.out_channels);
  } else if constexpr (places == Places::persistent) {
    for (int unit = block_x; unit < batch * sizes.out_channels; unit += static_cast<int>(gridDim.x)) {
      convolve_map<false>(x, w, y, sizes, unit / sizes.out_channels, unit % sizes.out_channels);
    }
  } else if constexpr (places == Places::pairs) {
    for (int image = 2 * block_x; image < 2 * block_x + 2 && image < batch; ++image) {
      convolve_map<false>(x, w, y, sizes, image, block_y);
    }
  } else if constexpr (places == Places::inner_loop) {
    for (int image = 0; image < batch; ++image) convolve_map<false>(x, w, y, sizes, image, block_x);
  } else if constexpr (places == Places::skips_zeros) {
    convolve_map<true>(x, w, y, sizes, block_x, block_y);
  } else {
    convolve_map<false>(x, w, y, sizes, block_x, block_y);
    if (block_x == batch - 1) convolve_map<false>(x, w, y, sizes, block_x, block_y);
  }
}

/// Over the weights only.
__global__ void conv_places_weights(const float* w, float* doubled, int taps) {
  for (int tap = static_cast<int>(threadIdx.x); tap < taps; tap += places_threads) {
    doubled[static_cast<int>(blockIdx.x) * taps + tap] = w[static_cast<int>(blockIdx.x) * taps + tap];
  }
}

namespace {

std::string unsupported(const ConvShape& shape) {
  const bool plain = shape.stride == 1 && shape.padding == 0 && shape.groups == 1;
  return plain ? grid_error({1, static_cast<unsigned>(shape.batch), 1}) : "has a stride, padding or groups";
}

template <Places places>
KernelLaunch launch_of(const ConvShape& shape, const CudaTensors& tensors, Dim3 grid) {
  return make_launch(conv_image_places<places>, grid, {places_threads, 1, 1}, 0, tensors.input, tensors.weights,
                     tensors.output, layer_sizes(shape), shape.batch);
}

struct Sizes {
  unsigned images;
  unsigned maps;
};
Sizes sizes_of(const ConvShape& shape) {
  return {static_cast<unsigned>(shape.batch), static_cast<unsigned>(shape.out_channels)};
}

struct Seeded {
  const char* name;
  LaunchPlan plan;
  WorkspaceBytes workspace = nullptr;
};

using Launches = std::vector<KernelLaunch>;

const std::vector<Seeded>& all_seeded() {
  static const std::vector<Seeded> all = {
      {"seeded-images-x",
       [](const ConvShape& s, const CudaTensors& t) -> Launches {
         return {over_items(launch_of<Places::x>(s, t, {sizes_of(s).images, sizes_of(s).maps, 1}))};
       }},
      {"seeded-images-y",
       [](const ConvShape& s, const CudaTensors& t) -> Launches {
         return {over_items(launch_of<Places::y>(s, t, {sizes_of(s).maps, sizes_of(s).images, 1}), Axis::y)};
       }},
      {"seeded-images-z",
       [](const ConvShape& s, const CudaTensors& t) -> Launches {
         return {over_items(launch_of<Places::z>(s, t, {sizes_of(s).maps, 1, sizes_of(s).images}), Axis::z)};
       }},
      {"seeded-images-guarded",
       [](const ConvShape& s, const CudaTensors& t) -> Launches {
         return {over_items(launch_of<Places::x_guarded>(s, t, {sizes_of(s).images, sizes_of(s).maps, 1}))};
       }},
      {"seeded-images-z-said-x",
       [](const ConvShape& s, const CudaTensors& t) -> Launches {
         return {over_items(launch_of<Places::z>(s, t, {sizes_of(s).maps, 1, sizes_of(s).images}))};
       }},
      {"seeded-images-silent",
       [](const ConvShape& s, const CudaTensors& t) -> Launches {
         return {launch_of<Places::z>(s, t, {sizes_of(s).maps, 1, sizes_of(s).images})};
       }},
      {"seeded-images-with-maps",
       [](const ConvShape& s, const CudaTensors& t) -> Launches {
         return {over_items(launch_of<Places::x_with_maps>(s, t, {sizes_of(s).images * sizes_of(s).maps, 1, 1}))};
       }},
      {"seeded-images-persistent",
       [](const ConvShape& s, const CudaTensors& t) -> Launches {
         return {over_items(launch_of<Places::persistent>(s, t, {13, 1, 1}))};
       }},
      {"seeded-images-strided",
       [](const ConvShape& s, const CudaTensors& t) -> Launches {
         return {over_items(launch_of<Places::persistent>(s, t, {sizes_of(s).images, 1, 1}))};
       }},
      {"seeded-images-pairs",
       [](const ConvShape& s, const CudaTensors& t) -> Launches {
         return {over_items(launch_of<Places::pairs>(s, t, {(sizes_of(s).images + 1) / 2, sizes_of(s).maps, 1}),
                            Axis::x, 2)};
       }},
      {"seeded-images-inner-loop",
       [](const ConvShape& s, const CudaTensors& t) -> Launches {
         return {over_items(launch_of<Places::inner_loop>(s, t, {sizes_of(s).maps, 1, 1}))};
       }},
      {"seeded-images-skip-zeros",
       [](const ConvShape& s, const CudaTensors& t) -> Launches {
         return {over_items(launch_of<Places::skips_zeros>(s, t, {sizes_of(s).images, sizes_of(s).maps, 1}))};
       }},
      {"seeded-images-last-more",
       [](const ConvShape& s, const CudaTensors& t) -> Launches {
         return {over_items(launch_of<Places::last_block_more>(s, t, {sizes_of(s).images, sizes_of(s).maps, 1}))};
       }},
      {"seeded-images-each-a-launch",
       [](const ConvShape& s, const CudaTensors& t) -> Launches {
         Launches launches;
         for (int image = 0; image < s.batch; ++image) {
           CudaTensors one = t;
           if (t.input != nullptr) one.input += image * s.input_elements_per_image();
           if (t.output != nullptr) one.output += image * s.output_elements_per_image();
           launches.push_back(over_items(launch_of<Places::x>(s, one, {1, sizes_of(s).maps, 1})));
         }
         return launches;
       }},
      {"seeded-images-two-kernels",
       [](const ConvShape& s, const CudaTensors& t) -> Launches {
         CudaTensors copied = t;
         copied.weights = t.workspace;
         const int taps = s.in_channels * s.kernel * s.kernel;
         return {over_items(make_launch(conv_places_weights, {sizes_of(s).maps, 1, 1}, {places_threads, 1, 1}, 0,
                                        t.weights, t.workspace, taps)),
                 over_items(launch_of<Places::x>(s, copied, {sizes_of(s).images, sizes_of(s).maps, 1}))};
       },
       [](const ConvShape& s) { return static_cast<std::size_t>(s.weight_elements()) * sizeof(float); }},
  };
  return all;
}

const std::vector<VariantRegistration>& registrations() {
  static const std::vector<VariantRegistration> registered = [] {
    std::vector<VariantRegistration> list;
    int rung = 150;
    for (const Seeded& one : all_seeded()) {
      list.emplace_back(
          "convolution",
          VariantInfo{.family = "cuda",
                      .rung = rung++,
                      .name = one.name,
                      .title = one.name,
                      .builds_on = "global-memory",
                      .hypothesis = "Counts the same whether the batch is scaled or executed whole."},
          cuda_variant(CudaVariantParts{.plan = one.plan, .unsupported = unsupported, .workspace = one.workspace}));
    }
    return list;
  }();
  return registered;
}

[[maybe_unused]] const std::size_t registered_count = registrations().size();

}  // namespace
}  // namespace convladder
