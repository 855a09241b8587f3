// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/checkpoint_desk.h"

#include <QTest>
#include <algorithm>
#include <memory>
#include <utility>

#include "agents/sim/memory_store.h"
#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "engine/model/gpt.h"
#include "engine/model/job_layout.h"
#include "tests/agents/part_office.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::agents;
using std::chrono::seconds;

namespace {

const std::string kJob = "nano";

Job TwoStages() {
  engine::JobSettings settings;
  settings.model = *engine::FindModel("gpt-nano");
  settings.seed = 7;
  settings.data = {"https://lena:secret@data.lab/text?token=secret"};
  ptc::DeviceMesh mesh = *ptc::ParseDeviceMesh("dp=1,tp=1,pp=2 on n0g0,n1g0");
  ptc::Layout layout = *engine::MakeLayout(*engine::TensorsOf(settings, false), std::move(mesh));
  Job job(kJob, std::move(settings), std::move(layout));
  job.state = engine::JobState::kRunning;
  return job;
}

/// A desk with two nodes that the test plays.
struct Office {
  test::PartOffice around;
  std::vector<std::pair<std::string, wire::ToNode>> sent;  // that nobody has looked at
  std::vector<wire::Reply> replies;
  wire::CheckpointAnswer examined;  // what a node answers that examines one checkpoint
  std::set<std::string> in_use;
  std::uint64_t last_view = 0;
  JobTable jobs{around.common(), [](const std::string&) { return OkStatus(); }};
  ViewDesk views;
  NodeQueryClient queries;
  CheckpointDesk desk;

  explicit Office(sim::MemoryStore& journal, bool has_job = true)
      : around(
            journal, [this](const std::string&, const wire::Reply& r) { replies.push_back(r); },
            [this](const std::string& to, const wire::ToNode& message) {
              sent.emplace_back(to, message);
              return OkStatus();
            }),
        views(around.common().timers, WorldOfViews()),
        queries(around.common().timers,
                [this](std::int32_t node, const wire::ToNode& message) {
                  return around.common().Send(node, message);
                }),
        desk(around.common(), jobs, {views, queries},
             {[this](const std::string& path) { return in_use.contains(path); },
              [](const std::string&) {}}) {
    for (const std::int32_t node : {0, 1}) {
      wire::Register message;
      message.set_node(node);
      around.members().Register("n" + std::to_string(node), message, around.common().timers.now());
    }
    if (has_job) static_cast<void>(jobs.Add(TwoStages()));
  }
  ViewDesk::World WorldOfViews() {
    ViewDesk::World world;
    world.job = [this](const std::string& name) -> Result<ViewableJob> {
      TESSERA_TRY(const Job* const job, jobs.Need(name));
      ViewableJob out{name, job->epoch, job->timeline, job->step, job->layout, "{}"};
      out.paused = true;  // so the step of the view is that of the job
      return out;
    };
    world.send = [this](std::int32_t node, const wire::ToNode& message) {
      return around.common().Send(node, message);
    };
    world.describe = [](std::int32_t, const std::string&, std::uint64_t, wire::ViewShare*) {};
    return world;
  }

