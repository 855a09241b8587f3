// SPDX-License-Identifier: Apache-2.0
#include "agents/gpu/nccl_exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "agents/gpu/cell_plan.h"
#include "ptc/layout.h"

namespace tessera::agents {
namespace {

/// Packed bytes of a chunk at most, and cells that it has parts of.
constexpr std::int64_t kChunkBytes = std::int64_t{8} << 20;
constexpr std::size_t kChunkCells = 1024;
/// Of the memory on the device: the digest of the chunk, then its bytes; and behind the bytes,
/// where the chunk arrives, a digest for each part.
constexpr std::int64_t kHeadBytes = 16;
constexpr std::int64_t kStageBytes =
    kHeadBytes + kChunkBytes + static_cast<std::int64_t>(kChunkCells * sizeof(std::uint64_t));

/// Bytes [begin, end) of a cell of a flow.
struct Part {
  std::size_t cell;
  std::int64_t begin, end;
};
struct Chunk {
  std::vector<Part> parts;
  std::int64_t bytes = 0;
};

/// The same at both ends, since it follows from the sizes of the cells.
std::vector<Chunk> ChunksOf(const engine::ExchangeFlow& flow) {
  std::vector<Chunk> out;
  for (std::size_t i = 0; i < flow.cells.size(); ++i) {
    const std::int64_t size = flow.cells[i].cell.size_bytes();
    for (std::int64_t at = 0; at < size;) {
      if (out.empty() || out.back().bytes >= kChunkBytes ||
          out.back().parts.size() == kChunkCells) {
        out.emplace_back();
      }
      Chunk& chunk = out.back();
      // A part begins at a multiple of what the kernel accesses at a time.
      const std::int64_t begin = (chunk.bytes + 15) / 16 * 16;
      const std::int64_t bytes = std::min(size - at, kChunkBytes - begin);
      if (bytes <= 0) {
        out.emplace_back();
        continue;
      }
      chunk.parts.push_back({i, at, at + bytes});
      chunk.bytes = begin + bytes;
      at += bytes;
    }
  }
  return out;
}

/// Memory of a device for one chunk.
class Stage {
 public:
  static Result<std::unique_ptr<Stage>> Make(std::shared_ptr<const CudaDevice> device) {
    std::unique_ptr<Stage> stage(new Stage(std::move(device)));
    const CudaDevice& on = *stage->device_;
    TESSERA_RETURN_IF_ERROR(on.Enter());
    TESSERA_RETURN_IF_ERROR(
        on.Check(on.driver().api().MemAlloc(&stage->address_, kStageBytes), "cuMemAlloc"));
    return stage;
  }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  ~Stage() {
    static_cast<void>(device_->Enter());
    if (address_ != 0) device_->driver().api().MemFree(address_);
  }
  std::uint64_t address() const { return address_; }
  std::uint64_t bytes() const { return address_ + kHeadBytes; }
  std::uint64_t digests() const { return address_ + kHeadBytes + kChunkBytes; }

 private:
  explicit Stage(std::shared_ptr<const CudaDevice> device) : device_(std::move(device)) {}
  std::shared_ptr<const CudaDevice> device_;
  cuda::DevicePointer address_ = 0;
};

/// One end of a flow, with what it works with.
struct End {
  const engine::ExchangeFlow* flow;
  int rank, peer;
  std::vector<Chunk> chunks;
  std::shared_ptr<const CudaDevice> device;
  std::unique_ptr<Stage> stage;
  CudaQueue* queue;  // of the device, for all of its flows
};

Status Pack(const End& end, const Chunk& chunk) {
  TESSERA_RETURN_IF_ERROR(end.queue->Clear(end.stage->address(), kHeadBytes));
  std::uint64_t to = end.stage->bytes();
  for (const Part& part : chunk.parts) {
    const engine::ExchangeFlow::Cell& cell = end.flow->cells[part.cell];
    TESSERA_RETURN_IF_ERROR(end.queue->Launch(gpu::PackWork(
        cell.cell.view(), {to, part.begin}, &cell.indices, part.end, end.stage->address())));
    to += static_cast<std::uint64_t>((part.end - part.begin + 15) / 16 * 16);
  }
  return OkStatus();
}

/// \param digests of the parts, as they are in place
Status Unpack(const End& end, const Chunk& chunk, std::uint64_t* sent,
              std::vector<std::uint64_t>* digests) {
  constexpr std::int64_t kWord = sizeof(std::uint64_t);
  const std::int64_t sums = std::ssize(chunk.parts) * kWord;
  TESSERA_RETURN_IF_ERROR(end.queue->Clear(end.stage->digests(), sums));
  std::uint64_t from = end.stage->bytes(), sum = end.stage->digests();
  for (const Part& part : chunk.parts) {
    const engine::ExchangeFlow::Cell& cell = end.flow->cells[part.cell];
    const engine::CellView& view = cell.cell.view();
    TESSERA_RETURN_IF_ERROR(end.queue->Launch(gpu::UnpackWork({from, part.begin}, view, part.end)));
    TESSERA_RETURN_IF_ERROR(
        end.queue->Launch(gpu::DigestWork(view, cell.indices, part.begin, part.end, sum)));
    from += static_cast<std::uint64_t>((part.end - part.begin + 15) / 16 * 16);
    sum += kWord;
  }
  TESSERA_RETURN_IF_ERROR(end.queue->Read(end.stage->digests(), sums));
  TESSERA_RETURN_IF_ERROR(end.queue->Wait());
  digests->resize(chunk.parts.size());
  std::memcpy(digests->data(), end.queue->staging().data(), static_cast<std::size_t>(sums));
  TESSERA_RETURN_IF_ERROR(end.queue->Read(end.stage->address(), kWord));
  TESSERA_RETURN_IF_ERROR(end.queue->Wait());
  std::memcpy(sent, end.queue->staging().data(), kWord);
  return OkStatus();
}

class NcclExchange : public engine::DeviceExchange {
 public:
  NcclExchange(std::unique_ptr<NcclGroup> group, ExchangeMembers members, NcclGroup::Local devices)
      : group_(std::move(group)), members_(std::move(members)), devices_(std::move(devices)) {}

