// SPDX-License-Identifier: Apache-2.0
#include "agents/gpu/nccl_exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <thread>
#include <tuple>
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

/// Bytes [begin, end) of a cell of a flow, which are packed from byte `place` of a chunk on.
struct Part {
  std::size_t cell;
  std::int64_t begin, end, place;
};
struct Chunk {
  std::vector<Part> parts;
  std::int64_t bytes = 0;
  /// Of the next part: a multiple of what the kernel accesses at a time.
  std::int64_t NextPlace() const { return (bytes + 15) / 16 * 16; }
  bool IsFull() const { return NextPlace() >= kChunkBytes || parts.size() == kChunkCells; }
};

/// The same at both ends, since it follows from the sizes of the cells.
std::vector<Chunk> ChunksOf(const engine::ExchangeFlow& flow) {
  std::vector<Chunk> out;
  for (std::size_t i = 0; i < flow.cells.size(); ++i) {
    const std::int64_t size = flow.cells[i].cell.size_bytes();
    for (std::int64_t at = 0; at < size;) {
      if (out.empty() || out.back().IsFull()) out.emplace_back();
      Chunk& chunk = out.back();
      const std::int64_t place = chunk.NextPlace();
      const std::int64_t end = std::min(size, at + kChunkBytes - place);
      chunk.parts.push_back({i, at, end, place});
      chunk.bytes = place + end - at;
      at = end;
    }
  }
  return out;
}

/// The rank of a device: its place among all.
/// \error kInternal if it is not one of them
Result<int> RankOf(const ExchangeMembers& members, ptc::DeviceId device) {
  const auto found = std::ranges::find(members.all, device);
  if (found == members.all.end()) {
    return Internal(fmt::format("{} is not in the NCCL group", ToString(device)));
  }
  return static_cast<int>(found - members.all.begin());
}

/// Memory of a device for one chunk.
class Stage {
 public:
  static Result<std::unique_ptr<Stage>> Make(std::shared_ptr<const CudaDevice> device) {
    std::unique_ptr<Stage> stage(new Stage(std::move(device)));
    const CudaDevice& on = *stage->device_;
    TESSERA_RETURN_IF_ERROR(on.Enter());
    TESSERA_RETURN_IF_ERROR(on.Check(
        on.driver().api().MemAlloc(&stage->address_, static_cast<std::size_t>(kStageBytes)),
        "cuMemAlloc"));
    return stage;
  }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  ~Stage() {
    static_cast<void>(device_->Enter());
    if (address_ != 0) device_->driver().api().MemFree(address_);
  }
  std::uint64_t address() const { return address_; }
  /// Of a byte of the chunk.
  std::uint64_t AddressOf(std::int64_t place) const {
    return address_ + static_cast<std::uint64_t>(kHeadBytes + place);
  }
  std::uint64_t digests() const { return AddressOf(kChunkBytes); }

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
  const Stage* stage;
  CudaQueue* queue;  // of the device, for all of its flows
};

Status Pack(const End& end, const Chunk& chunk) {
  TESSERA_RETURN_IF_ERROR(end.queue->Clear(end.stage->address(), kHeadBytes));
  for (const Part& part : chunk.parts) {
    const engine::ExchangeFlow::Cell& cell = end.flow->cells[part.cell];
    TESSERA_RETURN_IF_ERROR(end.queue->Launch(
        gpu::PackWork(cell.cell.view(), {end.stage->AddressOf(part.place), part.begin},
                      &cell.indices, part.end, end.stage->address())));
  }
  return OkStatus();
}

/// Of a chunk: as it was sent, and of the parts as they are in place.
struct ChunkDigests {
  std::uint64_t sent = 0;
  std::vector<std::uint64_t> parts;
};
Result<ChunkDigests> Unpack(const End& end, const Chunk& chunk) {
  ChunkDigests out{0, std::vector<std::uint64_t>(chunk.parts.size())};
  const auto sums = std::as_writable_bytes(std::span(out.parts));
  const auto head = std::as_writable_bytes(std::span(&out.sent, 1));
  TESSERA_RETURN_IF_ERROR(end.queue->Clear(end.stage->digests(), std::ssize(sums)));
  std::uint64_t sum = end.stage->digests();
  for (const Part& part : chunk.parts) {
    const engine::ExchangeFlow::Cell& cell = end.flow->cells[part.cell];
    const engine::CellView& view = cell.cell.view();
    TESSERA_RETURN_IF_ERROR(end.queue->Launch(
        gpu::UnpackWork({end.stage->AddressOf(part.place), part.begin}, view, part.end)));
    TESSERA_RETURN_IF_ERROR(
        end.queue->Launch(gpu::DigestWork(view, cell.indices, part.begin, part.end, sum)));
    sum += sizeof(std::uint64_t);
  }
  TESSERA_RETURN_IF_ERROR(end.queue->Read(end.stage->digests(), sums));
  TESSERA_RETURN_IF_ERROR(end.queue->Read(end.stage->address(), head));
  TESSERA_RETURN_IF_ERROR(end.queue->Wait());
  return out;
}

