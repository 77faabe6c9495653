// The subjects of the driver API, and the kernels that several of them launch.
#pragma once

inline constexpr const char* kScale = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .global .align 4 .b8 factor[4] = {0, 0, 0, 64};
.visible .entry scale(.param .u8 scale_before, .param .u64 scale_data, .param .u32 scale_count)
{
  .reg .pred %p<2>;
  .reg .f32 %f<4>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [scale_data];
  ld.param.u32 %r1, [scale_count];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.s32 %p1, %r5, %r1;
  @%p1 bra DONE;
  cvta.to.global.u64 %rd2, %rd1;
  mul.wide.s32 %rd3, %r5, 4;
  add.s64 %rd4, %rd2, %rd3;
  ld.global.f32 %f1, [%rd4];
  ld.global.f32 %f2, [factor];
  mul.f32 %f3, %f1, %f2;
  st.global.f32 [%rd4], %f3;
DONE:
  ret;
}
.visible .entry wild(.param .u64 wild_data)
{
  .reg .b64 %rd<3>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [wild_data];
  mov.u32 %r1, 1;
  st.global.u32 [%rd1], %r1;
  ret;
}
)";

// Without a context.
void devices();
void contexts();

// In the current context.
void modules();
void launches();
void memory();
void events();
void libraries();
void linking();
void tensor_maps();
void textures();
void graphs();
void errors_stay();
