// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What the agent of a node knows of its machine and acts on. NodeServer makes it of sockets,
/// processes, threads and files, a simulator of its own parts.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agents/checkpoint/stored_state.h"
#include "agents/job/rank_view.h"
#include "agents/move/device_store.h"
#include "agents/move/follow.h"
#include "agents/move/kept_digests.h"
#include "agents/move/move.h"
#include "agents/move/move_context.h"
#include "agents/net/lane_ticket.h"
#include "agents/node/plan_memo.h"
#include "agents/wire/messages_fwd.h"
#include "engine/cluster/snapshot.h"
#include "engine/history/durable_store.h"
#include "engine/txn/decision.h"
#include "ptc/base/result.h"
#include "ptc/layout.h"

namespace tessera::agents {

/// What holds for as long as this agent lives.
struct NodeFacts {
  std::int64_t incarnation = 0;  // grows from one agent of the node to the next
  std::string keeper;            // identity: tells it from the keepers before it
  std::int64_t keeper_pid = 0;
  std::string machine;     // identity of this machine
  std::string address;     // at which the nodes and ranks of other hosts reach this one
  std::string public_key;  // of the agent
  /// Whether its devices are GPUs, on which a program for the CPU cannot compute.
  bool has_gpus = false;
  std::string nccl;              // version, if its devices can exchange cells by it
  std::string gpu, gpu_driver;   // of its devices: `NVIDIA H200`, `CUDA 13.0`; empty: of the host
  std::int32_t master_port = 0;  // for the ranks of a user's program; 0: none is free
  std::string rank_socket;       // to which ranks attach
  std::optional<LaneSecret> lane_secret = {};  // present: lanes are not encrypted
};

/// All members but `decisions` are set. Functions are called on the loop's thread.
struct NodeWorld {
  NodeFacts facts;
  engine::DurableStore* journal = nullptr;  // outlives the agent
  /// The decision register, if this node reaches it without the registrar; outlives the agent.
  engine::DecisionRegister* decisions = nullptr;

  /// Sends to the registrar. The message is lost if there is no connection.
  std::function<void(const wire::FromNode& message)> send;
  /// `reply` runs once, on the loop, possibly inside the call.
  std::function<void(const wire::NodeQuery& query, std::function<void(wire::NodeAnswer)> reply)>
      run_query;

  /// The files that ranks read; see job_files.h.
  std::function<Status(const std::string& job, const std::string& settings,
                       const ptc::Layout& layout)>
      write_job_files;
  std::function<Result<std::string>(const std::string& job, std::int32_t device,
                                    const RankView& view)>
      write_view_file;
  std::function<void(const std::string& job)> remove_job_files;
  /// Makes or maps the memory of devices that have their own; empty: none has.
  DeviceStore::AttachMemory attach_memory = {};
  /// The program of the built-in trainer, and what every rank inherits of the environment.
  std::function<std::string()> trainer_path;
  std::function<std::vector<std::string>()> environment;
  /// Of the machine, bytes; 0 if that is unknown.
  std::function<std::int64_t()> memory_available;
  /// The process group of a process; -1 if it has ended.
  std::function<std::int64_t(std::int64_t pid)> process_group;

  /// `done` runs once, on the loop, later than the call, also for a move that is cancelled or
  /// destroyed before. It may destroy the move.
  std::function<std::unique_ptr<Move>(std::shared_ptr<const MoveContext> context, MoveMode mode,
                                      std::function<void(MoveResult)> done)>
      start_move;
  /// Meets the other nodes of a DeviceExchange between the devices `all`, at `place`, and connects
  /// the `flows` of this node; without a place, it makes it, and `made` runs with it. `done` runs
  /// once, on the loop, later than the call. What is returned ends the attempt when it is
  /// destroyed. Empty: the node has no such way.
  std::function<std::shared_ptr<void>(
      std::optional<std::string> place, const std::vector<ptc::DeviceId>& all,
      std::vector<engine::ExchangeEnds> flows, std::function<void(const std::string& place)> made,
      std::function<void(Result<std::shared_ptr<engine::DeviceExchange>> exchange)> done)>
      join_exchange = {};
  /// Opens a checkpoint in a folder that the node may use. Any thread.
  OpenCheckpoint open_checkpoint;
  /// As start_move. Clears the holds that HoldUpdates has set.
  std::function<std::unique_ptr<KeptRun>(KeptState state, std::function<void(KeptResult)> done)>
      start_kept_digests;
  /// SaveGradients and UpdateCopies (agents/move/follow.h). `done` as of start_move. The work ends
  /// with what these return.
  std::function<std::shared_ptr<void>(std::shared_ptr<const MoveContext> context,
                                      std::function<void(const Status&)> done)>
      save_gradients;
  std::function<std::shared_ptr<void>(std::shared_ptr<const MoveContext> context,
                                      const StepUpdate& update,
                                      std::function<void(const Status&)> done)>
      update_copies;
  /// Makes the memory of the new pieces present. `done` runs once, on the loop, later than the
  /// call. The work ends with what this returns; null: there is none, and `done` does not run.
  std::function<std::shared_ptr<void>(std::shared_ptr<const MoveContext> context,
                                      std::function<void()> done)>
      warm_pages;
  /// Cells of this transfer may be fetched from this node from now on; null: of none.
  std::function<void(std::shared_ptr<const MoveContext> context)> serve;
  /// Limits what this node sends and what it receives over lanes; 0: no limit.
  std::function<void(std::int64_t bytes_per_second)> limit_lanes;
  /// What its lanes have refused or requested again.
  std::function<engine::NetworkFaults()> network_faults;

  /// Shared by the agents of one process.
  std::shared_ptr<PlanMemo> memo = std::make_shared<PlanMemo>();

  /// A line for the log of this process.
  std::function<void(const std::string& line)> log_line;
  /// Named moments, for tests that kill the agent there.
  std::function<void(const std::string& point)> fault_point;
  /// Ends this process. Its keeper starts another agent.
  std::function<void()> exit;
};

}  // namespace tessera::agents