class NcclExchange : public engine::DeviceExchange {
 public:
  NcclExchange(std::unique_ptr<NcclGroup> group, ExchangeMembers members, NcclGroup::Local devices)
      : group_(std::move(group)), members_(std::move(members)), devices_(std::move(devices)) {}

  /// Takes the memory of each end of each flow, and sends a few bytes along it. So memory that is
  /// missing, or a path that does not work, is found before the transfer, when the program may have
  /// taken all memory, and connecting is no part of that.
  Status Connect(const std::stop_token& stop) {
    if (members_.flows.empty()) return OkStatus();
    TESSERA_TRY(const Queues queues, TakeQueues());
    std::vector<NcclGroup::Transfer> transfers;
    for (const auto& [source, destination] : members_.flows) {
      TESSERA_TRY(const int from, RankOf(members_, source));
      TESSERA_TRY(const int to, RankOf(members_, destination));
      for (const bool is_send : {true, false}) {
        const int rank = is_send ? from : to;
        const auto device = devices_.find(rank);
        if (device == devices_.end()) continue;
        std::unique_ptr<Stage>& stage = stages_[{source, destination, is_send}];
        TESSERA_TRY(stage, Stage::Make(device->second));
        transfers.push_back({rank, is_send ? to : from, stage->address(), kHeadBytes, is_send,
                             queues.at(rank).get()});
      }
    }
    return group_->Run(transfers, stop);
  }

  Status Run(const std::vector<engine::ExchangeFlow>& flows, const Arrived& arrived,
             const std::stop_token& stop) override {
    TESSERA_TRY(const Queues queues, TakeQueues());
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
  using Queues = std::map<int, CudaDevice::QueuePtr>;  // by rank
  Result<Queues> TakeQueues() const {
    Queues queues;
    for (const auto& [rank, device] : devices_) {
      TESSERA_TRY(queues[rank], device->TakeQueue());
    }
    return queues;
  }

  Result<End> EndOf(const engine::ExchangeFlow& flow, const Queues& queues) const {
    End end{&flow, 0, 0, ChunksOf(flow), nullptr, nullptr};
    TESSERA_TRY(end.rank, RankOf(members_, flow.is_sent ? flow.source : flow.destination));
    TESSERA_TRY(end.peer, RankOf(members_, flow.is_sent ? flow.destination : flow.source));
    const auto stage = stages_.find({flow.source, flow.destination, flow.is_sent});
    if (stage == stages_.end()) {
      return Internal(fmt::format("the flow from {} to {} was not connected", ToString(flow.source),
                                  ToString(flow.destination)));
    }
    end.stage = stage->second.get();
    end.queue = queues.at(end.rank).get();
    return end;
  }

  static Status Take(const End& end, const Chunk& chunk, const Arrived& arrived) {
    TESSERA_TRY(const ChunkDigests digests, Unpack(end, chunk));
    std::uint64_t sum = 0;
    for (const std::uint64_t digest : digests.parts) sum += digest;
    if (sum != digests.sent) {
      return DataLoss(fmt::format("{} bytes from {} have the digest {} on {}, and had {}",
                                  chunk.bytes, ToString(end.flow->source), ptc::Hex16(sum),
                                  ToString(end.flow->destination), ptc::Hex16(digests.sent)));
    }
    for (std::size_t i = 0; i < chunk.parts.size(); ++i) {
      const Part& part = chunk.parts[i];
      arrived(*end.flow, end.flow->cells[part.cell].number, part.end - part.begin,
              digests.parts[i]);
    }
    return OkStatus();
  }

  /// By source, destination, and whether it is the sending end.
  std::map<std::tuple<ptc::DeviceId, ptc::DeviceId, bool>, std::unique_ptr<Stage>> stages_;
  const std::unique_ptr<NcclGroup> group_;  // ends first: it may use them
  const ExchangeMembers members_;
  const NcclGroup::Local devices_;  // by rank
};

}  // namespace

Result<std::unique_ptr<engine::DeviceExchange>> JoinNcclExchange(const std::string& meeting,
                                                                 const ExchangeMembers& members,
                                                                 const std::stop_token& stop) {
  NcclGroup::Local local;
  for (const auto& [device, number] : members.local) {
    TESSERA_TRY(const int rank, RankOf(members, device));
    TESSERA_TRY(local[rank], CudaDevice::Open(number));
    // Beside the exchange, which has a queue of each device, copies inside the node need up to two
    // on each core.
    TESSERA_RETURN_IF_ERROR(local[rank]->Warm(2 * std::thread::hardware_concurrency() + 1));
  }
  TESSERA_TRY(auto group,
              NcclGroup::Join(meeting, static_cast<int>(members.all.size()), local, stop));
  auto exchange = std::make_unique<NcclExchange>(std::move(group), members, std::move(local));
  TESSERA_RETURN_IF_ERROR(exchange->Connect(stop));
  return std::unique_ptr<engine::DeviceExchange>(std::move(exchange));
}

}  // namespace tessera::agents
