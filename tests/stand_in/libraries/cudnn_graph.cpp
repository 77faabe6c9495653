// The graph interface of the tests' cuDNN, as far as a graph of one convolution needs it. As NVIDIA's does, it refuses
// what is used before it is finalized, changed afterwards, asked for under another type, or lacks an attribute; and
// what a descriptor was given lives on in it when its own descriptor is destroyed.
#include <cudnn.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "calls.hpp"
#include "cudnn_settings.hpp"

using library_of_tests::answered;
using library_of_tests::Engine;
using library_of_tests::engines;
using library_of_tests::Living;
using library_of_tests::Sizes;

namespace {

struct Content;

/// An attribute: plain values, or the contents of other descriptors.
struct Attribute {
  cudnnBackendAttributeType_t type = CUDNN_TYPE_INT64;
  std::vector<std::byte> bytes;
  std::vector<std::shared_ptr<const Content>> parts;

  template <typename Value>
  Value at(std::size_t place) const {
    Value value{};
    std::memcpy(&value, bytes.data() + place * sizeof value, sizeof value);
    return value;
  }
};

struct Content {
  cudnnBackendDescriptorType_t type = CUDNN_BACKEND_TENSOR_DESCRIPTOR;
  std::map<int, Attribute> attributes;
  bool finalized = false;
  const Engine* engine = nullptr;  ///< of an engine, its configuration, its knob and its plan

  bool has(int name, std::size_t count) const {
    const auto found = attributes.find(name);
    return found != attributes.end() && (found->second.parts.size() == count ||
                                         (found->second.parts.empty() && found->second.bytes.size() >= count));
  }
  template <typename Value>
  Value value(int name, std::size_t place = 0) const {
    return attributes.at(name).at<Value>(place);
  }
  const Content& part(int name) const { return *attributes.at(name).parts.at(0); }
};

struct Descriptor {
  std::shared_ptr<Content> content = std::make_shared<Content>();
};

Living<Descriptor> descriptors;

Descriptor* living(cudnnBackendDescriptor_t descriptor) {
  auto* const found = static_cast<Descriptor*>(descriptor);
  return descriptors.has(found) ? found : nullptr;
}

std::size_t bytes_of(cudnnBackendAttributeType_t type) {
  switch (type) {
    case CUDNN_TYPE_BOOLEAN:
      return 1;
    case CUDNN_TYPE_HANDLE:
    case CUDNN_TYPE_INT64:
    case CUDNN_TYPE_VOID_PTR:
    case CUDNN_TYPE_DOUBLE:
      return 8;
    default:
      return 4;
  }
}

/// Whether the descriptor may be finalized: it has what its kind needs, finalized too.
bool is_complete(const Content& content) {
  for (const auto& [name, attribute] : content.attributes) {
    for (const auto& part : attribute.parts) {
      if (!part->finalized) return false;
    }
  }
  const auto all = [&](std::initializer_list<int> names) {
    return std::all_of(names.begin(), names.end(), [&](int name) { return content.has(name, 1); });
  };
  switch (content.type) {
    case CUDNN_BACKEND_TENSOR_DESCRIPTOR:
      return all({CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_ATTR_TENSOR_STRIDES,
                  CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT});
    case CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR:
      return all({CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_ATTR_CONVOLUTION_COMP_TYPE,
                  CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS,
                  CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_ATTR_CONVOLUTION_DILATIONS,
                  CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES});
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
      return all({CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
                  CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
                  CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA});
    case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
      return all({CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_ATTR_OPERATIONGRAPH_HANDLE});
    case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR:
      return all({CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, CUDNN_ATTR_ENGINEHEUR_MODE});
    case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:
      return all({CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG});
    case CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR:
      return all({CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS,
                  CUDNN_ATTR_VARIANT_PACK_WORKSPACE});
    default:
      return false;
  }
}

/// Whether strides say that the tensor is packed, with its channels last or not; sets which.
bool has_layout(const Content& tensor, bool& channels_last) {
  std::array<std::int64_t, 4> n{};
  std::array<std::int64_t, 4> stride{};
  for (std::size_t i = 0; i < 4; ++i) {
    n[i] = tensor.value<std::int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS, i);
    stride[i] = tensor.value<std::int64_t>(CUDNN_ATTR_TENSOR_STRIDES, i);
  }
  channels_last = stride == std::array<std::int64_t, 4>{n[1] * n[2] * n[3], 1, n[3] * n[1], n[1]};
  return channels_last || stride == std::array<std::int64_t, 4>{n[1] * n[2] * n[3], n[2] * n[3], n[3], 1};
}

