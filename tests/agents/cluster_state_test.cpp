// SPDX-License-Identifier: Apache-2.0

/// \file
/// The state of a cluster whose registrar answers late.

#include "agents/client/cluster_state.h"

#include <QTemporaryDir>
#include <QTest>
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include "agents/wire/tessera/wire/control.pb.h"
#include "engine/model/gpt.h"
#include "engine/store/view_plan.h"
#include "tests/agents/fake_registrar.h"
#include "tests/support/test_main.h"

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
    agents::ClusterStateOptions options;
    options.renewal = 50ms;
    auto source = agents::OpenClusterState(profile, options);
    QVERIFY2(source.has_value(), source ? "" : source.error().ToString().c_str());
    m_source = std::move(*source);
  }
  void cleanup() {
    m_source.reset();
    m_registrar.reset();
    QFile::remove(m_folder.filePath("client.key"));
  }

  // One caller sends the request. Callers that arrive meanwhile get its error and send none of
  // their own.
  void whoWaitsHasTheErrorOfTheFirst() {
    std::atomic<int> asked = 0;
    m_registrar->Do([&] {
      m_registrar->answer = [&](const wire::Request& request) -> std::optional<wire::Reply> {
        if (!request.has_view()) return std::nullopt;
        ++asked;
        std::this_thread::sleep_for(1s);
        return std::nullopt;  // then it answers that there is no view
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
    QVERIFY(!m_source->Pin("gpt"));  // a failed request is repeated later
    QCOMPARE(asked.load(), before + 1);
  }

  // A node dies: reads of open views fail, and the next open returns a complete view.
  void aViewThatIsLostIsSaidAndNotSharedAnyMore() {
    const auto tensors = engine::MakeCollection({.model = *engine::FindModel("gpt-nano")}, false);
    const auto layout =
        *ptc::Layout::Make(*ptc::ParseDeviceMesh("dp=2,tp=2,pp=1 on 2x2"), *tensors);
    const engine::ViewPlan plan(layout);
    std::atomic<bool> lost = false;
    std::atomic<int> renewals = 0;
    m_registrar->Do([&] {
      m_registrar->answer = [&, views = 0](const wire::Request& request) mutable {
        wire::Reply reply;
        if (request.has_keep_views()) ++renewals;
        if (request.has_view()) {
          reply.mutable_view()->set_view(static_cast<std::uint64_t>(++views));
          reply.mutable_view()->mutable_job()->set_name("gpt");
          reply.mutable_view()->mutable_job()->set_layout(ptc::ToJson(layout));
          for (const auto& [node, bytes] : plan.bytes_of_node()) {
            wire::ViewShare* const share = reply.mutable_view()->add_shares();
            share->set_node(static_cast<std::int32_t>(node));
            share->set_bytes(bytes);
          }
        } else if (request.has_keep_views() && request.keep_views().views(0) == 1 && lost) {
          agents::Encode(DataLoss("view 1 is lost: n1 was silent for 10 s"), reply.mutable_error());
        } else {
          reply.mutable_done();
        }
        return std::optional(reply);
      };
    });
    const auto first = m_source->Pin("gpt");
    QVERIFY2(first, first ? "" : first.error().ToString().c_str());
    QCOMPARE(*m_source->Pin("gpt"), *first);
    QTRY_VERIFY(renewals >= 2);
    QCOMPARE(*m_source->Pin("gpt"), *first);
    lost = true;
    QTRY_VERIFY(*m_source->Pin("gpt") != *first);
    const auto& spec = layout.collection().tensors()[0];
    const auto box = *ptc::Box::Whole(spec.shape);
    std::vector<std::byte> bytes(
        static_cast<std::size_t>(box.num_elements() * ptc::SizeBytes(spec.dtype)));
    const Status read = (*first)->Read(0, box, bytes);
    QVERIFY(!read);
    QCOMPARE(read.error().code, ErrorCode::kDataLoss);
    QVERIFY2(read.error().ToString().find("is lost: n1 was silent") != std::string::npos,
             read.error().ToString().c_str());
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
TESSERA_TEST(ClusterStateTest)
#include "cluster_state_test.moc"
