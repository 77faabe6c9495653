// The part of cuDNN that the variants use, opened at run time: the program starts without it.
#pragma once

#include <cudnn.h>

#include <string>

namespace convladder {

/// cuDNN's functions by their own names, with the types of cudnn.h.
struct CudnnLibrary {
#define CONVLADDER_CUDNN_FUNCTIONS(apply)         \
  apply(cudnnGetVersion);                         \
  apply(cudnnGetErrorString);                     \
  apply(cudnnCreate);                             \
  apply(cudnnDestroy);                            \
  apply(cudnnSetStream);                          \
  apply(cudnnCreateTensorDescriptor);             \
  apply(cudnnSetTensor4dDescriptor);              \
  apply(cudnnDestroyTensorDescriptor);            \
  apply(cudnnCreateFilterDescriptor);             \
  apply(cudnnSetFilter4dDescriptor);              \
  apply(cudnnDestroyFilterDescriptor);            \
  apply(cudnnCreateConvolutionDescriptor);        \
  apply(cudnnSetConvolution2dDescriptor);         \
  apply(cudnnSetConvolutionGroupCount);           \
  apply(cudnnSetConvolutionMathType);             \
  apply(cudnnDestroyConvolutionDescriptor);       \
  apply(cudnnGetConvolutionForwardWorkspaceSize); \
  apply(cudnnConvolutionForward);                 \
  apply(cudnnBackendCreateDescriptor);            \
  apply(cudnnBackendDestroyDescriptor);           \
  apply(cudnnBackendSetAttribute);                \
  apply(cudnnBackendGetAttribute);                \
  apply(cudnnBackendFinalize);                    \
  apply(cudnnBackendExecute)
// NOLINTNEXTLINE(bugprone-macro-parentheses): a declared name takes none
#define CONVLADDER_CUDNN_MEMBER(name) decltype(&::name) name = nullptr
  CONVLADDER_CUDNN_FUNCTIONS(CONVLADDER_CUDNN_MEMBER);
#undef CONVLADDER_CUDNN_MEMBER

  std::string missing;  ///< empty if everything was found, otherwise why the library cannot be used
  std::string file;     ///< full path

  std::string version() const;  ///< "9.19.0"
};

/// Opens libcudnn.so.9 (or libcudnn.so) once, where the dynamic linker looks: the program's RUNPATH, LD_LIBRARY_PATH,
/// the system's folders. For a cuDNN installed by pip, LD_LIBRARY_PATH=<site-packages>/nvidia/cudnn/lib.
const CudnnLibrary& cudnn_library();

/// Throws DeviceError, "cudnnCreate: <text>", unless `status` is success; NothingForSize where cuDNN does not support
/// the request.
void require_cudnn(cudnnStatus_t status, const char* call);

/// A cuDNN object, destroyed with its owner.
template <typename Handle>
class OwnedCudnn {
 public:
  OwnedCudnn(cudnnStatus_t (*create)(Handle*), cudnnStatus_t (*destroy)(Handle), const char* call) : destroy_(destroy) {
    require_cudnn(create(&handle_), call);
  }
  OwnedCudnn(const OwnedCudnn&) = delete;
  OwnedCudnn& operator=(const OwnedCudnn&) = delete;
  ~OwnedCudnn() { destroy_(handle_); }
  Handle get() const { return handle_; }

 private:
  Handle handle_ = nullptr;
  cudnnStatus_t (*destroy_)(Handle);
};

}  // namespace convladder
