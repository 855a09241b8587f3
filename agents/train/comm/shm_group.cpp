// SPDX-License-Identifier: Apache-2.0
#include "agents/train/comm/shm_group.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <vector>

#include "agents/train/comm/shm_channel.h"
#include "agents/train/comm/shm_wait.h"
#include "ptc/base/check.h"

namespace tessera::agents::train {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{1} << 20;
constexpr std::size_t kChunkFloats = kChunkBytes / sizeof(float);
/// Up to this size every rank adds up all values: one barrier instead of two.
constexpr std::size_t kMostFloatsAtOnce = 16 * 1024;
struct Header {
  FutexWord generation;  // number of barriers passed
  std::atomic<std::uint32_t> arrived;
  std::atomic<std::uint32_t> aborted;
};
constexpr std::size_t kHeaderBytes = 4096;
static_assert(sizeof(Header) <= kHeaderBytes);

/// Returns the bytes that the collectives of a group need, before the channels.
std::size_t CollectiveBytes(int size) {
  return kHeaderBytes + 2 * static_cast<std::size_t>(size + 1) * kChunkBytes;
}

/// Returns the capacity of a channel between two ranks; 0: there are none.
std::size_t ChannelFloats(std::size_t message_floats) {
  return std::min(Collective::kMaxInFlight * message_floats, ShmChannel::kMaxCapacity);
}

class ShmGroup final : public Collective {
 public:
  ShmGroup(const GroupOptions& options, std::byte* memory)
      : Collective(options.rank, options.size),
        options_(options),
        memory_(memory),
        header_(reinterpret_cast<Header*>(memory)),
        wait_(options_, header_->aborted) {
    const std::size_t floats = ChannelFloats(options.message_floats);
    if (floats == 0) return;
    const auto channel = [&](int from, int to) {
      const int index = from * size() + to;
      return ShmChannel(memory + CollectiveBytes(size()) +
                            static_cast<std::size_t>(index) * ShmChannel::Bytes(floats),
                        floats);
    };
    for (int peer = 0; peer < size(); ++peer) {
      to_.push_back(channel(rank(), peer));
      from_.push_back(channel(peer, rank()));
    }
  }

  ~ShmGroup() override { ::munmap(memory_, ShmGroupBytes(size(), options_.message_floats)); }

  Status AllReduceSum(std::span<float> values) override {
    return AllReduce(values, [](float a, float b) { return a + b; });
  }
  Status AllReduceMax(std::span<float> values) override {
    return AllReduce(values, [](float a, float b) { return a < b ? b : a; });
  }

  Status AllGather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    TESSERA_CHECK(all.size() == mine.size() * static_cast<std::size_t>(size()));
    for (std::size_t begin = 0; begin < mine.size(); begin += kChunkBytes) {
      const std::size_t count = std::min(kChunkBytes, mine.size() - begin);
      const int half = NextHalf();
      std::memcpy(Slot(half, rank()), mine.data() + begin, count);
      TESSERA_RETURN_IF_ERROR(Meet());
      for (int r = 0; r < size(); ++r) {
        std::memcpy(all.data() + static_cast<std::size_t>(r) * mine.size() + begin, Slot(half, r),
                    count);
      }
    }
    return OkStatus();
  }

  Status Send(int to, std::span<const float> values) override {
    TESSERA_CHECK(to != rank() && !to_.empty());
    return to_.at(static_cast<std::size_t>(to)).Send(wait_, values);
  }

  Status Receive(int from, std::span<float> values) override {
    TESSERA_CHECK(from != rank() && !from_.empty());
    return from_.at(static_cast<std::size_t>(from)).Receive(wait_, values);
  }

  void Abort() override {
    wait_.Abort();
    Wake(header_->generation);  // ends the sleep of ranks in a barrier early
  }

 private:
  // Memory after the header: two halves that collectives use in turn, each with one slot per rank
  // and one for the result. A rank writes into a half only after a barrier that every rank reaches
  // after it has read the previous contents of that half. So one barrier per collective is enough.
  std::byte* Slot(int half, int index) const {
    return memory_ + kHeaderBytes +
           static_cast<std::size_t>(half * (size() + 1) + index) * kChunkBytes;
  }
  float* Floats(int half, int index) const { return reinterpret_cast<float*>(Slot(half, index)); }
  int NextHalf() { return half_ ^= 1; }

