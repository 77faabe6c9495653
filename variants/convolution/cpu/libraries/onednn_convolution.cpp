#include "variants/convolution/cpu/libraries/onednn_convolution.hpp"

#include <fmt/format.h>

#include "support/dynamic_library.hpp"
#include "support/library_versions.hpp"
#include "variants/onednn_description.hpp"

namespace convladder {
namespace {

using dnnl::memory;

memory::desc tensor(int batch, int channels, int height, int width, OnednnLayout layout) {
  const auto tag = layout == OnednnLayout::nchw ? memory::format_tag::nchw : memory::format_tag::any;
  return {{batch, channels, height, width}, memory::data_type::f32, tag};
}

dnnl::convolution_forward::primitive_desc describe(const ConvShape& s, OnednnLayout layout,
                                                   const dnnl::engine& engine) {
  const memory::desc weights{onednn_sizes(plain_weights(s)), memory::data_type::f32, memory::format_tag::any};
  const memory::dims padding{s.padding, s.padding};
  const memory::dims strides{s.stride, s.stride};
  return onednn_description<dnnl::convolution_forward>(
      engine, std::tuple(dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
                         tensor(s.batch, s.in_channels, s.height, s.width, layout), weights,
                         tensor(s.batch, s.out_channels, s.out_height(), s.out_width(), layout), strides, padding,
                         padding_at_end(s)));
}

memory reorder_weights(const ConvShape& s, const float* weights, const memory::desc& wanted, const dnnl::engine& engine,
                       dnnl::stream& stream) {
  // oneDNN takes its sources as void*, but a reorder only reads them.
  memory plain(plain_weights(s), engine, const_cast<float*>(weights));
  memory reordered(wanted, engine);
  dnnl::reorder(plain, reordered).execute(stream, plain, reordered);
  stream.wait();
  return reordered;
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
  return tensor(batch, channels, height, width, OnednnLayout::nchw);
}

dnnl::memory::desc plain_weights(const ConvShape& s) {
  using tag = memory::format_tag;
  if (s.groups == 1) {
    return {{s.out_channels, s.in_channels, s.kernel, s.kernel}, memory::data_type::f32, tag::oihw};
  }
  return {
      {s.groups, s.maps_per_group(), s.channels_per_group(), s.kernel, s.kernel}, memory::data_type::f32, tag::goihw};
}

dnnl::memory::dims padding_at_end(const ConvShape& s) {
  return {(s.out_height() - 1) * s.stride + s.kernel - s.height - s.padding,
          (s.out_width() - 1) * s.stride + s.kernel - s.width - s.padding};
}

OnednnConvolution::OnednnConvolution(const ConvShape& shape, const float* host_weights, OnednnLayout layout)
    : engine(dnnl::engine::kind::cpu, 0),
      stream(engine),
      description(describe(shape, layout, engine)),
      weights(reorder_weights(shape, host_weights, description.weights_desc(), engine, stream)),
      primitive(description) {}

std::string OnednnConvolution::implementation() const {
  return fmt::format("oneDNN {} {}", onednn_version(), description.impl_info_str());
}

}  // namespace convladder
