// SPDX-License-Identifier: Apache-2.0
#include "agents/gpu/nccl_group.h"

#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <set>
#include <thread>
#include <utility>

namespace tessera::agents {
namespace {

/// Of questions whether something has ended.
constexpr auto kPeriod = std::chrono::microseconds(20);
/// Of the transfers of one Run, which take a moment. A peer may have stopped.
constexpr auto kLongest = std::chrono::seconds(15);

Status CheckTime(std::chrono::steady_clock::time_point until, const std::stop_token& stop) {
  if (stop.stop_requested()) return Cancelled("NCCL is no longer waited for");
  if (std::chrono::steady_clock::now() <= until) return OkStatus();
  return Timeout(fmt::format("NCCL: a device has sent nothing for {} s", kLongest.count()));
}

}  // namespace

Result<std::string> NcclGroup::NewMeeting() {
  TESSERA_TRY(const auto nccl, NcclLibrary::Get());
  nccl::UniqueId id{};
  TESSERA_RETURN_IF_ERROR(nccl->Check(nccl->api().GetUniqueId(&id), "ncclGetUniqueId"));
  return std::string(id.internal, sizeof id.internal);
}

Result<std::unique_ptr<NcclGroup>> NcclGroup::Join(const std::string& meeting, int num_ranks,
                                                   const Local& local,
                                                   const std::stop_token& stop) {
  TESSERA_TRY(const auto nccl, NcclLibrary::Get());
  nccl::UniqueId id{};
  if (meeting.size() != sizeof id.internal) {
    return InvalidArgument(
        fmt::format("{} bytes are no meeting of NCCL, which has {}", meeting.size(), sizeof id));
  }
  std::memcpy(id.internal, meeting.data(), meeting.size());
  std::unique_ptr<NcclGroup> group(new NcclGroup(nccl));
  nccl::Config config;
  config.version = static_cast<unsigned>(nccl->version());
  const nccl::Functions& api = nccl->api();
  TESSERA_RETURN_IF_ERROR(nccl->Check(api.GroupStart(), "ncclGroupStart"));
  Status begun;
  for (const auto& [rank, device] : local) {
    Member& member = group->members_[rank];
    member.device = device;
    begun = device->Enter();
    if (begun) {
      begun =
          nccl->Check(api.CommInitRankConfig(&member.communicator, num_ranks, id, rank, &config),
                      "ncclCommInitRankConfig");
    }
    if (!begun) break;
  }
  const Status ended = nccl->Check(api.GroupEnd(), "ncclGroupEnd");
  TESSERA_RETURN_IF_ERROR(begun);
  TESSERA_RETURN_IF_ERROR(ended);
  TESSERA_RETURN_IF_ERROR(group->WaitForCalls("ncclCommInitRankConfig", Deadline::max(), stop));
  return group;
}

void NcclGroup::Abort() {
  for (const auto& [rank, member] : std::exchange(members_, {})) {
    static_cast<void>(member.device->Enter());
    if (member.communicator != nullptr) nccl_->api().CommAbort(member.communicator);
  }
}

// Otherwise the streams would wait for peers that have gone, and whoever waits for the streams,
// too.
Status NcclGroup::Run(std::span<const Transfer> transfers, const std::stop_token& stop) {
  if (members_.empty()) return Unavailable("NCCL: the devices no longer meet, after an error");
  Status run = TryRun(transfers, stop);
  if (!run) Abort();
  return run;
}

Status NcclGroup::WaitForCalls(const char* call, Deadline until,
                               const std::stop_token& stop) const {
  for (const auto& [rank, member] : members_) {
    while (true) {
      nccl::Code code = nccl::kSuccess;
      TESSERA_RETURN_IF_ERROR(nccl_->Check(
          nccl_->api().CommGetAsyncError(member.communicator, &code), "ncclCommGetAsyncError"));
      TESSERA_RETURN_IF_ERROR(nccl_->Check(code, call));
      if (code == nccl::kSuccess) break;
      TESSERA_RETURN_IF_ERROR(CheckTime(until, stop));
      std::this_thread::sleep_for(kPeriod);
    }
  }
  return OkStatus();
}

Status NcclGroup::TryRun(std::span<const Transfer> transfers, const std::stop_token& stop) {
  const nccl::Functions& api = nccl_->api();
  TESSERA_RETURN_IF_ERROR(nccl_->Check(api.GroupStart(), "ncclGroupStart"));
  Status begun;
  std::set<CudaQueue*> queues;
  for (const Transfer& transfer : transfers) {
    const Member& member = members_.at(transfer.rank);
    queues.insert(transfer.queue);
    begun = member.device->Enter();
    if (!begun) break;
    const auto bytes = static_cast<std::size_t>(transfer.bytes);
    void* const address = reinterpret_cast<void*>(transfer.address);
    begun = transfer.is_send ? nccl_->Check(api.Send(address, bytes, nccl::kByte, transfer.peer,
                                                     member.communicator, transfer.queue->Use()),
                                            "ncclSend")
                             : nccl_->Check(api.Recv(address, bytes, nccl::kByte, transfer.peer,
                                                     member.communicator, transfer.queue->Use()),
                                            "ncclRecv");
    if (!begun) break;
  }
  const Status ended = nccl_->Check(api.GroupEnd(), "ncclGroupEnd");
  TESSERA_RETURN_IF_ERROR(begun);
  TESSERA_RETURN_IF_ERROR(ended);
  const Deadline until = std::chrono::steady_clock::now() + kLongest;
  TESSERA_RETURN_IF_ERROR(WaitForCalls("ncclGroupEnd", until, stop));
  return WaitForStreams({queues.begin(), queues.end()}, until, stop);
}

// They wait for peers, of which one may have ended: this never blocks in the driver. All are asked,
// since each may wait for what another one brings.
Status NcclGroup::WaitForStreams(std::vector<CudaQueue*> queues, Deadline until,
                                 const std::stop_token& stop) const {
  while (true) {
    std::vector<CudaQueue*> busy;
    for (CudaQueue* const queue : queues) {
      TESSERA_TRY(const bool is_done, queue->IsDone());
      if (!is_done) busy.push_back(queue);
    }
    if (busy.empty()) return OkStatus();
    queues = std::move(busy);
    TESSERA_RETURN_IF_ERROR(WaitForCalls("the transfer", until, stop));
    TESSERA_RETURN_IF_ERROR(CheckTime(until, stop));
    std::this_thread::sleep_for(kPeriod);
  }
}

}  // namespace tessera::agents
