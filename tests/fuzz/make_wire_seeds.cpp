// SPDX-License-Identifier: Apache-2.0

/// \file
/// Writes seeds of the targets wire, lane, rank, keeper and journal, always the same ones.
///
///   make_wire_seeds CORPUS-FOLDER

#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "agents/job/rank_view.h"
#include "agents/move/digest_wire.h"
#include "agents/net/lane_wire.h"
#include "agents/node/job_row.h"
#include "agents/registrar/checkpoint_row.h"
#include "agents/registrar/txn_row.h"
#include "agents/views/snapshot_row.h"
#include "agents/wire/convert.h"
#include "agents/wire/history_wire.h"
#include "agents/wire/tessera/wire/keeper.pb.h"
#include "agents/wire/tessera/wire/rank.pb.h"
#include "engine/model/job_layout.h"
#include "tests/fuzz/wire_messages.h"
#include "tests/support/random_message.h"

using namespace tessera;

namespace {

std::filesystem::path corpus;

void Write(const std::string& target, const std::string& name, const std::string& bytes) {
  std::filesystem::create_directories(corpus / target);
  std::ofstream(corpus / target / name, std::ios::binary) << bytes;
}

std::mt19937_64 random_bits(1);
const std::vector<std::string> kWords = {"nano", "n0g0", "dp=2,tp=2,pp=1", "0123456789abcdef"};

/// One that can be decoded, with as much in it as comes by chance, and one that cannot.
template <typename Message>
void WriteMessage(std::size_t index) {
  constexpr std::size_t kMostBytes = 600;
  std::string good, bad;
  for (int i = 0; i < 20'000; ++i) {
    Message message;
    test::FillAtRandom(message, random_bits, kWords);
    const std::string bytes = message.SerializeAsString();
    if (bytes.size() > kMostBytes) continue;
    std::string& best = agents::Decode(message) ? good : bad;
    if (bytes.size() > best.size()) best = bytes;
  }
  const std::string first(1, static_cast<char>(index));
  const std::string name(Message::descriptor()->name());
  if (!good.empty()) Write("wire", name, first + good);
  if (!bad.empty()) Write("wire", name + "-refused", first + bad);
}
template <typename... Messages>
void WriteMessages(fuzz::Types<Messages...>) {
  std::size_t index = 0;
  (WriteMessage<Messages>(index++), ...);
}

void WriteLanes() {
  agents::FrameRequest request{{"nano", 3, 1}, 5, {}, 2, true, true, {}};
  const std::vector<ptc::Interval> dims = {{0, 4}, {8, 16}};
  const ptc::Box box = *ptc::Box::Make(dims);
  request.segments = {{{1, 5, box}, 0, 64}, {{1, 6, ptc::Box::Scalar()}, 0, 4}};
  Write("lane", "request", agents::Encode(request));
  const std::string header =
      agents::Encode(agents::LaneReply(agents::FrameHeader{{"nano", 3, 1}, 5, 2, 68, 7, {8, 9}}));
  Write("lane", "header", header);
  // As the target completes it: without the checksum of the message.
  Write("lane", "header-open", header.substr(0, header.size() - 8));
  Write("lane", "refusal",
        agents::Encode(agents::LaneReply(
            agents::LaneRefusal{{"nano", 3, 1}, 5, NotFound("tensor 5 [0:4] is not here")})));
}

std::string PacketOf(const google::protobuf::Message& message, bool has_descriptor = false) {
  const std::string bytes = message.SerializeAsString();
  return std::string{static_cast<char>(has_descriptor), static_cast<char>(bytes.size() & 255),
                     static_cast<char>(bytes.size() >> 8)} +
         bytes;
}

void WriteRanks() {
  wire::RankToAgent attach;
  attach.mutable_attach()->set_protocol(1);
  attach.mutable_attach()->set_job("nano");
  const std::string first = PacketOf(attach);
  for (const auto* const kind : test::KindsOf(attach)) {
    wire::RankToAgent message;
    test::FillKind(message, kind, random_bits, kWords);
    const std::string packet = PacketOf(message, kind->name() == "shared_memory_held");
    Write("rank", std::string(kind->name()), first + packet + packet);
  }
  agents::RankView view;
  view.epoch = 3;
  view.attempt = 1;
  view.rank = 1;
  view.world = 2;
  view.axis_size = {1, 2, 1, 1, 1};
  view.axis_coord = {0, 1, 0, 0, 0};
  view.node_of_rank = view.host_of_rank = {0, 1};
  view.address_of_rank = {"127.0.0.1", "127.0.0.2"};
  Write("rank", "view.json", agents::ToJson(view));
  wire::RankView message;
  agents::ToWire(view, &message);
  Write("rank", "view", message.SerializeAsString());
}

void WriteKeepers() {
  wire::KeeperToAgent arena, kept, rank, ready, exited, error;
  arena.mutable_arena()->set_bytes(1 << 20);
  kept.mutable_kept()->set_name("memory of device 0");
  rank.mutable_rank()->set_pid(7);
  rank.mutable_rank()->set_tag("nano");
  ready.mutable_ready();
  exited.mutable_exited()->set_pid(7);
  exited.mutable_exited()->set_status(9);
  error.mutable_error()->set_code(200);
  error.mutable_error()->set_message("no");
  const std::string list = PacketOf(arena, true) + PacketOf(kept, true) + PacketOf(rank, true);
  Write("keeper", "list", list + PacketOf(ready) + PacketOf(exited));
  Write("keeper", "without-descriptors",
        PacketOf(arena) + PacketOf(kept) + PacketOf(rank) + PacketOf(ready));
  Write("keeper", "twice", list + list + PacketOf(ready) + PacketOf(ready) + PacketOf(exited));
  Write("keeper", "error", PacketOf(error) + PacketOf(exited) + PacketOf(ready));
}

void WriteRows() {
  const auto tensors = engine::MakeCollection({.model = *engine::FindModel("gpt-nano")}, false);
  const auto layout = *ptc::Layout::Make(*ptc::ParseDeviceMesh("dp=2,tp=2,pp=1 on 2x2"), *tensors);
  const agents::JobTableRow job{{R"({"model":"gpt-nano"})", layout, 3, 1}, {true, 4}, 7,
                                engine::JobState::kPaused, "data: \"a\" at byte 96", 120};
  Write("journal", "job", agents::ToText(job));
  agents::TxnRow txn{9, "nano", 2, 4, layout, {true, 0}, true, 1, 1.5};
  Write("journal", "transaction", agents::ToText(txn));
  txn.recovery = agents::TxnRow::Recovery{{{1, 0}}, "n1 was lost", 40, 3, false, {}};
  txn.rounds = {{0, 2}, {1}};
  Write("journal", "recovery", agents::ToText(txn));
  Write("journal", "round", agents::ToText(agents::RoundRow{9, 2, "n1 was lost"}));
  Write("journal", "snapshot",
        agents::ToText(agents::SnapshotRow{7, {"nano", 3, 2, 40, layout}, "0123456789abcdef", 1}));
  Write("journal", "checkpoint",
        agents::ToText(engine::CheckpointEntry{"/a/b", "nano", 40, 1, 1000, "gpt-nano", "dp=2",
                                               "0123456789abcdef", 1.5}));
  Write("journal", "schedule",
        agents::ToText(engine::CheckpointSchedule{{.steps = 20}, "/a/b", 3}));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s CORPUS-FOLDER\n", argv[0]);
    return 2;
  }
  corpus = argv[1];
  WriteMessages(fuzz::WireMessages());
  WriteLanes();
  WriteRanks();
  WriteKeepers();
  WriteRows();
  return 0;
}
