// SPDX-License-Identifier: Apache-2.0
#include "agents/views/view_desk.h"

#include <QTest>
#include <future>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "engine/model/gpt.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::agents;
using namespace std::chrono_literals;

namespace {

ViewableJob AnyJob() {
  const auto tensors = engine::MakeCollection({.model = *engine::FindModel("gpt-nano")}, false);
  ViewableJob job{"nano",
                  3,
                  1,
                  100,
                  *ptc::Layout::Make(*ptc::ParseDeviceMesh("dp=2,tp=2,pp=1 on 2x2"), *tensors),
                  "{}"};
  job.step_seconds = 0.1;
  return job;
}

/// A desk on its own loop. The test reads and answers its messages.
struct Office {
  struct ShiftedLoop : Loop {
    Clock::time_point now() const override { return Now() + time_passed; }
    Clock::duration time_passed{};
  };
  ShiftedLoop loop;
  Result<ViewableJob> job = AnyJob();
  std::vector<std::pair<std::int32_t, wire::ToNode>> sent;
  std::set<std::int32_t> gone;
  std::vector<Result<wire::ViewReply>> replies;
  int looks = 0;  // how often the desk requested the job
  std::optional<ViewDesk> desk;
  std::thread thread;

  explicit Office(ViewDesk::Limits limits = {}) {
    ViewDesk::World world;
    world.job = [this](const std::string&) {
      ++looks;
      return job;
    };
    world.send = [this](std::int32_t node, const wire::ToNode& message) -> Status {
      if (gone.contains(node)) return Unavailable("n" + std::to_string(node) + " is not connected");
      sent.emplace_back(node, message);
      return OkStatus();
    };
    world.describe = [](std::int32_t node, const std::string&, std::uint64_t,
                        wire::ViewShare* share) {
      share->add_lanes("lane of n" + std::to_string(node));
    };
    desk.emplace(loop, std::move(world), limits);
    thread = std::thread([this] { loop.Run(); });
  }
  ~Office() {
    loop.Stop();
    thread.join();
  }

  template <typename Task>
  auto Do(Task task) {
    std::promise<decltype(task())> done;
    loop.Post([&] { done.set_value(task()); });
    return done.get_future().get();
  }
  void PassTime(std::chrono::seconds time) {
    Do([&] { return loop.time_passed += time; });
  }
  /// Waits until the desk has requested the job `count` more times.
  bool AwaitLooks(int count) {
    const int wanted = Do([&] { return looks; }) + count;
    return QTest::qWaitFor([&] { return Do([&] { return looks; }) >= wanted; });
  }
  void AskAs(const std::string& id) { Ask(std::int64_t{1} << 40, 0, id); }
  void Ask(std::int64_t limit = std::int64_t{1} << 40, std::int64_t used = 0,
           const std::string& id = {}) {
    Do([&] {
      wire::ViewRequest request;
      request.set_job("nano");
      request.set_limit(limit);
      request.set_used(used);
      desk->Take(id, request,
                 [this](Result<wire::ViewReply> reply) { replies.push_back(std::move(reply)); });
      return 0;
    });
  }
  /// The TakeView messages of the last attempt.
  std::vector<std::pair<std::int32_t, wire::TakeView>> Asked() {
    return Do([&] {
      std::vector<std::pair<std::int32_t, wire::TakeView>> takes;
      for (const auto& [node, message] : sent) {
        if (!message.has_take_view()) continue;
        if (!takes.empty() && takes.back().second.view() != message.take_view().view()) {
          takes.clear();
        }
        takes.emplace_back(node, message.take_view());
      }
      return takes;
    });
  }
  int NumReleased(std::uint64_t view) {
    return Do([&] {
      int count = 0;
      for (const auto& [node, message] : sent) {
        count += message.has_release_views() && message.release_views().views(0) == view ? 1 : 0;
      }
      return count;
    });
  }
  int NumKept(std::uint64_t view, std::int32_t by) {
    return Do([&] {
      int count = 0;
      for (const auto& [node, message] : sent) {
        count +=
            node == by && message.has_keep_views() && message.keep_views().views(0) == view ? 1 : 0;
      }
      return count;
    });
  }
  void NodeGone(std::int32_t node, const std::string& why) {
    Do([&] {
      desk->OnNodeGone(node, why);
      return 0;
    });
  }
  Status Keep(std::uint64_t view) {
    return Do([&] {
      wire::KeepViewsRequest request;
      request.add_views(view);
      return desk->Keep(request);
    });
  }
  void Release(std::uint64_t view) {
    Do([&] {
      wire::ReleaseViewsRequest request;
      request.add_views(view);
      desk->Release(request);
      return 0;
    });
  }
  /// Reports that every node has taken its share of the last attempt.
  /// \return the view
  std::uint64_t TakeAll() {
    const std::uint64_t view = Asked()[0].second.view();
    for (const int node : {0, 1}) Report(node, view, wire::ViewReport::TAKEN);
    return view;
  }
  std::size_t NumReplies() {
    return Do([&] { return replies.size(); });
  }
  void Report(std::int32_t node, std::uint64_t view, wire::ViewReport::Kind kind,
              std::int64_t step = 0, const Error& error = {}) {
    Do([&] {
      wire::ViewReport report;
      report.set_view(view);
      report.set_kind(kind);
      report.set_step(step);
      report.set_bytes(1000 + node);
      report.set_path("path of n" + std::to_string(node));
      if (kind == wire::ViewReport::FAILED) Encode(error, report.mutable_error());
      desk->OnReport(node, report);
      return 0;
    });
  }
};

}  // namespace

