#include "variants/convolution/cpu/libraries/onednn_convolution.hpp"

#include <fmt/format.h>

#include "support/dynamic_library.hpp"
#include "support/library_versions.hpp"
#include "variants/convolution/conv_shape.hpp"
#include "variants/onednn_description.hpp"

namespace convladder {
namespace {

using dnnl::memory;

dnnl::convolution_forward::primitive_desc describe(const OnednnLayer& layer, OnednnLayout layout,
                                                   const dnnl::engine& engine) {
  const auto any = [](const memory::desc& plain) {
    return memory::desc(onednn_sizes(plain), memory::data_type::f32, memory::format_tag::any);
  };
  const auto tensor = [&](const memory::desc& plain) { return layout == OnednnLayout::nchw ? plain : any(plain); };
  return onednn_description<dnnl::convolution_forward>(
      engine, std::tuple(dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, tensor(layer.input),
                         any(layer.weights), tensor(layer.output), layer.strides, layer.padding, layer.padding_at_end));
}

memory reorder_weights(const OnednnLayer& layer, const float* weights, const memory::desc& wanted,
                       const dnnl::engine& engine, dnnl::stream& stream) {
  // oneDNN takes its sources as void*, but a reorder only reads them.
  memory plain(layer.weights, engine, const_cast<float*>(weights));
  memory reordered(wanted, engine);
  dnnl::reorder(plain, reordered).execute(stream, plain, reordered);
  stream.wait();
  return reordered;
}

memory::desc plain_weights(const ConvShape& s) {
  using tag = memory::format_tag;
  if (s.groups == 1) {
    return {{s.out_channels, s.in_channels, s.kernel, s.kernel}, memory::data_type::f32, tag::oihw};
  }
  return {
      {s.groups, s.maps_per_group(), s.channels_per_group(), s.kernel, s.kernel}, memory::data_type::f32, tag::goihw};
}

const LibraryVersionRegistration registration([] {
  return LibraryVersion{"oneDNN", onednn_version(), library_with("dnnl_version")};
});

}  // namespace

std::string onednn_version() {
  const dnnl_version_t* const version = dnnl_version();
  return fmt::format("{}.{}.{}", version->major, version->minor, version->patch);
}

dnnl::memory::desc nchw(int batch, int channels, int height, int width) {
  return {{batch, channels, height, width}, memory::data_type::f32, memory::format_tag::nchw};
}

OnednnLayer onednn_layer(const ProblemSize& size) {
  const ConvShape s = conv_shape(size);
  return {.input = nchw(s.batch, s.in_channels, s.height, s.width),
          .weights = plain_weights(s),
          .output = nchw(s.batch, s.out_channels, s.out_height(), s.out_width()),
          .strides = {s.stride, s.stride},
          .padding = {s.padding, s.padding},
          .padding_at_end = {(s.out_height() - 1) * s.stride + s.kernel - s.height - s.padding,
                             (s.out_width() - 1) * s.stride + s.kernel - s.width - s.padding}};
}

OnednnConvolution::OnednnConvolution(const OnednnLayer& layer, const float* host_weights, OnednnLayout layout)
    : engine(dnnl::engine::kind::cpu, 0),
      stream(engine),
      description(describe(layer, layout, engine)),
      weights(reorder_weights(layer, host_weights, description.weights_desc(), engine, stream)),
      primitive(description) {}

std::string OnednnConvolution::implementation() const {
  return fmt::format("oneDNN {} {}", onednn_version(), description.impl_info_str());
}

}  // namespace convladder
