// SPDX-License-Identifier: Apache-2.0
#include "agents/node/inbox.h"

#include <span>
#include <utility>

#include "engine/copy/checksum.h"

namespace tessera::agents {
namespace {

using Refs = google::protobuf::RepeatedPtrField<wire::DocumentRef>;

wire::StartJob* StartOf(wire::ToNode& message) {
  if (message.has_start_job()) return message.mutable_start_job();
  if (message.has_finish_update()) return message.mutable_finish_update()->mutable_job();
  return nullptr;
}

const Refs& RefsOf(const wire::ToNode& message) {
  if (message.has_prepare()) return message.prepare().documents();
  if (message.has_finish_update()) return message.finish_update().job().documents();
  return message.start_job().documents();
}

void SetPeers(const std::string& text, google::protobuf::RepeatedPtrField<wire::Peer>* peers) {
  wire::PeerList list;
  static_cast<void>(list.ParseFromString(text));  // the hash fits, so it is what was sent
  peers->Swap(list.mutable_peers());
}

void Set(wire::DocumentRef::Kind kind, const std::string& text, wire::StartJob* start) {
  if (kind == wire::DocumentRef::TO_LAYOUT) start->set_layout(text);
  if (kind == wire::DocumentRef::SETTINGS) start->set_settings(text);
  if (kind == wire::DocumentRef::PEERS) SetPeers(text, start->mutable_peers());
}

void Set(wire::DocumentRef::Kind kind, const std::string& text, wire::Prepare* prepare) {
  if (kind == wire::DocumentRef::FROM_LAYOUT) prepare->set_from_layout(text);
  if (kind == wire::DocumentRef::TO_LAYOUT) prepare->set_to_layout(text);
  if (kind == wire::DocumentRef::TOPOLOGY) prepare->set_topology(text);
  if (kind == wire::DocumentRef::SETTINGS) prepare->set_settings(text);
  if (kind == wire::DocumentRef::PEERS) SetPeers(text, prepare->mutable_peers());
}

}  // namespace

void Inbox::Take(wire::ToNode message) {
  if (message.has_document()) return OnDocument(message.document());
  if (message.has_unknown()) {
    Clear();  // it gets no documents before it has registered
    return world_.deliver(message);
  }
  if (message.has_heartbeat()) return world_.deliver(message);  // in no order with others
  const std::vector<std::uint64_t> missing = MissingOf(message);
  if (waiting_.empty() && missing.empty() && !delivers_) {
    Fill(message);
    return world_.deliver(message);
  }
  // The registrar repeats what is not carried out.
  if (waiting_.size() >= kMostWaiting) waiting_.clear();
  waiting_.push_back(std::move(message));
  if (!missing.empty()) world_.ask(missing);
}

void Inbox::AskAgain() {
  if (waiting_.empty()) return;
  const auto missing = MissingOf(waiting_.front());
  if (missing.empty()) return;
  if (++num_asked_ <= kMostQuestions) return world_.ask(missing);
  // Others wait behind it. The registrar repeats what still holds.
  waiting_.pop_front();
  num_asked_ = 0;
  DeliverComplete();
}

void Inbox::OnDocument(const wire::Document& document) {
  const std::uint64_t hash = document.hash();
  if (document.unknown()) {
    // What names it has been replaced by now.
    std::erase_if(waiting_, [&](const wire::ToNode& message) {
      for (const std::uint64_t missing : MissingOf(message)) {
        if (missing == hash) return true;
      }
      return false;
    });
  } else if (engine::Checksum(std::as_bytes(std::span(document.text()))) == hash) {
    documents_.insert_or_assign(hash, world_.share(document.text()));
    static_cast<void>(Use(hash));
  }
  DeliverComplete();
}

void Inbox::DeliverComplete() {
  if (std::exchange(delivers_, true)) return;
  while (!waiting_.empty() && MissingOf(waiting_.front()).empty()) {
    wire::ToNode message = std::move(waiting_.front());
    waiting_.pop_front();
    num_asked_ = 0;
    Fill(message);
    world_.deliver(message);
  }
  delivers_ = false;
}

std::vector<std::uint64_t> Inbox::MissingOf(const wire::ToNode& message) const {
  std::vector<std::uint64_t> missing;
  for (const wire::DocumentRef& ref : RefsOf(message)) {
    if (!documents_.contains(ref.hash())) missing.push_back(ref.hash());
  }
  return missing;
}

void Inbox::Fill(wire::ToNode& message) {
  for (const wire::DocumentRef& ref : Refs(RefsOf(message))) {
    const std::string& text = Use(ref.hash());
    if (message.has_prepare()) Set(ref.kind(), text, message.mutable_prepare());
    if (wire::StartJob* const start = StartOf(message)) Set(ref.kind(), text, start);
  }
  if (message.has_prepare()) message.mutable_prepare()->clear_documents();
  if (wire::StartJob* const start = StartOf(message)) start->clear_documents();
}

const std::string& Inbox::Use(std::uint64_t hash) {
  std::erase(order_, hash);
  order_.push_back(hash);
  while (order_.size() > kMostDocuments) {
    documents_.erase(order_.front());
    order_.pop_front();
  }
  return *documents_.at(hash);
}

}  // namespace tessera::agents