  Job& job() { return **jobs.Need(kJob); }
  ReplyPtr NewReply() {
    auto reply = std::make_shared<PendingReply>(
        "id", "tester", [this](const std::string&, const wire::Reply& r) { replies.push_back(r); });
    reply->Join("client", 1);
    return reply;
  }
  void Save(const std::string& folder) {
    wire::SaveCheckpointRequest request;
    request.set_job(kJob);
    request.set_folder(folder);
    desk.OnSave(request, NewReply());
  }
  void Schedule(std::int64_t steps, int keep) {
    wire::SaveCheckpointRequest request;
    request.set_job(kJob);
    request.set_folder("/c");
    request.mutable_every()->set_steps(steps);
    request.set_keep(keep);
    desk.OnSave(request, NewReply());
  }
  void At(std::int64_t step) {
    job().step = step;
    desk.Consider(job());
  }
  /// The messages of this kind that were sent since the last call.
  std::vector<std::pair<std::string, wire::ToNode>> Take(wire::ToNode::BodyCase kind) {
    std::vector<std::pair<std::string, wire::ToNode>> out, rest;
    for (auto& message : sent) {
      (message.second.body_case() == kind ? out : rest).push_back(std::move(message));
    }
    sent = std::move(rest);
    return out;
  }
  /// All nodes copy their shares.
  void CopyShares() {
    for (const auto& [to, message] : Take(wire::ToNode::kTakeView)) {
      wire::ViewReport report;
      report.set_view(message.take_view().view());
      report.set_kind(wire::ViewReport::TAKEN);
      report.set_bytes(4096);
      views.OnReport(to == "n0" ? 0 : 1, report);
    }
  }
  /// The orders to write, by node.
  std::map<std::string, wire::SaveShare> Orders() {
    std::map<std::string, wire::SaveShare> out;
    for (const auto& [to, message] : Take(wire::ToNode::kSaveShare)) out[to] = message.save_share();
    return out;
  }
  wire::SaveReport Written(const wire::SaveShare& order, std::int32_t node) {
    wire::SaveReport report;
    report.set_view(order.view());
    report.set_ended(true);
    wire::SavedFile* const file = report.add_files();
    file->set_name("shard-" + std::to_string(node) + ".safetensors");
    file->set_bytes(100 + node);
    for (std::size_t t = 0; t < job().layout.collection().tensors().size(); ++t) {
      report.add_digests(t + static_cast<std::uint64_t>(node));
    }
    return report;
  }
  /// Answers all queries about folders.
  /// \return them, with the node that was asked
  std::vector<std::pair<std::string, wire::CheckpointQuery>> Answer(const std::string& error = {}) {
    std::vector<std::pair<std::string, wire::CheckpointQuery>> out;
    for (const auto& [to, message] : Take(wire::ToNode::kQuery)) {
      wire::NodeAnswer answer;
      answer.set_ticket(message.query().ticket());
      answer.set_error(error);
      answer.mutable_checkpoint();
      if (message.query().checkpoint().examine_size() == 1) *answer.mutable_checkpoint() = examined;
      out.emplace_back(to, message.query().checkpoint());
      queries.OnAnswer(to == "n0" ? 0 : 1, answer);
    }
    return out;
  }
  /// The nodes do all that is asked of them.
  void Complete() {
    CopyShares();
    for (const auto& [to, order] : Orders()) {
      const std::int32_t node = to == "n0" ? 0 : 1;
      desk.OnReport(node, Written(order, node));
    }
    Answer();  // publish
  }
  /// Paths that nodes were told to remove.
  std::vector<std::string> Removed() {
    std::vector<std::string> out;
    for (const auto& [to, query] : Answer()) {
      if (!query.remove().empty()) out.push_back(query.remove());
    }
    return out;
  }
  engine::CheckpointStatus Status() const { return desk.StatusOf(kJob); }
};

}  // namespace

class CheckpointDeskTest : public QObject {
  Q_OBJECT

 private slots:
  void theManifestComesLast() {
    sim::MemoryStore journal;
    Office o(journal);
    o.job().step = 40;
    o.Save("/c");
    QVERIFY(o.Status().is_saving);
    o.CopyShares();
    const auto orders = o.Orders();
    QCOMPARE(orders.size(), std::size_t{2});
    QCOMPARE(orders.at("n0").path(), std::string("/c/nano-step-40"));
    o.desk.OnReport(0, o.Written(orders.at("n0"), 0));
    o.desk.OnReport(0, o.Written(orders.at("n0"), 0));  // counts once
    QVERIFY(o.Answer().empty());
    QVERIFY(!o.Status().step && o.replies.empty());
    o.desk.OnReport(1, o.Written(orders.at("n1"), 1));
    const auto asked = o.Answer();
    QCOMPARE(asked.size(), std::size_t{1});
    QVERIFY(asked[0].second.has_publish());
    const auto manifest =
        checkpoint::ParseManifest(asked[0].second.publish().manifest(), "manifest");
    QVERIFY(manifest);
    QCOMPARE(manifest->files.size(), std::size_t{2});
    QCOMPARE(manifest->bytes(), std::int64_t{201});
    QCOMPARE(manifest->step, std::int64_t{40});
    const auto kept = engine::ParseJobSettings(manifest->settings);
    QVERIFY(kept && kept->data == std::vector<std::string>{"https://data.lab/text"});
    QCOMPARE(manifest->tensors[1].digest, std::uint64_t{1 + 0 + 1 + 1});
    QCOMPARE(o.replies.size(), std::size_t{1});
    QCOMPARE(o.replies[0].save_checkpoint().checkpoint().path(), std::string("/c/nano-step-40"));
    QVERIFY(!o.Status().is_saving && o.Status().step == 40);
    QCOMPARE(o.Take(wire::ToNode::kReleaseViews).size(), std::size_t{2});
    // A later registrar knows it.
    Office later(journal, false);
    QVERIFY(later.jobs.Recover());
    QVERIFY(later.desk.Recover());
    QVERIFY(later.Status().step == 40);
    QVERIFY(later.Removed().empty());
  }

