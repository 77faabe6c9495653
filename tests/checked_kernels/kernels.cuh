// The place of a thread, and mbarriers and copies in bulk by hand, for the checked kernels. What a mark may name is a
// macro, so that its line is the kernel's.
#pragma once

#define BULK_LOAD(to, from, bytes, barrier)                                                                     \
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"( \
                   shared_address(to)),                                                                         \
               "l"(from), "r"(static_cast<int>(bytes)), "r"(shared_address(barrier))                            \
               : "memory")
#define BULK_STORE(to, from, bytes)                                                                                \
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(shared_address(from)), \
               "r"(static_cast<int>(bytes))                                                                        \
               : "memory");                                                                                        \
  asm volatile("cp.async.bulk.commit_group;" ::: "memory")
/// A flag in global memory that is raised, and one that is looked at, with a scope.
#define RAISE(scope, flag) asm volatile("st.release." #scope ".global.u32 [%0], 1;" ::"l"(flag) : "memory")
#define SEE(scope, seen, flag) \
  asm volatile("ld.acquire." #scope ".global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory")

namespace {

__device__ inline int index_of_thread() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }
__device__ inline unsigned shared_address(const void* at) {
  return static_cast<unsigned>(__cvta_generic_to_shared(at));
}
__device__ inline void barrier_init(unsigned long long* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
}
__device__ inline void barrier_arrive(unsigned long long* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}
__device__ inline void barrier_expect(unsigned long long* barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
               : "memory");
}
__device__ inline void barrier_wait(unsigned long long* barrier, int parity) {
  asm volatile(
      "{\n.reg .pred done;\nAGAIN%=:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@!done bra "
      "AGAIN%=;\n}" ::"r"(shared_address(barrier)),
      "r"(parity)
      : "memory");
}
/// What threads have read and written in shared memory is done for copies in bulk and products behind it.
__device__ inline void fence_for_copies() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

}  // namespace
