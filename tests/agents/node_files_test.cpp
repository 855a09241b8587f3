// SPDX-License-Identifier: Apache-2.0
/// \file
/// The files of an agent beside its configuration (allow-list, log) and the checks of its machine.

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "agents/net/socket.h"
#include "agents/node/allow_list.h"
#include "agents/node/doctor.h"
#include "agents/node/log_file.h"
#include "agents/node/log_tail.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using namespace tessera::agents;

namespace {

void Write(const QString& path, const QByteArray& text) {
  QFile file(path);
  QVERIFY(file.open(QIODevice::WriteOnly));
  QCOMPARE(file.write(text), text.size());
}

const engine::Check* Find(const std::vector<engine::Check>& checks, const std::string& name) {
  const auto it = std::find_if(checks.begin(), checks.end(),
                               [&](const engine::Check& check) { return check.name == name; });
  return it == checks.end() ? nullptr : &*it;
}

}  // namespace

class NodeFilesTest : public QObject {
  Q_OBJECT

 private slots:
  void rolesAreReadAsTheyAreWritten() {
    for (const char* text : {"viewer", "operator", "node 0", "node 2147483647"}) {
      const auto owner = ParseRole(text);
      QVERIFY2(owner, text);
      QCOMPARE(RoleText(*owner), std::string(text));
    }
    for (const char* text : {"", "root", "Operator", "node", "node ", "node -1", "node 1x",
                             "node 2147483648", "viewer "}) {
      const auto owner = ParseRole(text);
      QVERIFY2(!owner, text);
      QCOMPARE(owner.error().message,
               "role '" + std::string(text) + "' is not viewer, operator or node NUMBER");
    }
  }

  void allowListIsTheFolder() {
    QTemporaryDir folder;
    const std::string node = NewCurveKeys().public_key, laptop = NewCurveKeys().public_key;
    AgentConfig config;
    config.allowed_folder = folder.path().toStdString();
    AllowList list(config);
    QVERIFY(list.keys().empty());
    QVERIFY(!list.Refresh());
    const auto path = [&](const char* name) { return folder.filePath(name).toStdString(); };

    QVERIFY(SavePublicKey(node, path("n3.pub"), "node 3"));
    QVERIFY(SavePublicKey(laptop, path("laptop.pub"), "operator"));
    Write(folder.filePath("notes.txt"), "no key");
    QVERIFY(list.Refresh());
    const KeyOwners both = {{node, {"n3", Role::kNode, 3}}, {laptop, {"laptop", Role::kOperator}}};
    QVERIFY(list.keys() == both);
    QVERIFY(list.problems().empty());

    // A file without a key is reported, and the other keys stay valid.
    Write(folder.filePath("bad.pub"), "public abc\n");
    QVERIFY(!list.Refresh());
    QCOMPARE(list.problems().size(), std::size_t{1});
    QCOMPARE(
        QString::fromStdString(list.problems()[0]),
        folder.filePath("bad.pub") + ":1: public key of 3 characters is not 40 characters of Z85");
    Write(folder.filePath("bad.pub"),
          QByteArray::fromStdString("public " + node + "\nrole king\n"));
    QVERIFY(!list.Refresh());
    QCOMPARE(QString::fromStdString(list.problems().at(0)),
             folder.filePath("bad.pub") + ":2: role 'king' is not viewer, operator or node NUMBER");
    QVERIFY(list.keys() == both);
    QVERIFY(QFile::remove(folder.filePath("bad.pub")));

    // Another role is a change.
    QVERIFY(SavePublicKey(laptop, path("laptop.pub"), "viewer"));
    QVERIFY(list.Refresh());
    QVERIFY(list.keys().at(laptop).role == Role::kViewer);
    QVERIFY(QFile::remove(folder.filePath("laptop.pub")));
    QVERIFY(list.Refresh());
    QCOMPARE(list.keys().size(), std::size_t{1});
  }

