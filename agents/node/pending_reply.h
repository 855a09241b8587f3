// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// An answer that may come later. A request that is sent again with the same id, after a reconnect,
/// joins the ones that wait, or gets the old outcome.

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agents/node/registrar.h"
#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/control.pb.h"

namespace tessera::agents {

class Registrar::PendingReply {
 public:
  using Sender = std::function<void(const std::string& identity, const wire::Reply& reply)>;
  /// \param who "tesseractl, user@host", or empty where nobody said
  PendingReply(std::string id, std::string who, Sender send)
      : id_(std::move(id)), who_(std::move(who)), send_(std::move(send)) {}

  const std::string& who() const { return who_; }
  /// " (tesseractl, user@host)", for the end of an event.
  std::string RequesterText() const { return who_.empty() ? "" : " (" + who_ + ")"; }

  void Join(const std::string& identity, std::uint64_t sequence) {
    if (reply_) return SendTo(identity, sequence);
    waiting_.emplace_back(identity, sequence);
  }
  /// The first answer counts.
  void Done(wire::Reply reply) {
    if (reply_) return;
    reply.set_id(id_);
    reply_ = std::move(reply);
    for (const auto& [identity, sequence] : waiting_) SendTo(identity, sequence);
    waiting_.clear();
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
  std::string who_;
  Sender send_;
  std::optional<wire::Reply> reply_;
  std::vector<std::pair<std::string, std::uint64_t>> waiting_;
};

}  // namespace tessera::agents
