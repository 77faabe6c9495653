// Arrays, textures and surfaces.
#include "devices/stand_in/runtime/answer.hpp"

extern "C" {

cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

}  // extern "C"
