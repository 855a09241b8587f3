// SPDX-License-Identifier: Apache-2.0
// What the registrar makes of the metrics and requests that come with the steps of a job.
#include "agents/registrar/step_recorder.h"

#include <QTest>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agents/sim/memory_store.h"
#include "engine/model/gpt.h"
#include "engine/model/job_layout.h"
#include "tests/agents/part_office.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::agents;
using Steps = std::vector<std::int64_t>;

namespace {

const std::string kJob = "nano";

struct Office {
  test::PartOffice around;
  JobTable jobs{around.common(), [](const std::string&) { return OkStatus(); }};
  Steps checkpoints;  // at which the program has requested one
  StepRecorder steps{around.common(), jobs, [](const Job&) {},
                     [this](const Job& job) { checkpoints.push_back(job.checkpoint_step); }};

  int asked = 0;                             // how often for missing steps
  std::optional<wire::RepeatSteps> request;  // that is not answered

  explicit Office(sim::MemoryStore& journal, bool has_job = true)
      : around(journal, {}, [this](const std::string&, const wire::ToNode& message) {
          if (message.has_repeat_steps()) {
            ++asked;
            request = message.repeat_steps();
          }
          return OkStatus();
        }) {
    around.members().Register("n0", {}, Now());
    if (!has_job) return;
    engine::JobSettings settings;
    settings.model = *engine::FindModel("gpt-nano");
    ptc::DeviceMesh mesh = *ptc::ParseDeviceMesh("dp=1,tp=1,pp=1 on n0g0");
    ptc::Layout layout = *engine::MakeLayout(*engine::TensorsOf(settings, false), std::move(mesh));
    static_cast<void>(jobs.Add(Job(kJob, std::move(settings), std::move(layout))));
  }
  StepRecorder::Clock::time_point Now() { return around.common().timers.now(); }
  Job& job() { return **jobs.Need(kJob); }
  /// A second of the registrar, which hears the node. The node answers what it has heard.
  void Second(bool hears = true, bool answers = true) {
    around.Pass(std::chrono::seconds(1));
    if (hears) static_cast<void>(around.members().Accept("n0", {}, Now()));
    if (hears && answers && request) {
      wire::StepsRepeated answer;
      answer.set_job(kJob);
      answer.set_after(request->after());
      steps.OnRepeated(0, answer);
      request.reset();
    }
    static_cast<void>(around.members().Tick(Now()));
    steps.Flush();
  }
  Steps Recorded() {
    Steps out;
    for (const engine::Sample& sample : around.samples(kJob)) out.push_back(sample.step);
    return out;
  }
  void Report(std::int64_t step, const std::map<std::string, double>& metrics = {},
              bool checkpoint = false) {
    wire::StepReport report;
    report.set_job(kJob);
    report.set_step(step);
    report.set_epoch(1);
    report.set_timeline(job().timeline);
    report.mutable_metrics()->insert(metrics.begin(), metrics.end());
    report.set_checkpoint(checkpoint);
    steps.OnStep(report);
  }
};

}  // namespace

class StepRecorderTest : public QObject {
  Q_OBJECT

 private slots:
  void samplesAreOfThisJobOfTheName() {
    sim::MemoryStore journal;
    Office o(journal);
    o.job().start = 7;
    o.Report(1);
    o.steps.Flush();
    QCOMPARE(o.around.samples(kJob).front().origin, 7);
  }

  void metricsAreRecordedWithTheirStep() {
    sim::MemoryStore journal;
    Office o(journal);
    o.Report(1, {{"accuracy", 0.5}, {"lr", 1}});
    o.Report(3, {{"accuracy", 0.75}});
    o.Report(2);
    o.Report(1, {{"accuracy", 9}});  // repeated: it counts once
    QVERIFY((o.job().metrics == engine::Metrics{{"accuracy", 0.75}, {"lr", 1}}));
    o.steps.Flush();
    const auto samples = o.around.samples(kJob);
    QCOMPARE(samples.size(), std::size_t{3});
    QVERIFY((samples[0].metrics == engine::Metrics{{"accuracy", 0.5}, {"lr", 1}}));
    QVERIFY(samples[1].metrics.empty());
    QVERIFY((samples[2].metrics == engine::Metrics{{"accuracy", 0.75}}));
  }

  // The first step after a start or a pause has no time. Its rate is unknown, not 0.
  void aStepWithoutATimeHasNoRate() {
    sim::MemoryStore journal;
    Office o(journal);
    o.Report(1);
    wire::StepReport report;
    report.set_job(kJob);
    report.set_step(2);
    report.set_epoch(1);
    report.set_tokens(1000);
    report.set_seconds(0.5);
    o.steps.OnStep(report);
    o.Report(3);
    o.steps.Flush();
    const auto samples = o.around.samples(kJob);
    QVERIFY(std::isnan(samples.at(0).tokens_per_second));
    QCOMPARE(samples.at(1).tokens_per_second, 2000.0);
    QVERIFY(std::isnan(samples.at(2).tokens_per_second));
    QCOMPARE(o.job().tokens_per_second.value_or(0), 2000.0);  // what is known
  }

