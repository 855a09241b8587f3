// SPDX-License-Identifier: Apache-2.0
#include <QTest>
#include <set>
#include <string>

#include "engine/cluster/snapshot.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using namespace tessera::engine;

namespace {

/// Walks the values of an enum from 0 up. Returns the texts that parse to the same value.
template <typename Enum, typename ParseFunction>
std::set<std::string> RoundTrip(int count, ParseFunction parse) {
  std::set<std::string> texts;
  for (int i = 0; i < count; ++i) {
    const auto value = static_cast<Enum>(i);
    const auto parsed = parse(ToString(value));
    if (parsed && *parsed == value) texts.emplace(ToString(value));
  }
  return texts;
}

}  // namespace

class ClusterSnapshotTest : public QObject {
  Q_OBJECT
 private slots:
  void notesOfNodesSurviveTheirText() {
    using engine::NodeNote, engine::NodeState;
    for (const NodeNote& note :
         {NodeNote{}, NodeNote{7, NodeState::kLeft}, NodeNote{511, NodeState::kAlive, {0, 3, 7}}}) {
      const auto read = engine::ParseNodeNote(ToString(note));
      QVERIFY(read && *read == note);
    }
    QCOMPARE(ToString(NodeNote{3, NodeState::kAlive, {0, 2}}), std::string("3 alive 0 2"));
    for (const char* wrong : {"", "3", "3 asleep", "-1 alive", "x alive", "3 alive x",
                              "3 alive 2 2", "3 alive 2 0", "99999999999 alive"}) {
      const auto read = engine::ParseNodeNote(wrong);
      QVERIFY2(!read, wrong);
    }
  }

  void networkFaultsInWords() {
    QCOMPARE(ToText(engine::NetworkFaults()), std::string());
    QCOMPARE(ToText(engine::NetworkFaults{.dropped = 1, .corrupt = 3}),
             std::string("3 corrupt frames requested again, 1 stray frame dropped"));
    QCOMPARE(ToText(engine::NetworkFaults{.malformed = 2, .not_admitted = 1, .switched = 4}),
             std::string("4 frames taken from another holder, 2 malformed messages dropped, "
                         "1 request not admitted"));
    QCOMPARE(ToText(engine::NetworkFaults{.connections_closed = 3}),
             std::string("3 connections closed because too many were open"));
  }
  void textsAreTheClosedSetsOfTheInterface() {
    QVERIFY((RoundTrip<NodeState>(6, ParseNodeState) ==
             std::set<std::string>{"joining", "alive", "suspect", "unmanaged", "dead", "left"}));
    QVERIFY(
        (RoundTrip<JobState>(10, ParseJobState) ==
         std::set<std::string>{"starting", "running", "pausing", "paused", "reconfiguring",
                               "waiting_decision", "suspended", "stopped", "failed", "unknown"}));
    QVERIFY((RoundTrip<TxnPhase>(14, ParseTxnPhase) ==
             std::set<std::string>{"planned", "preparing", "precopying", "pausing", "transferring",
                                   "verifying", "committing", "resuming", "done", "rolling_back",
                                   "rolled_back", "failed", "needs_decision", "in_doubt"}));
    QVERIFY((RoundTrip<Severity>(4, ParseSeverity) ==
             std::set<std::string>{"debug", "info", "warning", "error"}));
  }
  void unknownTextIsNamed() {
    const auto phase = ParseTxnPhase("flying");
    VERIFY_ERROR(phase, ErrorCode::kInvalidArgument, "transaction phase 'flying' is not one of");
    VERIFY_ERROR(ParseNodeState(""), ErrorCode::kInvalidArgument, "node state ''");
    VERIFY_ERROR(ParseJobState("Running"), ErrorCode::kInvalidArgument, "job state 'Running'");
  }
  void finalPhasesAreThoseWithNothingBehind() {
    std::set<std::string> final_phases;
    for (int i = 0; i < 14; ++i) {
      const auto phase = static_cast<TxnPhase>(i);
      if (IsFinal(phase)) final_phases.emplace(ToString(phase));
    }
    QVERIFY((final_phases == std::set<std::string>{"done", "rolled_back", "failed"}));
  }
};
TESSERA_TEST_APPLESS(ClusterSnapshotTest)
#include "cluster_snapshot_test.moc"
