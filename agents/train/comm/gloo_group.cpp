// SPDX-License-Identifier: Apache-2.0
#include "agents/train/comm/gloo_group.h"

#include <ATen/Functions.h>
#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <utility>

#include "ptc/base/check.h"

namespace tessera::agents::train {
namespace {

using c10d::ProcessGroupGloo;
using GlooPtr = c10::intrusive_ptr<ProcessGroupGloo>;
using std::chrono::milliseconds;

constexpr milliseconds kSlice{20};

/// First line of an exception's text; libtorch appends a stack trace.
std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

/// A c10d store over a rendezvous. Gloo calls set, get, wait and check, all while it connects.
/// c10d reports errors by exceptions; MakeGlooGroup catches them.
class RendezvousStore final : public c10d::Store {
 public:
  RendezvousStore(std::shared_ptr<Rendezvous> rendezvous, std::string prefix, milliseconds timeout)
      : c10d::Store(timeout), rendezvous_(std::move(rendezvous)), prefix_(std::move(prefix)) {}

  void set(const std::string& key, const std::vector<uint8_t>& value) override {
    const auto status = rendezvous_->Set(prefix_ + key, std::as_bytes(std::span(value)));
    if (!status) throw std::runtime_error(status.error().ToString());
  }
  std::vector<uint8_t> get(const std::string& key) override { return Get(key, timeout_); }
  bool check(const std::vector<std::string>& keys) override {
    return std::all_of(keys.begin(), keys.end(), [this](const std::string& key) {
      return rendezvous_->Get(prefix_ + key, milliseconds(0)).has_value();
    });
  }
  void wait(const std::vector<std::string>& keys) override { wait(keys, timeout_); }
  void wait(const std::vector<std::string>& keys, const milliseconds& timeout) override {
    for (const std::string& key : keys) Get(key, std::min(timeout, timeout_));
  }
  int64_t add(const std::string&, int64_t) override { throw Unsupported(); }
  bool deleteKey(const std::string&) override { throw Unsupported(); }
  int64_t getNumKeys() override { throw Unsupported(); }

 private:
  static std::logic_error Unsupported() {
    return std::logic_error("the rendezvous sets and gets keys only");
  }
  std::vector<uint8_t> Get(const std::string& key, milliseconds timeout) {
    const auto value = rendezvous_->Get(prefix_ + key, timeout);
    if (!value) throw std::runtime_error(value.error().ToString());
    std::vector<uint8_t> bytes(value->size());
    std::transform(value->begin(), value->end(), bytes.begin(),
                   [](std::byte b) { return std::to_integer<uint8_t>(b); });
    return bytes;
  }

  std::shared_ptr<Rendezvous> rendezvous_;
  std::string prefix_;
};

/// Set when a work item is done, with or without an error.
struct Completion {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
};

using WorkPtr = c10::intrusive_ptr<c10d::Work>;

/// Ends the waits of one thread for messages. A wait for a message takes no notice of anything but
/// the message, and one that times out closes all connections of the group; Work::abort() is what
/// ends it, at once. So a thread of the group's own looks at its flags while a wait is under way.
class MessageWatch {
 public:
  /// `should_end` is called on the watching thread.
  explicit MessageWatch(std::function<bool()> should_end)
      : should_end_(std::move(should_end)), thread_([this] { Run(); }) {}
  ~MessageWatch() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  MessageWatch(const MessageWatch&) = delete;
  MessageWatch& operator=(const MessageWatch&) = delete;

  /// Waits until `work` is done; false if it was ended, with no message taken.
  bool Wait(const WorkPtr& work, milliseconds timeout) {
    Watch(work, steady_clock::now() + timeout);
    // Longer than the watch waits: Gloo's own timeout must not strike.
    bool done = false;
    try {
      done = work->wait(2 * timeout + std::chrono::seconds(10));
    } catch (...) {
      Watch({}, {});
      throw;
    }
    Watch({}, {});
    return done;
  }
  /// Whether the last wait that was ended had lasted too long.
  bool timed_out() const { return timed_out_; }

 private:
  using steady_clock = std::chrono::steady_clock;

  void Watch(const WorkPtr& work, steady_clock::time_point deadline) {
    const std::lock_guard lock(mutex_);
    work_ = work;
    deadline_ = deadline;
    // The thread looks every kSlice as long as messages come; it sleeps after a while without.
    if (work && asleep_) changed_.notify_all();
  }