  void filesThatAreNotReadAreSaid() {
    sim::MemoryStore journal;
    Office o(journal);
    wire::CheckpointAnswer::Found* const found = o.examined.add_found();
    found->set_manifest("{");
    found->add_unread("'stray.safetensors' is not read: tessera.json does not name it");
    bool looked = false;
    o.desk.Look("/c/nano-step-40",
                [&](const Result<checkpoint::Manifest>& manifest) { looked = !manifest; });
    QCOMPARE(o.Answer().size(), std::size_t{1});
    QVERIFY(looked);
    const auto events = o.around.events();
    QVERIFY(std::ranges::any_of(events, [](const engine::Event& event) {
      return event.severity == engine::Severity::kWarning &&
             event.text ==
                 "checkpoint '/c/nano-step-40': 'stray.safetensors' is not read: tessera.json does "
                 "not name it";
    }));
  }

  void aNodeThatCannotWriteEndsIt() {
    sim::MemoryStore journal;
    Office o(journal);
    o.Save("/c");
    o.CopyShares();
    const auto orders = o.Orders();
    o.desk.OnReport(0, o.Written(orders.at("n0"), 0));
    wire::SaveReport full;
    full.set_view(orders.at("n1").view());
    full.set_ended(true);
    Encode(ResourceExhausted("'/c/x' cannot be written: no space"), full.mutable_error());
    o.desk.OnReport(1, full);
    QCOMPARE(o.replies.size(), std::size_t{1});
    QVERIFY(o.replies[0].error().message().starts_with("n1: '/c/x' cannot be written"));
    QVERIFY(!o.Status().is_saving && !o.Status().step);
    QVERIFY(o.Status().problem.find("no space") != std::string::npos);
    o.desk.Tick();
    const auto removed = o.Removed();
    QCOMPARE(removed.size(), std::size_t{1});
    QVERIFY(removed[0].starts_with("/c/nano-step-0.") && removed[0].ends_with(".partial"));
  }

  void otherFailuresEndIt_data() {
    QTest::addColumn<QByteArray>("what");
    QTest::newRow("a lost node") << QByteArray("lost");
    QTest::newRow("a folder that is not shared") << QByteArray("publish");
    QTest::newRow("a stopped job") << QByteArray("stopped");
    QTest::newRow("no progress") << QByteArray("stalled");
    QTest::newRow("digests of other tensors") << QByteArray("digests");
  }
  void otherFailuresEndIt() {
    QFETCH(QByteArray, what);
    sim::MemoryStore journal;
    Office o(journal);
    o.Save("/c");
    o.CopyShares();
    const auto orders = o.Orders();
    o.desk.OnReport(0, o.Written(orders.at("n0"), 0));
    if (what == "lost") o.desk.OnNodeGone(1, "n1 was lost");
    if (what == "stopped") o.desk.Forget(kJob);
    if (what == "digests") {
      wire::SaveReport report = o.Written(orders.at("n1"), 1);
      report.mutable_digests()->RemoveLast();
      o.desk.OnReport(1, report);
    }
    if (what == "publish") {
      o.desk.OnReport(1, o.Written(orders.at("n1"), 1));
      o.Answer("'/c/x' cannot be examined");
    }
    if (what == "stalled") {
      for (int second = 0; second < 125; ++second) {
        o.around.Pass(seconds(1));
        o.desk.Tick();
      }
      QVERIFY(o.replies[0].error().message().find("n1 reported no progress for 120 s") !=
              std::string::npos);
    }
    QCOMPARE(o.replies.size(), std::size_t{1});
    QVERIFY(o.replies[0].has_error());
    QVERIFY(!o.Status().is_saving && !o.Status().step);
    o.Removed();
    o.desk.Tick();
    // The partial folder is removed by the next tick, or was by the last.
    QVERIFY(!o.desk.Newest(kJob));
  }

