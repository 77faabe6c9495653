/* A library that hands functions of the runtime in it on by names of its own, as that of the CuTe DSL does: stripped, it has
   no other names. */
#define HANDS_ON(name, to) \
  __asm__(".text\n.p2align 4\n.globl " name "\n.type " name ", @function\n" name ":\njmp " to "\n.size " name ", . - " name)

HANDS_ON("_cudaMalloc", "cudaMalloc");
HANDS_ON("_cudaMemcpy", "cudaMemcpy");
HANDS_ON("_cudaGetDeviceCount", "cudaGetDeviceCount");
HANDS_ON("_cudaLaunchKernelEx", "cudaLaunchKernelExC");

int cudaGetDeviceCount(int* count);

/* Calls the runtime itself. */
int devices_inside(void) {
  int count = 0;
  return cudaGetDeviceCount(&count) == 0 ? count : -1;
}
