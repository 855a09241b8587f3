// SPDX-License-Identifier: Apache-2.0
#include "engine/history/journal.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QFile>
#include <QScopeGuard>
#include <QTemporaryDir>
#include <QTest>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "engine/history/sqlite.h"
#include "tests/support/random.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using namespace tessera::engine;

class JournalTest : public QObject {
  Q_OBJECT
 private slots:
  void behavesLikeAMap() {
    std::mt19937_64 rng(test::Seed());
    auto journal = Journal::Open(Path("map.db"));
    VERIFY_OK(journal);
    std::map<std::string, std::string> model;
    for (int i = 0; i < 300; ++i) {
      const std::string key = std::string(1, "abc"[rng() % 3]) + "/" + std::to_string(rng() % 8);
      std::string value;
      for (auto n = rng() % 20; n > 0; --n) value.push_back(static_cast<char>(rng() & 0xff));
      switch (rng() % 4) {
        case 0:
          QVERIFY((*journal)->Erase(key));
          model.erase(key);
          break;
        case 1: {
          const auto stored = (*journal)->PutIfAbsent(key, value);
          VERIFY_OK(stored);
          QVERIFY(*stored == model.emplace(key, value).first->second);
          break;
        }
        default:
          QVERIFY((*journal)->Put(key, value));
          model[key] = value;
      }
      const auto read = (*journal)->Get(key);
      VERIFY_OK(read);
      QCOMPARE(read->has_value(), model.contains(key));
      if (*read) QVERIFY(**read == model[key]);
    }
    for (const std::string prefix : {"", "a", "b/", "c/1", "z"}) {
      std::vector<std::pair<std::string, std::string>> expected;
      for (const auto& entry : model) {
        if (entry.first.starts_with(prefix)) expected.emplace_back(entry);
      }
      const auto listed = (*journal)->List(prefix);
      VERIFY_OK(listed);
      QVERIFY(*listed == expected);
    }
  }

  // The process that has it open reads and writes on, but the next one finds nothing.
  void aFileThatIsNotInItsPlaceIsNamed() {
    const std::string path = Path("place.db");
    const auto problem = [](const Journal& journal) {
      const Status found = journal.CheckPlace();
      return found ? std::string() : found.error().message;
    };
    {
      auto journal = Journal::Open(path);
      VERIFY_OK(journal);
      VERIFY_OK((*journal)->CheckPlace());
      VERIFY_OK((*journal)->Put("a", "1"));
      VERIFY_OK((*journal)->CheckPlace());
      QCOMPARE(::truncate(path.c_str(), 0), 0);
      QCOMPARE(problem(**journal),
               path + " was emptied: what this agent writes is lost when it ends");
    }
    ::unlink(path.c_str());
    auto journal = Journal::Open(path);
    VERIFY_OK(journal);
    QCOMPARE(::rename(path.c_str(), (path + ".mine").c_str()), 0);
    QCOMPARE(problem(**journal), path + " was deleted, and is lost when this agent ends");
    QFile other(QString::fromStdString(path));
    QVERIFY(other.open(QIODevice::WriteOnly) && other.write("other") == 5);
    other.close();
    QCOMPARE(problem(**journal),
             path + " was replaced: what this agent writes is lost when it ends");
  }

  void oneOfManyWritersWinsAndAllLearnWho() {
    const std::string path = Path("race.db");
    QVERIFY(Journal::Open(path));
    for (int round = 0; round < 5; ++round) {
      const std::string key = "slot/" + std::to_string(round);
      std::vector<std::string> outcomes(4);
      {
        std::vector<std::jthread> writers;
        for (std::size_t w = 0; w < outcomes.size(); ++w) {
          writers.emplace_back([&, w] {
            auto journal = Journal::Open(path);
            if (!journal) return;
            const auto stored = (*journal)->PutIfAbsent(key, "writer " + std::to_string(w));
            if (stored) outcomes[w] = *stored;
          });
        }
      }
      QVERIFY(outcomes[0].starts_with("writer "));
      for (const std::string& outcome : outcomes) QCOMPARE(outcome, outcomes[0]);
    }
  }