class ViewDeskTest : public QObject {
  Q_OBJECT

 private slots:
  void stepIsTheOneThatIsBeingMade_data() {
    QTest::addColumn<double>("since");
    QTest::addColumn<double>("length");
    QTest::addColumn<double>("margin");
    QTest::addColumn<qint64>("step");
    QTest::newRow("just decided, long steps") << 0.0 << 2.0 << 0.01 << qint64{100};
    QTest::newRow("next is about to begin") << 1.995 << 2.0 << 0.01 << qint64{101};
    QTest::newRow("short steps") << 0.0 << 0.004 << 0.01 << qint64{102};
    QTest::newRow("late: not expected to catch up") << 60.0 << 2.0 << 0.01 << qint64{101};
    QTest::newRow("nearly no time a step") << 0.0 << 0.0 << 0.01 << qint64{110};
  }
  void stepIsTheOneThatIsBeingMade() {
    QFETCH(double, since);
    QFETCH(double, length);
    QFETCH(double, margin);
    QFETCH(qint64, step);
    ViewableJob job = AnyJob();
    job.since_step = since;
    job.step_seconds = length;
    QCOMPARE(qint64{StepOfView(job, margin)}, step);
    job.max_steps = 100;  // no step follows
    QCOMPARE(StepOfView(job, margin), 100);
    job.max_steps = 0;
    job.paused = true;
    QCOMPARE(StepOfView(job, margin), 100);
  }

  void aViewHasASharePerNode() {
    Office office;
    office.Ask();
    const auto asked = office.Asked();
    QCOMPARE(asked.size(), std::size_t{2});
    const wire::TakeView& take = asked[0].second;
    QCOMPARE(take.epoch(), 3);
    QCOMPARE(take.layout_hash(), office.job->layout.hash());
    office.Report(0, take.view(), wire::ViewReport::TAKEN);
    QCOMPARE(office.NumReplies(), std::size_t{0});
    office.Report(1, take.view(), wire::ViewReport::TAKEN);
    QCOMPARE(office.NumReplies(), std::size_t{1});
    QVERIFY(office.replies[0]);
    const wire::ViewReply& reply = *office.replies[0];
    QCOMPARE(reply.view(), take.view());
    QCOMPARE(reply.job().step(), take.step());
    QCOMPARE(reply.job().layout(), ptc::ToJson(office.job->layout));
    QCOMPARE(reply.shares_size(), 2);
    QCOMPARE(reply.shares(1).path(), std::string("path of n1"));
    QCOMPARE(reply.shares(1).lanes(0), std::string("lane of n1"));
    QCOMPARE(office.NumReleased(take.view()), 0);
  }

