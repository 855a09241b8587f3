// SPDX-License-Identifier: Apache-2.0
#include "agents/gpu/kernels/image.h"

#include <string_view>

#ifdef TESSERA_KERNEL_FATBIN
asm(R"(
  .section .rodata
  .balign 16
  .hidden tessera_kernels_begin
  .hidden tessera_kernels_end
  .globl tessera_kernels_begin
  .globl tessera_kernels_end
tessera_kernels_begin:
  .incbin ")" TESSERA_KERNEL_FATBIN R"("
tessera_kernels_end:
  .previous
)");
extern "C" const std::byte tessera_kernels_begin[];
extern "C" const std::byte tessera_kernels_end[];
#endif

namespace tessera::agents::gpu {

#ifdef TESSERA_KERNEL_FATBIN
bool HasKernels() { return true; }
std::span<const std::byte> KernelImage() { return {tessera_kernels_begin, tessera_kernels_end}; }
#else
bool HasKernels() { return false; }
std::span<const std::byte> KernelImage() {
  static constexpr std::string_view kMark = "TSKERNEL";
  return std::as_bytes(std::span(kMark));
}
#endif

}  // namespace tessera::agents::gpu
