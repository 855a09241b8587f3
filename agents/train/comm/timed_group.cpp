// SPDX-License-Identifier: Apache-2.0
#include "agents/train/comm/timed_group.h"

namespace tessera::agents::train {
namespace {

class TimedGroup final : public Collective {
 public:
  TimedGroup(CollectivePtr group, std::shared_ptr<WaitClock> clock)
      : Collective(group->rank(), group->size()),
        group_(std::move(group)),
        clock_(std::move(clock)) {}
  Status AllReduceSum(std::span<float> values) override {
    return Measure([&] { return group_->AllReduceSum(values); });
  }
  Status AllReduceMax(std::span<float> values) override {
    return Measure([&] { return group_->AllReduceMax(values); });
  }
  Status AllGather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    return Measure([&] { return group_->AllGather(mine, all); });
  }
  Status Send(int to, std::span<const float> values) override {
    return Measure([&] { return group_->Send(to, values); });
  }
  Status Receive(int from, std::span<float> values) override {
    return Measure([&] { return group_->Receive(from, values); });
  }
  void Abort() override { group_->Abort(); }

 private:
  template <typename Call>
  Status Measure(Call call) {
    const auto began = std::chrono::steady_clock::now();
    Status status = call();
    clock_->Add(std::chrono::steady_clock::now() - began);
    return status;
  }

  const CollectivePtr group_;
  const std::shared_ptr<WaitClock> clock_;
};

}  // namespace

CollectivePtr Timed(CollectivePtr group, std::shared_ptr<WaitClock> clock) {
  if (group->size() == 1) return group;
  return std::make_shared<TimedGroup>(std::move(group), std::move(clock));
}

}  // namespace tessera::agents::train
