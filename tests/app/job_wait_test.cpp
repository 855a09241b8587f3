// SPDX-License-Identifier: Apache-2.0
/// \file
/// `job wait`: when it ends, and how.

#include "app/commands/job_wait.h"

#include <QTemporaryDir>
#include <QTest>
#include <algorithm>

#include "agents/wire/tessera/wire/control.pb.h"
#include "tests/agents/fake_registrar.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace std::chrono_literals;
using agents::CurveKeys;
using app::JobGoal;
using app::JobWait;
using engine::JobState;
using Verdict = app::JobWait::Verdict;

namespace {

/// A job of 100 steps.
engine::JobStatus At(std::int64_t step, JobState state = JobState::kRunning) {
  engine::JobStatus job;
  job.name = "gpt";
  job.state = state;
  job.step = step;
  job.max_steps = 100;
  job.finished = step >= 100;
  job.started = 5;
  return job;
}

JobWait Judge(const std::optional<engine::JobStatus>& job, const JobGoal& goal,
              const std::optional<engine::JobStatus>& seen = At(1)) {
  engine::ClusterSnapshot snapshot;
  if (job) snapshot.jobs = {*job};
  return judgeJob(snapshot, goal, seen);
}

}  // namespace

class JobWaitTest : public QObject {
  Q_OBJECT

  QTemporaryDir m_folder;
  std::unique_ptr<test::FakeRegistrar> m_registrar;
  app::Session m_session;
  std::vector<std::string> m_told;