  void Run() {
    constexpr int kIdleSlices = 50;
    int idle = 0;
    std::unique_lock lock(mutex_);
    while (!stopping_) {
      asleep_ = idle >= kIdleSlices;
      if (asleep_) {
        changed_.wait(lock, [&] { return stopping_ || work_; });
      } else {
        changed_.wait_for(lock, kSlice, [&] { return stopping_; });
      }
      idle = work_ ? 0 : std::min(idle + 1, kIdleSlices);
      if (!work_) continue;
      const bool late = steady_clock::now() >= deadline_;
      if (late) timed_out_ = true;
      if (late || should_end_()) work_->abort();
    }
  }

  const std::function<bool()> should_end_;
  std::mutex mutex_;
  std::condition_variable changed_;
  WorkPtr work_;  // that is waited for
  steady_clock::time_point deadline_;
  bool asleep_ = false;
  bool stopping_ = false;
  std::atomic<bool> timed_out_ = false;
  std::thread thread_;
};

class GlooGroup final : public Collective {
 public:
  GlooGroup(const GroupOptions& options, GlooPtr group)
      : Collective(options.rank, options.size),
        options_(options),
        group_(std::move(group)),
        outgoing_(static_cast<std::size_t>(options.size)) {
    if (options.message_floats == 0) return;
    watch_ = std::make_unique<MessageWatch>(
        [this] { return aborted_ || (options_.abandoned && options_.abandoned()); });
  }

  Status AllReduceSum(std::span<float> values) override {
    return AllReduce(values, c10d::ReduceOp::SUM);
  }
  Status AllReduceMax(std::span<float> values) override {
    return AllReduce(values, c10d::ReduceOp::MAX);
  }

  Status AllGather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    TESSERA_CHECK(all.size() == mine.size() * static_cast<std::size_t>(size()));
    if (mine.empty()) return Barrier();
    const auto bytes = static_cast<int64_t>(mine.size());
    std::vector<at::Tensor> inputs = {at::empty({bytes}, at::kByte)};
    std::memcpy(inputs[0].data_ptr(), mine.data(), mine.size());
    std::vector<std::vector<at::Tensor>> outputs(1);
    for (int r = 0; r < size(); ++r) outputs[0].push_back(at::empty({bytes}, at::kByte));
    TESSERA_RETURN_IF_ERROR(Run([&] { return group_->allgather(outputs, inputs); }));
    for (std::size_t r = 0; r < outputs[0].size(); ++r) {
      std::memcpy(all.data() + r * mine.size(), outputs[0][r].data_ptr(), mine.size());
    }
    return OkStatus();
  }

  // Gloo takes a message only when its receiver asks for it, and asks for whole messages: the copy
  // here is what lets the caller go on. Messages between two ranks carry one tag, hence their
  // order.
  Status Send(int to, std::span<const float> values) override {
    TESSERA_CHECK(to != rank() && watch_);
    return Guarded([&]() -> Status {
      std::deque<WorkPtr>& sent = outgoing_.at(static_cast<std::size_t>(to));
      while (sent.size() >= static_cast<std::size_t>(kMaxInFlight)) {
        TESSERA_RETURN_IF_ERROR(Await(sent.front()));
        sent.pop_front();
      }
      std::vector<at::Tensor> message = {TensorOf(values.size())};
      std::memcpy(message[0].data_ptr(), values.data(), values.size_bytes());
      sent.push_back(group_->send(message, to, kMessageTag));
      return OkStatus();
    });
  }

  Status Receive(int from, std::span<float> values) override {
    TESSERA_CHECK(from != rank() && watch_);
    return Guarded([&]() -> Status {
      std::vector<at::Tensor> message = {TensorOf(values.size())};
      TESSERA_RETURN_IF_ERROR(Await(group_->recv(message, from, kMessageTag)));
      std::memcpy(values.data(), message[0].data_ptr(), values.size_bytes());
      return OkStatus();
    });
  }

  void Abort() override { aborted_ = true; }

 private:
  static constexpr int kMessageTag = 0;

  static at::Tensor TensorOf(std::size_t floats) {
    return at::empty({static_cast<int64_t>(floats)}, at::kFloat);
  }

  Status Await(const WorkPtr& work) {
    if (watch_->Wait(work, options_.timeout)) return OkStatus();
    if (watch_->timed_out()) {
      return Timeout(fmt::format("a message of group {} did not come within {} ms", options_.name,
                                 options_.timeout.count()));
    }
    return aborted_ ? Aborted() : NoLongerWanted();
  }