  template <typename Operation>
  Status AllReduce(std::span<float> values, Operation operation) {
    for (std::size_t begin = 0; begin < values.size(); begin += kChunkFloats) {
      TESSERA_RETURN_IF_ERROR(AllReduceChunk(
          values.subspan(begin, std::min(kChunkFloats, values.size() - begin)), operation));
    }
    return OkStatus();
  }

  template <typename Operation>
  Status AllReduceChunk(std::span<float> values, Operation operation) {
    const int half = NextHalf();
    std::memcpy(Slot(half, rank()), values.data(), values.size_bytes());
    TESSERA_RETURN_IF_ERROR(Meet());
    if (size() == 2 || values.size() <= kMostFloatsAtOnce) {
      Combine(half, 0, values.size(), values.data(), operation);
      return OkStatus();
    }
    // Each rank adds up its share, then every rank copies the whole.
    const auto part = [&](int r) {
      return values.size() * static_cast<std::size_t>(r) / static_cast<std::size_t>(size());
    };
    Combine(half, part(rank()), part(rank() + 1), Floats(half, size()) + part(rank()), operation);
    TESSERA_RETURN_IF_ERROR(Meet());
    std::memcpy(values.data(), Slot(half, size()), values.size_bytes());
    return OkStatus();
  }

  /// out[i - begin] = slot 0 [i] op slot 1 [i] op …, in rank order, for i in [begin, end).
  template <typename Operation>
  void Combine(int half, std::size_t begin, std::size_t end, float* out,
               Operation operation) const {
    const std::size_t count = end - begin;
    const float* first = Floats(half, 0) + begin;
    const float* second = Floats(half, 1) + begin;
    for (std::size_t i = 0; i < count; ++i) out[i] = operation(first[i], second[i]);
    for (int r = 2; r < size(); ++r) {
      const float* next = Floats(half, r) + begin;
      for (std::size_t i = 0; i < count; ++i) out[i] = operation(out[i], next[i]);
    }
  }

  /// The barrier. The last rank to arrive resets the count and starts the next generation.
  Status Meet() {
    const std::uint32_t generation = header_->generation.load(std::memory_order_acquire);
    TESSERA_RETURN_IF_ERROR(wait_.State());
    if (header_->arrived.fetch_add(1, std::memory_order_acq_rel) + 1 <
        static_cast<std::uint32_t>(size())) {
      return wait_.While(header_->generation, generation);
    }
    header_->arrived.store(0, std::memory_order_relaxed);
    header_->generation.fetch_add(1, std::memory_order_release);
    Wake(header_->generation);
    return OkStatus();
  }

  const GroupOptions options_;
  std::byte* const memory_;
  Header* const header_;
  const ShmWait wait_;
  std::vector<ShmChannel> to_, from_;  // by rank; the rank's own is never used
  int half_ = 0;
};

}  // namespace

std::size_t ShmGroupBytes(int size, std::size_t message_floats) {
  const std::size_t floats = ChannelFloats(message_floats);
  const auto channels = static_cast<std::size_t>(size * size);
  return CollectiveBytes(size) + (floats == 0 ? 0 : channels * ShmChannel::Bytes(floats));
}

Result<CollectivePtr> MakeShmGroup(const GroupOptions& options, int fd) {
  TESSERA_CHECK(options.size >= 2 && 0 <= options.rank && options.rank < options.size);
  const std::size_t bytes = ShmGroupBytes(options.size, options.message_floats);
  struct stat status {};
  if (::fstat(fd, &status) != 0 || static_cast<std::size_t>(status.st_size) < bytes) {
    ::close(fd);
    return InvalidArgument(fmt::format("shared memory of group {} has {} bytes, {} are needed",
                                       options.name, status.st_size, bytes));
  }
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  const int error = errno;
  ::close(fd);
  if (memory == MAP_FAILED) {
    return ResourceExhausted(fmt::format("cannot map {} bytes for group {}: {}", bytes,
                                         options.name, std::strerror(error)));
  }
  return CollectivePtr(std::make_shared<ShmGroup>(options, static_cast<std::byte*>(memory)));
}

}  // namespace tessera::agents::train
