// SPDX-License-Identifier: Apache-2.0
#include "agents/node/doctor_gpu.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "agents/gpu/cuda_driver.h"
#include "agents/gpu/kernels/image.h"
#include "agents/gpu/nccl_library.h"

namespace tessera::agents {
namespace {

using engine::Check;
using Verdict = engine::Check::Verdict;

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

/// A node without GPUs needs nothing of this.
Verdict Missing(const AgentConfig& config, Verdict verdict) {
  return config.cuda_devices.empty() ? Verdict::kSkipped : verdict;
}

Check Device(const AgentConfig& config, const CudaDriver& driver, int number) {
  Check check{.name = fmt::format("CUDA device {}", number)};
  const auto info = driver.Describe(number);
  if (!info) {
    check.verdict = Verdict::kFailed;
    check.value = info.error().message;
    check.remedy = "see the messages of the kernel (dmesg) for the device";
    return check;
  }
  check.value =
      fmt::format("{}, {} MiB, compute {}.{}, {}", info->name, info->total_bytes / kMiB,
                  info->compute_major, info->compute_minor,
                  info->peers.empty() ? "reaches no other device"
                                      : fmt::format("reaches {}", fmt::join(info->peers, ", ")));
  const auto& own = config.cuda_devices;
  const auto gpus = std::count(own.begin(), own.end(), number);  // of the node, on this device
  const bool is_own = gpus > 0;
  if (gpus > 1) check.value += fmt::format(", shared by {} GPUs of this node", gpus);
  if (is_own && !info->has_shareable_memory) {
    check.verdict = Verdict::kFailed;
    check.remedy = "its memory cannot be shared between processes: use another device";
  } else if (is_own && info->total_bytes < gpus * config.device_bytes) {
    check.verdict = Verdict::kFailed;
    check.remedy = fmt::format("the node's file says {} MiB for each GPU: lower device_bytes",
                               config.device_bytes / kMiB);
  }
  return check;
}

Check Nccl(const AgentConfig& config) {
  const auto nccl = NcclLibrary::Get();
  if (nccl) return {.name = "NCCL", .value = (*nccl)->VersionText()};
  return {.name = "NCCL",
          .verdict = Missing(config, Verdict::kWarning),
          .value = nccl.error().message,
          .remedy = "install libnccl2: programs with PyTorch on several GPUs need it"};
}

}  // namespace

std::vector<Check> CheckGpus(const AgentConfig& config) {
  std::vector<Check> checks;
  const auto driver = CudaDriver::Get();
  if (!driver) {
    checks.push_back({.name = "CUDA driver",
                      .verdict = Missing(config, Verdict::kFailed),
                      .value = driver.error().message,
                      .remedy = "install the driver of the GPUs (libcuda.so.1)"});
    return checks;
  }
  const auto count = (*driver)->NumDevices();
  checks.push_back(
      {.name = "CUDA driver",
       .value = fmt::format("{}, {} devices", (*driver)->VersionText(), count.value_or(0))});
  if (!gpu::HasKernels() && !(*driver)->is_emulated()) {
    checks.push_back({.name = "kernels",
                      .verdict = Missing(config, Verdict::kFailed),
                      .value = "this program was built without nvcc",
                      .remedy = "build it again where packaging/cuda finds an nvcc"});
  }
  for (int number = 0; number < count.value_or(0); ++number) {
    checks.push_back(Device(config, **driver, number));
  }
  checks.push_back(Nccl(config));
  return checks;
}

}  // namespace tessera::agents
