// The wgmma kernels of one variant as a library: compiled by EmulatedGpu with FUSEBENCH_SOURCE and the variant's macros.
#define __CUDACC_RTC__
#include FUSEBENCH_SOURCE

extern "C" void FUSEBENCH_KERNEL(call_pack)(const void* arguments) {
  FUSEBENCH_KERNEL(pack)(*static_cast<const Arguments*>(arguments));
}

extern "C" void FUSEBENCH_KERNEL(call_convolve)(const void* arguments) {
  FUSEBENCH_KERNEL(convolve)(*static_cast<const Arguments*>(arguments));
}