  Status Run(const std::vector<engine::ExchangeFlow>& flows, const Arrived& arrived,
             const std::stop_token& stop) override {
    std::map<int, CudaDevice::QueuePtr> queues;  // by rank
    for (const auto& [rank, device] : devices_) {
      TESSERA_TRY(queues[rank], device->TakeQueue());
    }
    std::vector<End> ends;
    std::size_t rounds = 0;
    for (const engine::ExchangeFlow& flow : flows) {
      TESSERA_TRY(End end, EndOf(flow, queues));
      rounds = std::max(rounds, end.chunks.size());
      ends.push_back(std::move(end));
    }
    for (std::size_t round = 0; round < rounds; ++round) {
      std::vector<NcclGroup::Transfer> transfers;
      for (const End& end : ends) {
        if (round >= end.chunks.size()) continue;
        const Chunk& chunk = end.chunks[round];
        if (end.flow->is_sent) TESSERA_RETURN_IF_ERROR(Pack(end, chunk));
        transfers.push_back({end.rank, end.peer, end.stage->address(), kHeadBytes + chunk.bytes,
                             end.flow->is_sent, end.queue});
      }
      TESSERA_RETURN_IF_ERROR(group_->Run(transfers, stop));
      for (const End& end : ends) {
        if (round >= end.chunks.size() || end.flow->is_sent) continue;
        TESSERA_RETURN_IF_ERROR(Take(end, end.chunks[round], arrived));
      }
    }
    return OkStatus();
  }

 private:
  Result<int> RankOf(ptc::DeviceId device) const {
    const auto found = std::ranges::find(members_.all, device);
    if (found == members_.all.end()) {
      return Internal(fmt::format("{} is not in the NCCL group", ToString(device)));
    }
    return static_cast<int>(found - members_.all.begin());
  }

  Result<End> EndOf(const engine::ExchangeFlow& flow,
                    const std::map<int, CudaDevice::QueuePtr>& queues) const {
    End end{&flow, 0, 0, ChunksOf(flow), {}, {}, {}};
    TESSERA_TRY(end.rank, RankOf(flow.is_sent ? flow.source : flow.destination));
    TESSERA_TRY(end.peer, RankOf(flow.is_sent ? flow.destination : flow.source));
    end.device = devices_.at(end.rank);
    TESSERA_TRY(end.stage, Stage::Make(end.device));
    end.queue = queues.at(end.rank).get();
    return end;
  }

  static Status Take(const End& end, const Chunk& chunk, const Arrived& arrived) {
    std::uint64_t sent = 0, sum = 0;
    std::vector<std::uint64_t> digests;
    TESSERA_RETURN_IF_ERROR(Unpack(end, chunk, &sent, &digests));
    for (const std::uint64_t digest : digests) sum += digest;
    if (sum != sent) {
      return DataLoss(fmt::format("{} bytes from {} have the digest {} on {}, and had {}",
                                  chunk.bytes, ToString(end.flow->source), ptc::Hex16(sum),
                                  ToString(end.flow->destination), ptc::Hex16(sent)));
    }
    for (std::size_t i = 0; i < chunk.parts.size(); ++i) {
      const Part& part = chunk.parts[i];
      arrived(*end.flow, end.flow->cells[part.cell].number, part.end - part.begin, digests[i]);
    }
    return OkStatus();
  }

  const std::unique_ptr<NcclGroup> group_;
  const ExchangeMembers members_;
  const NcclGroup::Local devices_;  // by rank
};

}  // namespace

Result<std::unique_ptr<engine::DeviceExchange>> JoinNcclExchange(const std::string& meeting,
                                                                 const ExchangeMembers& members,
                                                                 const std::stop_token& stop) {
  NcclGroup::Local local;
  for (const auto& [device, number] : members.local) {
    const auto rank = std::ranges::find(members.all, device) - members.all.begin();
    TESSERA_TRY(local[static_cast<int>(rank)], CudaDevice::Open(number));
  }
  TESSERA_TRY(auto group,
              NcclGroup::Join(meeting, static_cast<int>(members.all.size()), local, stop));
  return std::unique_ptr<engine::DeviceExchange>(
      std::make_unique<NcclExchange>(std::move(group), members, std::move(local)));
}

}  // namespace tessera::agents
