// SPDX-License-Identifier: Apache-2.0
// How long `job start` waits: while the cluster goes through data, and not much longer.
#include "app/commands/start_wait.h"

#include <QTemporaryDir>
#include <QTest>
#include <algorithm>

#include "agents/wire/tessera/wire/control.pb.h"
#include "tests/agents/fake_registrar.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace std::chrono_literals;
using agents::CurveKeys;
using Clock = std::chrono::steady_clock;

class StartWaitTest : public QObject {
  Q_OBJECT

  QTemporaryDir m_folder;
  std::unique_ptr<test::FakeRegistrar> m_registrar;
  app::Session m_session;
  Clock::time_point m_began;
  std::vector<std::string> m_told;

  /// The start is not answered; up to `opens_for` the job opens its data.
  void Behave(std::chrono::milliseconds opens_for) {
    m_registrar->Do([=, this] {
      m_registrar->swallow = true;  // the start
      m_registrar->snapshot.jobs.clear();
      engine::JobStatus job;
      job.name = "nano";
      m_registrar->snapshot.jobs.push_back(job);
      m_registrar->answer = [=, this](const wire::Request& request) -> std::optional<wire::Reply> {
        const auto past = Clock::now() - m_began;
        m_registrar->snapshot.jobs[0].reason = past < opens_for ? "opening data: n1 12.5 %" : "";
        wire::Reply reply;
        if (request.has_status()) {
          agents::Encode(m_registrar->snapshot, reply.mutable_status());
          return reply;
        }
        return std::nullopt;
      };
    });
    m_began = Clock::now();
    m_told.clear();
  }
  /// A job that runs after step 7. `change` gets it before each reply, with the number of replies.
  engine::JobStatus Train(std::function<void(engine::JobStatus& job, int polls)> change) {
    engine::JobStatus job;
    job.name = "train";
    job.state = engine::JobState::kRunning;
    job.step = 7;
    m_registrar->Do([&, this] {
      m_registrar->snapshot.jobs = {job};
      m_registrar->answer =
          [this, change,
           polls = 0](const wire::Request& request) mutable -> std::optional<wire::Reply> {
        if (!request.has_status()) return std::nullopt;
        for (engine::JobStatus& of : m_registrar->snapshot.jobs) change(of, polls);
        ++polls;
        wire::Reply reply;
        agents::Encode(m_registrar->snapshot, reply.mutable_status());
        return reply;
      };
    });
    return job;
  }
  Result<wire::Reply> Start() {
    wire::StartJobRequest start;
    start.set_model("gpt-nano");
    start.set_name("nano");
    return app::startJob(m_session, start,
                         [this](const std::string& text) { m_told.push_back(text); },
                         {.patience = 400ms, .poll = 30ms});
  }

 private slots:
  void init() {
    m_registrar = std::make_unique<test::FakeRegistrar>();
    const CurveKeys keys = agents::NewCurveKeys();
    m_registrar->Allow({keys.public_key});
    const std::string file = m_folder.filePath("client.key").toStdString();
    QVERIFY(agents::SaveKeys(keys, file));
    m_session.profile = {"test",
                         m_registrar->commands_endpoint(),
                         m_registrar->events_endpoint(),
                         m_registrar->keys().public_key,
                         file,
                         ""};
    auto client = agents::ClusterClient::OpenForCommands(m_session.profile);
    QVERIFY2(client.has_value(), client ? "" : client.error().ToString().c_str());
    m_session.client = std::move(*client);
  }
  void cleanup() {
    m_session.client.reset();
    m_registrar.reset();
    QFile::remove(m_folder.filePath("client.key"));
  }

  void waitsOnWhileDataAreOpened() {
    Behave(1200ms);
    const auto reply = Start();
    const auto took = Clock::now() - m_began;
    QVERIFY(!reply);
    QCOMPARE(reply.error().code, ErrorCode::kOutcomeUnknown);  // the start was sent
    const std::string text = reply.error().ToString();
    QVERIFY2(text.find("opening data: n1 12.5 %") != std::string::npos, text.c_str());
    QVERIFY(took > 800ms);  // twice its patience; polls may be late
    QVERIFY(std::ranges::count(m_told, "opening data: n1 12.5 %") >= 2);
    QCOMPARE(m_told.back(), std::string());
  }

  void endsAfterItsPatienceWhereNothingIsHeard() {
    Behave(0s);
    const auto reply = Start();
    QVERIFY(!reply);
    const std::string text = reply.error().ToString();
    QVERIFY2(text.find("job 'nano' did not start") != std::string::npos, text.c_str());
    QVERIFY(Clock::now() - m_began < 5s);
  }

  // A script may fail in its first step, after its ranks have started.
  void aScriptIsFollowedToItsFirstStep_data() {
    QTest::addColumn<engine::JobState>("state");  // after two polls
    QTest::addColumn<int>("step");
    QTest::newRow("a step") << engine::JobState::kRunning << 8;
    QTest::newRow("a failure") << engine::JobState::kSuspended << 7;
    QTest::newRow("its own end") << engine::JobState::kPaused << 7;
  }
  void aScriptIsFollowedToItsFirstStep() {
    QFETCH(engine::JobState, state);
    QFETCH(int, step);
    const engine::JobStatus started = Train([=](engine::JobStatus& job, int polls) {
      if (polls < 2) return;
      if (polls < 4) {  // a crash before: it starts again by itself
        job.state = engine::JobState::kSuspended;
        job.starts_again = true;
        return;
      }
      job.starts_again = false;
      job.state = state;
      job.step = step;
    });
    const auto job = app::awaitFirstStep(m_session, started, {.after = 7, .shortest_poll = 1ms});
    QVERIFY2(job.has_value(), job ? "" : job.error().ToString().c_str());
    QVERIFY(job->state == state);
    QCOMPARE(job->step, std::int64_t{step});
  }

  void theWaitForAFirstStepEnds() {
    const engine::JobStatus started = Train([](engine::JobStatus&, int) {});
    const auto late =
        app::awaitFirstStep(m_session, started, {.after = 7, .limit = 50ms, .shortest_poll = 1ms});
    QVERIFY(late.has_value());
    QCOMPARE(late->step, std::int64_t{7});
    int asked = 0;
    const auto left = app::awaitFirstStep(
        m_session, started,
        {.after = 7, .shortest_poll = 1ms, .is_interrupted = [&] { return ++asked > 2; }});
    QVERIFY(left.has_value());
    QCOMPARE(asked, 3);
    m_registrar->Do([this] { m_registrar->snapshot.jobs.clear(); });
    const auto gone = app::awaitFirstStep(m_session, started, {.after = 7, .shortest_poll = 1ms});
    QVERIFY(!gone && gone.error().code == ErrorCode::kNotFound);
  }

  void theRegistrarsWordEndsItAtOnce() {
    Behave(1h);
    m_registrar->Do([this] {
      m_registrar->swallow = false;
      m_registrar->answer = [](const wire::Request& request) -> std::optional<wire::Reply> {
        if (!request.has_start_job()) return std::nullopt;
        wire::Reply reply;
        reply.set_id(request.id());
        agents::Encode(Cancelled("job 'nano' was stopped while its data were opened"),
                       reply.mutable_error());
        return reply;
      };
    });
    const auto reply = Start();
    QVERIFY(!reply);
    QCOMPARE(reply.error().code, ErrorCode::kCancelled);
  }
};

TESSERA_TEST(StartWaitTest)
#include "start_wait_test.moc"
