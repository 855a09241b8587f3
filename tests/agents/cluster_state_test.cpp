// SPDX-License-Identifier: Apache-2.0

/// \file
/// The state of a cluster whose registrar takes its time.

#include "agents/client/cluster_state.h"

#include <QTemporaryDir>
#include <QTest>
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include "tests/agents/fake_registrar.h"

using namespace tessera;
using namespace std::chrono_literals;
using agents::CurveKeys;
using engine::vfs::StateViewPtr;

class ClusterStateTest : public QObject {
  Q_OBJECT

  QTemporaryDir m_folder;
  std::unique_ptr<test::FakeRegistrar> m_registrar;
  std::unique_ptr<engine::vfs::StateSource> m_source;

  int viewRequests() {
    int count = 0;
    m_registrar->Do([&] { count = m_registrar->num_of(wire::Request::kView); });
    return count;
  }

 private slots:
  void init() {
    m_registrar = std::make_unique<test::FakeRegistrar>();
    const CurveKeys keys = agents::NewCurveKeys();
    m_registrar->Allow({keys.public_key});
    const std::string keyFile = m_folder.filePath("client.key").toStdString();
    QVERIFY(agents::SaveKeys(keys, keyFile));
    const agents::Profile profile{"test",
                                  m_registrar->commands_endpoint(),
                                  m_registrar->events_endpoint(),
                                  m_registrar->keys().public_key,
                                  keyFile,
                                  ""};
    auto source = agents::OpenClusterState(profile);
    QVERIFY2(source.has_value(), source ? "" : source.error().ToString().c_str());
    m_source = std::move(*source);
  }
  void cleanup() {
    m_source.reset();
    m_registrar.reset();
    QFile::remove(m_folder.filePath("client.key"));
  }

  // One asks; those who come meanwhile have its error and do not ask one after the other.
  void whoWaitsHasTheErrorOfTheFirst() {
    std::atomic<int> asked = 0;
    m_registrar->Do([&] {
      m_registrar->answer = [&](const wire::Request& request) -> std::optional<wire::Reply> {
        if (!request.has_view()) return std::nullopt;
        ++asked;
        std::this_thread::sleep_for(1s);
        return std::nullopt;  // then it answers that there is none
      };
    });
    std::vector<std::future<Result<StateViewPtr>>> pins;
    for (int i = 0; i < 8; ++i) {
      pins.push_back(std::async(std::launch::async, [&] { return m_source->Pin("gpt"); }));
    }
    for (auto& pin : pins) {
      const auto view = pin.get();
      QVERIFY(!view);
      QCOMPARE(view.error().code, ErrorCode::kNotFound);
    }
    QVERIFY2(asked < 3, "eight threads, one question");
    const int before = asked;
    QVERIFY(!m_source->Pin("gpt"));  // what failed is tried again later
    QCOMPARE(asked.load(), before + 1);
  }

  void cancelEndsWhatWaits() {
    m_registrar->Do([&] { m_registrar->swallow = true; });
    auto pin = std::async(std::launch::async, [&] { return m_source->Pin("gpt"); });
    auto jobs = std::async(std::launch::async, [&] { return m_source->Jobs(); });
    QTRY_COMPARE(viewRequests(), 1);
    m_source->Cancel();
    QVERIFY(pin.wait_for(5s) == std::future_status::ready);
    QVERIFY(jobs.wait_for(5s) == std::future_status::ready);
    QCOMPARE(pin.get().error().code, ErrorCode::kCancelled);
    QCOMPARE(jobs.get().error().code, ErrorCode::kCancelled);
    QCOMPARE(m_source->Pin("gpt").error().code, ErrorCode::kCancelled);
  }
};
QTEST_GUILESS_MAIN(ClusterStateTest)
#include "cluster_state_test.moc"