  void tooLateTriesALaterStep() {
    Office office;
    office.Ask();
    const wire::TakeView first = office.Asked()[0].second;
    office.Report(0, first.view(), wire::ViewReport::TAKEN);
    office.Report(1, first.view(), wire::ViewReport::TOO_LATE, first.step() + 7);
    QTRY_VERIFY(office.Asked()[0].second.view() != first.view());
    QCOMPARE(office.NumReleased(first.view()), 2);
    const wire::TakeView second = office.Asked()[0].second;
    QVERIFY(second.step() >= first.step() + 7);
    office.Report(0, first.view(), wire::ViewReport::TAKEN);  // of the old view: released again
    QCOMPARE(office.NumReleased(first.view()), 3);
    for (const int node : {0, 1}) office.Report(node, second.view(), wire::ViewReport::TAKEN);
    QVERIFY(office.replies.at(0));
    QCOMPARE(office.replies[0]->job().step(), second.step());
  }

  void aJobThatStandsIsViewedThere() {
    Office office;
    office.Ask();
    const wire::TakeView first = office.Asked()[0].second;
    office.Report(1, first.view(), wire::ViewReport::PAUSED, 99);
    QTRY_VERIFY(office.Asked()[0].second.view() != first.view());
    QCOMPARE(office.Asked()[0].second.step(), 99);
  }

  void limitsAreNamed() {
    Office office;
    const std::int64_t bytes = engine::ViewPlan(office.job->layout).total_bytes();
    office.Ask(bytes + 10, 11);
    QCOMPARE(office.NumReplies(), std::size_t{1});
    const Error error = office.replies[0].error();
    QCOMPARE(error.code, ErrorCode::kResourceExhausted);
    QCOMPARE(error.message, "a view of 'nano' takes " + std::to_string(bytes) +
                                " bytes, and 11 of the " + std::to_string(bytes + 10) +
                                " bytes of view memory are in use");
    office.Ask(bytes + 10, 10);
    QCOMPARE(office.Asked().size(), std::size_t{2});
    office.Ask(-1, -5);
    office.Ask(std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max());
    QCOMPARE(office.NumReplies(), std::size_t{1});  // they wait for the first request
    for (const int node : {0, 1}) {
      office.Report(node, office.Asked()[0].second.view(), wire::ViewReport::TAKEN);
    }
    QTRY_COMPARE(office.NumReplies(), std::size_t{4});
    QVERIFY(office.replies[1]);
    QCOMPARE(office.replies[2].error().code, ErrorCode::kResourceExhausted);
    QCOMPARE(office.replies[3].error().code, ErrorCode::kResourceExhausted);
  }

  void aNodeWithoutMemoryIsNamed() {
    Office office;
    office.Ask();
    const std::uint64_t view = office.Asked()[0].second.view();
    office.Report(1, view, wire::ViewReport::FAILED, 0, ResourceExhausted("no memory for 5 bytes"));
    QCOMPARE(office.NumReplies(), std::size_t{1});
    QCOMPARE(office.replies[0].error().code, ErrorCode::kResourceExhausted);
    QVERIFY(office.replies[0].error().ToString().find("no memory for 5 bytes") !=
            std::string::npos);
    QCOMPARE(office.NumReleased(view), 2);
  }

  void aTransactionComesFirst() {
    Office office;
    office.Ask();
    const wire::TakeView first = office.Asked()[0].second;
    office.Do([&] {
      office.job->busy = "transaction 5 is transferring";
      office.desk->OnTransfer("another");
      return 0;
    });
    QCOMPARE(office.NumReleased(first.view()), 0);
    office.Do([&] {
      office.desk->OnTransfer("nano");
      return 0;
    });
    QCOMPARE(office.NumReleased(first.view()), 2);
    QVERIFY(office.AwaitLooks(3));
    QCOMPARE(office.Asked()[0].second.view(), first.view());  // the transaction still runs
    office.Do([&] {
      office.job->busy.clear();
      office.job->epoch = 4;
      return 0;
    });
    QTRY_VERIFY(office.Asked()[0].second.view() != first.view());
    QCOMPARE(office.Asked()[0].second.epoch(), 4);
    QCOMPARE(office.NumReplies(), std::size_t{0});
  }

