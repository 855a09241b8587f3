// SPDX-License-Identifier: Apache-2.0
// A real cluster whose sockets get rubbish, floods, connections that say nothing and peers that do
// not read, from every kind of key. Nothing happens, nothing crashes, nothing grows.
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QTest>
#include <csignal>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "agents/client/cluster.h"
#include "agents/net/socket.h"
#include "agents/node/config.h"
#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "agents/wire/tessera/wire/node.pb.h"
#include "agents/wire/tessera/wire/view.pb.h"
#include "tests/support/exact_job.h"
#include "tests/support/hostile_peers.h"
#include "tests/support/local_cluster.h"
#include "tests/support/random.h"
#include "tests/support/random_message.h"
#include "tests/support/send_signal.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using namespace tessera::test;
using namespace std::chrono_literals;

namespace {

const QString kJob = QStringLiteral("nano");
constexpr int kMessages = 10'000;  // from each key to each socket
constexpr std::int64_t kMostGrowth = std::int64_t{48} << 20;

/// Requests and messages of nodes, of every kind and with random contents, some of them damaged.
class Rubbish {
 public:
  /// \param may_act whether its sender is an operator, whose acts are no attack
  /// \param may_register whether it is a node, which may register again
  Rubbish(std::uint64_t seed, bool may_act, bool may_register)
      : random_(seed), may_act_(may_act), may_register_(may_register) {}

  std::vector<std::string> Next() {
    std::vector<std::string> frames;
    if (random_() % 2 == 0) {
      const std::size_t kind = request_++ % requests_.size();
      wire::Request request;
      request.set_id(std::to_string(random_()));
      FillKind(request, requests_[kind], random_, words_);
      frames = {Altered(request.SerializeAsString())};
    } else {
      const std::size_t kind = message_++ % messages_.size();
      wire::FromNode message;
      message.set_node(random_() % 8 == 0 ? static_cast<std::int32_t>(random_() % 9) : 7);
      message.set_incarnation(1);
      FillKind(message, messages_[kind], random_, words_);
      frames = {"node", Altered(message.SerializeAsString())};
    }
    if (random_() % 20 == 0) frames.insert(frames.begin(), std::string(random_() % 300, 'x'));
    if (random_() % 20 == 0) frames.emplace_back();
    return IsAllowed(frames) ? std::vector<std::string>{"\xff"} : frames;
  }
  /// Whether each kind was made more than once.
  bool is_complete() const {
    return request_ > 2 * requests_.size() && message_ > 2 * messages_.size();
  }

 private:
  /// What an operator does to the cluster, and what a node says of itself, is no attack.
  bool IsAllowed(const std::vector<std::string>& frames) const {
    wire::FromNode node;
    wire::Request request;
    if (frames.size() == 2 && node.ParseFromString(frames[1]))
      return may_register_ && (node.has_register_() || node.has_event());
    if (!may_act_ || frames.size() != 1 || !request.ParseFromString(frames[0])) return false;
    switch (request.body_case()) {
      case wire::Request::kHello:
      case wire::Request::kStatus:
      case wire::Request::kPlan:
      case wire::Request::kTxn:
      case wire::Request::kHistory:
      case wire::Request::kSamples:
      case wire::Request::kEvents:
      case wire::Request::kPropose:
      case wire::Request::kProposeStart:
      case wire::Request::kProgram:
      case wire::Request::kJobs:
      case wire::Request::kListCheckpoints:
      case wire::Request::BODY_NOT_SET:
        return false;
      default:
        return true;
    }
  }
  std::string Altered(std::string bytes) {
    if (random_() % 2 == 0) return bytes;
    for (auto times = random_() % 4; times > 0 && !bytes.empty(); --times) {
      bytes[random_() % bytes.size()] = static_cast<char>(random_());
    }
    if (random_() % 10 == 0) bytes.resize(random_() % (bytes.size() + 1));
    if (random_() % 10 == 0) bytes += bytes;
    return bytes;
  }

