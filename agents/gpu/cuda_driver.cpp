// SPDX-License-Identifier: Apache-2.0
#include "agents/gpu/cuda_driver.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "agents/gpu/shared_library.h"

namespace tessera::agents {
namespace {

constexpr const char* kLibrary = "libcuda.so.1";
/// Of CUDA 12.0. Older drivers lack none of the functions, but nobody has tried them.
constexpr int kOldestVersion = 12000;

}  // namespace

Result<std::shared_ptr<const CudaDriver>> CudaDriver::Get() {
  static const Result<std::shared_ptr<const CudaDriver>> driver = Load();
  return driver;
}

Result<std::shared_ptr<const CudaDriver>> CudaDriver::Load() {
  TESSERA_TRY(const SharedLibrary library, SharedLibrary::Open(kLibrary).Context("no CUDA driver"));
  std::shared_ptr<CudaDriver> driver(new CudaDriver);
#define TESSERA_CUDA_LOAD(name, symbol, parameters) \
  TESSERA_RETURN_IF_ERROR(library.Find(symbol, &driver->api_.name));
  TESSERA_CUDA_FUNCTIONS(TESSERA_CUDA_LOAD)
#undef TESSERA_CUDA_LOAD
  static_cast<void>(library.Find(cuda::kAllowHostAccessSymbol, &driver->allow_host_access_));
  TESSERA_RETURN_IF_ERROR(driver->Check(driver->api_.Init(0), "cuInit"));
  TESSERA_RETURN_IF_ERROR(
      driver->Check(driver->api_.DriverGetVersion(&driver->version_), "cuDriverGetVersion"));
  if (driver->version_ < kOldestVersion) {
    return Unavailable(fmt::format("the CUDA driver is of version {}.{}, at least {}.0 is needed",
                                   driver->version_ / 1000, driver->version_ % 1000 / 10,
                                   kOldestVersion / 1000));
  }
  return driver;
}

std::string CudaDriver::VersionText() const {
  return fmt::format("{}.{}{}", version_ / 1000, version_ % 1000 / 10,
                     is_emulated() ? " (emulated)" : "");
}

Result<int> CudaDriver::NumDevices() const {
  int count = 0;
  TESSERA_RETURN_IF_ERROR(Check(api_.DeviceGetCount(&count), "cuDeviceGetCount"));
  return count;
}

Result<CudaDeviceInfo> CudaDriver::Describe(int number) const {
  TESSERA_TRY(const int count, NumDevices());
  if (number < 0 || number >= count) {
    return InvalidArgument(fmt::format("CUDA device {}: this machine has {}", number, count));
  }
  const auto attribute = [&](cuda::Attribute which) -> Result<int> {
    int value = 0;
    TESSERA_RETURN_IF_ERROR(Check(api_.DeviceGetAttribute(&value, which, number),
                                  fmt::format("cuDeviceGetAttribute of device {}", number)));
    return value;
  };
  CudaDeviceInfo info;
  info.number = number;
  std::array<char, 256> name{};
  TESSERA_RETURN_IF_ERROR(
      Check(api_.DeviceGetName(name.data(), static_cast<int>(name.size()) - 1, number),
            fmt::format("cuDeviceGetName of device {}", number)));
  info.name = name.data();
  cuda::Uuid uuid{};
  TESSERA_RETURN_IF_ERROR(Check(api_.DeviceGetUuid(&uuid, number),
                                fmt::format("cuDeviceGetUuid of device {}", number)));
  for (const char byte : uuid.bytes) {
    info.uuid += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  }
  std::size_t total = 0;
  TESSERA_RETURN_IF_ERROR(Check(api_.DeviceTotalMem(&total, number),
                                fmt::format("cuDeviceTotalMem of device {}", number)));
  info.total_bytes = static_cast<std::int64_t>(total);
  TESSERA_TRY(info.compute_major, attribute(cuda::kComputeMajor));
  TESSERA_TRY(info.compute_minor, attribute(cuda::kComputeMinor));
  TESSERA_TRY(const int is_virtual, attribute(cuda::kVirtualMemorySupported));
  TESSERA_TRY(const int is_shareable, attribute(cuda::kPosixHandlesSupported));
  info.has_shareable_memory = is_virtual != 0 && is_shareable != 0;
  for (int other = 0; other < count; ++other) {
    int can = 0;
    if (other == number) continue;
    TESSERA_RETURN_IF_ERROR(
        Check(api_.DeviceCanAccessPeer(&can, number, other),
              fmt::format("cuDeviceCanAccessPeer of devices {} and {}", number, other)));
    if (can != 0) info.peers.push_back(other);
  }
  return info;
}

Status CudaDriver::Check(cuda::Code code, const std::string& what) const {
  if (code == cuda::kSuccess) return OkStatus();
  const char* text = nullptr;
  if (api_.GetErrorString(code, &text) != cuda::kSuccess || text == nullptr) text = "unknown error";
  return Error{code == cuda::kOutOfMemory ? ErrorCode::kResourceExhausted : ErrorCode::kUnavailable,
               fmt::format("CUDA: {}: {} ({})", what, text, code),
               {}};
}

}  // namespace tessera::agents
