// SPDX-License-Identifier: Apache-2.0
// What many requests for logs, checks and lists of checkpoints cost a node.
#include "agents/node/node_queries.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <QTest>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "agents/net/loop.h"
#include "agents/net/net_context.h"
#include "agents/wire/tessera/wire/node.pb.h"
#include "engine/checkpoint/manifest.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::agents;
using namespace std::chrono_literals;

namespace {

std::ptrdiff_t NumThreads() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
}

/// A checkpoint on a file system that hangs: its manifest is a FIFO that nobody writes.
class HangingCheckpoint {
 public:
  HangingCheckpoint() {
    if (::mkfifo(manifest().c_str(), 0600) != 0) qFatal("no FIFO");
  }
  std::string path() const { return folder_->path().toStdString(); }
  /// Readers that wait, and those that come, find an empty file.
  void AnswerOn(Loop& loop) const {
    loop.Every(1ms, [path = manifest()] { ::close(::open(path.c_str(), O_RDWR | O_CLOEXEC)); });
  }

 private:
  std::string manifest() const { return path() + "/" + std::string(checkpoint::kManifestName); }
  const std::unique_ptr<QTemporaryDir> folder_ = test::TemporaryFolder();
};

}  // namespace

class NodeQueriesTest : public QObject {
  Q_OBJECT
 private slots:
  // Viewers may ask as often as they like.
  void requestsForLogsStartNoThreads() {
    const auto folder = test::TemporaryFolder();
    AgentConfig config;
    config.node = 3;
    config.log_file = folder->filePath("agent.log").toStdString();
    std::ofstream(config.log_file) << "the last line\n";
    Loop loop;
    NetContext net;
    NodeQueries queries(loop, config, {&net, {}, {}});
    const auto before = NumThreads();
    wire::NodeQuery query;
    query.mutable_log()->set_lines(1);
    int good = 0, refused = 0;
    constexpr int kSent = 200;
    for (int i = 0; i < kSent; ++i) {
      queries.Run(query, [&](const wire::NodeAnswer& answer) {
        if (answer.error().empty() && answer.log().lines(0) == "the last line") {
          ++good;
        } else if (answer.error().starts_with("n3 has 64 such requests")) {
          ++refused;
        }
        if (good + refused == kSent) loop.Stop();
      });
    }
    QCOMPARE(NumThreads(), before);
    QCOMPARE(refused, kSent - NodeQueries::kMostLooks);
    loop.Run();
    QCOMPARE(good, NodeQueries::kMostLooks);
  }

  // Logs are read on another thread than the checkpoints of lists.
  void requestsForCheckpointsStartNoThreads() {
    const HangingCheckpoint checkpoint;
    const auto folder = test::TemporaryFolder();
    AgentConfig config;
    config.node = 3;
    config.log_file = folder->filePath("agent.log").toStdString();
    std::ofstream(config.log_file) << "the last line\n";
    Loop loop;
    NetContext net;
    NodeQueries queries(loop, config, {&net, {}, {}});
    const auto before = NumThreads();
    wire::NodeQuery query;
    query.mutable_checkpoint()->add_examine(checkpoint.path());
    int examined = 0, refused = 0;
    constexpr int kSent = 200;
    for (int i = 0; i < kSent; ++i) {
      queries.Run(query, [&](const wire::NodeAnswer& answer) {
        ++(answer.error().starts_with("n3 has 64 such requests") ? refused : examined);
        if (examined + refused == kSent) loop.Stop();
      });
    }
    const auto during = NumThreads();
    wire::NodeQuery log;
    log.mutable_log()->set_lines(1);
    queries.Run(log, [&](const wire::NodeAnswer& answer) {
      if (examined == 0 && answer.log().lines(0) == "the last line") checkpoint.AnswerOn(loop);
    });
    loop.After(40s, [&] { checkpoint.AnswerOn(loop); });  // the log was not read
    const auto began = loop.now();
    loop.Run();
    QVERIFY(loop.now() - began < 40s);
    QCOMPARE(during, before);
    QCOMPARE(examined, NodeQueries::kMostLooks);
  }

  // Each act on a folder has a thread of its own, so that it does not wait for lists.
  void threadsOfActsAreBounded() {
    const HangingCheckpoint checkpoint;
    AgentConfig config;
    config.node = 3;
    Loop loop;
    NetContext net;
    NodeQueries queries(loop, config, {&net, {}, {}});
    wire::NodeQuery query;
    query.mutable_checkpoint()->add_examine(checkpoint.path());
    query.mutable_checkpoint()->set_with_manifests(true);
    std::size_t done = 0, refused = 0;
    constexpr std::size_t kSent = NodeQueries::kMostThreads + 3;
    for (std::size_t i = 0; i < kSent; ++i) {
      queries.Run(query, [&](const wire::NodeAnswer& answer) {
        ++(answer.error().starts_with("n3 has 64 such requests") ? refused : done);
        if (done + refused == kSent) loop.Stop();
      });
    }
    checkpoint.AnswerOn(loop);
    loop.Run();
    QCOMPARE(done, NodeQueries::kMostThreads);
    QCOMPARE(refused, std::size_t{3});
  }
};
TESSERA_TEST(NodeQueriesTest)
#include "node_queries_test.moc"
