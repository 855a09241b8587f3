// SPDX-License-Identifier: Apache-2.0
#include "agents/client/cluster_sink.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "agents/net/lanes.h"
#include "agents/net/local_address.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "agents/wire/utf8.h"
#include "engine/copy/fused.h"

namespace tessera::agents {
namespace {

using engine::vfs::HandedPiece;
using engine::vfs::HandedState;
using engine::vfs::HandedStatePtr;

constexpr std::chrono::milliseconds kPollPeriod{50};
/// How long the registrar may be away during a hand-in. Its agent is restarted sooner.
constexpr std::chrono::minutes kPatience{5};
/// The same limit after a cancel, when this process is about to end.
constexpr std::chrono::seconds kLastPatience{4};
constexpr int kLanes = 2;

class Offers {
 public:
  /// Offers the state under a random number, which cannot be guessed.
  std::int64_t Add(HandedStatePtr state) {
    const std::lock_guard lock(mutex_);
    std::int64_t number = 0;
    while (number == 0 || offers_.contains(number)) {
      number = static_cast<std::int64_t>((std::uint64_t{random_()} << 32 | random_()) >> 1);
    }
    offers_.emplace(number, std::move(state));
    return number;
  }
  void Remove(std::int64_t number) {
    const std::lock_guard lock(mutex_);
    offers_.erase(number);
  }

  /// The memory of a cell: any box inside a piece that was handed in. Any thread.
  Result<SourceCell> Cell(const LaneKey& key, const LaneCell& cell) const {
    TESSERA_TRY(const HandedStatePtr state, Find(key));
    const auto& tensors = state->layout.collection().tensors();
    const bool is_tensor = cell.tensor < std::ssize(tensors);
    const ptc::TensorSpec* spec =
        is_tensor ? &tensors[static_cast<std::size_t>(cell.tensor)] : nullptr;
    const HandedPiece* piece = nullptr;
    if (spec && cell.box.rank() == std::ssize(spec->shape)) {
      piece = state->Find(cell.tensor, cell.box);
    }
    if (piece == nullptr) {
      return NotFound(fmt::format(
          "{} was not handed in",
          spec ? fmt::format("tensor '{}' {}", spec->name, ToString(cell.box)) : ToString(cell)));
    }
    // The lane only reads through the view.
    auto* const data = const_cast<std::byte*>(piece->data);
    return SourceCell{engine::CellView(piece->memory, cell.box, ptc::SizeBytes(spec->dtype), data),
                      engine::IndicesOf(spec->dtype, spec->shape, cell.box),
                      std::const_pointer_cast<HandedState>(state)};
  }

 private:
  Result<HandedStatePtr> Find(const LaneKey& key) const {
    const std::lock_guard lock(mutex_);
    const auto found = offers_.find(key.transaction);
    if (key.attempt != kHandInAttempt || found == offers_.end() || found->second->job != key.job) {
      return FailedPrecondition(fmt::format("{} is not handed in here", ToString(key)));
    }
    return found->second;
  }

  mutable std::mutex mutex_;
  std::random_device random_;
  std::map<std::int64_t, HandedStatePtr> offers_;
};

class ClusterSink : public engine::vfs::StateSink {
 public:
  ClusterSink(std::unique_ptr<ClusterClient> client, CurveKeys keys)
      : keys_(std::move(keys)), client_(std::move(client)) {}

  Status BindLanes(const std::string& address) {
    LaneServerOptions options;
    options.endpoints.assign(kLanes, fmt::format("tcp://{}:*", address));
    options.keys = keys_;
    TESSERA_TRY(lanes_, LaneServer::Start(net_, std::move(options),
                                          [this](const LaneKey& key, const LaneCell& cell) {
                                            return offers_.Cell(key, cell);
                                          }));
    return OkStatus();
  }

  Status Take(HandedStatePtr state) override {
    TESSERA_RETURN_IF_ERROR(AllowAgents());
    const std::int64_t number = offers_.Add(state);
    Status taken = HandIn(*state, number);
    offers_.Remove(number);
    return taken;
  }

  void Cancel() override { cancelled_ = true; }