/// What the graph's operation convolves; false where it does not fit together.
bool sizes_of(const Content& graph, Sizes& sizes) {
  const Content& operation = graph.part(CUDNN_ATTR_OPERATIONGRAPH_OPS);
  const Content& c = operation.part(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC);
  const Content* const tensors[] = {&operation.part(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X),
                                    &operation.part(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W),
                                    &operation.part(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y)};
  std::array<std::array<int, 4>, 3> n{};
  std::array<bool, 3> last{};
  for (std::size_t t = 0; t < 3; ++t) {
    if (!has_layout(*tensors[t], last[t])) return false;
    for (std::size_t i = 0; i < 4; ++i) {
      n[t][i] = static_cast<int>(tensors[t]->value<std::int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS, i));
    }
  }
  const auto both = [&](int name, std::int64_t& value) {
    value = c.value<std::int64_t>(name, 0);
    return value == c.value<std::int64_t>(name, 1);
  };
  std::int64_t padding = 0;
  std::int64_t after = 0;
  std::int64_t stride = 0;
  std::int64_t dilation = 0;
  if (!both(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, padding) || !both(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, after) ||
      !both(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, stride) || !both(CUDNN_ATTR_CONVOLUTION_DILATIONS, dilation) ||
      padding != after || dilation != 1 || n[0][1] % n[1][1] != 0 ||
      c.value<cudnnConvolutionMode_t>(CUDNN_ATTR_CONVOLUTION_CONV_MODE) != CUDNN_CROSS_CORRELATION ||
      c.value<cudnnDataType_t>(CUDNN_ATTR_CONVOLUTION_COMP_TYPE) != CUDNN_DATA_FLOAT) {
    return false;
  }
  sizes = {n[0][0],
           n[0][1],
           n[0][2],
           n[0][3],
           n[1][0],
           n[1][1],
           n[1][2],
           n[2][2],
           n[2][3],
           static_cast<int>(padding),
           static_cast<int>(stride),
           n[0][1] / n[1][1],
           last[0]};
  // One channel: both layouts are the same, and each tensor may say either.
  const auto agrees = [&](std::size_t t) { return last[t] == last[0] || n[t][1] == 1 || n[0][1] == 1; };
  sizes.channels_last = last[0] || last[2];
  return agrees(1) && agrees(2) && n[1][2] == n[1][3] && n[2][0] == n[0][0] && n[2][1] == n[1][0] &&
         sizes.out_height == (sizes.height + 2 * sizes.padding - sizes.kernel) / sizes.stride + 1 &&
         sizes.out_width == (sizes.width + 2 * sizes.padding - sizes.kernel) / sizes.stride + 1;
}

std::shared_ptr<Content> of_engine(cudnnBackendDescriptorType_t type, const Engine& engine) {
  auto made = std::make_shared<Content>();
  made->type = type;
  made->engine = &engine;
  made->finalized = true;
  return made;
}