  void theScheduleSavesAndKeepsTheNewest() {
    sim::MemoryStore journal;
    Office o(journal);
    o.Save("/c");  // saved by a user, and so it stays
    o.Complete();
    o.Schedule(10, 2);
    QVERIFY(o.replies.back().save_checkpoint().text().find("every 10 steps") != std::string::npos);
    std::vector<std::string> removed;
    for (std::int64_t step = 1; step <= 45; ++step) {
      o.around.Pass(seconds(1));
      o.At(step);
      o.Complete();
      for (const std::string& path : o.Removed()) removed.push_back(path);
    }
    QCOMPARE(removed, (std::vector<std::string>{"/c/nano-step-10", "/c/nano-step-20"}));
    QVERIFY(o.Status().step == 40);
    QCOMPARE(o.Status().count, std::int64_t{3});
    // A registrar that restarts goes on with it.
    Office later(journal, false);
    QVERIFY(later.jobs.Recover());
    QVERIFY(later.desk.Recover());
    QCOMPARE(later.Status().schedule.every.steps, std::int64_t{10});
    QCOMPARE(later.Status().schedule.keep, std::int64_t{2});
  }

  void oneThatIsCompleteAfterTheScheduleIsOffReplacesTheOldest() {
    sim::MemoryStore journal;
    Office o(journal);
    o.Schedule(10, 1);
    o.At(10);
    o.Complete();
    o.At(20);
    o.Schedule(0, 0);
    o.Complete();
    QCOMPARE(o.Removed(), (std::vector<std::string>{"/c/nano-step-10"}));
  }

  void whatIsBeingLoadedIsNotRemoved() {
    sim::MemoryStore journal;
    Office o(journal);
    o.Schedule(10, 1);
    o.At(10);
    o.Complete();
    o.in_use.insert("/c/nano-step-10");
    o.around.Pass(seconds(1));
    o.At(20);
    o.Complete();
    QVERIFY(o.Removed().empty());
    wire::DeleteCheckpointRequest request;
    request.set_path("/c/nano-step-10");
    o.desk.OnDelete(request, o.NewReply());
    QVERIFY(o.replies.back().error().message().find("is being loaded") != std::string::npos);
  }

  void afterAFailureTheScheduleWaits() {
    sim::MemoryStore journal;
    Office o(journal);
    o.Schedule(1, 0);
    o.At(1);
    o.CopyShares();
    o.Orders();
    o.desk.OnNodeGone(0, "n0 was lost");
    o.At(2);
    QVERIFY(!o.Status().is_saving);
    o.around.Pass(seconds(61));
    o.At(3);
    QVERIFY(o.Status().is_saving);
  }

  // One failure does not cost a whole period.
  void afterAFailureItIsTriedAMinuteLater() {
    sim::MemoryStore journal;
    Office o(journal);
    o.Schedule(100, 0);
    o.At(100);
    o.CopyShares();
    o.Orders();
    o.desk.OnNodeGone(0, "n0 was lost");
    o.around.Pass(seconds(61));
    o.At(130);
    QVERIFY(o.Status().is_saving);
    o.Complete();
    QVERIFY(o.Status().step == 130);
  }