  // What the program reports after its last step.
  void theLastStepCanGetMore() {
    sim::MemoryStore journal;
    Office o(journal);
    const double nan = std::nan("");
    o.Report(1, {{"accuracy", 0.5}});
    o.Report(2, {{"accuracy", 0.5}, {"lr", nan}});
    o.steps.Flush();
    for (int i = 0; i < 2; ++i) o.Report(2, {{"accuracy", 0.75}, {"lr", nan}, {"total", 9}});
    o.steps.Flush();
    const auto samples = o.around.samples(kJob);
    QCOMPARE(samples.size(), std::size_t{2});
    QCOMPARE(samples[1].metrics.at("accuracy"), 0.75);
    QCOMPARE(samples[1].metrics.at("total"), 9.0);
    QCOMPARE(samples[1].sequence, std::int64_t{3});  // the replaced sample had 2
    QCOMPARE(o.job().metrics.at("total"), 9.0);
    for (int i = 0; i < 20; ++i) o.Report(2, {{"m" + std::to_string(i), 1}});
    o.steps.Flush();
    QCOMPARE(o.around.samples(kJob)[1].metrics.size(), engine::kMaxMetrics);
    o.Report(3);
    o.Report(2, {{"accuracy", 1}});
    o.steps.Flush();
    QCOMPARE(o.around.samples(kJob)[1].metrics.at("accuracy"), 0.75);
  }

  // An earlier report may be late; the last step must not lose what comes after it.
  void aStepThatWaitsCanGetMore() {
    sim::MemoryStore journal;
    Office o(journal);
    o.Report(1);
    o.Report(3, {{"accuracy", 0.5}});
    o.Report(3, {{"accuracy", 0.5}, {"total", 9}});
    o.Report(2);
    o.steps.Flush();
    const auto samples = o.around.samples(kJob);
    QCOMPARE(samples.size(), std::size_t{3});
    QVERIFY((samples[2].metrics == engine::Metrics{{"accuracy", 0.5}, {"total", 9}}));
  }

  void nodesAreAskedForAMissingStepBeforeItIsGivenUp() {
    sim::MemoryStore journal;
    Office o(journal);
    o.Report(1);
    o.Report(3);
    for (int i = 0; i < 9; ++i) o.Second(true, false);  // it does not hear the registrar
    QCOMPARE(o.asked, 10);
    QCOMPARE(o.Recorded(), Steps({1}));
    o.Second();
    QCOMPARE(o.Recorded(), Steps({1, 3}));
    o.Report(2);  // too late: the history is in order
    o.steps.Flush();
    QCOMPARE(o.Recorded(), Steps({1, 3}));
  }

  // A second gap is asked for like the first, although that was given up.
  void everyGapIsAskedFor() {
    sim::MemoryStore journal;
    Office o(journal);
    o.Report(1);
    o.Report(3);
    for (int second = 0; second < 4; ++second) o.Second();
    QVERIFY((o.Recorded() == Steps{1}));  // a rank may still repeat it to its agent
    for (int second = 0; second < 4; ++second) o.Second();
    QVERIFY((o.Recorded() == Steps{1, 3}));
    const int before = o.asked;
    o.Report(5);
    o.Second(true, false);
    QVERIFY((o.Recorded() == Steps{1, 3}));
    QVERIFY(o.asked > before);
    o.Report(4);
    o.Second();
    QVERIFY((o.Recorded() == Steps{1, 3, 4, 5}));
  }

  // It hears its timers before the answers that have arrived meanwhile.
  void aRegistrarThatDidNotRunWaitsForTheAnswers() {
    sim::MemoryStore journal;
    Office o(journal);
    o.Report(1);
    o.Report(3);
    o.around.Pass(std::chrono::seconds(30));
    o.steps.Flush();
    o.Report(2);
    o.steps.Flush();
    QCOMPARE(o.Recorded(), Steps({1, 2, 3}));
  }

  void aNodeThatWasSilentIsAskedWhenItIsBack() {
    sim::MemoryStore journal;
    Office o(journal);
    o.Report(1);
    o.Report(3);
    for (int i = 0; i < 9; ++i) o.Second(false);
    QVERIFY(o.asked > 5);
    for (int i = 0; i < 4; ++i) o.Second(true, false);
    QCOMPARE(o.Recorded(), Steps({1}));
    o.Report(2);
    o.steps.Flush();
    QCOMPARE(o.Recorded(), Steps({1, 2, 3}));
    o.Report(5);
    for (int i = 0; i < 60; ++i) o.Second(false);
    QCOMPARE(o.Recorded(), Steps({1, 2, 3, 5}));  // it may never be back
  }

  // A program that was started again may use other names.
  void theStateHasRoomForAsManyNamesAsAJob() {
    sim::MemoryStore journal;
    Office o(journal);
    for (std::int64_t step = 1; step <= 20; ++step) {
      o.Report(step, {{"m" + std::to_string(step), 1}, {"m1", 2}});
    }
    QCOMPARE(o.job().metrics.size(), engine::kMaxMetrics);
    QCOMPARE(o.job().metrics.at("m1"), 2.0);
    QVERIFY(!o.job().metrics.contains("m17"));
  }

  void aCheckpointIsRequestedOncePerStep() {
    sim::MemoryStore journal;
    {
      Office o(journal);
      o.Report(1, {}, true);
      o.Report(1, {}, true);
      o.Report(2);
      QCOMPARE(o.checkpoints, Steps({1}));
      o.Report(2, {}, true);  // after the decision, and so after the first report of the step
      o.Report(1, {}, true);
      QCOMPARE(o.checkpoints, Steps({1, 2}));
      o.steps.Flush();
    }
    // Agents repeat what they know to a registrar that restarts.
    Office later(journal, false);
    QVERIFY(later.jobs.Recover());
    QVERIFY(later.steps.Recover());
    later.Report(1, {}, true);
    later.Report(2, {}, true);
    QCOMPARE(later.checkpoints, Steps());
    later.Report(3, {}, true);
    QCOMPARE(later.checkpoints, Steps({3}));
    later.steps.RestartCountAt(later.job(), 1);
    ++later.job().timeline;
    later.Report(2, {}, true);
    QCOMPARE(later.checkpoints, Steps({3, 2}));
  }
};

TESSERA_TEST_APPLESS(StepRecorderTest)
#include "step_recorder_test.moc"
