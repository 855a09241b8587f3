// SPDX-License-Identifier: Apache-2.0
// Views of a job that makes steps: each is the whole state of one step, whatever happens meanwhile,
// and neither the state of the job nor what it learns differs from that without views.
#include <QCoreApplication>
#include <QElapsedTimer>
#include <QProcess>
#include <QTest>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <future>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "agents/client/cluster_state.h"
#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "ptc/digest.h"
#include "tests/e2e/losses.h"
#include "tests/support/digests.h"
#include "tests/support/exact_job.h"
#include "tests/support/local_cluster.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::test;
using engine::vfs::StateSource;
using engine::vfs::StateView;
using engine::vfs::StateViewPtr;

namespace {

const QString kJob = QStringLiteral("viewed");
const QString kBothNodes = QStringLiteral("n0g0,n0g1,n1g0,n1g1");
const QString kSixDevices = QStringLiteral("n0g0,n0g1,n0g2,n1g0,n1g1,n1g2");
// For the cluster and the clients of this test. The defaults are 30 s and 5 s.
constexpr int kLeaseSeconds = 4;
constexpr std::chrono::milliseconds kRenewal{500};

Result<std::vector<std::byte>> ReadTensor(const StateView& view, int tensor) {
  const ptc::TensorSpec& spec =
      view.info().layout.collection().tensors()[static_cast<std::size_t>(tensor)];
  const ptc::Box whole = *ptc::Box::Whole(spec.shape);
  std::vector<std::byte> bytes(
      static_cast<std::size_t>(whole.num_elements() * ptc::SizeBytes(spec.dtype)));
  TESSERA_RETURN_IF_ERROR(view.Read(tensor, whole, bytes));
  return bytes;
}

/// The step in the state itself: the scalar that the update increments.
std::int64_t StepIn(const StateView& view) {
  const auto tensor = view.info().layout.collection().Find("step");
  if (!tensor) return -2;
  const auto bytes = ReadTensor(view, *tensor);
  if (!bytes || bytes->size() != 8) return -3;
  std::int64_t step = 0;
  std::memcpy(&step, bytes->data(), 8);
  return step;
}

/// Digests as `digest` prints them: by tensor, and of all tensors.
struct Digests {
  std::map<std::string, std::string> tensors;
  std::string all;
};
Result<Digests> DigestsOf(const StateView& view) {
  Digests out;
  std::vector<std::uint64_t> values;
  const auto& tensors = view.info().layout.collection().tensors();
  for (int t = 0; t < static_cast<int>(tensors.size()); ++t) {
    const ptc::TensorSpec& spec = tensors[static_cast<std::size_t>(t)];
    TESSERA_TRY(const std::vector<std::byte> bytes, ReadTensor(view, t));
    const ptc::Box whole = *ptc::Box::Whole(spec.shape);
    values.push_back(ptc::DigestBox(spec.dtype, spec.shape, whole, bytes.data(), whole));
    out.tensors[spec.name] = ptc::Hex16(values.back());
  }
  out.all = ptc::Hex16(ptc::CollectionDigest(view.info().layout.collection(), values));
  return out;
}

Result<std::unique_ptr<StateSource>> Open(const QString& profile,
                                          agents::ClusterStateOptions options = {}) {
  options.renewal = kRenewal;
  TESSERA_TRY(const agents::Profile loaded, agents::LoadProfile(profile.toStdString()));
  return agents::OpenClusterState(loaded, options);
}

/// The client that a test kills: pins a view, prints a line, and waits.
int PinAndWait(const QString& profile, const QString& job) {
  const auto source = Open(profile);
  if (!source) return 1;
  const auto view = (*source)->Pin(job.toStdString());
  if (!view) return 2;
  std::printf("pinned\n");
  std::fflush(stdout);
  for (;;) std::this_thread::sleep_for(std::chrono::seconds(60));
}

}  // namespace

