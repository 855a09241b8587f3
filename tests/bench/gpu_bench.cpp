// SPDX-License-Identifier: Apache-2.0
/// \file
/// Rates of the operations on the memory of a CUDA device that moves, views and checkpoints are
/// made of, beside the driver's own copies of as many bytes. Prints medians of repeated rounds, in
/// each of which all operations run one after the other. A cell is one cut by columns: runs of it
/// are contiguous, rows of its piece are twice as long. Argument: the number of the device (0).
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agents/gpu/cell_plan.h"
#include "agents/gpu/cuda_memory.h"
#include "agents/gpu/cuda_region.h"
#include "engine/copy/device_memory.h"
#include "ptc/base/median.h"
#include "tests/bench/machine.h"

using namespace tessera;
using agents::CudaDevice;
using agents::CudaRegion;
using engine::CellView;
using ptc::Box;
using ptc::DType;

namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
constexpr std::int64_t kDeviceCell = 1024 * kMiB;  // above any cache of a device
constexpr std::int64_t kHostCell = 64 * kMiB;
constexpr std::int64_t kSmallCell = 256 * 1024;
constexpr int kRounds = 9;

template <typename T>
T Must(Result<T> result) {
  if (result) return std::move(*result);
  fmt::print(stderr, "{}\n", result.error().ToString());
  std::exit(1);
}
void Must(const Status& status) {
  if (status) return;
  fmt::print(stderr, "{}\n", status.error().ToString());
  std::exit(1);
}

double Seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// A cell of `bytes` in the left half of a piece, as a cut by columns has it, and packed.
struct Cut {
  Cut(std::int64_t bytes, std::int64_t run, DType type)
      : element(ptc::SizeBytes(type)),
        rows(bytes / run),
        columns(run / element),
        is_whole(rows == 1),
        piece(*Box::Whole({rows, is_whole ? columns : 2 * columns})),
        cell(*Box::Whole({rows, columns})),
        indices(engine::IndicesOf(type, piece.shape(), cell)) {}
  CellView In(std::byte* address) const { return {piece, cell, element, address}; }
  CellView Packed(std::byte* address) const { return {cell, cell, element, address}; }

  std::int64_t element, rows, columns;
  bool is_whole;
  Box piece, cell;
  CellView indices;
};

class Bench {
 public:
  explicit Bench(int number)
      : device_(Must(CudaDevice::Open(number))),
        source_(Must(CudaRegion::Create(device_, 2 * kDeviceCell))),
        target_(Must(CudaRegion::Create(device_, kDeviceCell))),
        memory_(device_) {
    Must(device_->Check(api().StreamCreate(&stream_, agents::cuda::kStreamNonBlocking), "stream"));
    void* pinned = nullptr;
    Must(device_->Check(api().MemHostAlloc(&pinned, kHostCell, 0), "cuMemHostAlloc"));
    pinned_ = static_cast<std::byte*>(pinned);
    buffer_ = Must(memory_.TakeHostBuffer(kHostCell));
    host_.resize(kHostCell, std::byte{7});
  }

  const agents::CudaDevice& device() const { return *device_; }

  void Header() const {
    fmt::print("{:>22} | {:>9} | {:>16} {:>16} {:>16} | {:>9} | {:>16} {:>16} {:>16} {:>16}\n",
               "cell, run", "DtoD", "copy", "copy, digests", "digest", "DtoH", "pack",
               "pack to buffer", "unpack", "unpack a buffer");
  }
  void Row(const std::string& name, std::int64_t run, DType type) {
    const Cut cut(kDeviceCell, std::min(run, kDeviceCell), type);
    const Cut small(kHostCell, std::min(run, kHostCell), type);
    const engine::DeviceCell from(memory_, cut.In(source_->address()));
    const engine::DeviceCell to(memory_, cut.Packed(target_->address()));
    const engine::DeviceCell half(memory_, small.In(source_->address()));
    const auto queue = Must(device_->TakeQueue());
    std::vector<std::function<void()>> works = {
        [&] { Driver(target_->address(), source_->address(), kDeviceCell); },
        [&] {
          Must(queue->Launch(
              agents::gpu::CopyWork(from.view(), to.view(), nullptr, 0, kDeviceCell, 0)));
          Must(queue->Wait());
        },
        [&] {
          Must(engine::CopyCellAndDigest({&to, 1}, from, cut.indices));
        },
        [&] { Must(from.Digest(cut.indices)); },
        [&] { ToHost(); },
        [&] { Must(half.Pack(0, host_, &small.indices)); },
        [&] { Must(half.Pack(0, buffer_.bytes, &small.indices)); },
        [&] { Must(half.Unpack(0, host_, &small.indices)); },
        [&] { Must(half.Unpack(0, buffer_.bytes, &small.indices)); }};
    std::vector<std::vector<double>> seconds(works.size());
    for (int round = 0; round <= kRounds; ++round) {
      for (std::size_t i = 0; i < works.size(); ++i) {
        const double time = Seconds(works[i]);
        if (round > 0) seconds[i].push_back(time);  // the first one warms up
      }
    }
    const auto rate = [&](std::size_t i) {
      const auto bytes = static_cast<double>(i < 4 ? kDeviceCell : kHostCell);
      return bytes / UpperMedian(seconds[i]) / 1e9;
    };
    const auto beside = [&](std::size_t i, std::size_t driver) {
      return fmt::format("{:.1f} GB/s {:.2f}", rate(i), rate(i) / rate(driver));
    };
    fmt::print(
        "{:>22} | {:>9.1f} | {:>16} {:>16} {:>16} | {:>9.1f} | {:>16} {:>16} {:>16} {:>16}\n", name,
        rate(0), beside(1, 0), beside(2, 0), beside(3, 0), rate(4), beside(5, 4), beside(6, 4),
        beside(7, 4), beside(8, 4));
  }