  void NoteRefused(const std::string& job, const std::string& why) override {
    wire::Request request;
    request.mutable_hand_in()->set_job(Utf8(job));
    request.mutable_hand_in()->set_refused(Utf8(why));
    client_->Call(std::move(request), kReplyTimeout, [](const Result<wire::Reply>&) {});
  }

 private:
  /// Only the cluster's agents may fetch.
  Status AllowAgents() {
    wire::Request request;
    request.mutable_jobs();
    TESSERA_TRY(const wire::Reply reply, client_->CallAndWait(std::move(request), kReplyTimeout));
    net_.SetAllowed({reply.jobs().agent_keys().begin(), reply.jobs().agent_keys().end()});
    return OkStatus();
  }

  Status HandIn(const HandedState& state, std::int64_t number) {
    wire::Request request;
    wire::HandInRequest* const hand_in = request.mutable_hand_in();
    hand_in->set_job(Utf8(state.job));
    hand_in->set_layout_hash(state.layout.hash());
    hand_in->set_step(state.step);
    hand_in->set_hand_in(static_cast<std::uint64_t>(number));
    for (const std::string& endpoint : lanes_->endpoints()) hand_in->add_lanes(endpoint);
    hand_in->set_public_key(keys_.public_key);
    TESSERA_TRY(const wire::Reply reply, client_->CallAndWait(std::move(request), kReplyTimeout));
    return WaitFor(reply.hand_in().transaction());
  }

  /// Does not wait: the outcome shows whether the cancel was in time.
  void CallOff(std::int64_t transaction) {
    wire::Request request;
    request.mutable_cancel()->set_transaction(transaction);
    client_->Call(std::move(request), kReplyTimeout, [](const Result<wire::Reply>&) {});
  }

  Status WaitFor(std::int64_t transaction) {
    auto heard = std::chrono::steady_clock::now();
    std::optional<std::chrono::steady_clock::time_point> called_off;
    while (true) {
      if (cancelled_ && !called_off) {
        CallOff(transaction);
        called_off = std::chrono::steady_clock::now();
      }
      wire::Request request;
      request.mutable_txn()->set_transaction(transaction);
      const auto reply =
          client_->CallAndWait(std::move(request), called_off ? kLastPatience : kReplyTimeout);
      const auto now = std::chrono::steady_clock::now();
      if (reply) {
        heard = now;
        const wire::TxnReply& txn = reply->txn();
        if (txn.has_record() && txn.record().result() == "committed") return OkStatus();
        if (txn.has_record() && !txn.record().result().empty()) {
          return Cancelled(fmt::format("transaction {} was rolled back: {}", transaction,
                                       txn.record().reason()));
        }
        if (!txn.has_transaction()) {
          return Unavailable(fmt::format(
              "transaction {} does not run, and its record has no outcome", transaction));
        }
      } else if (now - heard > kPatience) {
        return Unavailable(fmt::format("the outcome of transaction {} is not known: {}",
                                       transaction, reply.error().ToString()));
      }
      if (called_off && now - *called_off > kLastPatience) {
        return Unavailable(
            fmt::format("the outcome of transaction {} is not known: the mount ends", transaction));
      }
      std::this_thread::sleep_for(kPollPeriod);
    }
  }

  const CurveKeys keys_;
  std::atomic<bool> cancelled_ = false;
  Offers offers_;
  NetContext net_{kLanes};
  std::unique_ptr<LaneServer> lanes_;  // reads offers_
  std::unique_ptr<ClusterClient> client_;
};

}  // namespace

Result<std::shared_ptr<engine::vfs::StateSink>> OpenClusterSink(const Profile& profile) {
  TESSERA_TRY(CurveKeys keys, LoadKeys(profile.key_file).Context("profile " + profile.name));
  TESSERA_TRY(const std::string address, LocalAddressTowards(profile.registrar_endpoint));
  TESSERA_TRY(auto client, ClusterClient::OpenForCommands(profile));
  auto sink = std::make_shared<ClusterSink>(std::move(client), std::move(keys));
  TESSERA_RETURN_IF_ERROR(sink->BindLanes(address));
  return sink;
}

}  // namespace tessera::agents
