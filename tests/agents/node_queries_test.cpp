// SPDX-License-Identifier: Apache-2.0
// What many requests for logs and checks cost a node.
#include "agents/node/node_queries.h"

#include <QTest>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "agents/net/loop.h"
#include "agents/net/net_context.h"
#include "agents/wire/tessera/wire/node.pb.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::agents;

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
    const auto num_threads = [] {
      return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
    };
    const auto before = num_threads();
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
    QCOMPARE(num_threads(), before);
    QCOMPARE(refused, kSent - NodeQueries::kMostLooks);
    loop.Run();
    QCOMPARE(good, NodeQueries::kMostLooks);
  }
};
TESSERA_TEST(NodeQueriesTest)
#include "node_queries_test.moc"
