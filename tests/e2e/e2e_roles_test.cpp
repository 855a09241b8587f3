// SPDX-License-Identifier: Apache-2.0
// A real cluster with a key of each role and a revoked key: which of them may look, act, and
// register as a node.
#include <QDir>
#include <QFile>
#include <QScopeGuard>
#include <QTest>
#include <atomic>
#include <chrono>
#include <nlohmann/json.hpp>

#include "agents/client/cluster.h"
#include "agents/client/cluster_state.h"
#include "agents/client/cluster_view.h"
#include "agents/net/socket.h"
#include "agents/node/config.h"
#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "agents/wire/tessera/wire/node.pb.h"
#include "agents/wire/tessera/wire/view.pb.h"
#include "tests/folders.h"
#include "tests/support/exact_job.h"
#include "tests/support/local_cluster.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using namespace tessera::test;
using namespace std::chrono_literals;

namespace {

const QString kJob = QStringLiteral("nano");
constexpr auto kRefresh = 6;  // seconds; an agent reads its keys every 2 s

}  // namespace

class E2eRolesTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    m_cluster = std::make_unique<LocalCluster>(LocalCluster::Options{
        .nodes = 2, .devices = 2, .memory = QStringLiteral("64M"), .link = {}, .one_host = false});
    QVERIFY2(m_cluster->up().code == 0, m_cluster->up().Text());
    const Outcome start = StartExactJob(*m_cluster, kJob, QStringLiteral("dp=2"), "n0g0,n1g0");
    QVERIFY2(start.code == 0, start.Text());
    QVERIFY(m_cluster->WaitStep(kJob, 2));
    QVERIFY(Admit("guest", "viewer"));
    QVERIFY(Admit("lena", "operator"));
  }
  void cleanupTestCase() { m_cluster.reset(); }

  void aViewerSees() {
    for (const QStringList& words :
         {QStringList{"status"}, QStringList{"history"}, QStringList{"events"},
          QStringList{"plan", kJob, "--mesh", "dp=4", "--devices", "n0g0,n0g1,n1g0,n1g1"}}) {
      const Outcome seen = As("guest", words);
      QVERIFY2(seen.code == 0, seen.Text());
    }
    const Outcome plan = As("guest", {"plan", kJob, "--mesh", "dp=1", "--devices", "n0g0"});
    QVERIFY2(plan.output.contains("was not asked whether it can run there: only operators may ask "
                                  "it, and this key is a viewer's"),
             plan.Text());
  }

  void aViewerChangesNothing() {
    const std::int64_t epoch = m_cluster->Job(kJob)["epoch"].get<std::int64_t>();
    for (const QStringList& words :
         {QStringList{"job", "pause", kJob}, QStringList{"job", "stop", kJob, "--yes"},
          QStringList{"digest", kJob}, QStringList{"topology", "--measure"},
          QStringList{"apply", kJob, "--mesh", "dp=4", "--devices", "n0g0,n0g1,n1g0,n1g1", "--yes"},
          QStringList{"job", "start", "gpt-nano", "--name", "other", "--devices", "n0g1"}}) {
      const Outcome refused = As("guest", words);
      QVERIFY2(refused.code == 1, refused.Text());
      QVERIFY2(refused.errors.contains("needs an operator's key; key 'guest' is a viewer's"),
               refused.Text());
    }
    QCOMPARE(m_cluster->Status()["jobs"].size(), std::size_t{1});
    QCOMPARE(m_cluster->Job(kJob)["state"].get<std::string>(), std::string("running"));
    QCOMPARE(m_cluster->Job(kJob)["epoch"].get<std::int64_t>(), epoch);
  }

  // Neither through the registrar nor, with a view of an operator, from the nodes' lanes.
  void aViewerReadsNoState() {
    const auto guest = ProfileOf("guest"), lena = ProfileOf("lena");
    QVERIFY(guest && lena);
    const auto own = agents::OpenClusterState(*guest, {.map_memory = false});
    VERIFY_OK(own);
    VERIFY_ERROR((*own)->Pin(kJob.toStdString()), ErrorCode::kPermissionDenied,
                 "'view' needs an operator's key");

    const auto client = agents::ClusterClient::OpenForCommands(*lena);
    VERIFY_OK(client);
    wire::Request ask;
    ask.mutable_view()->set_job(kJob.toStdString());
    ask.mutable_view()->set_limit(1 << 30);
    const auto view = (*client)->CallAndWait(std::move(ask), 30s);
    VERIFY_OK(view);
    QVERIFY(view->view().shares_size() > 0);
    for (const char* name : {"guest", "lena"}) {
      const auto answer = ReadTensor(name, view->view());
      QVERIFY2(answer.has_value() == (std::string(name) == "lena"), name);
    }
    QVERIFY(LocalCluster::WaitFor(
        [&] { return m_cluster->Run({"status"}).output.contains("not admitted"); }, 20));
  }

  // The name of the key is proved; program and user are what the client says.
  void historyNamesTheKey() {
    const Outcome moved =
        As("lena", {"apply", kJob, "--mesh", "dp=1", "--devices", "n0g0", "--yes"});
    QVERIFY2(moved.code == 0, moved.Text());
    const Json last = m_cluster->Ask({"history", "--job", kJob})["transactions"][0];
    QVERIFY2(last["who"].get<std::string>().starts_with("lena: tesseractl, "), last.dump().c_str());
  }

  // As a panel in Operate mode: everybody sees it, nobody is hindered.
  void thePanelThatOperatesIsNamed() {
    const auto lena = ProfileOf("lena");
    QVERIFY(lena);
    const auto panel = agents::ClusterClient::OpenForCommands(*lena);
    VERIFY_OK(panel);
    const auto operate = [&](wire::OperateRequest::Act act) {
      wire::Request request;
      request.mutable_operate()->set_panel("p");
      request.mutable_operate()->set_act(act);
      return (*panel)->CallAndWait(std::move(request), 10s);
    };
    QVERIFY(m_cluster->Status()["operator"].is_null());
    QVERIFY(!m_cluster->Run({"status"}).output.contains("operated in a panel"));
    const auto taken = operate(wire::OperateRequest::TAKE);
    VERIFY_OK(taken);
    QVERIFY(taken->operate().granted());
    QVERIFY(m_cluster->Status()["operator"]["who"].get<std::string>().starts_with("lena: "));
    QVERIFY(As("guest", {"status"}).output.contains("operated in a panel by lena: "));
    for (const char* act : {"pause", "resume"}) {
      const Outcome done = m_cluster->Run({"job", act, kJob}, 60);
      QVERIFY2(done.code == 0, done.Text());
      QVERIFY2(done.errors.contains("note: a panel operates this cluster (lena: "), done.Text());
    }
    VERIFY_OK(operate(wire::OperateRequest::RELEASE));
    QVERIFY(m_cluster->Status()["operator"].is_null());
    QVERIFY(!m_cluster->Run({"job", "pause", kJob}, 60).errors.contains("note:"));
    QVERIFY(m_cluster->Run({"job", "resume", kJob}, 60).code == 0);
  }

  // An operator's key, and that of another node, register in vain as n1.
  void onlyItsKeySpeaksForANode() {
    const Json before = m_cluster->Status()["nodes"];
    const auto n0 = agents::LoadKeys((Folder() + "/n0/agent.key").toStdString());
    VERIFY_OK(n0);
    for (const auto& [name, keys] : {std::pair("lena", KeysOf("lena")), std::pair("n0", *n0)}) {
      Pretend(keys);
      const QString event = QStringLiteral("dropped a message of n1 with key '%1'").arg(name);
      QVERIFY2(LocalCluster::WaitFor(
                   [&] { return m_cluster->Run({"events"}).output.contains(event); }, 20),
               qPrintable(m_cluster->Run({"events"}).output));
    }
    QVERIFY(m_cluster->AllAlive());
    QVERIFY(m_cluster->Status()["nodes"][1]["devices"].size() == before[1]["devices"].size());
    QVERIFY(m_cluster->GoesOn(kJob));
  }

  // With its own key, a node that takes no part in a job cannot stop it, decide for it, or speak in
  // the name of others.
  void aNodeSpeaksOnlyOfItself() {
    m_cluster->Apply(kJob, "dp=1", "n0g0");  // unless it is there
    QCOMPARE(m_cluster->Job(kJob)["devices"].size(), std::size_t{1});
    const auto keys = agents::LoadKeys((Folder() + "/n1/agent.key").toStdString());
    VERIFY_OK(keys);
    QVERIFY(LocalCluster::Kill(m_cluster->Keeper(1)));
    std::vector<wire::FromNode> lies(5);
    auto* const exited = lies[0].mutable_rank_exited();
    exited->set_job(kJob.toStdString());
    agents::Encode(ptc::DeviceId{0, 0}, exited->mutable_device());
    exited->set_attempt(1 << 20);
    exited->set_reason("a lie");
    auto* const paused = lies[1].mutable_job_paused();
    paused->set_job(kJob.toStdString());
    paused->set_request(static_cast<std::uint64_t>(engine::kRequestStepsDone));
    auto* const set = lies[2].mutable_store_set();
    set->set_job(kJob.toStdString());
    set->set_key("master");
    lies[3].mutable_load()->set_job(kJob.toStdString());
    auto* const event = lies[4].mutable_event();
    event->set_source("registrar");
    event->set_text("the last of n1's messages");
    Pretend(*keys, std::move(lies));
    const auto events = [&](const QStringList& of) {
      return m_cluster->Run(QStringList{"events", "--limit", "50"} + of).output;
    };
    QVERIFY2(LocalCluster::WaitFor(
                 [&] {
                   return events({"--source", "n1"}).contains("the last of n1's messages");
                 },
                 20),
             qPrintable(events({})));
    QCOMPARE(m_cluster->Job(kJob)["state"].get<std::string>(), std::string("running"));
    QVERIFY(!events({}).contains("a lie"));
    QVERIFY(m_cluster->GoesOn(kJob));
    const QString wrong = m_cluster->StartNode(1);
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
    QVERIFY(m_cluster->WaitAllAlive());
  }

  // Operators cannot start on a node what its limits forbid. Other nodes start the same job.
  void aNodeHasLimits() {
    const Json limits = {{"jobs", {{"exec", false}, {"data", Json::array({"/srv/data"})}}}};
    QVERIFY(m_cluster->Configure(limits, 1));
    const auto start = [&](const QString& devices, const QStringList& more) {
      return m_cluster->Run(
          QStringList{"job", "start", "--name", "other", "--mesh", "dp=1", "--devices", devices} +
              more,
          120);
    };
    const QString folder = QStringLiteral(TESSERA_SOURCE_DIR "/agents/job/example.");
    const QStringList program = {
        "--exec",    QStringLiteral("exec " TESSERA_BIN_DIR "/tessera-job-example 9"),
        "--tensors", folder + "tensors.json",
        "--rules",   folder + "rules.json"};
    const Outcome ran = start("n1g1", program);
    QVERIFY2(ran.code == 1, ran.Text());
    QVERIFY2(ran.errors.contains("n1 runs no programs of users: `jobs.exec` is false"), ran.Text());
    const Outcome there = start("n0g1", program);
    QVERIFY2(there.code == 0, there.Text());
    QVERIFY(m_cluster->Run({"job", "stop", "other", "--yes"}).code == 0);
    QVERIFY(m_cluster->Configure(limits, 0));  // the registrar opens the data first
    const Outcome read = start("n0g1", {"gpt-nano", "--data", "/srv/data/../../etc/services"});
    QVERIFY2(read.code == 1, read.Text());
    QVERIFY2(read.errors.contains("n0 does not read '/srv/data/../../etc/services': `jobs.data` in "
                                  "its configuration has only /srv/data") ||
                 read.errors.contains("n0 does not read '/etc/services'"),
             read.Text());
    QCOMPARE(m_cluster->Status()["jobs"].size(), std::size_t{1});
    QVERIFY(m_cluster->GoesOn(kJob));
  }

  // They are counted, not written one by one to history and log.
  void messagesThatCannotBeReadAreCounted() {
    const auto config = agents::LoadAgentConfig((Folder() + "/n0/agent.json").toStdString());
    VERIFY_OK(config);
    agents::NetContext net;
    auto socket = agents::Socket::Client(net, agents::SocketKind::kDealer, KeysOf("lena"),
                                         config->registrar_key);
    VERIFY_OK(socket);
    VERIFY_OK(socket->Connect(config->registrar_endpoint));
    for (int i = 0; i < 150; ++i) {
      std::vector<agents::Frame> frames;
      frames.push_back(agents::Frame::Of("\xff\xff" + std::to_string(i)));
      VERIFY_OK(socket->Send(std::move(frames)));
    }
    const QString what = QStringLiteral("from key 'lena' that cannot be read");
    const auto events = [&] { return m_cluster->Run({"events", "--limit", "200"}).output; };
    QVERIFY(LocalCluster::WaitFor([&] { return events().contains(what + ", 100 times"); }, 20));
    QCOMPARE(events().count(what), 3);
    QVERIFY(m_cluster->GoesOn(kJob));
  }

  // The cluster closes the key's connections, and refuses it by name when it connects again.
  void aRevokedKeyLosesItsConnections() {
    const auto lena = ProfileOf("lena");
    std::atomic<int> snapshots = 0;
    agents::ClusterClient::Handlers handlers;
    handlers.snapshot = [&](const auto&) { ++snapshots; };
    std::atomic<bool> refused = false;  // what the panel shows
    handlers.link = [&](agents::LinkState state, const std::string&) {
      refused = state == agents::LinkState::kRefused;
    };
    const auto watching = agents::ClusterClient::Open(*lena, std::move(handlers));
    VERIFY_OK(watching);
    std::atomic<int> of_guest = 0;
    agents::ClusterClient::Handlers others;
    others.snapshot = [&](const auto&) { ++of_guest; };
    const auto beside = agents::ClusterClient::Open(*ProfileOf("guest"), std::move(others));
    VERIFY_OK(beside);
    QVERIFY(LocalCluster::WaitFor([&] { return snapshots > 3 && of_guest > 3; }, 20));
    const Outcome revoked =
        m_cluster->Run({"keys", "revoke", "lena", "--allowed", Folder() + "/allowed"});
    QVERIFY2(revoked.code == 0, revoked.Text());
    QVERIFY(LocalCluster::WaitFor(
        [&] {
          wire::Request ask;
          ask.mutable_status();
          const auto reply = (*watching)->CallAndWait(std::move(ask), 5s);
          return !reply && reply.error().message.starts_with("key refused by ");
        },
        kRefresh));
    QVERIFY(LocalCluster::WaitFor([&] { return refused.load(); }, kRefresh));
    const int then = snapshots;
    QTest::qWait(3000);  // the job trains on, so others get some snapshots a second
    QVERIFY2(snapshots <= then + 1, std::to_string(snapshots - then).c_str());
    const int now = of_guest;  // whose connection for events was closed, too: it sends nothing
    QVERIFY(LocalCluster::WaitFor([&] { return of_guest > now + 3; }, 20));
    const Outcome later = As("lena", {"status"});
    QVERIFY2(later.code == 1 && later.errors.contains("key refused by"), later.Text());
    QVERIFY(m_cluster->Run({"status"}).code == 0);
    QVERIFY(m_cluster->GoesOn(kJob));
  }

  // A node that is refused can report that to nobody.
  void aNodeWithoutItsKeyIsSeenOnBothSides() {
    const auto keys = agents::LoadKeys((Folder() + "/n1/agent.key").toStdString());
    VERIFY_OK(keys);
    const QString shown = "'" + QString::fromStdString(keys->public_key.substr(0, 10)) + "'";
    const QString file = Folder() + "/allowed/n1.pub", away = Folder() + "/n1.pub.away";
    QVERIFY(QFile::rename(file, away));
    const auto back = qScopeGuard([&] { QFile::rename(away, file); });
    const auto says = [&](const QStringList& words) { return m_cluster->Run(words).output; };
    QVERIFY(LocalCluster::WaitFor(
        [&] {
          return says({"events", "--limit", "50"}).contains("refuses key " + shown);
        },
        60));
    const QString doctor = says({"doctor"});
    QVERIFY2(doctor.contains("key " + shown + " from ") &&
                 doctor.contains("copy its .pub file to " + Folder() + "/allowed"),
             qPrintable(doctor));
    QVERIFY(LocalCluster::WaitFor(
        [&] {
          QFile log(Folder() + "/n1/agent.log");
          return log.open(QIODevice::ReadOnly) &&
                 QString::fromUtf8(log.readAll()).contains("refuses this node's key " + shown);
        },
        20));
    QVERIFY(QFile::rename(away, file));
    QVERIFY(m_cluster->WaitAllAlive());
    QVERIFY(m_cluster->GoesOn(kJob));
  }

  void aSecretThatOthersCanReadIsRefused() {
    const QString file = m_cluster->home() + "/guest.key";
    QVERIFY(QFile::setPermissions(file, QFile::ReadOwner | QFile::WriteOwner | QFile::ReadOther));
    const Outcome refused = As("guest", {"status"});
    QVERIFY2(refused.code == 1 && refused.errors.count(u'\n') == 1, refused.Text());
    QVERIFY2(refused.errors.contains("others than its owner can read this secret key"),
             refused.Text());
    QVERIFY(QFile::setPermissions(file, QFile::ReadOwner | QFile::WriteOwner));
  }

 private:
  QString Folder() const { return m_cluster->home() + "/clusters/t"; }
  agents::CurveKeys KeysOf(const QString& name) const {
    return *agents::LoadKeys((m_cluster->home() + "/" + name + ".key").toStdString());
  }
  Result<agents::Profile> ProfileOf(const QString& name) const {
    TESSERA_TRY(agents::Profile profile,
                agents::LoadProfile((m_cluster->home() + "/profiles/t.json").toStdString()));
    profile.key_file = (m_cluster->home() + "/" + name + ".key").toStdString();
    return profile;
  }

  /// Makes a key pair, and admits it at all nodes.
  bool Admit(const QString& name, const QString& role) const {
    const QString home = m_cluster->home();
    if (m_cluster->Run({"keys", "new", name, "--role", role, "--folder", home}).code != 0 ||
        !QFile::copy(home + "/" + name + ".pub", Folder() + "/allowed/" + name + ".pub")) {
      return false;
    }
    QFile from(home + "/profiles/t.json"), to(home + "/" + name + ".json");
    if (!from.open(QIODevice::ReadOnly) || !to.open(QIODevice::WriteOnly)) return false;
    Json json = Json::parse(from.readAll().toStdString());
    json["key_file"] = (home + "/" + name + ".key").toStdString();
    to.write(QByteArray::fromStdString(json.dump()));
    to.close();
    return LocalCluster::WaitFor([&] { return As(name, {"status"}).code == 0; }, kRefresh);
  }
  Outcome As(const QString& name, const QStringList& words) const {
    return m_cluster->Run(QStringList{"--cluster", m_cluster->home() + "/" + name + ".json"} +
                          words);
  }

  /// Reads the first tensor of a view over the lanes of its node.
  Status ReadTensor(const QString& name, const wire::ViewReply& view) const {
    TESSERA_TRY(const auto own,
                agents::ClusterView::Make(view, {},
                                          std::make_shared<agents::LaneReaders>(KeysOf(name)), {}));
    const ptc::TensorSpec& spec = own->info().layout.collection().tensors()[0];
    const ptc::Box whole = *ptc::Box::Whole(spec.shape);
    std::vector<std::byte> bytes(
        static_cast<std::size_t>(whole.num_elements() * ptc::SizeBytes(spec.dtype)));
    return own->Read(0, whole, bytes);
  }

  /// Registers as n1 over a connection of its own, and then sends the others.
  void Pretend(const agents::CurveKeys& keys, std::vector<wire::FromNode> messages = {}) const {
    const auto config = agents::LoadAgentConfig((Folder() + "/n1/agent.json").toStdString());
    VERIFY_OK(config);
    agents::NetContext net;
    auto socket =
        agents::Socket::Client(net, agents::SocketKind::kDealer, keys, config->registrar_key);
    VERIFY_OK(socket);
    VERIFY_OK(socket->SetIdentity("n1-1"));
    VERIFY_OK(socket->Connect(config->registrar_endpoint));
    auto* const own = messages.emplace(messages.begin())->mutable_register_();
    own->set_node(1);
    own->set_major(agents::kProtocolMajor);
    own->set_minor(agents::kProtocolMinor);
    own->set_incarnation(1);
    own->set_public_key(keys.public_key);
    for (wire::FromNode& message : messages) {
      message.set_node(1);
      message.set_incarnation(1);
      std::vector<agents::Frame> frames;
      frames.push_back(agents::Frame::Of("node"));
      frames.push_back(agents::Frame::Of(message.SerializeAsString()));
      VERIFY_OK(socket->Send(std::move(frames)));
    }
    QTest::qWait(1000);
  }

  std::unique_ptr<LocalCluster> m_cluster;
};

TESSERA_TEST(E2eRolesTest)
#include "e2e_roles_test.moc"