class E2eViewsTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    m_cluster = std::make_unique<LocalCluster>(LocalCluster::Options{});
    QVERIFY2(m_cluster->up().code == 0, m_cluster->up().Text());
    QVERIFY(m_cluster->Configure({{"view_lease_seconds", kLeaseSeconds}}));
  }
  void cleanupTestCase() { m_cluster.reset(); }
  void cleanup() {
    if (!QTest::currentTestFailed()) return;
    for (const QString& job : {kJob, QStringLiteral("same")})
      m_cluster->Run({"job", "stop", job, "--yes"});
  }

  void fiftyViewsAreOfOneStepEach_data() {
    QTest::addColumn<bool>("mapped");
    QTest::newRow("mapped") << true;
    QTest::newRow("over lanes") << false;
  }
  void fiftyViewsAreOfOneStepEach() {
    QFETCH(bool, mapped);
    QVERIFY(trains());
    agents::ClusterStateOptions options;
    options.map_memory = mapped;
    const auto source = open(options);
    QVERIFY(source);
    std::int64_t before = -1;
    double longest = 0, sum = 0;
    for (int i = 0; i < 50; ++i) {
      QElapsedTimer clock;
      clock.start();
      const auto view = source->Pin(kJob.toStdString());
      QVERIFY2(view, view ? "" : view.error().ToString().c_str());
      const double took = static_cast<double>(clock.nsecsElapsed()) / 1e6;
      longest = std::max(longest, took);
      sum += took;
      QCOMPARE(StepIn(**view), (*view)->info().step);
      QVERIFY((*view)->info().step >= before);
      before = (*view)->info().step;
    }
    qInfo("a view takes %.1f ms, %.1f ms at most", sum / 50, longest);
    QVERIFY(m_cluster->GoesOn(kJob));
    QVERIFY(freed(10));
  }

  void oneViewServesAllOfTheProcess() {
    QVERIFY(trains());
    const auto source = open({});
    QVERIFY(source);
    StateViewPtr first = *source->Pin(kJob.toStdString());
    std::vector<std::future<StateViewPtr>> others;
    for (int i = 0; i < 4; ++i) {
      others.push_back(
          std::async(std::launch::async, [&] { return *source->Pin(kJob.toStdString()); }));
    }
    for (auto& other : others) QCOMPARE(other.get().get(), first.get());
    const std::int64_t step = first->info().step;
    QVERIFY(m_cluster->GoesOn(kJob));
    QCOMPARE(StepIn(*first), step);
    first.reset();
    const auto later = source->Pin(kJob.toStdString());
    QVERIFY(later && (*later)->info().step > step);
    const auto jobs = source->Jobs();
    QVERIFY(jobs);
    QCOMPARE(jobs->size(), std::size_t{1});
    QCOMPARE(jobs->front().name, kJob.toStdString());
    QVERIFY(jobs->front().layout == (*later)->info().layout);
    QVERIFY(jobs->front().settings_json.find("tessera-exact-job") != std::string::npos);
    const auto none = source->Pin("another");
    QVERIFY(!none);
    QCOMPARE(none.error().code, ErrorCode::kNotFound);
  }

  // A second job, paused after the same step, has equal digests, as the command line computes them
  // in place.
  void aViewIsTheStateOfTheSameJobPausedThere() {
    QVERIFY(trains(Age::kNew));
    const auto source = open({});
    QVERIFY(source);
    const auto view = source->Pin(kJob.toStdString());
    QVERIFY(view);
    agents::ClusterStateOptions remote;
    remote.map_memory = false;
    const auto far = open(remote);
    const auto far_view = far->Pin(kJob.toStdString());
    QVERIFY(far_view);
    for (const StateViewPtr& each : {*view, *far_view}) {
      const std::int64_t step = each->info().step;
      const Outcome start = StartExactJob(*m_cluster, "same", "dp=2,tp=2", "n0g2,n0g3,n1g2,n1g3",
                                          {}, {.steps = step});
      QVERIFY2(start.code == 0, start.Text());
      QVERIFY(m_cluster->WaitJob(
          "same", [](const Json& j) { return j["state"] == "paused"; }, 120));
      const Json expected = m_cluster->Ask({"digest", "same"});
      QVERIFY(expected.is_object());
      QCOMPARE(expected["step"].get<std::int64_t>(), step);
      const auto digests = DigestsOf(*each);
      QVERIFY2(digests, digests ? "" : digests.error().ToString().c_str());
      for (const auto& [name, digest] : digests->tensors) {
        QVERIFY2(expected["tensors"][name] == digest, name.c_str());
      }
      QCOMPARE(digests->tensors.size(), expected["tensors"].size());
      VERIFY_DIGESTS(digests->all, expected["digest"]);
      // Every view of a paused job shows the step after which it paused.
      const auto paused = source->Pin("same");
      QVERIFY(paused);
      QCOMPARE((*paused)->info().step, step);
      VERIFY_DIGESTS(DigestsOf(**paused)->all, digests->all);
      m_cluster->Run({"job", "stop", "same", "--yes"});
    }
  }

  void viewsDoNotChangeWhatIsLearned() {
    constexpr int kSteps = 80;
    const QStringList more = {"--global-batch", "16", "--steps", QString::number(kSteps)};
    std::vector<Run> runs;
    m_cluster->Run({"job", "stop", kJob, "--yes"});
    for (const bool viewed : {false, true}) {
      const Outcome start = m_cluster->StartJob(kJob, "dp=2,tp=2", kBothNodes, more);
      QVERIFY2(start.code == 0, start.Text() + m_cluster->Run({"events"}).Text());
      const auto source = open({});
      std::atomic<bool> done{false};
      std::atomic<int> views{0};
      std::thread viewer([&] {
        while (viewed && !done) views += source->Pin(kJob.toStdString()) ? 1 : 0;
      });
      const bool ended = m_cluster->WaitJob(
          kJob, [](const Json& j) { return j["state"] == "paused"; }, 120);
      done = true;
      viewer.join();
      QVERIFY(ended);
      runs.push_back(RunOf(*m_cluster, kJob));
      QVERIFY(viewed ? views > 5 : views == 0);
      m_cluster->Run({"job", "stop", kJob, "--yes"});
    }
    QCOMPARE(runs[0].size(), std::size_t{kSteps});
    QCOMPARE(runs[1].size(), std::size_t{kSteps});
    for (const auto& [step, numbers] : runs[0]) {
      QVERIFY(runs[1].at(step).loss == numbers.loss);
      QVERIFY(runs[1].at(step).grad_norm == numbers.grad_norm);
    }
  }

  void viewsOfAJobThatIsReconfiguredMixNothing() {
    QVERIFY(trains(Age::kNew));
    const auto source = open({});
    std::atomic<bool> done{false};
    std::atomic<int> views{0}, mixed{0};
    std::set<std::int64_t> epochs;  // the thread's
    std::atomic<std::size_t> num_epochs{0};
    std::string problem;
    std::thread viewer([&] {
      while (!done) {
        const auto view = source->Pin(kJob.toStdString());
        if (!view) {
          problem = view.error().ToString();
          return;
        }
        ++views;
        epochs.insert((*view)->info().epoch);
        num_epochs = epochs.size();
        if (StepIn(**view) != (*view)->info().step) ++mixed;
        if (!DigestsOf(**view)) ++mixed;
      }
    });
    const std::vector<std::pair<QString, QString>> meshes = {
        {"dp=3,tp=2", kSixDevices}, {"dp=1,tp=2", "n1g0,n1g1"}, {"dp=2,tp=2", kBothNodes}};
    QElapsedTimer clock;
    clock.start();
    int committed = 0, tried = 0;
    // Twice through all meshes, and on until there are views of some epochs.
    const auto isEnough = [&] { return tried >= 6 && views > 10 && num_epochs > 2; };
    for (; !isEnough() && clock.elapsed() < 30000; ++tried) {
      const auto& [mesh, devices] = meshes[static_cast<std::size_t>(tried) % meshes.size()];
      const Json result = m_cluster->Apply(kJob, mesh, devices);
      committed += result.is_object() && result["result"] == "committed" ? 1 : 0;
      QTest::qSleep(300);
    }
    done = true;
    viewer.join();
    QVERIFY2(problem.empty(), problem.c_str());
    qInfo("%d views of %zu epochs through %d reconfigurations", views.load(), epochs.size(),
          committed);
    QCOMPARE(committed, tried);
    QCOMPARE(mixed.load(), 0);
    QVERIFY(views > 10 && epochs.size() > 2);
    QVERIFY(m_cluster->GoesOn(kJob));
    const QString wrong = WrongStepsOfExactJob(*m_cluster, kJob);
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
  }

  // A transaction that waits for a step far ahead does not block views.
  void viewsAreTakenWhileATransactionWaitsForItsStep() {
    QVERIFY(trains());
    const auto source = open({});
    QVERIFY(source);
    const auto apply = m_cluster->Start({"apply", kJob, "--devices", kSixDevices, "--mesh",
                                         "dp=3,tp=2", "--at-step", "1000000", "--yes", "--json"});
    std::int64_t before = -1;
    const auto isIn = [&](const std::string& phase) { return m_cluster->Phase() == phase; };
    for (const bool prepared : {false, true}) {
      QVERIFY(LocalCluster::WaitFor(
          [&] { return isIn("precopying") || (!prepared && isIn("preparing")); }, 30));
      const auto view = source->Pin(kJob.toStdString());
      QVERIFY2(view, view ? "" : view.error().ToString().c_str());
      QCOMPARE(StepIn(**view), (*view)->info().step);
      QVERIFY((*view)->info().step >= before);
      before = (*view)->info().step;
      QVERIFY(DigestsOf(**view));
    }
    QVERIFY(isIn("precopying"));
    QCOMPARE(m_cluster->Run({"txn", "cancel"}).code, 0);
    QCOMPARE(LocalCluster::Finish(*apply).LastJson()["result"].get<std::string>(),
             std::string("rolled_back"));
    QVERIFY(m_cluster->GoesOn(kJob));
    const auto after = source->Pin(kJob.toStdString());
    QVERIFY2(after, after ? "" : after.error().ToString().c_str());
    QVERIFY((*after)->info().step > before);
  }

  void memoryIsLimited() {
    QVERIFY(trains());
    agents::ClusterStateOptions options;
    options.view_memory_bytes = 1000;
    const auto source = open(options);
    const auto none = source->Pin(kJob.toStdString());
    QVERIFY(!none);
    QCOMPARE(none.error().code, ErrorCode::kResourceExhausted);
    const std::string text = none.error().ToString();
    QVERIFY2(text.find(" of the 1000 bytes of view memory are in use") != std::string::npos,
             text.c_str());
    const auto profile = agents::LoadProfile(profilePath().toStdString());
    const auto client = agents::ClusterClient::OpenForCommands(*profile);
    wire::Request request;
    request.mutable_events()->set_source(kJob.toStdString());
    request.mutable_events()->set_text("no view: ");
    const auto events = (*client)->CallAndWait(request, std::chrono::seconds(10));
    QVERIFY(events);
    QVERIFY(events->events().events_size() > 0);
  }

  void releaseFreesAndAnEndedJobFrees() {
    QVERIFY(trains());
    const auto source = open({});
    auto view = source->Pin(kJob.toStdString());
    QVERIFY(view);
    QVERIFY(LocalCluster::WaitFor([&] { return viewBytes() > 0; }, 5));
    view->reset();
    QVERIFY(freed(5));
    auto second = source->Pin(kJob.toStdString());
    QVERIFY(second);
    m_cluster->Run({"job", "stop", kJob, "--yes"});
    QVERIFY(freed(5));
    QCOMPARE(StepIn(**second), (*second)->info().step);  // mapped here: still there
  }

  void aClientThatDiesLetsGo() {
    QVERIFY(trains());
    QProcess client;
    client.start(QCoreApplication::applicationFilePath(), {"--pin", profilePath(), kJob});
    QVERIFY(client.waitForReadyRead(20000));
    QCOMPARE(client.readAllStandardOutput(), QByteArray("pinned\n"));
    QVERIFY(LocalCluster::WaitFor([&] { return viewBytes() > 0; }, 5));
    QTest::qSleep(1000 * (kLeaseSeconds + 1));
    QVERIFY(viewBytes() > 0);  // kept while its client lives, longer than the lease
    client.kill();
    QVERIFY(client.waitForFinished());
    QVERIFY(viewBytes() > 0);
    QVERIFY(freed(6 * kLeaseSeconds));
  }

  void anAgentThatDiesIsNamedAndTheJobGoesOn() {
    QVERIFY(trains());
    agents::ClusterStateOptions options;
    options.map_memory = false;
    const auto remote = open(options);
    const auto held = remote->Pin(kJob.toStdString());
    QVERIFY(held);
    const auto near = open({});
    const auto mapped = near->Pin(kJob.toStdString());
    QVERIFY(mapped);
    const auto before = DigestsOf(**mapped);

    const auto agent = m_cluster->Agent(1);
    QVERIFY(agent);
    const auto source = open({});
    QVERIFY(source->Jobs());  // connected
    app::signalProcess(*agent, SIGSTOP);
    auto pending = std::async(std::launch::async, [&] { return source->Pin(kJob.toStdString()); });
    QTest::qSleep(300);
    QVERIFY(LocalCluster::Kill(*agent));
    const auto lost = pending.get();
    QVERIFY(!lost);
    QVERIFY2(lost.error().ToString().find("n1") != std::string::npos,
             lost.error().ToString().c_str());
    QCOMPARE(lost.error().code, ErrorCode::kUnavailable);
    QVERIFY(m_cluster->GoesOn(kJob));

    // Reads over lanes fail with an error, and mapped memory stays readable.
    const auto gone = DigestsOf(**held);
    QVERIFY(!gone);
    const std::string text = gone.error().ToString();
    QVERIFY2(gone.error().code == ErrorCode::kDataLoss, text.c_str());
    QVERIFY2(text.find("tensor '") != std::string::npos && text.find("n1") != std::string::npos,
             text.c_str());
    QCOMPARE(DigestsOf(**mapped)->all, before->all);
    const auto again = source->Pin(kJob.toStdString());
    QVERIFY2(again, again ? "" : again.error().ToString().c_str());
    QCOMPARE(StepIn(**again), (*again)->info().step);
  }

 private:
  QString profilePath() const { return m_cluster->home() + "/profiles/t.json"; }
  std::unique_ptr<StateSource> open(const agents::ClusterStateOptions& options) const {
    auto source = Open(profilePath(), options);
    if (!source) qFatal("%s", source.error().ToString().c_str());
    return std::move(*source);
  }
  enum class Age { kAny, kNew };
  /// Makes the job run with dp=2,tp=2 on four devices of both nodes. One that already does is kept.
  bool trains(Age age = Age::kAny) {
    const Json job = m_cluster->Job(kJob);
    if (age == Age::kAny && job.is_object() && job["state"] == "running" && job["epoch"] == 1)
      return m_cluster->GoesOn(kJob);
    if (job.is_object()) m_cluster->Run({"job", "stop", kJob, "--yes"});
    const Outcome start = StartExactJob(*m_cluster, kJob, "dp=2,tp=2", kBothNodes);
    if (start.code != 0) qWarning("%s", start.Text().constData());
    return start.code == 0 && m_cluster->WaitStep(kJob, 3);
  }
  /// The memory of views on all nodes; -1 without an answer of the cluster.
  std::int64_t viewBytes() const {
    const Json status = m_cluster->Status();
    if (!status.is_object()) return -1;
    std::int64_t bytes = 0;
    for (const Json& node : status["nodes"]) bytes += node["view_bytes"].get<std::int64_t>();
    return bytes;
  }
  bool freed(int seconds) const {
    return LocalCluster::WaitFor([this] { return viewBytes() == 0; }, seconds);
  }

  std::unique_ptr<LocalCluster> m_cluster;
};

TESSERA_TEST_MAIN(argc, argv) {
  QCoreApplication application(argc, argv);
  const QStringList words = QCoreApplication::arguments();
  if (words.size() == 4 && words[1] == "--pin") return PinAndWait(words[2], words[3]);
  E2eViewsTest test;
  return QTest::qExec(&test, argc, argv);
}
#include "e2e_views_test.moc"
