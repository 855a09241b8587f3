// SPDX-License-Identifier: Apache-2.0
// How a command that follows a transaction ends.
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include "agents/wire/tessera/wire/control.pb.h"
#include "app/commands/command.h"
#include "app/commands/follow.h"
#include "tests/agents/fake_registrar.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using agents::CurveKeys;

class FollowOutcomeTest : public QObject {
  Q_OBJECT

  using Answer = test::FakeRegistrar::Answer;
  QTemporaryDir m_folder;

  /// A profile of this registrar, with a key that it allows.
  agents::Profile profileOf(test::FakeRegistrar& registrar) const {
    const CurveKeys keys = agents::NewCurveKeys();
    registrar.Allow({keys.public_key});
    const std::string file = m_folder.filePath("client.key").toStdString();
    QFile::remove(QString::fromStdString(file));
    if (!agents::SaveKeys(keys, file)) qFatal("no key");
    return {"test",
            registrar.commands_endpoint(),
            registrar.events_endpoint(),
            registrar.keys().public_key,
            file,
            ""};
  }
  /// The exit code of a command that follows transaction 3, of which the registrar answers this.
  int follow(const Answer& answer) const {
    test::FakeRegistrar registrar;
    app::Session session;
    session.profile = profileOf(registrar);
    registrar.Do([&] {
      registrar.answer = [&](const wire::Request& request) -> std::optional<wire::Reply> {
        // A command that asks again and again ends here, with another code.
        if (!request.has_txn() || registrar.num_of(wire::Request::kTxn) > 20) return std::nullopt;
        return answer(request);
      };
    });
    auto client = agents::ClusterClient::OpenForCommands(session.profile);
    if (!client) return -1;
    session.client = std::move(*client);
    const int code = app::followTransaction(app::Invocation(), session, 3);
    session.client.reset();
    return code;
  }
  /// The exit code of a command line for a registrar that gives these answers, and no other.
  int run(std::vector<std::string> words, const Answer& answer) const {
    test::FakeRegistrar registrar;
    const agents::Profile profile = profileOf(registrar);
    const std::string file = m_folder.filePath("test.json").toStdString();
    QFile json(QString::fromStdString(file));
    if (!json.open(QIODevice::WriteOnly)) return -1;
    json.write(QByteArray::fromStdString(
        "{\"name\":\"test\",\"registrar\":\"" + profile.registrar_endpoint + "\",\"events\":\"" +
        profile.events_endpoint + "\",\"server_key\":\"" + profile.server_key + "\",\"key_file\":\"" +
        profile.key_file + "\"}"));
    json.close();
    registrar.Do([&] {
      registrar.swallow = true;
      registrar.answer = answer;
    });
    words.insert(words.end(), {"--cluster", file, "--timeout", "0.5"});
    return app::runCommandLine(words);
  }

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
    QCOMPARE(follow([&](const wire::Request&) {
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
             }),
             code);
  }

  // The transaction goes on without the command, whatever the command has heard last.
  void aRefusalWhileItFollowsIsNoFailure() {
    QCOMPARE(follow([](const wire::Request&) {
               wire::Reply reply;
               agents::Encode(PermissionDenied("key 'guest' is a viewer's"), reply.mutable_error());
               return reply;
             }),
             int{app::kNeedsDecision});
  }

  // 1 would say that nothing has changed.
  void aLostReplyIsNoFailure_data() {
    QTest::addColumn<QStringList>("words");
    QTest::addColumn<int>("code");
    for (const char* line :
         {"job pause a", "job resume a", "job stop a --yes", "job on-failure a wait",
          "job snapshots a off", "job start gpt-nano", "txn cancel 3", "txn throttle 1MB/s",
          "txn decide a wait", "node give-up n1 --yes", "checkpoint save a /x",
          "checkpoint save a --every off", "checkpoint load a /x --yes",
          "checkpoint delete /x --yes", "registrar rebuild"})
      QTest::newRow(line) << QString::fromLatin1(line).split(QLatin1Char(' '))
                          << int{app::kNeedsDecision};
    for (const char* line : {"status", "job list", "txn show 3", "checkpoint list"})
      QTest::newRow(line) << QString::fromLatin1(line).split(QLatin1Char(' ')) << int{app::kFailed};
  }
  void aLostReplyIsNoFailure() {
    QFETCH(QStringList, words);
    QFETCH(int, code);
    std::vector<std::string> line;
    for (const QString& word : words) line.push_back(word.toStdString());
    QCOMPARE(run(line, {}), code);
  }

  // An `apply` that is repeated because its reply was lost has nothing left to do.
  void nothingToMoveIsDone() {
    QCOMPARE(run({"apply", "a", "--devices", "n0g0,n0g1", "--mesh", "tp=2", "--yes"},
                 [](const wire::Request& request) -> std::optional<wire::Reply> {
                   if (!request.has_plan()) return std::nullopt;
                   wire::Reply reply;
                   agents::Encode(AlreadyExists("job 'a' already runs dp=1,tp=2,pp=1"),
                                  reply.mutable_error());
                   return reply;
                 }),
             int{app::kDone});
  }
};
TESSERA_TEST(FollowOutcomeTest)
#include "follow_outcome_test.moc"