  /// What a cell costs apart from its bytes.
  void Small() {
    const Cut cut(kSmallCell, kSmallCell, DType::kF32);
    const engine::DeviceCell from(memory_, cut.In(source_->address()));
    const engine::DeviceCell to(memory_, cut.Packed(target_->address()));
    constexpr int kTimes = 500;
    std::vector<double> driver, own;
    for (int round = 0; round <= kRounds; ++round) {
      driver.push_back(Seconds([&] {
        for (int i = 0; i < kTimes; ++i) Driver(target_->address(), source_->address(), kSmallCell);
      }));
      own.push_back(Seconds([&] {
        for (int i = 0; i < kTimes; ++i)
          Must(engine::CopyCellAndDigest({&to, 1}, from, cut.indices));
      }));
    }
    fmt::print("a cell of {} KiB: copy with digests {:.1f} us, the driver's copy {:.1f} us\n",
               kSmallCell >> 10, 1e6 * UpperMedian(own) / kTimes,
               1e6 * UpperMedian(driver) / kTimes);
  }

 private:
  const agents::cuda::Functions& api() const { return device_->driver().api(); }
  void Driver(std::byte* to, const std::byte* from, std::int64_t bytes) const {
    Must(device_->Check(api().MemcpyDtoDAsync(reinterpret_cast<std::uint64_t>(to),
                                              reinterpret_cast<std::uint64_t>(from),
                                              static_cast<std::size_t>(bytes), stream_),
                        "cuMemcpyDtoDAsync"));
    Must(device_->Check(api().StreamSynchronize(stream_), "cuStreamSynchronize"));
  }
  void ToHost() const {
    Must(device_->Check(
        api().MemcpyDtoHAsync(pinned_, reinterpret_cast<std::uint64_t>(source_->address()),
                              kHostCell, stream_),
        "cuMemcpyDtoHAsync"));
    Must(device_->Check(api().StreamSynchronize(stream_), "cuStreamSynchronize"));
  }

  const std::shared_ptr<const CudaDevice> device_;
  const std::unique_ptr<CudaRegion> source_, target_;
  const agents::CudaMemory memory_;
  agents::cuda::Stream stream_ = nullptr;
  std::byte* pinned_ = nullptr;
  std::vector<std::byte> host_;
  engine::HostBuffer buffer_;  // that the device reaches
};

}  // namespace

int main(int argc, char** argv) {
  Bench bench(argc > 1 ? std::atoi(argv[1]) : 0);
  const agents::CudaDevice& device = bench.device();
  fmt::print("{}; {}, CUDA {}\n", test::Machine(), device.info().name,
             device.driver().VersionText());
  fmt::print(
      "GB/s of the cell's bytes, and the ratio to the driver's copy; {} MiB inside the device, {} "
      "MiB over the bus, medians of {} rounds\n",
      kDeviceCell / kMiB, kHostCell / kMiB, kRounds);
  bench.Header();
  bench.Row("f32, one run", kDeviceCell, DType::kF32);
  bench.Row("f32, 64 KiB", 64 << 10, DType::kF32);
  bench.Row("f32, 4 KiB", 4 << 10, DType::kF32);
  bench.Row("f32, 1 KiB", 1 << 10, DType::kF32);
  bench.Row("f32, 256 B", 256, DType::kF32);
  bench.Row("f32, 32 B", 32, DType::kF32);
  bench.Row("bf16, 2 B", 2, DType::kBF16);
  bench.Small();
  return 0;
}