  // The child reports a value over the pipe after Put has returned, and is killed while it stores
  // further values.
  void everyPromiseSurvivesKillNine() {
    for (int round = 0; round < 3; ++round) {
      const std::string path = Path("killed" + std::to_string(round) + ".db");
      int pipe_ends[2];
      QCOMPARE(pipe(pipe_ends), 0);
      const pid_t child = fork();
      QVERIFY(child >= 0);
      if (child == 0) {
        close(pipe_ends[0]);
        auto journal = Journal::Open(path);
        for (int i = 0; journal && i < 1'000'000; ++i) {
          const auto put = i % 2 == 0 ? (*journal)->Put("key" + std::to_string(i), "value")
                                      : (*journal)
                                            ->PutIfAbsent("key" + std::to_string(i), "value")
                                            .map([](const std::string&) {});
          if (!put || write(pipe_ends[1], &i, sizeof(i)) != sizeof(i)) break;
        }
        _exit(1);
      }
      close(pipe_ends[1]);
      int promised = -1, next = 0;
      while (promised < 20 + 7 * round && read(pipe_ends[0], &next, sizeof(next)) == sizeof(next)) {
        promised = next;
      }
      kill(child, SIGKILL);
      while (read(pipe_ends[0], &next, sizeof(next)) == sizeof(next)) promised = next;
      waitpid(child, nullptr, 0);
      close(pipe_ends[0]);
      QVERIFY(promised >= 20 + 7 * round);

      auto journal = Journal::Open(path);
      VERIFY_OK(journal);
      for (int i = 0; i <= promised; ++i) {
        const auto value = (*journal)->Get("key" + std::to_string(i));
        VERIFY_OK(value);
        QVERIFY(*value == std::optional<std::string>("value"));
      }
    }
  }

  // A disk of its own, so that it can be full.
  void aReserveKeepsTheNextWritesOnAFullDisk() {
    const std::string folder = Path("disk");
    QVERIFY(::mkdir(folder.c_str(), 0700) == 0);
    if (::mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=2m") != 0) {
      QSKIP("no file system can be mounted here");
    }
    const auto unmount = qScopeGuard([&] { ::umount2(folder.c_str(), MNT_DETACH); });
    auto journal = Journal::Open(folder + "/journal.db");
    VERIFY_OK(journal);
    QVERIFY((*journal)->Reserve());
    QVERIFY((*journal)->Reserve());  // it has one
    QVERIFY((*journal)->Put("txn", "7"));
    Fill(folder);
    const auto decided = (*journal)->PutIfAbsent("decision/nano/3", "abort 7");
    VERIFY_OK(decided);
    QVERIFY((*journal)->Erase("txn"));
    QVERIFY(::access((folder + "/journal.db.reserve").c_str(), F_OK) != 0);  // it is used up

    Fill(folder);
    const std::string large(64 << 10, 'x');
    VERIFY_ERROR((*journal)->Put("large", large), ErrorCode::kResourceExhausted, "journal.db");
    VERIFY_ERROR((*journal)->Reserve(), ErrorCode::kResourceExhausted, "journal.db.reserve");
    QVERIFY(**(*journal)->Get("decision/nano/3") == "abort 7");  // nothing is lost
  }

  // Its rows have the settings of jobs.
  void nobodyElseReadsIt() {
    const std::string path = Path("private.db");
    const auto mode_of = [](const std::string& file) {
      struct stat found {};
      return ::stat(file.c_str(), &found) == 0 ? found.st_mode & 0777 : 0;
    };
    auto journal = Journal::Open(path);
    VERIFY_OK(journal);
    VERIFY_OK((*journal)->Put("a", "b"));
    QCOMPARE(mode_of(path), mode_t{0600});
    QCOMPARE(mode_of(path + "-wal"), mode_t{0600});
  }