  // A collective that is abandoned goes on writing until Gloo notices, so it never gets memory of
  // the caller's: it works on a tensor of the group's own, which the work item keeps alive.
  Status AllReduce(std::span<float> values, c10d::ReduceOp operation) {
    if (values.empty()) return OkStatus();
    at::Tensor& staging = staging_[values.size()];
    if (!staging.defined()) staging = TensorOf(values.size());
    std::memcpy(staging.data_ptr(), values.data(), values.size_bytes());
    c10d::AllreduceOptions reduce;
    reduce.reduceOp = operation;
    std::vector<at::Tensor> tensors = {staging};
    TESSERA_RETURN_IF_ERROR(Run([&] { return group_->allreduce(tensors, reduce); }));
    std::memcpy(values.data(), staging.data_ptr(), values.size_bytes());
    return OkStatus();
  }

  /// Runs `work` unless the group is broken; an error breaks it: its connections are then in an
  /// unknown state.
  template <typename Work>
  Status Guarded(Work work) {
    if (aborted_) return Aborted();
    Status status = OkStatus();
    try {
      status = work();
    } catch (const std::exception& exception) {
      status = Failed(exception.what());
    }
    if (!status) aborted_ = true;
    return status;
  }

  template <typename Start>
  Status Run(Start start) {
    return Guarded([&]() -> Status {
      const auto completion = std::make_shared<Completion>();
      const auto future = start()->getFuture();
      future->addCallback([completion](c10::ivalue::Future&) {
        const std::lock_guard lock(completion->mutex);
        completion->done = true;
        completion->changed.notify_all();
      });
      std::unique_lock lock(completion->mutex);
      while (!completion->changed.wait_for(lock, kSlice, [&] { return completion->done; })) {
        if (aborted_) return Aborted();
        if (options_.abandoned && options_.abandoned()) return NoLongerWanted();
      }
      if (future->hasError()) return Failed(future->tryRetrieveErrorMessage());
      return OkStatus();
    });
  }

  Error Aborted() const { return Cancelled(fmt::format("group {} was aborted", options_.name)); }
  Error NoLongerWanted() const {
    return Cancelled(fmt::format("group {} is no longer wanted", options_.name));
  }
  Error Failed(const std::string& reason) const {
    return Unavailable(fmt::format("group {}: {}", options_.name, FirstLine(reason)));
  }

  const GroupOptions options_;
  GlooPtr group_;
  std::map<std::size_t, at::Tensor> staging_;  // by number of floats: a few sizes, used every step
  std::vector<std::deque<WorkPtr>> outgoing_;  // by rank: messages that may not have been taken
  std::atomic<bool> aborted_ = false;
  std::unique_ptr<MessageWatch> watch_;  // in a group that sends messages
};

/// One device an address for the life of the process: a device has a thread and a listening socket.
std::shared_ptr<gloo::transport::Device> DeviceFor(const std::string& address) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<gloo::transport::Device>> devices;
  const std::lock_guard lock(mutex);
  auto& device = devices[address];
  if (!device) device = ProcessGroupGloo::createDeviceForHostname(address);
  return device;
}

/// Blocks until all ranks have come; throws what Gloo throws.
GlooPtr Connect(const GroupOptions& options, const std::string& address,
                const std::shared_ptr<Rendezvous>& rendezvous) {
  const auto gloo = ProcessGroupGloo::Options::create(options.timeout);
  gloo->devices.push_back(DeviceFor(address));
  gloo->threads = 1;
  return c10::make_intrusive<ProcessGroupGloo>(
      c10::make_intrusive<RendezvousStore>(rendezvous, options.name + "/", options.timeout),
      options.rank, options.size, gloo);
}

}  // namespace

Result<CollectivePtr> MakeGlooGroup(const GroupOptions& options, const std::string& address,
                                    std::shared_ptr<Rendezvous> rendezvous) {
  const auto no_longer_wanted = [&] {
    return Cancelled(fmt::format("group {} is no longer wanted", options.name));
  };
  // Where a rank dies between announcing its address and connecting, Gloo waits for it until the
  // timeout and cannot be told not to. So it connects on a thread that is left behind when the
  // group is no longer wanted; that thread owns all that it uses.
  std::packaged_task<GlooPtr()> task(
      [options, address, rendezvous] { return Connect(options, address, rendezvous); });
  auto connected = task.get_future();
  std::thread(std::move(task)).detach();
  while (connected.wait_for(kSlice) != std::future_status::ready) {
    if (rendezvous->Abandoned()) return no_longer_wanted();
  }
  try {
    return CollectivePtr(std::make_shared<GlooGroup>(options, connected.get()));
  } catch (const std::exception& exception) {
    if (rendezvous->Abandoned()) return no_longer_wanted();
    return Unavailable(
        fmt::format("cannot connect group {}: {}", options.name, FirstLine(exception.what())));
  }
}

}  // namespace tessera::agents::train