  /// The registrar answers with one of `states` after another; the last one stays.
  void Answer(std::vector<engine::JobStatus> states) {
    m_registrar->Do([&, this] {
      m_registrar->answer =
          [states = std::move(states), polls = std::size_t{0}](
              const wire::Request& request) mutable -> std::optional<wire::Reply> {
        if (!request.has_status()) return std::nullopt;
        engine::ClusterSnapshot snapshot;
        if (!states.empty()) snapshot.jobs = {states[std::min(polls, states.size() - 1)]};
        ++polls;
        wire::Reply reply;
        reply.set_id(request.id());
        agents::Encode(snapshot, reply.mutable_status());
        return reply;
      };
    });
  }
  Result<JobWait> Await(const JobGoal& goal, const app::JobWaitLimits& limits) {
    m_told.clear();
    return awaitJob(m_session, goal, limits,
                    [this](const std::string& text) { m_told.push_back(text); });
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

  void stepsAreReached() {
    QVERIFY(Judge(At(49), {"gpt", 50}).verdict == Verdict::kGoesOn);
    QCOMPARE(Judge(At(49), {"gpt", 50}).text, std::string("gpt is running, step 49 of 50"));
    QVERIFY(Judge(At(50), {"gpt", 50}).verdict == Verdict::kReached);
    QVERIFY(Judge(At(50, JobState::kPaused), {"gpt", 50}).verdict == Verdict::kReached);
    // A job that somebody may continue is not at its end.
    for (const JobState state :
         {JobState::kPaused, JobState::kSuspended, JobState::kWaitingDecision})
      QVERIFY(Judge(At(49, state), {"gpt", 50}).verdict == Verdict::kGoesOn);
  }

  void stepsOutOfReachEndTheWait() {
    const JobWait never = Judge(At(49), {"gpt", 200});
    QVERIFY(never.verdict == Verdict::kCannot);
    QVERIFY2(never.text.find("makes 100 steps") != std::string::npos, never.text.c_str());
    engine::JobStatus program = At(30, JobState::kPaused);  // it chooses its last step itself
    program.max_steps = 0;
    program.command = "train.py";
    QVERIFY(Judge(program, {"gpt", 50}).verdict == Verdict::kGoesOn);
    program.finished = true;
    const JobWait over = Judge(program, {"gpt", 50});
    QVERIFY(over.verdict == Verdict::kCannot);
    QVERIFY2(over.text.find("ended at step 30, before step 50") != std::string::npos,
             over.text.c_str());
  }

  void statesAreReached() {
    for (const std::string& state : app::statesToWaitFor()) {
      const auto known = engine::ParseJobState(state);
      QVERIFY2(known.has_value() || state == "finished", state.c_str());
      if (!known || *known == JobState::kStopped) continue;
      QVERIFY2(Judge(At(49, *known), {"gpt", {}, state}).verdict == Verdict::kReached,
               state.c_str());
    }
    QVERIFY(Judge(At(49, JobState::kPaused), {"gpt", {}, "running"}).verdict == Verdict::kGoesOn);
    QVERIFY(Judge(At(100, JobState::kPaused), {"gpt", {}, "running"}).verdict == Verdict::kCannot);
    QVERIFY(Judge(At(99), {"gpt", {}, "finished"}).verdict == Verdict::kGoesOn);
    QVERIFY(Judge(At(100, JobState::kPaused), {"gpt", {}, "finished"}).verdict ==
            Verdict::kReached);
    QVERIFY(Judge(At(49, JobState::kFailed), {"gpt", {}, "running"}).verdict == Verdict::kCannot);
  }

  void withoutAGoalTheLastStepCounts() {
    QVERIFY(Judge(At(99), {"gpt"}).verdict == Verdict::kGoesOn);
    QVERIFY(Judge(At(100, JobState::kPaused), {"gpt"}).verdict == Verdict::kReached);
    engine::JobStatus endless = At(10);
    endless.max_steps = 0;
    const JobWait wait = Judge(endless, {"gpt"});
    QVERIFY(wait.verdict == Verdict::kCannot);
    QCOMPARE(wait.text, std::string("job 'gpt' has no last step: give --step or --state"));
  }

  void aStoppedJobEndsTheWait() {
    QVERIFY(Judge({}, {"gpt", 50}).verdict == Verdict::kCannot);
    QVERIFY(Judge({}, {"gpt", {}, "stopped"}).verdict == Verdict::kReached);
    // One that never was there is a mistake in the name.
    const JobWait unknown = Judge({}, {"gpt", {}, "stopped"}, std::nullopt);
    QVERIFY(unknown.verdict == Verdict::kCannot);
    QVERIFY2(unknown.text.starts_with("no job 'gpt'"), unknown.text.c_str());
    // Another job took the name between two questions.
    engine::JobStatus other = At(60);
    other.started = 9;
    QVERIFY(Judge(other, {"gpt", 50}).verdict == Verdict::kCannot);
    QVERIFY(Judge(other, {"gpt", {}, "stopped"}).verdict == Verdict::kReached);
  }

  void waitsUntilTheStep() {
    Answer({At(1), At(1), At(7), At(12)});
    const auto waited = Await({"gpt", 10}, {.poll = 1ms});
    QVERIFY2(waited.has_value(), waited ? "" : waited.error().ToString().c_str());
    QVERIFY(waited->verdict == Verdict::kReached);
    QCOMPARE(waited->job->step, std::int64_t{12});
    QCOMPARE(m_told, (std::vector<std::string>{"gpt is running, step 1 of 10",
                                               "gpt is running, step 7 of 10"}));
  }

  void endsWithTheJob() {
    Answer({At(1), At(2, JobState::kFailed)});
    const auto waited = Await({"gpt", 10}, {.poll = 1ms});
    QVERIFY(waited.has_value() && waited->verdict == Verdict::kCannot);
    QCOMPARE(waited->text, std::string("job 'gpt' is failed"));
  }

  void theTimeIsUp() {
    Answer({At(1)});
    const auto waited = Await({"gpt", 10}, {.timeout = 50ms, .poll = 1ms});
    QVERIFY(!waited && waited.error().code == ErrorCode::kTimeout);
    const auto interrupted = Await(
        {"gpt", 10}, {.poll = 1ms, .isInterrupted = [asked = 0]() mutable { return ++asked > 1; }});
    QVERIFY(!interrupted && interrupted.error().code == ErrorCode::kTimeout);
    QCOMPARE(interrupted.error().message, std::string("interrupted: gpt is running, step 1 of 10"));
  }

  void aRegistrarThatDoesNotAnswerIsWaitedFor() {
    m_registrar->Do([this] { m_registrar->swallow = true; });
    const auto waited = Await({"gpt", 10}, {.timeout = 50ms, .poll = 1ms});
    QVERIFY(!waited && waited.error().code == ErrorCode::kTimeout);
  }
};

TESSERA_TEST(JobWaitTest)
#include "job_wait_test.moc"
