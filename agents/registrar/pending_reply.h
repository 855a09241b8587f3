// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The reply to a request, which may be sent later. A client that reconnects sends its request
/// again with the same id; it then waits for the same reply, or receives it at once.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/control.pb.h"

namespace tessera::agents {

/// \threadsafety The thread of the registrar's timers.
class PendingReply {
 public:
  using Sender = std::function<void(const std::string& identity, const wire::Reply& reply)>;
  /// \param requester "tesseractl, user@host", or empty if unknown
  PendingReply(std::string id, std::string requester, Sender send)
      : id_(std::move(id)), requester_(std::move(requester)), send_(std::move(send)) {}

  const std::string& id() const { return id_; }
  const std::string& requester() const { return requester_; }
  /// " (tesseractl, user@host)", for the end of an event.
  std::string RequesterText() const { return requester_.empty() ? "" : " (" + requester_ + ")"; }

  /// Says with the reply whose panel operates the cluster.
  void SetOperatedBy(std::string who) { operated_by_ = std::move(who); }

  /// Releases something with the reply, such as a turn.
  void Hold(std::shared_ptr<void> held) { held_ = std::move(held); }

  /// Sends the reply to this connection too. Of many connections only the newest kMostWaiting
  /// receive it: a client waits on its last one.
  void Join(const std::string& identity, std::uint64_t sequence) {
    if (reply_) return SendTo(identity, sequence);
    waiting_.emplace_back(identity, sequence);
    if (waiting_.size() > kMostWaiting) waiting_.pop_front();
  }
  static constexpr std::size_t kMostWaiting = 16;
  /// Later calls are ignored.
  void Done(wire::Reply reply) {
    if (reply_) return;
    reply.set_id(id_);
    reply.set_operated_by(operated_by_);
    reply_ = std::move(reply);
    for (const auto& [identity, sequence] : waiting_) SendTo(identity, sequence);
    waiting_.clear();
    held_.reset();
  }
  void Fail(const Error& error) {
    wire::Reply reply;
    Encode(error, reply.mutable_error());
    Done(std::move(reply));
  }
  bool done() const { return reply_.has_value(); }

 private:
  void SendTo(const std::string& identity, std::uint64_t sequence) {
    reply_->set_sequence(sequence);
    send_(identity, *reply_);
  }
  std::string id_;
  std::string requester_;
  std::string operated_by_;
  std::shared_ptr<void> held_;
  Sender send_;
  std::optional<wire::Reply> reply_;
  std::deque<std::pair<std::string, std::uint64_t>> waiting_;
};
using ReplyPtr = std::shared_ptr<PendingReply>;

}  // namespace tessera::agents