  // The file refuses the second of three rows.
  void rowsThatBelongTogetherAreWrittenTogether() {
    const std::string path = Path("together.db");
    auto journal = Journal::Open(path);
    VERIFY_OK(journal);
    VERIFY_OK((*journal)->Put("erased", "before"));
    const std::vector<RowChange> rows = {{"erased", {}}, {"refused", "x"}, {"c", "y"}};
    {
      auto other = Database::Open(path, Database::Durability::kFull);
      VERIFY_OK(other);
      VERIFY_OK(
          (*other)->Execute("CREATE TRIGGER refuse BEFORE INSERT ON entries WHEN NEW.key = "
                            "'refused' BEGIN SELECT RAISE(ABORT, 'refused'); END"));
      QVERIFY(!(*journal)->Write(rows));
      QVERIFY(*(*journal)->Get("erased") == std::optional<std::string>("before"));
      QVERIFY(!(*journal)->Get("c")->has_value());
      VERIFY_OK((*other)->Execute("DROP TRIGGER refuse"));
    }
    VERIFY_OK((*journal)->Write(rows));
    QVERIFY(!(*journal)->Get("erased")->has_value());
    QVERIFY(*(*journal)->Get("refused") == std::optional<std::string>("x"));
    QVERIFY(*(*journal)->Get("c") == std::optional<std::string>("y"));
  }

  void aDamagedFileIsKeptAside_data() {
    QTest::addColumn<int>("at");
    QTest::newRow("header") << 0;
    QTest::newRow("page of the table") << 8192;
  }
  void aDamagedFileIsKeptAside() {
    QFETCH(const int, at);
    const std::string path = Path("damaged" + std::to_string(at) + ".db");
    std::string note;
    for (int start = 0; start < 2; ++start) {
      const auto journal = Journal::OpenOrQuarantine(path, &note);
      VERIFY_OK(journal);
      QVERIFY(note.empty());
      for (int i = 0; i < 200; ++i) {
        QVERIFY((*journal)->Put("job/" + std::to_string(i), std::string(200, 'x')));
      }
    }
    {
      QFile file(QString::fromStdString(path));
      QVERIFY(file.open(QIODevice::ReadWrite));
      QVERIFY(file.size() > at + 4096);
      QVERIFY(file.seek(at) && file.write(QByteArray(4096, 'y')) == 4096);
    }
    VERIFY_ERROR(Journal::CheckFile(path), ErrorCode::kDataLoss, path.c_str());
    const auto journal = Journal::OpenOrQuarantine(path, &note);
    VERIFY_OK(journal);
    QVERIFY(Journal::CheckFile(path));
    QVERIFY2(note.find(path + " was damaged") == 0, note.c_str());
    QVERIFY2(note.ends_with(path + ".bad"), note.c_str());
    QVERIFY(QFile::exists(QString::fromStdString(path + ".bad")));
    QVERIFY((*journal)->List("")->empty());
  }

  void aNewerFileIsRefused() {
    const std::string path = Path("newer.db");
    QVERIFY(Journal::Open(path));
    {
      auto database = Database::Open(path, Database::Durability::kFull);
      VERIFY_OK(database);
      QVERIFY((*database)->Execute("PRAGMA user_version = 2"));
    }
    VERIFY_ERROR(Journal::Open(path), ErrorCode::kFailedPrecondition,
                 "schema version 2, this program knows up to 1");
  }

 private:
  /// Writes until the disk of `folder` is full.
  static void Fill(const std::string& folder) {
    const int file = ::open((folder + "/fill").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    const std::string block(4096, 'f');
    while (::write(file, block.data(), block.size()) > 0) {
    }
    ::close(file);
  }
  std::string Path(const std::string& name) {
    return folder_->filePath(QString::fromStdString(name)).toStdString();
  }
  std::unique_ptr<QTemporaryDir> folder_ = test::TemporaryFolder();
};
TESSERA_TEST_APPLESS(JournalTest)
#include "journal_test.moc"