  // The agent has died while nodes wrote.
  void aRegistrarThatRestartsRemovesWhatWasCutOff() {
    sim::MemoryStore journal;
    {
      Office o(journal);
      o.Save("/c");
      o.CopyShares();
      QCOMPARE(o.Orders().size(), std::size_t{2});
    }
    Office later(journal, false);
    QVERIFY(later.jobs.Recover());
    QVERIFY(later.desk.Recover());
    QVERIFY(!later.Status().step);
    later.desk.Tick();
    const auto removed = later.Removed();
    QCOMPARE(removed.size(), std::size_t{1});
    QVERIFY(removed[0].starts_with("/c/nano-step-0.") && removed[0].ends_with(".partial"));
    Office third(journal, false);
    QVERIFY(third.jobs.Recover());
    QVERIFY(third.desk.Recover());
    third.desk.Tick();
    QVERIFY(third.Removed().empty());
  }

  void oneIsSavedAtATime() {
    sim::MemoryStore journal;
    Office o(journal);
    o.Save("/c");
    o.Save("/d");
    QVERIFY(o.replies.back().error().message().find("is being saved in /c already") !=
            std::string::npos);
  }

  void aProgramSavesWhereTheScheduleDoes() {
    sim::MemoryStore journal;
    Office o(journal);
    o.Schedule(1000, 1);
    o.job().step = 7;
    o.desk.OnProgram(o.job());
    o.Complete();
    QVERIFY(o.Status().step == 7);
    QCOMPARE(o.around.events().back().text.substr(0, 31),
             std::string("checkpoint of step 7 saved: '/c"));
    QVERIFY(o.around.events().back().text.ends_with("(its program)"));
    // The schedule keeps only its own newest one, and so that stays.
    o.At(1000);
    o.Complete();
    QCOMPARE(o.Status().count, std::int64_t{2});
    // The state of a step is saved once.
    const std::size_t before = o.around.num_events();
    o.desk.OnProgram(o.job());
    o.CopyShares();
    for (const auto& [to, order] : o.Orders()) {
      wire::SaveReport there;
      there.set_view(order.view());
      there.set_ended(true);
      Encode(AlreadyExists("'/c/nano-step-1000' exists"), there.mutable_error());
      o.desk.OnReport(to == "n0" ? 0 : 1, there);
    }
    QVERIFY(!o.Status().is_saving && o.Status().problem.empty());
    QCOMPARE(o.around.num_events(), before);
  }

  void aProgramSavesWhereTheLastOneIs() {
    sim::MemoryStore journal;
    Office o(journal);
    o.Save("/by/hand");
    o.Complete();
    o.job().step = 7;
    o.desk.OnProgram(o.job());
    o.Complete();
    QCOMPARE(o.Status().path, std::string("/by/hand/nano-step-7"));
  }

  void aProgramWithoutAFolderIsToldOnce() {
    sim::MemoryStore journal;
    Office o(journal);
    for (std::int64_t step = 1; step <= 3; ++step) {
      o.job().step = step;
      o.desk.OnProgram(o.job());
    }
    QVERIFY(o.sent.empty() && !o.Status().is_saving);
    QCOMPARE(o.around.num_events(), std::size_t{1});
    const engine::Event event = o.around.events().back();
    QCOMPARE(event.severity, engine::Severity::kWarning);
    QCOMPARE(event.text,
             std::string("no checkpoint was saved: the program requested one, and 'nano' has no "
                         "folder for checkpoints; `tesseractl checkpoint save nano DIR` saves one, "
                         "and those of the program are then saved in DIR, too"));
    QCOMPARE(o.Status().failed, std::int64_t{3});
  }

  // What is requested meanwhile is saved afterwards, once.
  void aProgramThatRequestsManyGetsOneAtATime() {
    sim::MemoryStore journal;
    Office o(journal);
    o.Save("/c");
    for (std::int64_t step = 1; step <= 3; ++step) {
      o.job().step = step;
      o.desk.OnProgram(o.job());
    }
    o.Complete();
    QVERIFY(!o.Status().is_saving);
    o.desk.Tick();
    QVERIFY(o.Status().is_saving);
    o.Complete();
    QVERIFY(o.Status().step == 3);
    o.desk.Tick();
    QVERIFY(!o.Status().is_saving);
  }