  // Without a role, a key may do least. With two, the first file by name decides.
  void keysWithoutARoleAreViewers() {
    QTemporaryDir folder;
    AgentConfig config;
    config.allowed_folder = folder.path().toStdString();
    const std::string key = NewCurveKeys().public_key;
    QVERIFY(SavePublicKey(key, folder.filePath("old.pub").toStdString()));
    AllowList list(config);
    QVERIFY((list.keys().at(key) == KeyOwner{"old", Role::kViewer}));
    QVERIFY2(QString::fromStdString(list.problems().at(0)).contains("old.pub: no role"),
             list.problems()[0].c_str());
    QVERIFY(SavePublicKey(key, folder.filePath("zoe.pub").toStdString(), "operator"));
    QVERIFY(!list.Refresh());
    QVERIFY(list.keys().at(key).role == Role::kViewer);
    QVERIFY2(QString::fromStdString(list.problems().at(1)).contains("the same key as old.pub"),
             list.problems()[1].c_str());
  }

  void folderThatCannotBeListedChangesNothing() {
    auto folder = std::make_unique<QTemporaryDir>();
    AgentConfig config;
    config.allowed_folder = folder->path().toStdString();
    QVERIFY(SavePublicKey(NewCurveKeys().public_key, folder->filePath("a.pub").toStdString()));
    AllowList list(config);
    QCOMPARE(list.keys().size(), std::size_t{1});
    folder.reset();
    QVERIFY(!list.Refresh());
    QCOMPARE(list.keys().size(), std::size_t{1});
    QVERIFY(list.problems().at(0).starts_with("cannot list "));
  }

  void publicKeysComeBackFromTheirFiles() {
    QTemporaryDir folder;
    const CurveKeys keys = NewCurveKeys();
    const std::string secret = folder.filePath("n0.key").toStdString();
    const std::string open = folder.filePath("n0.pub").toStdString();
    QVERIFY(SaveKeys(keys, secret));
    QVERIFY(SavePublicKey(keys.public_key, open));
    QCOMPARE(*LoadPublicKey(open), keys.public_key);
    QCOMPARE(*LoadPublicKey(secret), keys.public_key);
    QVERIFY(SavePublicKey(keys.public_key, open, "operator"));
    QCOMPARE(*LoadPublicKey(open), keys.public_key);
    struct stat info {};
    QVERIFY(::stat(secret.c_str(), &info) == 0 && (info.st_mode & 0777) == 0600);
    QVERIFY(LoadKeys(secret));
    ::chmod(secret.c_str(), 0640);
    VERIFY_ERROR(LoadKeys(secret), ErrorCode::kPermissionDenied,
                 "n0.key: others than its owner can read this secret key; `chmod 600 ");
    QVERIFY(!IsPublicKey("short"));
    QVERIFY(!IsPublicKey(std::string(40, '\x80')));
    QCOMPARE(LoadPublicKey(folder.filePath("none").toStdString()).error().code,
             ErrorCode::kNotFound);
  }

