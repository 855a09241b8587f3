// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Long values that many nodes get: layouts, settings, the list of nodes. Each node gets them once;
/// the messages of starts and transactions name them by their hash.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>

#include "agents/registrar/registrar_part.h"
#include "agents/wire/tessera/wire/node.pb.h"

namespace tessera::agents {

class Documents : public RegistrarPart {
 public:
  explicit Documents(const Common& common) : RegistrarPart(common) {}

  /// Replaces long values of a Prepare, StartJob or FinishUpdate by references to documents.
  void Shorten(wire::ToNode& message);
  /// Sends the node what it lacks.
  void OnWanted(std::int32_t node, const wire::WantDocuments& wanted);

 private:
  /// The values of all transactions and starts that can be under way, and of some before.
  static constexpr std::size_t kMost = 4096;
  static constexpr std::size_t kMostBytes = std::size_t{256} << 20;
  static constexpr std::size_t kAlways = 8;  // are kept, however long

  /// Moves the value into a document if it is long.
  void Move(std::string& value, wire::DocumentRef::Kind kind,
            google::protobuf::RepeatedPtrField<wire::DocumentRef>* refs);
  void MovePeers(Peers* peers, google::protobuf::RepeatedPtrField<wire::DocumentRef>* refs);
  void ShortenStart(wire::StartJob* start);

  std::map<std::uint64_t, std::shared_ptr<const wire::ToNode>> documents_;  // by hash
  std::size_t bytes_ = 0;                                                   // of all
  std::deque<std::uint64_t> order_;                                         // the oldest first
};

}  // namespace tessera::agents
