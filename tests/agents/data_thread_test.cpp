// SPDX-License-Identifier: Apache-2.0 The data of a job, opened in the background from a slow
// server.
#include "agents/registrar/data_thread.h"

#include <QScopeGuard>
#include <QTemporaryDir>
#include <QTest>
#include <atomic>
#include <cstddef>
#include <filesystem>
#include <future>
#include <semaphore>
#include <thread>
#include <type_traits>
#include <vector>

#include "agents/net/loop.h"
#include "tests/agents/data/http_server.h"
#include "tests/engine/data/data_files.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::agents;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

constexpr int kFiles = 40;

/// An opener on a loop of its own.
struct Office {
  Loop loop;
  std::unique_ptr<DataThread> opener;
  std::vector<RankLoading> told;
  std::vector<Result<engine::DataStatus>> done;
  std::thread thread;

  Office() : opener(std::make_unique<DataThread>(loop)) { Begin(); }
  explicit Office(DataThread::Look look)
      : opener(std::make_unique<DataThread>(loop, std::move(look))) {
    Begin();
  }
  void Begin() {
    thread = std::thread([this] { loop.Run(); });
  }
  /// Runs on the loop, and waits for its end.
  template <typename Act>
  std::invoke_result_t<Act> Do(Act act) {
    std::promise<std::invoke_result_t<Act>> result;
    loop.Post([&] {
      if constexpr (std::is_void_v<std::invoke_result_t<Act>>) {
        act();
        result.set_value();
      } else {
        result.set_value(act());
      }
    });
    return result.get_future().get();
  }
  ~Office() {
    Do([&] { opener.reset(); });
    loop.Stop();
    thread.join();
  }
  DataThread::Id Open(const engine::JobSettings& settings) {
    return Do([&] {
      return opener->Open(
          settings, [this](const RankLoading& loading) { told.push_back(loading); },
          [this](auto status) { done.push_back(std::move(status)); });
    });
  }
  std::size_t NumTold() {
    return Do([&] { return told.size(); });
  }
  bool IsBusy() {
    return Do([&] { return opener->IsBusy(); });
  }
};

}  // namespace

class DataThreadTest : public QObject {
  Q_OBJECT

  std::unique_ptr<QTemporaryDir> m_home;
  test::HttpServer m_server;

  engine::JobSettings Settings() const {
    engine::JobSettings settings;
    settings.model = *engine::FindModel("gpt-nano");
    settings.data = {m_server.url("/set/")};
    return settings;
  }
  /// Files in the cache, complete or not.
  std::vector<std::string> Indexes() const {
    std::vector<std::string> found;
    std::error_code none;
    const fs::path folder = m_home->path().toStdString() + "/cache/index";
    for (fs::directory_iterator it(folder, none), end; !none && it != end; it.increment(none)) {
      found.push_back(it->path().filename());
    }
    return found;
  }

 private slots:
  void initTestCase() {
    std::string manifest;
    for (int i = 0; i < kFiles; ++i) {
      const std::string name = std::to_string(i) + ".tfrecord";
      m_server.Put("/set/" + name, test::TfRecordFrame(std::string(500, 'x')));
      manifest += name + "\n";
    }
    m_server.Put("/set/manifest.txt", manifest);
  }
  void init() {
    m_home = std::make_unique<QTemporaryDir>();
    qputenv("TESSERA_HOME", m_home->path().toUtf8());
    m_server.delay_ms = 0;
  }

  void tellsHowFarItIsAndThenWhatTheDataAre() {
    m_server.delay_ms = 10;
    Office office;
    office.Open(Settings());
    QTRY_VERIFY_WITH_TIMEOUT(!office.IsBusy(), 30000);
    QCOMPARE(office.done.size(), std::size_t{1});
    QVERIFY2(office.done[0].has_value(),
             office.done[0] ? "" : office.done[0].error().ToString().c_str());
    QCOMPARE(office.done[0]->num_samples, std::int64_t{kFiles});
    QVERIFY(office.told.size() >= 2);
    for (std::size_t i = 0; i < office.told.size(); ++i) {
      const RankLoading& now = office.told[i];
      QVERIFY(0 <= now.done && now.done <= now.total);
      if (i == 0) continue;
      QVERIFY(office.told[i - 1].done <= now.done && office.told[i - 1].total <= now.total);
    }
    QCOMPARE(office.told.back().total, std::int64_t{kFiles * (500 + 16)});
    QCOMPARE(Indexes().size(), std::size_t{1});
  }