  void aTransactionThatGoesOnIsNamed() {
    Office office({.transaction = 200ms, .attempts = 200ms});
    office.job->busy = "transaction 5 is transferring";
    office.Ask();
    QTRY_COMPARE(office.NumReplies(), std::size_t{1});
    QCOMPARE(office.replies[0].error().code, ErrorCode::kUnavailable);
    QVERIFY(office.replies[0].error().message.find("transaction 5 is transferring") !=
            std::string::npos);
    QVERIFY(office.sent.empty());
  }

  void aStepThatIsNeverCaughtEnds() {
    Office office({.transaction = 200ms, .attempts = 300ms});
    office.job->step_seconds = 0.001;
    office.Ask();
    std::uint64_t last = 0;
    QTRY_VERIFY_WITH_TIMEOUT(
        [&] {
          const wire::TakeView take = office.Asked()[0].second;
          if (take.view() != last) {
            last = take.view();
            office.Report(0, last, wire::ViewReport::TOO_LATE, take.step() + 1);
          }
          return office.NumReplies() == 1;
        }(),
        5000);
    QCOMPARE(office.replies[0].error().code, ErrorCode::kTimeout);
  }

  void aLostNodeIsNamed_data() {
    QTest::addColumn<bool>("has_taken");
    QTest::newRow("while it takes its share") << false;
    QTest::newRow("with its share, before the others have theirs") << true;
  }
  void aLostNodeIsNamed() {
    QFETCH(bool, has_taken);
    Office office;
    office.Ask();
    const std::uint64_t view = office.Asked()[0].second.view();
    if (has_taken) office.Report(1, view, wire::ViewReport::TAKEN);
    office.NodeGone(7, "n7 has no share of it");
    QCOMPARE(office.NumReplies(), std::size_t{0});
    office.NodeGone(1, "the agent of n1 restarted");
    QCOMPARE(office.NumReplies(), std::size_t{1});
    QCOMPARE(office.replies[0].error().code, ErrorCode::kUnavailable);
    QVERIFY(office.replies[0].error().message.find("the agent of n1 restarted") !=
            std::string::npos);
    QCOMPARE(office.NumReleased(view), 2);
  }

  void aLostNodeEndsWhatItHolds() {
    Office office;
    office.Ask();
    const std::uint64_t view = office.TakeAll();
    QVERIFY(office.Keep(view));
    QVERIFY(office.Keep(view + 1));  // may be a view of an earlier registrar
    office.NodeGone(7, "n7 holds nothing of it");
    QVERIFY(office.Keep(view));
    QCOMPARE(office.NumReleased(view), 0);
    office.NodeGone(1, "n1 was silent for 10 s");
    QCOMPARE(office.NumReleased(view), 0);  // the client does not know it yet
    const Status lost = office.Keep(view);
    QVERIFY(!lost);
    QCOMPARE(office.NumReleased(view), 2);
    QCOMPARE(lost.error().code, ErrorCode::kDataLoss);
    QVERIFY2(lost.error().message.find("is lost: n1 was silent for 10 s") != std::string::npos,
             lost.error().message.c_str());
    office.Release(view);
    QVERIFY(office.Keep(view));  // forgotten
  }

  // A client that reconnects sends its unanswered requests again.
  void whatIsAskedAgainIsOneView() {
    Office office;
    office.AskAs("a");
    office.AskAs("a");
    office.AskAs("b");
    const std::uint64_t view = office.TakeAll();
    QCOMPARE(office.NumReplies(), std::size_t{2});
    for (const auto& reply : office.replies) QCOMPARE(reply->view(), view);
    QTRY_VERIFY(office.Asked()[0].second.view() != view);
    const std::uint64_t other = office.TakeAll();
    const int kept = office.NumKept(view, 1);
    office.AskAs("a");  // the answer was lost
    QCOMPARE(office.NumReplies(), std::size_t{4});
    QCOMPARE(office.replies[3]->view(), view);
    QCOMPARE(office.NumKept(view, 1), kept + 1);
    QCOMPARE(office.Asked()[0].second.view(), other);
    // A lost or released view is not returned again.
    office.Release(view);
    office.AskAs("a");
    QVERIFY(office.Asked()[0].second.view() != other);
    office.TakeAll();
    QCOMPARE(office.NumReplies(), std::size_t{5});
    office.NodeGone(0, "n0 was silent for 10 s");
    office.AskAs("b");
    QCOMPARE(office.NumReplies(), std::size_t{5});
  }