  void logRotates() {
    QTemporaryDir folder;
    const std::string path = folder.filePath("agent.log").toStdString();
    constexpr int kLines = 395;  // three full files of 1000 bytes and a part of the fourth
    // In a child process, because the log replaces stdout and stderr.
    const pid_t child = ::fork();
    QVERIFY(child >= 0);
    if (child == 0) {
      auto log = LogFile::Redirect(path, 1000);
      if (!log) std::_Exit(1);
      for (int line = 0; line < kLines; ++line) {
        std::fprintf(line % 2 == 0 ? stdout : stderr, "line %04d\n", line);
        std::fflush(stdout);
        if (!log->RotateIfFull()) std::_Exit(2);
      }
      std::_Exit(0);
    }
    int status = 0;
    QCOMPARE(::waitpid(child, &status, 0), child);
    QVERIFY(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    QStringList files = QDir(folder.path()).entryList(QDir::Files);
    QCOMPARE(files, (QStringList{"agent.log", "agent.log.1", "agent.log.2", "agent.log.3"}));

    AgentConfig config;
    config.log_file = path;
    const auto tail = LogTail(config, 3);
    QVERIFY(tail.has_value());
    QCOMPARE(*tail, (std::vector<std::string>{"line 0392", "line 0393", "line 0394"}));
    // Each older file is full, and together with the newest they contain all lines.
    QFile older(folder.filePath("agent.log.1"));
    QVERIFY(older.open(QIODevice::ReadOnly));
    QCOMPARE(older.readAll().size(), qsizetype{1000});
    QCOMPARE(LogTail(config, 0)->size(), std::size_t{0});
  }

  void logThatIsNotThereIsNamed() {
    AgentConfig config;
    config.node = 3;
    QVERIFY(LogTail(config, 1).error().message.starts_with("the agent of n3 writes no log file"));
    config.log_file = "/nowhere/agent.log";
    QCOMPARE(LogTail(config, 1).error().code, ErrorCode::kNotFound);
  }

  // Nobody else hears from a node that the registrar refuses.
  void aRefusedNodeSaysWhatToDo() {
    AgentConfig config;
    config.node = 3;
    config.registrar_endpoint = "tcp://10.0.0.1:7400";
    const std::string key = NewCurveKeys().public_key;
    const std::string refused = LinkFailureText(config, key, LinkEvent::Kind::kRefused);
    for (const std::string& part :
         {config.registrar_endpoint, key.substr(0, 10), std::string("refuses this node's key"),
          std::string("role node 3")}) {
      QVERIFY2(refused.find(part) != std::string::npos, refused.c_str());
    }
    config.registrar_key = NewCurveKeys().public_key;
    const std::string failed = LinkFailureText(config, key, LinkEvent::Kind::kHandshakeFailed);
    QVERIFY2(failed.find(config.registrar_key.substr(0, 10)) != std::string::npos, failed.c_str());
  }

  void doctorNamesWhatIsWrong() {
    QTemporaryDir folder;
    AgentConfig config;
    config.node = 2;
    config.directory = folder.path().toStdString();
    config.agent_keys = folder.filePath("agent.key").toStdString();
    config.device_bytes = 4 << 20;
    QVERIFY(SaveKeys(NewCurveKeys(), config.agent_keys));
    config.endpoint = "tcp://10.0.0.2:7400";
    config.registrar_endpoint = "tcp://10.0.0.1:7400";
    auto checks = RunDoctor(config, {}, {});
    QCOMPARE(Find(checks, "journal")->value,
             config.directory + "/journal.db was deleted, and is lost when this agent ends");
    QFile journal(folder.filePath("journal.db"));
    QVERIFY(journal.open(QIODevice::WriteOnly));
    config.registrar_endpoint = config.endpoint;
    checks = RunDoctor(config, {}, {});
    QVERIFY(Find(checks, "journal")->verdict == engine::Check::Verdict::kOk);
    for (const char* name : {"version", "clock", "key file", "allowed keys", "refused keys",
                             "journal", "jobs", "ports", "lanes", "memory", "disk", "huge pages",
                             "/dev/fuse", "congestion control", "open files", "BLAS", "trainer"}) {
      QVERIFY2(Find(checks, name) != nullptr, name);
    }
    for (const engine::Check& check : checks) {
      QCOMPARE(check.node, std::optional<std::int32_t>(2));
      QVERIFY2(!check.value.empty(), check.name.c_str());
      const bool needs_remedy = check.verdict == engine::Check::Verdict::kWarning ||
                                check.verdict == engine::Check::Verdict::kFailed;
      QVERIFY2(!needs_remedy || !check.remedy.empty(), check.name.c_str());
    }
    QVERIFY(Find(checks, "key file")->verdict == engine::Check::Verdict::kOk);
    QVERIFY(Find(checks, "lanes")->verdict == engine::Check::Verdict::kOk);
    ::chmod(config.agent_keys.c_str(), 0644);
    config.lane_security = "plain";
    config.allowed_folder = folder.path().toStdString();
    checks = RunDoctor(config, {{"rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7", "10.0.0.7", 3}},
                       {"unreadable/job/a", "unreadable/kept-rows"});
    QVERIFY(Find(checks, "journal")->verdict == engine::Check::Verdict::kWarning);
    QCOMPARE(Find(checks, "journal")->value,
             std::string("rows that could not be read are kept aside: unreadable/job/a, "
                         "unreadable/kept-rows"));
    const engine::Check* refused = Find(checks, "refused keys");
    QVERIFY(refused != nullptr && refused->verdict == engine::Check::Verdict::kWarning);
    QCOMPARE(refused->value, std::string("key 'rq:rM>}U?@' from 10.0.0.7, 3 times"));
    QVERIFY(refused->remedy.find(config.allowed_folder) != std::string::npos);
    QVERIFY(Find(checks, "lanes")->verdict == engine::Check::Verdict::kWarning);
    QVERIFY(Find(checks, "key file")->verdict == engine::Check::Verdict::kFailed);
    QCOMPARE(Find(checks, "key file")->remedy, "chmod 600 " + config.agent_keys);
  }
};
TESSERA_TEST(NodeFilesTest)
#include "node_files_test.moc"
