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
  void allowListIsConfigurationAndFolder() {
    QTemporaryDir folder;
    const std::string first = NewCurveKeys().public_key, second = NewCurveKeys().public_key;
    AgentConfig config;
    config.allowed = {first};
    config.allowed_folder = folder.path().toStdString();
    AllowList list(config);
    QCOMPARE(list.keys(), std::vector<std::string>{first});
    QVERIFY(!list.Refresh());

    QVERIFY(SavePublicKey(second, folder.filePath("laptop.pub").toStdString()));
    Write(folder.filePath("notes.txt"), "no key");
    QVERIFY(list.Refresh());
    std::vector<std::string> both = {first, second};
    std::sort(both.begin(), both.end());
    QCOMPARE(list.keys(), both);
    QVERIFY(list.problems().empty());

    // A file without a key is reported, and the other keys stay valid.
    Write(folder.filePath("bad.pub"), "public abc\n");
    QVERIFY(!list.Refresh());
    QCOMPARE(list.problems().size(), std::size_t{1});
    QCOMPARE(
        QString::fromStdString(list.problems()[0]),
        folder.filePath("bad.pub") + ":1: public key of 3 characters is not 40 characters of Z85");
    QCOMPARE(list.keys(), both);

    QVERIFY(QFile::remove(folder.filePath("laptop.pub")));
    QVERIFY(list.Refresh());
    QCOMPARE(list.keys(), std::vector<std::string>{first});
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
    struct stat info {};
    QVERIFY(::stat(secret.c_str(), &info) == 0 && (info.st_mode & 0777) == 0600);
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

  void doctorNamesWhatIsWrong() {
    QTemporaryDir folder;
    AgentConfig config;
    config.node = 2;
    config.directory = folder.path().toStdString();
    config.agent_keys = folder.filePath("agent.key").toStdString();
    config.device_bytes = 4 << 20;
    QVERIFY(SaveKeys(NewCurveKeys(), config.agent_keys));
    auto checks = RunDoctor(config);
    for (const char* name :
         {"version", "clock", "key file", "allowed keys", "ports", "lanes", "memory", "disk",
          "huge pages", "/dev/fuse", "congestion control", "open files", "BLAS", "trainer"}) {
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
    checks = RunDoctor(config);
    QVERIFY(Find(checks, "lanes")->verdict == engine::Check::Verdict::kWarning);
    QVERIFY(Find(checks, "key file")->verdict == engine::Check::Verdict::kFailed);
    QCOMPARE(Find(checks, "key file")->remedy, "chmod 600 " + config.agent_keys);
  }
};
TESSERA_TEST(NodeFilesTest)
#include "node_files_test.moc"
