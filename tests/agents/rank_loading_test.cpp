// SPDX-License-Identifier: Apache-2.0 A rank reports how much data it has read: over the real
// socket, to one agent and to the next.
#include <QTemporaryDir>
#include <QTest>
#include <future>
#include <thread>
#include <vector>

#include "agents/job/rank_port.h"
#include "agents/job/rank_session.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::agents;

namespace {

struct Agent {
  Loop loop;
  std::vector<RankLoading> heard;
  std::vector<std::string> problems;
  std::unique_ptr<RankPort> port;
  std::thread thread;

  explicit Agent(const std::string& path) {
    RankPort::Handlers handlers;
    handlers.loading = [this](const RankId& id, const RankLoading& loading) {
      if (id.job == "nano") heard.push_back(loading);
    };
    handlers.problem = [this](const std::string& problem) { problems.push_back(problem); };
    port = *RankPort::Listen(loop, path, std::move(handlers));
    thread = std::thread([this] { loop.Run(); });
  }
  ~Agent() {
    Do([&] { port.reset(); });
    loop.Stop();
    thread.join();
  }
  void Do(const std::function<void()>& act) {
    std::promise<void> done;
    loop.Post([&] {
      act();
      done.set_value();
    });
    done.get_future().wait();
  }
  std::vector<std::pair<std::int64_t, std::int64_t>> Heard() {
    std::vector<std::pair<std::int64_t, std::int64_t>> out;
    Do([&] {
      for (const RankLoading& loading : heard) out.emplace_back(loading.done, loading.total);
    });
    return out;
  }
};

using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;

}  // namespace

class RankLoadingTest : public QObject {
  Q_OBJECT

  QTemporaryDir m_folder;
  const std::string m_path = m_folder.filePath("ranks.sock").toStdString();

 private slots:
  void fewAreSentAndAlwaysTheLast() {
    Agent agent(m_path);
    RankSession session(m_path, {"nano", {0, 1}}, -1);
    session.ReportLoading({0, 0});
    QTRY_COMPARE(agent.Heard(), (Pairs{{0, 0}}));
    const auto began = std::chrono::steady_clock::now();
    constexpr std::int64_t kTotal = 100000;
    for (std::int64_t done = 0; done <= kTotal; ++done) session.ReportLoading({done, kTotal});
    const auto took = std::chrono::steady_clock::now() - began;
    QTRY_COMPARE(agent.Heard().back(), std::pair(kTotal, kTotal));
    const auto most = 3 + took / RankSession::kLoadingPeriod;
    QVERIFY(static_cast<std::int64_t>(agent.Heard().size()) <= most);
  }

  void theNextAgentHearsTheLast() {
    auto agent = std::make_unique<Agent>(m_path);
    RankSession session(m_path, {"nano", {0, 1}}, -1);
    session.ReportLoading({3, 8});
    QTRY_COMPARE(agent->Heard(), (Pairs{{3, 8}}));
    agent = std::make_unique<Agent>(m_path);
    QTRY_COMPARE_WITH_TIMEOUT(agent->Heard(), (Pairs{{3, 8}}), 10000);
  }

  void nonsenseIsDroppedAndNamed() {
    Agent agent(m_path);
    RankSession session(m_path, {"nano", {0, 1}}, -1);
    session.ReportLoading({9, 8});
    QTRY_VERIFY([&] {
      bool named = false;
      agent.Do([&] {
        named =
            !agent.problems.empty() && agent.problems[0].find("9 of 8 bytes") != std::string::npos;
      });
      return named;
    }());
    QVERIFY(agent.Heard().empty());
  }
};

TESSERA_TEST(RankLoadingTest)
#include "rank_loading_test.moc"
