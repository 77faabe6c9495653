// oneDNN 3 describes a primitive in one step, from an engine and the arguments; oneDNN 2, which Debian 12 has, in two.
// Both are compiled.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>
#include <tuple>

namespace convladder {

/// Makes a description from the arguments that both versions take in the same order, followed by the description of the
/// forward primitive for a primitive of a backward pass. Throws dnnl::error where the library refuses.
template <typename Primitive, typename... Arguments, typename... Forward>
typename Primitive::primitive_desc onednn_description(const dnnl::engine& engine,
                                                      const std::tuple<Arguments...>& arguments,
                                                      const Forward&... forward) {
  return std::apply(
      [&](const auto&... each) {
#if DNNL_VERSION_MAJOR < 3
        return typename Primitive::primitive_desc(typename Primitive::desc(each...), engine, forward...);
#else
        return typename Primitive::primitive_desc(engine, each..., forward...);
#endif
      },
      arguments);
}

/// Makes a description with attributes, such as operations after the primitive's own.
template <typename Primitive, typename... Arguments>
typename Primitive::primitive_desc onednn_description_with(const dnnl::primitive_attr& attributes,
                                                           const dnnl::engine& engine,
                                                           const std::tuple<Arguments...>& arguments) {
  return std::apply(
      [&](const auto&... each) {
#if DNNL_VERSION_MAJOR < 3
        return typename Primitive::primitive_desc(typename Primitive::desc(each...), attributes, engine);
#else
        return typename Primitive::primitive_desc(engine, each..., attributes);
#endif
      },
      arguments);
}

/// The sizes of a tensor.
inline dnnl::memory::dims onednn_sizes(const dnnl::memory::desc& description) {
#if DNNL_VERSION_MAJOR < 3
  return description.dims();
#else
  return description.get_dims();
#endif
}

}  // namespace convladder