  void badRequestsAreRefused() {
    sim::MemoryStore journal;
    Office o(journal);
    o.Save("https://store/c");
    QVERIFY(o.replies.back().error().message().find("is a URL") != std::string::npos);
    o.Save("c");
    QVERIFY(o.replies.back().error().message().find("is not absolute") != std::string::npos);
    o.Save("");
    QVERIFY(o.replies.back().error().message().find("needs a folder") != std::string::npos);
    o.Schedule(10, -1);
    QVERIFY(o.replies.back().error().message().find("-1 checkpoints") != std::string::npos);
    QVERIFY(o.sent.empty());
  }

  void anUnusableCheckpointIsNotOffered() {
    sim::MemoryStore journal;
    Office o(journal);
    o.Save("/c");
    o.Complete();
    o.around.Pass(seconds(1));
    o.job().step = 5;
    o.Save("/c");
    o.Complete();
    QCOMPARE(o.desk.Newest(kJob)->step, std::int64_t{5});
    // One that cannot be reached now is offered again later, a damaged one is not.
    o.desk.NoteProblem("/c/nano-step-5", "no route", false);
    QCOMPARE(o.desk.Newest(kJob)->step, std::int64_t{0});
    o.around.Pass(seconds(61));
    QCOMPARE(o.desk.Newest(kJob)->step, std::int64_t{5});
    o.desk.NoteProblem("/c/nano-step-5", "tensor 'w' is damaged", true);
    o.around.Pass(seconds(61));
    QCOMPARE(o.desk.Newest(kJob)->step, std::int64_t{0});
    Office later(journal, false);
    QVERIFY(later.desk.Recover());
    QCOMPARE(later.desk.Newest(kJob)->step, std::int64_t{0});
  }

  // The job went back from step 40 to step 15: what was saved at 20 never happened.
  void onlyThePastOfTheJobIsOffered() {
    sim::MemoryStore journal;
    Office o(journal);
    for (const std::int64_t step : {10, 20}) {
      o.job().step = step;
      o.Save("/c");
      o.Complete();
      o.around.Pass(seconds(1));
    }
    QCOMPARE(o.desk.Newest(kJob)->step, std::int64_t{20});
    o.job().timeline = 1;
    o.desk.OnTimeline(kJob, 1, 15);
    QCOMPARE(o.desk.Newest(kJob)->step, std::int64_t{10});
    o.job().step = 18;
    o.Save("/c");
    o.Complete();
    QCOMPARE(o.desk.Newest(kJob)->path, std::string("/c/nano-step-18-t1"));
    Office later(journal, false);
    QVERIFY(later.jobs.Recover());
    QVERIFY(later.desk.Recover());
    QCOMPARE(later.desk.Newest(kJob)->step, std::int64_t{18});
    later.desk.OnTimeline(kJob, 2, 12);
    QCOMPARE(later.desk.Newest(kJob)->step, std::int64_t{10});
    // A later job of that name has another past.
    later.desk.Forget(kJob);
    QVERIFY(!later.desk.Newest(kJob));
    QCOMPARE(later.Status().count, std::int64_t{0});
  }

  void theSettingsOfTheJobMustFit() {
    const Job job = TwoStages();
    checkpoint::Manifest manifest;
    manifest.settings = engine::ToJson(job.settings);
    for (const ptc::TensorSpec& spec : job.layout.collection().tensors()) {
      manifest.tensors.push_back({spec.name, spec.dtype, spec.shape, 0});
    }
    const auto fits = [&](const engine::JobSettings& settings, bool parameters_only) {
      return StateFor(manifest, "/c", settings, job.layout.collection(), parameters_only);
    };
    QVERIFY(fits(job.settings, false));
    engine::JobSettings other = job.settings;
    other.seed = 8;
    QVERIFY(fits(other, true));
    QVERIFY(fits(other, false).error().message.find("its job had seed 7, this one has 8") !=
            std::string::npos);
    other = job.settings;
    other.global_batch = 99;
    QVERIFY(fits(other, false).error().message.find("this one has 99") != std::string::npos);
  }
};

TESSERA_TEST(CheckpointDeskTest)
#include "checkpoint_desk_test.moc"
