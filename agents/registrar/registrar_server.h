// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The registrar in its agent: sockets, files, and the loop's clock.

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "agents/decision/table_revision.h"
#include "agents/net/loop.h"
#include "agents/net/outstanding.h"
#include "agents/net/socket.h"
#include "agents/net/worker.h"
#include "agents/node/config.h"
#include "agents/registrar/message_limits.h"
#include "agents/registrar/mirrored_journal.h"
#include "agents/registrar/registrar.h"
#include "agents/registrar/takeover.h"
#include "engine/history/history.h"
#include "engine/history/journal.h"

namespace google::protobuf {
class Message;
}  // namespace google::protobuf

namespace tessera::agents {

/// \threadsafety The loop's thread.
class RegistrarServer {
 public:
  /// \param simulated outlives it; nodes that connect to the sockets are refused then
  /// \error `port in use: tcp://…`; or naming the file that cannot be opened
  static Result<std::unique_ptr<RegistrarServer>> Start(Loop& loop, NetContext& net,
                                                        const AgentConfig& config,
                                                        const CurveKeys& keys,
                                                        std::int64_t generation = 1,
                                                        SimulatedNodes* simulated = nullptr);
  /// Answers each request with the error `why`, and nodes with nothing. For an agent that cannot
  /// run: so clients are told the reason.
  /// \error as Start
  static Result<std::unique_ptr<RegistrarServer>> StartRefusing(Loop& loop, NetContext& net,
                                                                const AgentConfig& config,
                                                                const CurveKeys& keys, Error why);
  /// A message of a simulated node.
  void OnSimulated(const std::string& identity, const wire::FromNode& message);
  /// Adds an event.
  void Note(const std::string& text);
  /// A request of the simulation itself.
  void OnSimulated(const std::string& identity, const KeyOwner& owner,
                   const wire::Request& request);
  RegistrarServer(const RegistrarServer&) = delete;
  RegistrarServer& operator=(const RegistrarServer&) = delete;

 private:
  RegistrarServer(Loop& loop, NetContext& net, const AgentConfig& config, const CurveKeys& keys,
                  std::int64_t generation, SimulatedNodes* simulated)
      : loop_(loop),
        net_(net),
        config_(config),
        keys_(keys),
        generation_(generation),
        simulated_(simulated) {}
  Status Open();
  Status Bind();
  void Watch();
  /// Of an earlier registrar, from the nodes.
  void TakeOver();
  /// \pre the journal has what an earlier registrar knew
  Status Begin();
  /// Everybody gets everything, so they say nothing but whose connections they are.
  void ReadSubscriptions();
  Registrar::World MakeWorld();
  /// To a simulated node, or as SendTo.
  Status SendToNode(const std::string& identity, const wire::ToNode& message);
  /// To the connection of a node or of a client.
  Status SendTo(const std::string& identity, const google::protobuf::Message& message);
  Status SendBytes(const std::string& identity, Frame bytes);
  /// The same for a message that many get.
  Status SendShared(const std::string& identity,
                    const std::shared_ptr<const wire::ToNode>& message);
  void OnReady();
  /// Why a message is dropped.
  struct Dropped {
    std::string kind;  // nothing that a sender may choose, so that there are few
    std::string text;  // of an event
    bool is_above_limit = false;  // the peer sends more than is read
  };
  /// Passes a message on, if its sender may send it.
  std::optional<Dropped> Accept(const Message& frames);
  void Answer(const std::string& identity, const wire::Request& request, const Error& error);
  /// Answers a request that is not carried out.
  void AnswerUnread(const std::string& identity, const Message& frames, const Error& error);
  /// What the node keeps of the rows of the registrar, and what it gets of them.
  void NoteKept(std::int32_t node, const std::string& identity, const wire::Register& message);
  static void NoteJournaled(const Status& status);
  /// Adds an event for the first, 10th, 100th, … message of a kind.
  void NoteDropped(const Dropped& dropped);

  Loop& loop_;
  NetContext& net_;
  const AgentConfig config_;
  const CurveKeys keys_;
  const std::int64_t generation_;                // as of RegistrarRecord
  SimulatedNodes* const simulated_;              // null: the nodes are real
  MessageLimits limits_;
  Outstanding waiting_{kMaxMessageBytes};        // by identity
  std::map<std::string, std::int64_t> dropped_;  // messages, by kind
  std::optional<Socket> router_, events_;
  std::unique_ptr<engine::Journal> journal_;
  std::unique_ptr<engine::DecisionRegister> decisions_;
  // If another node can become the registrar.
  std::optional<TableRevision> table_revision_;
  std::optional<MirroredJournal> mirrored_;
  std::string journal_note_, history_note_;
  std::unique_ptr<engine::History> history_;
  std::unique_ptr<engine::History> reader_;  // of the same file, for the worker
  std::optional<Takeover> takeover_;
  std::optional<Error> refusal_;        // of all requests: there is no registrar
  std::optional<Registrar> registrar_;  // absent during a takeover
  std::optional<Worker> worker_;
  struct Shared {
    std::shared_ptr<const wire::ToNode> message;
    std::shared_ptr<const std::string> bytes;
  };
  std::deque<Shared> shared_;  // the last ones
};

}  // namespace tessera::agents