  void anAnswerIsRememberedAsLongAsItsLease() {
    Office office({.lease = 30s});
    office.AskAs("a");
    const std::uint64_t view = office.TakeAll();
    office.PassTime(29s);
    office.AskAs("a");  // this renews the lease
    QCOMPARE(office.NumReplies(), std::size_t{2});
    office.PassTime(31s);
    office.AskAs("a");
    QCOMPARE(office.NumReplies(), std::size_t{2});
    QVERIFY(office.Asked()[0].second.view() != view);
  }

  // A node that finishes long before the others keeps its share until they finish.
  void sharesWaitForEachOther() {
    Office office({.lease = 120ms});
    office.Ask();
    const std::uint64_t view = office.Asked()[0].second.view();
    office.Report(1, view, wire::ViewReport::TAKEN);
    QTRY_VERIFY(office.NumKept(view, 1) >= 5);
    QCOMPARE(office.NumKept(view, 0), 0);
    office.Report(0, view, wire::ViewReport::TAKEN);
    QVERIFY(office.NumKept(view, 0) > 0);
    QCOMPARE(office.NumReplies(), std::size_t{1});
  }

  // Neither the time in the queue nor a transaction counts against the attempts.
  void clocksStandDuringATransaction() {
    Office office({.transaction = 250s, .attempts = 400s});
    office.job->step_seconds = 0.001;
    office.Ask();
    office.Ask();
    office.PassTime(300s);  // longer than the wait for a transaction
    for (int i = 0; i < 2; ++i) {
      office.Do([&] {
        office.job->busy = "transaction 5 is transferring";
        office.desk->OnTransfer("nano");
        return 0;
      });
      QVERIFY(office.AwaitLooks(1));
      office.PassTime(200s);
      QVERIFY(office.AwaitLooks(1));
      const std::uint64_t before = office.Asked()[0].second.view();
      office.Do([&] {
        office.job->busy.clear();
        return 0;
      });
      QTRY_VERIFY(office.Asked()[0].second.view() != before);
    }
    QCOMPARE(office.NumReplies(), std::size_t{0});
    office.TakeAll();
    QVERIFY(office.replies.at(0));
  }

  void stepLengthsThatAreNoneDoNoHarm() {
    for (const double seconds : {std::numeric_limits<double>::infinity(),
                                 std::numeric_limits<double>::quiet_NaN(), 1e300, -1.0}) {
      Office office;
      office.job->step_seconds = seconds;
      office.job->since_step = seconds;
      office.Ask();
      const auto asked = office.Asked();
      QCOMPARE(asked.size(), std::size_t{2});
      QVERIFY(asked[0].second.deadline() > 0 && asked[0].second.deadline() <= 24 * 3600);
      QVERIFY(asked[0].second.step() >= 100 && asked[0].second.step() <= 200);
    }
  }

  void aNodeThatIsNotThereIsNamed() {
    Office office;
    office.gone = {1};
    office.Ask();
    QCOMPARE(office.NumReplies(), std::size_t{1});
    QCOMPARE(office.replies[0].error().code, ErrorCode::kUnavailable);
    QVERIFY(office.replies[0].error().message.find("n1 is not connected") != std::string::npos);
  }

  void theEndOfAJobAnswersAllWhoWait() {
    Office office;
    office.Ask();
    office.Ask();
    office.Do([&] {
      office.desk->OnJobOver("nano", Cancelled("job 'nano' was stopped"));
      return 0;
    });
    QCOMPARE(office.NumReplies(), std::size_t{2});
    for (const auto& reply : office.replies) QCOMPARE(reply.error().code, ErrorCode::kCancelled);
    office.Ask();  // the desk is free again
    QCOMPARE(office.Asked().size(), std::size_t{2});
  }

  void aJobThatIsNotThereIsSaid() {
    Office office;
    office.job = NotFound("job 'nano' does not exist");
    office.Ask();
    QCOMPARE(office.NumReplies(), std::size_t{1});
    QCOMPARE(office.replies[0].error().code, ErrorCode::kNotFound);
  }
};
TESSERA_TEST_APPLESS(ViewDeskTest)
#include "view_desk_test.moc"