  const std::vector<const google::protobuf::FieldDescriptor*> requests_ = KindsOf(wire::Request());
  const std::vector<const google::protobuf::FieldDescriptor*> messages_ = KindsOf(wire::FromNode());
  const std::vector<std::string> words_ = {kJob.toStdString(), "n0g0",    "n0",      "t",
                                           "gpt-nano",         "abort 2", "commit 2"};
  std::mt19937_64 random_;
  const bool may_act_, may_register_;
  std::size_t request_ = 0, message_ = 0;
};

std::int64_t MemoryOf(std::int64_t pid) {
  QFile file(QStringLiteral("/proc/%1/statm").arg(pid));
  if (!file.open(QIODevice::ReadOnly)) return -1;
  return file.readAll().split(' ').value(1).toLongLong() * ::sysconf(_SC_PAGESIZE);
}

}  // namespace

class E2eHostileTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    m_cluster = std::make_unique<LocalCluster>(LocalCluster::Options{
        .nodes = 2, .devices = 2, .memory = QStringLiteral("64M"), .link = {}, .one_host = false});
    QVERIFY2(m_cluster->up().code == 0, m_cluster->up().Text());
    const Outcome start = StartExactJob(*m_cluster, kJob, QStringLiteral("dp=2"), "n0g0,n1g0");
    QVERIFY2(start.code == 0, start.Text());
    for (const auto& [name, role] : {std::pair("guest", "viewer"), std::pair("lena", "operator"),
                                     std::pair("n7", "node 7"), std::pair("gone", "operator")}) {
      const agents::CurveKeys keys = agents::NewCurveKeys();
      m_keys[name] = keys;
      VERIFY_OK(agents::SavePublicKey(
          keys.public_key,
          (Folder() + QStringLiteral("/allowed/%1.pub").arg(QLatin1String(name))).toStdString(),
          role));
    }
    m_keys["nobody"] = agents::NewCurveKeys();
    for (int node = 0; node < 2; ++node) {
      const auto config = agents::LoadAgentConfig(m_cluster->ConfigOf(node).toStdString());
      VERIFY_OK(config);
      m_configs.push_back(*config);
      m_pids.push_back(m_cluster->Agent(node)->pid);
    }
    QVERIFY(m_cluster->WaitStep(kJob, 5));
    QTest::qWait(4000);  // the agents read the keys
    Note();
  }
  void cleanupTestCase() { m_cluster.reset(); }
  void cleanup() { CheckUnharmed(); }

  void rubbish_data() {
    QTest::addColumn<QString>("key");
    for (const char* key : {"nobody", "guest", "lena", "n7", "gone"}) {
      QTest::newRow(key) << QString::fromLatin1(key);
    }
  }
  void rubbish() {
    QFETCH(QString, key);
    std::vector<std::string> endpoints = {m_configs[0].registrar_endpoint};
    for (const agents::AgentConfig& config : m_configs) {
      if (!config.lanes.empty()) endpoints.push_back(config.lanes[0]);
    }
    agents::NetContext net;
    std::vector<agents::Socket> sockets;
    for (const std::string& endpoint : endpoints) {
      auto socket = agents::Socket::Client(net, agents::SocketKind::kDealer, m_keys.at(key),
                                           m_configs[0].registrar_key);
      VERIFY_OK(socket);
      VERIFY_OK(socket->SetHighWater(200'000));
      VERIFY_OK(socket->Connect(endpoint));
      sockets.push_back(std::move(*socket));
    }
    if (key == "n7") Register(sockets[0]);
    if (key == "gone") {
      // Its connections are open when it is revoked.
      Send(sockets[0], {"\xff"});
      QTest::qWait(500);
      QVERIFY(QFile::remove(Folder() + "/allowed/gone.pub"));
      QTest::qWait(4000);
    }
    Rubbish rubbish(Seed() + qHash(key), key == "lena", key == "n7");
    for (int i = 0; i < kMessages; ++i) {
      const std::vector<std::string> frames = rubbish.Next();
      for (agents::Socket& socket : sockets) Send(socket, frames);
    }
    QVERIFY(rubbish.is_complete());
    const std::int64_t step = m_cluster->Step(kJob);
    QVERIFY(m_cluster->WaitStep(kJob, step + 10));
  }

  void bytesThatAreNoProtocol() {
    std::mt19937 random(5);
    for (const std::string& endpoint :
         {m_configs[0].endpoint, m_configs[0].events, m_configs[0].lanes.at(0)}) {
      for (int i = 0; i < 100; ++i) {
        const int fd = ConnectTo(endpoint);
        QVERIFY(fd >= 0);
        std::string bytes(random() % 2000, '\0');
        for (char& byte : bytes) byte = static_cast<char>(random());
        static_cast<void>(::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL));
        ::close(fd);
      }
    }
    QVERIFY(m_cluster->GoesOn(kJob));
  }

  void connectionsThatSayNothing() {
    const SilentConnections silent(m_configs[0].registrar_endpoint, 1000);
    QVERIFY(silent.num_open() > 990);
    const Outcome status = m_cluster->Run({"status"}, 10);
    QVERIFY2(status.code == 0, status.Text());
    QVERIFY(m_cluster->GoesOn(kJob, 10));
  }

  // Other clients receive replies meanwhile, and the flooder receives an error.
  void aFlood() {
    const Flooder flooder(TargetAs("guest"));
    // It uses only time that nobody else needs.
    QVERIFY(LocalCluster::WaitFor([&] { return !flooder.refusal().empty(); }));
    bool is_answered = true;
    for (int i = 0; i < 5; ++i) is_answered &= m_cluster->Run({"status"}, 10).code == 0;
    const bool goes_on = m_cluster->GoesOn(kJob, 10);
    QVERIFY(is_answered);
    QVERIFY(goes_on);
    const std::string refusal = flooder.refusal();
    QVERIFY2(refusal.find("key 'guest' sends more than 200 requests a second") != std::string::npos,
             refusal.c_str());
    QVERIFY(LocalCluster::WaitFor([&] {
      return m_cluster->Run({"events", "--limit", "50"})
          .output.contains("from key 'guest', which sends too many");
    }));
  }

  void aPeerThatDoesNotRead() {
    const StalledReader stalled(TargetAs("guest"), 2000);
    QVERIFY(stalled.is_open());
    QVERIFY(m_cluster->GoesOn(kJob, 10));
  }

  // What journals, logs and ranks open is there, however many connections come.
  void anAgentWithFewDescriptors() {
    constexpr rlimit kFew{512, 512};
    QCOMPARE(::prlimit(m_cluster->Keeper(0).pid, RLIMIT_NOFILE, &kFew, nullptr), 0);
    QVERIFY(SendSignal(m_pids[0], SIGKILL));
    QVERIFY(LocalCluster::WaitFor(
        [&] {
          const auto agent = m_cluster->Agent(0);
          return agent && agent->pid != m_pids[0] && m_cluster->Status()["nodes"].size() >= 2;
        },
        20));
    m_pids[0] = m_cluster->Agent(0)->pid;
    QVERIFY(m_cluster->GoesOn(kJob, 10));
    Note();

    std::vector<std::unique_ptr<SilentConnections>> silent;
    for (const std::string& endpoint :
         {m_configs[0].endpoint, m_configs[0].events, m_configs[0].lanes.at(0)}) {
      silent.push_back(std::make_unique<SilentConnections>(endpoint, 1000));
      QVERIFY(silent.back()->num_open() > 900);
    }
    const QDir open(QStringLiteral("/proc/%1/fd").arg(m_pids[0]));
    const auto num_open = [&] { return open.entryList(QDir::AllEntries | QDir::System).size(); };
    // It accepts a connection before it closes it.
    QVERIFY2(LocalCluster::WaitFor([&] { return num_open() < 500; }),
             qPrintable(QString::number(num_open())));
    QVERIFY(LocalCluster::WaitFor(
        [&] {
          return m_cluster->Run({"status"})
              .output.contains("connections closed because too many were open");
        },
        20));
    // A pause, a digest and a snapshot are journaled.
    const Outcome digest = m_cluster->Run({"digest", kJob}, 30);
    QVERIFY2(digest.code == 0, digest.Text());
    QVERIFY(m_cluster->GoesOn(kJob, 10));
  }

 private:
  QString Folder() const { return m_cluster->home() + "/clusters/t"; }

  static void Send(agents::Socket& socket, const std::vector<std::string>& parts) {
    std::vector<agents::Frame> frames;
    for (const std::string& part : parts) frames.push_back(agents::Frame::Of(part));
    static_cast<void>(socket.Send(std::move(frames)));
  }
  void Register(agents::Socket& socket) {
    wire::FromNode message;
    auto* const own = message.mutable_register_();
    own->set_major(agents::kProtocolMajor);
    own->set_minor(agents::kProtocolMinor);
    own->set_node(7);
    own->set_incarnation(1);
    own->set_host("elsewhere");
    own->set_public_key(m_keys.at("n7").public_key);
    own->add_devices();
    Send(socket, {"node", message.SerializeAsString()});
    QVERIFY(LocalCluster::WaitFor([&] { return m_cluster->Status()["nodes"].size() == 3; }, 20));
  }
  Target TargetAs(const char* key) const {
    return {m_configs[0].registrar_endpoint, m_configs[0].registrar_key, m_keys.at(key)};
  }

  void Note() {
    m_memory.clear();
    for (const std::int64_t pid : m_pids) m_memory.push_back(MemoryOf(pid));
    m_epoch = m_cluster->Job(kJob)["epoch"].get<std::int64_t>();
  }
  void CheckUnharmed() {
    const Json status = m_cluster->Status();
    // A key of a node may claim to hold jobs; they are shown, and nothing runs.
    for (const Json& job : status["jobs"]) {
      QVERIFY2(job["name"] == kJob.toStdString() || job["state"] != "running", job.dump().c_str());
    }
    QCOMPARE(m_cluster->Job(kJob)["state"].get<std::string>(), std::string("running"));
    QCOMPARE(m_cluster->Job(kJob)["epoch"].get<std::int64_t>(), m_epoch);
    QVERIFY(m_cluster->Ask({"history"})["transactions"].empty());
    for (std::size_t node = 0; node < 2; ++node) {
      QCOMPARE(m_cluster->Agent(static_cast<int>(node))->pid, m_pids[node]);
      const std::int64_t grown = MemoryOf(m_pids[node]) - m_memory[node];
      QVERIFY2(grown < kMostGrowth,
               qPrintable(QStringLiteral("n%1 has grown by %2 bytes").arg(node).arg(grown)));
    }
    // Nor one line of the log for each of them.
    const qint64 log = QFileInfo(Folder() + "/n0/agent.log").size();
    QVERIFY2(log > 0 && log < 100'000, qPrintable(QString::number(log)));
    const QString events = m_cluster->Run({"events", "--limit", "1000"}).output;
    QVERIFY2(events.count(u'\n') < 150, qPrintable(events));
  }

  std::unique_ptr<LocalCluster> m_cluster;
  std::map<QString, agents::CurveKeys> m_keys;
  std::vector<agents::AgentConfig> m_configs;
  std::vector<std::int64_t> m_pids, m_memory;
  std::int64_t m_epoch = 0;
};

TESSERA_TEST(E2eHostileTest)
#include "e2e_hostile_test.moc"