  void cancelEndsItSoonAndLeavesNothing() {
    m_server.delay_ms = 100;  // four seconds for the first bytes alone
    Office office;
    const DataThread::Id id = office.Open(Settings());
    QTRY_VERIFY_WITH_TIMEOUT(office.NumTold() >= 2, 10000);
    const auto began = std::chrono::steady_clock::now();
    office.Do([&] { office.opener->Cancel(id); });
    const std::size_t told = office.NumTold();
    QTRY_VERIFY_WITH_TIMEOUT(!office.IsBusy(), 5000);
    QVERIFY(std::chrono::steady_clock::now() - began < 2s);
    QCOMPARE(office.NumTold(), told);
    QCOMPARE(office.done.size(), std::size_t{0});
    QCOMPARE(Indexes(), std::vector<std::string>());
    office.Do([&] { office.opener->Cancel(id); });  // the opening no longer exists
  }

  void oneIsCancelledTheOtherGoesOn() {
    std::promise<void> go;
    auto may_go = go.get_future().share();
    Office office([may_go](const engine::JobSettings& settings,
                           const engine::IndexOptions& index) -> Result<engine::DataStatus> {
      while (settings.seed == 1 && !index.cancel.stop_requested()) std::this_thread::sleep_for(1ms);
      if (index.cancel.stop_requested()) return Cancelled("stopped");
      may_go.wait();
      engine::DataStatus status;
      status.seed = settings.seed;
      return status;
    });
    engine::JobSettings first = Settings(), second = Settings();
    first.seed = 1;
    second.seed = 2;
    const DataThread::Id id = office.Open(first);
    office.Open(second);
    office.Do([&] { office.opener->Cancel(id); });
    go.set_value();
    QTRY_VERIFY_WITH_TIMEOUT(!office.IsBusy(), 5000);
    QCOMPARE(office.done.size(), std::size_t{1});
    QCOMPARE(office.done[0]->seed, std::int64_t{2});
  }

  // Cancelled openings keep their threads while a file system hangs.
  void threadsAreBounded() {
    std::counting_semaphore<> answers(0);
    std::atomic<std::ptrdiff_t> running = 0;
    Office office([&](const engine::JobSettings& settings,
                      const engine::IndexOptions&) -> Result<engine::DataStatus> {
      ++running;
      answers.acquire();
      engine::DataStatus status;
      status.seed = settings.seed;
      return status;
    });
    const auto end = qScopeGuard([&] { answers.release(1000); });
    engine::JobSettings settings = Settings();
    std::vector<DataThread::Id> ids;
    for (std::ptrdiff_t i = 0; i < DataThread::kMostThreads + 2; ++i) {
      settings.seed = i;
      ids.push_back(office.Open(settings));
    }
    QTRY_COMPARE(running.load(), DataThread::kMostThreads);
    // All but the last one, which waits for a thread.
    ids.pop_back();
    for (const DataThread::Id id : ids) office.Do([&] { office.opener->Cancel(id); });
    QCOMPARE(running.load(), DataThread::kMostThreads);
    answers.release(1);
    QTRY_COMPARE(running.load(), DataThread::kMostThreads + 1);
    answers.release(DataThread::kMostThreads);
    QTRY_VERIFY_WITH_TIMEOUT(!office.IsBusy(), 5000);
    QCOMPARE(office.done.size(), std::size_t{1});
    QCOMPARE(office.done[0]->seed, std::int64_t{DataThread::kMostThreads + 1});
  }

  void itsEndWaitsForNoServer() {
    m_server.delay_ms = 100;
    const auto began = std::chrono::steady_clock::now();
    {
      Office office;
      office.Open(Settings());
      QTRY_VERIFY_WITH_TIMEOUT(office.NumTold() >= 1, 10000);
    }
    QVERIFY(std::chrono::steady_clock::now() - began < 8s);
    QCOMPARE(Indexes(), std::vector<std::string>());
  }
};

TESSERA_TEST(DataThreadTest)
#include "data_thread_test.moc"
