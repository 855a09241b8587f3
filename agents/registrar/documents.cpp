// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/documents.h"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "engine/copy/checksum.h"

namespace tessera::agents {

void Documents::Shorten(wire::ToNode& message) {
  if (message.has_start_job()) ShortenStart(message.mutable_start_job());
  if (message.has_finish_update()) ShortenStart(message.mutable_finish_update()->mutable_job());
  if (!message.has_prepare()) return;
  wire::Prepare& p = *message.mutable_prepare();
  auto* const refs = p.mutable_documents();
  Move(*p.mutable_from_layout(), wire::DocumentRef::FROM_LAYOUT, refs);
  Move(*p.mutable_to_layout(), wire::DocumentRef::TO_LAYOUT, refs);
  Move(*p.mutable_topology(), wire::DocumentRef::TOPOLOGY, refs);
  Move(*p.mutable_settings(), wire::DocumentRef::SETTINGS, refs);
  MovePeers(p.mutable_peers(), refs);
}

void Documents::ShortenStart(wire::StartJob* start) {
  auto* const refs = start->mutable_documents();
  Move(*start->mutable_layout(), wire::DocumentRef::TO_LAYOUT, refs);
  Move(*start->mutable_settings(), wire::DocumentRef::SETTINGS, refs);
  MovePeers(start->mutable_peers(), refs);
}

void Documents::MovePeers(Peers* peers,
                          google::protobuf::RepeatedPtrField<wire::DocumentRef>* refs) {
  wire::PeerList list;
  list.mutable_peers()->Swap(peers);
  std::string text = list.SerializeAsString();
  Move(text, wire::DocumentRef::PEERS, refs);
  if (!text.empty()) peers->Swap(list.mutable_peers());
}

void Documents::Move(std::string& value, wire::DocumentRef::Kind kind,
                     google::protobuf::RepeatedPtrField<wire::DocumentRef>* refs) {
  if (value.size() <= world_.longest_value) return;
  const std::uint64_t hash = engine::Checksum(std::as_bytes(std::span(value)));
  wire::DocumentRef* const ref = refs->Add();
  ref->set_kind(kind);
  ref->set_hash(hash);
  std::erase(order_, hash);
  order_.push_back(hash);
  auto& document = documents_[hash];
  if (!document) {
    wire::ToNode message;
    message.mutable_document()->set_hash(hash);
    message.mutable_document()->set_text(std::move(value));
    bytes_ += message.document().text().size();
    document = std::make_shared<const wire::ToNode>(std::move(message));
  }
  value.clear();
  while (order_.size() > kMost || (bytes_ > kMostBytes && order_.size() > kAlways)) {
    const auto oldest = documents_.find(order_.front());
    bytes_ -= oldest->second->document().text().size();
    documents_.erase(oldest);
    order_.pop_front();
  }
}

void Documents::OnWanted(std::int32_t node, const wire::WantDocuments& wanted) {
  constexpr std::size_t kMostOfOneMessage = 64;
  const std::set<std::uint64_t> hashes(wanted.hashes().begin(), wanted.hashes().end());
  if (hashes.size() > kMostOfOneMessage) return;
  for (const std::uint64_t hash : hashes) {
    const auto found = documents_.find(hash);
    if (found != documents_.end()) {
      static_cast<void>(SendTo(node, found->second));
      continue;
    }
    wire::ToNode unknown;
    unknown.mutable_document()->set_hash(hash);
    unknown.mutable_document()->set_unknown(true);
    static_cast<void>(SendTo(node, unknown));
  }
}

}  // namespace tessera::agents