/// Gives the caller's descriptors the contents; each is of that type, and new.
cudnnStatus_t hand_out(cudnnBackendDescriptorType_t type, const std::vector<const Engine*>& from,
                       const std::shared_ptr<const Content>& graph, int64_t room, int64_t* count, void* array) {
  *count = static_cast<int64_t>(from.size());
  auto* const to = static_cast<cudnnBackendDescriptor_t*>(array);
  for (int64_t i = 0; i < room && i < *count; ++i) {
    Descriptor* const one = living(to[i]);
    if (one == nullptr || one->content->type != type) return CUDNN_STATUS_BAD_PARAM;
    one->content = of_engine(type, *from[static_cast<std::size_t>(i)]);
    if (graph != nullptr) one->content->attributes[CUDNN_ATTR_ENGINE_OPERATION_GRAPH].parts = {graph};
  }
  return CUDNN_STATUS_SUCCESS;
}

template <typename Value>
cudnnStatus_t values(const std::vector<Value>& from, int64_t room, int64_t* count, void* array) {
  *count = static_cast<int64_t>(from.size());
  for (int64_t i = 0; i < room && i < *count; ++i) static_cast<Value*>(array)[i] = from[static_cast<std::size_t>(i)];
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t read(const Content& content, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                   int64_t room, int64_t* count, void* array) {
  const auto is = [&](cudnnBackendDescriptorType_t of, cudnnBackendAttributeName_t wanted,
                      cudnnBackendAttributeType_t as) { return content.type == of && name == wanted && type == as; };
  const auto graph_of = [&] {
    return content.attributes
        .at(content.type == CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR
                ? static_cast<int>(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH)
                : static_cast<int>(CUDNN_ATTR_ENGINE_OPERATION_GRAPH))
        .parts.at(0);
  };
  if (is(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR)) {
    std::vector<const Engine*> named;
    for (const Engine& one : engines()) {
      const int mode = content.value<cudnnBackendHeurMode_t>(CUDNN_ATTR_ENGINEHEUR_MODE);
      if (std::find(one.modes.begin(), one.modes.end(), mode) != one.modes.end()) named.push_back(&one);
    }
    return hand_out(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, named, graph_of(), room, count, array);
  }
  if (is(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR)) {
    return hand_out(CUDNN_BACKEND_ENGINE_DESCRIPTOR, {content.engine}, nullptr, room, count, array);
  }
  if (is(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR)) {
    std::vector<const Engine*> knobs;
    if (content.engine->tile != 0) knobs.push_back(content.engine);
    return hand_out(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, knobs, nullptr, room, count, array);
  }
  if (is(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE)) {
    return values<int>({CUDNN_KNOB_TYPE_TILE_SIZE}, room, count, array);
  }
  if (is(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64)) {
    return values<std::int64_t>({content.engine->tile}, room, count, array);
  }
  if (is(CUDNN_BACKEND_ENGINE_DESCRIPTOR, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64)) {
    return values<std::int64_t>({content.engine->index}, room, count, array);
  }
  if (is(CUDNN_BACKEND_ENGINE_DESCRIPTOR, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE)) {
    return values<int>(content.engine->notes, room, count, array);
  }
  if (is(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64)) {
    const Content& configuration = content.part(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
    return values<std::int64_t>({static_cast<std::int64_t>(configuration.engine->way.workspace)}, room, count, array);
  }
  return CUDNN_STATUS_BAD_PARAM;
}

}  // namespace

extern "C" {

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t* descriptor) {
  const Descriptor* made = nullptr;
  return answered<cudnnStatus_t>("cudnnBackendCreateDescriptor", made, [&] {
    Descriptor* const one = descriptors.make();
    one->content->type = type;
    *descriptor = one;
    made = one;
    return CUDNN_STATUS_SUCCESS;
  });
}

cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  const auto* const one = static_cast<const Descriptor*>(descriptor);
  return answered<cudnnStatus_t>("cudnnBackendDestroyDescriptor", one, [&] {
    Descriptor* const alive = living(descriptor);
    if (alive == nullptr) return CUDNN_STATUS_BAD_PARAM;
    alive->content = nullptr;
    descriptors.destroy(alive);
    return CUDNN_STATUS_SUCCESS;
  });
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t count, const void* array) {
  const auto* const one = static_cast<const Descriptor*>(descriptor);
  return answered<cudnnStatus_t>("cudnnBackendSetAttribute", one, [&] {
    Descriptor* const alive = living(descriptor);
    if (alive == nullptr || alive->content->finalized || count < 1 || array == nullptr) return CUDNN_STATUS_BAD_PARAM;
    Attribute attribute{type, {}, {}};
    if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
      for (int64_t i = 0; i < count; ++i) {
        const Descriptor* const part = living(static_cast<const cudnnBackendDescriptor_t*>(array)[i]);
        if (part == nullptr || !part->content->finalized) return CUDNN_STATUS_BAD_PARAM;
        attribute.parts.push_back(part->content);
      }
    } else {
      const auto* const bytes = static_cast<const std::byte*>(array);
      attribute.bytes.assign(bytes, bytes + static_cast<std::size_t>(count) * bytes_of(type));
    }
    alive->content->attributes[name] = std::move(attribute);
    return CUDNN_STATUS_SUCCESS;
  });
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
  const auto* const one = static_cast<const Descriptor*>(descriptor);
  return answered<cudnnStatus_t>("cudnnBackendFinalize", one, [&] {
    Descriptor* const alive = living(descriptor);
    if (alive == nullptr || alive->content->finalized || !is_complete(*alive->content)) return CUDNN_STATUS_BAD_PARAM;
    Content& content = *alive->content;
    Sizes sizes{};
    if (content.type == CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR && !sizes_of(content, sizes)) {
      return CUDNN_STATUS_BAD_PARAM;
    }
    if (content.type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR) {
      const cudnnStatus_t status = content.part(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG).engine->way.size_status;
      if (status != CUDNN_STATUS_SUCCESS) return status;
    }
    content.finalized = true;
    return CUDNN_STATUS_SUCCESS;
  });
}

cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t room, int64_t* count, void* array) {
  const auto* const one = static_cast<const Descriptor*>(descriptor);
  return answered<cudnnStatus_t>("cudnnBackendGetAttribute", one, [&] {
    const Descriptor* const alive = living(descriptor);
    if (alive == nullptr || !alive->content->finalized) return CUDNN_STATUS_BAD_PARAM;
    return read(*alive->content, name, type, room, count, array);
  });
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan, cudnnBackendDescriptor_t pack) {
  return answered<cudnnStatus_t>("cudnnBackendExecute", handle, [&] {
    const Descriptor* const made = living(plan);
    const Descriptor* const given = living(pack);
    if (!library_of_tests::is_handle(handle) || made == nullptr || given == nullptr || !made->content->finalized ||
        !given->content->finalized) {
      return CUDNN_STATUS_BAD_PARAM;
    }
    const Content& configuration = made->content->part(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
    const Content& graph = configuration.part(CUDNN_ATTR_ENGINE_OPERATION_GRAPH);
    const Content& operation = graph.part(CUDNN_ATTR_OPERATIONGRAPH_OPS);
    const auto place = [&](int name) -> void* {
      const auto id = operation.part(name).value<std::int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID);
      const Attribute& ids = given->content->attributes.at(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
      for (std::size_t i = 0; i < ids.bytes.size() / sizeof id; ++i) {
        if (ids.at<std::int64_t>(i) == id)
          return given->content->value<void*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, i);
      }
      return nullptr;
    };
    Sizes sizes{};
    void* const x = place(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X);
    void* const w = place(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W);
    void* const y = place(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y);
    const library_of_tests::Way& way = configuration.engine->way;
    if (!sizes_of(graph, sizes) || x == nullptr || w == nullptr || y == nullptr ||
        (way.workspace > 0 && given->content->value<void*>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE) == nullptr)) {
      return CUDNN_STATUS_BAD_PARAM;
    }
    if (way.status != CUDNN_STATUS_SUCCESS) return way.status;
    return library_of_tests::forward(sizes, way, operation.value<float>(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA),
                                     x, w, operation.value<float>(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA), y);
  });
}
}
