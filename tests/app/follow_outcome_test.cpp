// SPDX-License-Identifier: Apache-2.0
// How a command that follows a transaction ends.
#include <QTemporaryDir>
#include <QTest>

#include "agents/wire/tessera/wire/control.pb.h"
#include "app/commands/follow.h"
#include "tests/agents/fake_registrar.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using agents::CurveKeys;

class FollowOutcomeTest : public QObject {
  Q_OBJECT

  QTemporaryDir m_folder;

 private slots:
  void itsExitCodeFollowsTheRecord_data() {
    QTest::addColumn<std::string>("result");
    QTest::addColumn<int>("rounds");
    QTest::addColumn<int>("code");
    const auto row = [](const char* name, const char* result, int rounds, int code) {
      QTest::newRow(name) << std::string(result) << rounds << code;
    };
    // The registrar that began the transaction has died, and none carries it out.
    row("it does not run and has no outcome", "", 0, app::kNeedsDecision);
    row("committed", "committed", 0, app::kDone);
    row("rolled back", "rolled_back", 0, app::kFailed);
    row("failed", "failed", 0, app::kFailed);
    // The rounds before have moved their tensors for good.
    row("failed between two rounds", "failed", 4, app::kNeedsDecision);
    row("the journal with its outcome was lost", "unknown", 0, app::kNeedsDecision);
  }
  void itsExitCodeFollowsTheRecord() {
    QFETCH(std::string, result);
    QFETCH(int, rounds);
    QFETCH(int, code);
    test::FakeRegistrar registrar;
    const CurveKeys keys = agents::NewCurveKeys();
    registrar.Allow({keys.public_key});
    const std::string file = m_folder.filePath("client.key").toStdString();
    VERIFY_OK(agents::SaveKeys(keys, file));
    registrar.Do([&] {
      registrar.answer = [&](const wire::Request& request) -> std::optional<wire::Reply> {
        // A command that asks again and again ends here, with another code.
        if (!request.has_txn() || registrar.num_of(wire::Request::kTxn) > 20) return std::nullopt;
        engine::HistoryEntry entry;
        entry.id = 3;
        entry.job = "a";
        entry.from = "1x1x1 n0g0";
        entry.to = "2x1x1 n0g0,n0g1";
        entry.result = result;
        entry.in_rounds.rounds = rounds;
        wire::Reply reply;
        agents::Encode(entry, reply.mutable_txn()->mutable_record());
        return reply;
      };
    });
    app::Session session;
    session.profile = {"test",
                       registrar.commands_endpoint(),
                       registrar.events_endpoint(),
                       registrar.keys().public_key,
                       file,
                       ""};
    auto client = agents::ClusterClient::OpenForCommands(session.profile);
    VERIFY_OK(client);
    session.client = std::move(*client);
    const app::Invocation call;
    QCOMPARE(app::followTransaction(call, session, 3), code);
    session.client.reset();
  }
};
TESSERA_TEST(FollowOutcomeTest)
#include "follow_outcome_test.moc"
