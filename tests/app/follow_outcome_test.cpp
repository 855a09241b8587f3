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
  // The registrar that began the transaction has died, and none carries it out.
  void aTransactionThatDoesNotRunAndHasNoOutcomeEndsIt() {
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
    QCOMPARE(app::followTransaction(call, session, 3), static_cast<int>(app::kNeedsDecision));
    session.client.reset();
  }
};
TESSERA_TEST(FollowOutcomeTest)
#include "follow_outcome_test.moc"
