// SPDX-License-Identifier: Apache-2.0
#include "agents/train/comm/collective.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace tessera::agents::train {
namespace {

class SelfGroup final : public Collective {
 public:
  SelfGroup() : Collective(0, 1) {}
  Status AllReduceSum(std::span<float>) override { return State(); }
  Status AllReduceMax(std::span<float>) override { return State(); }
  Status AllGather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    std::copy(mine.begin(), mine.end(), all.begin());
    return State();
  }
  Status Send(int to, std::span<const float>) override { return NoPeer(to); }
  Status Receive(int from, std::span<float>) override { return NoPeer(from); }
  void Abort() override { aborted_ = true; }

 private:
  static Status NoPeer(int rank) {
    return InvalidArgument(fmt::format("rank {} of a group of 1", rank));
  }
  Status State() const {
    if (aborted_) return Cancelled("group was aborted");
    return OkStatus();
  }
  std::atomic<bool> aborted_ = false;
};

class LoneGroup final : public Collective {
 public:
  LoneGroup(int rank, int size) : Collective(rank, size) {}
  Status AllReduceSum(std::span<float>) override { return Alone(); }
  Status AllReduceMax(std::span<float>) override { return Alone(); }
  Status AllGather(std::span<const std::byte>, std::span<std::byte>) override { return Alone(); }
  Status Send(int, std::span<const float>) override { return Alone(); }
  Status Receive(int, std::span<float>) override { return Alone(); }
  void Abort() override {}

 private:
  Status Alone() const {
    return Unavailable(fmt::format("rank {} of {} is alone", rank(), size()));
  }
};

}  // namespace

Status Collective::Barrier() {
  const std::byte mine{};
  std::vector<std::byte> all(static_cast<std::size_t>(size()));
  return AllGather({&mine, 1}, all);
}

CollectivePtr MakeSelfGroup() { return std::make_shared<SelfGroup>(); }

CollectivePtr MakeLoneGroup(int rank, int size) {
  return size == 1 ? MakeSelfGroup() : std::make_shared<LoneGroup>(rank, size);
}

}  // namespace tessera::agents::train
