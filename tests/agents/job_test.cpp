// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "agents/job/decision.h"
#include "agents/job/rank_environment.h"
#include "agents/job/rank_port.h"
#include "agents/job/tessera_job.h"
#include "agents/keeper/child.h"
#include "agents/keeper/packet.h"
#include "agents/wire/tessera/wire/rank.pb.h"
#include "engine/data/random_stream.h"
#include "engine/files/whole_file.h"
#include "engine/store/allocate.h"
#include "engine/store/arena.h"
#include "engine/store/piece_table.h"
#include "ptc/layout.h"
#include "ptc/rules/rules.h"

using namespace tessera;
using namespace tessera::agents;
using std::chrono::milliseconds;

namespace {

constexpr int kLimit = 20000;  // ms
constexpr std::int64_t kCapacity = 4 << 20;
const std::string kJob = "count";

// What ranks said, by rank; written on the loop, read by the test.
struct Heard {
  int attached = 0;
  std::int64_t pid = 0;
  int gone = 0;
  std::map<std::pair<std::int64_t, std::int64_t>, Status> connected;
  std::optional<std::int64_t> paused;  // step; reset when a command is sent
  std::uint64_t request = 0;
  std::vector<RankDecision> decided;
  std::optional<std::int64_t> adopted;
};

// An agent reduced to its RankPort, on a loop in a thread of its own; can be restarted.
class Agent {
 public:
  explicit Agent(std::string path) : path_(std::move(path)) {}
  ~Agent() { Stop(); }

  bool Start() {
    loop_ = std::make_unique<Loop>();
    RankPort::Handlers handlers;
    handlers.attached = [this](const RankId& id, std::int64_t pid) {
      With(id, [&](Heard& h) {
        ++h.attached;
        h.pid = pid;
      });
    };
    handlers.connected = [this](const RankId& id, std::int64_t epoch, std::int64_t attempt,
                                Status s) {
      With(id, [&](Heard& h) { h.connected.insert_or_assign({epoch, attempt}, s); });
    };
    handlers.paused = [this](const RankId& id, std::int64_t step, std::uint64_t request) {
      With(id, [&](Heard& h) {
        h.paused = step;
        h.request = request;
      });
    };
    handlers.decided = [this](const RankId& id, const RankDecision& decision) {
      With(id, [&](Heard& h) { h.decided.push_back(decision); });
    };
    handlers.adopted = [this](const RankId& id, std::int64_t epoch) {
      With(id, [&](Heard& h) { h.adopted = epoch; });
    };
    handlers.gone = [this](const RankId& id) { With(id, [](Heard& h) { ++h.gone; }); };
    handlers.store_set = [this](const RankId&, std::int64_t epoch, std::int64_t attempt,
                                const std::string& key, const std::string& value) {
      const std::string full = Full(epoch, attempt, key);
      store_[full] = value;
      for (auto& reply : waiting_[full]) reply(value);
      waiting_.erase(full);
    };
    handlers.store_get = [this](const RankId&, std::int64_t epoch, std::int64_t attempt,
                                const std::string& key,
                                std::function<void(std::optional<std::string>)> reply) {
      const std::string full = Full(epoch, attempt, key);
      if (const auto found = store_.find(full); found != store_.end()) return reply(found->second);
      waiting_[full].push_back(std::move(reply));
    };
    handlers.problem = [this](const std::string& text) {
      const std::lock_guard lock(mutex_);
      problems_.push_back(text);
    };
    auto port = RankPort::Listen(*loop_, path_, std::move(handlers));
    if (!port) return false;
    port_ = std::move(*port);
    thread_ = std::thread([this] { loop_->Run(); });
    return true;
  }
  void Stop() {
    if (!thread_.joinable()) return;
    loop_->Stop();
    thread_.join();
    waiting_.clear();
    store_.clear();
    port_.reset();
    loop_.reset();
  }
  bool Restart(milliseconds away = milliseconds(100)) {
    Stop();
    {
      const std::lock_guard lock(mutex_);
      heard_.clear();
    }
    std::this_thread::sleep_for(away);
    return Start();
  }

  // Runs on the loop, waits for it.
  template <typename Function>
  auto Do(Function function) {
    std::promise<decltype(function(*port_))> done;
    loop_->Post([&] { done.set_value(function(*port_)); });
    return done.get_future().get();
  }
  Status Command(const RankId& id, RankCommand command, std::int64_t epoch = 0,
                 const RankView* view = nullptr) {
    With(id, [](Heard& h) { h.paused.reset(); });
    return Do([&](RankPort& port) { return port.SendCommand(id, command, epoch, view); });
  }
  Heard Of(const RankId& id) {
    const std::lock_guard lock(mutex_);
    return heard_[id];
  }
  std::vector<std::string> Problems() {
    const std::lock_guard lock(mutex_);
    return problems_;
  }

 private:
  static std::string Full(std::int64_t epoch, std::int64_t attempt, const std::string& key) {
    return std::to_string(epoch) + "/" + std::to_string(attempt) + "/" + key;
  }
  template <typename Function>
  void With(const RankId& id, Function function) {
    const std::lock_guard lock(mutex_);
    function(heard_[id]);
  }

  const std::string path_;
  std::unique_ptr<Loop> loop_;
  std::unique_ptr<RankPort> port_;
  std::thread thread_;
  std::mutex mutex_;
  std::map<RankId, Heard> heard_;
  std::vector<std::string> problems_;
  std::map<std::string, std::string> store_;  // of the loop's thread
  std::map<std::string, std::vector<std::function<void(std::optional<std::string>)>>> waiting_;
};

// A tensor cut over tp, one that is not, and a scalar: all f32, so that the example can count in
// it.
ptc::Layout LayoutOf(int ranks) {
  std::vector<ptc::TensorSpec> tensors(3);
  tensors[0].name = "a.cut";
  tensors[0].shape = {12, 5};
  tensors[0].rule.dims = {{{ptc::Axis::kTp}}, {}};
  tensors[1].name = "b.whole";
  tensors[1].shape = {7};
  tensors[1].rule.dims = {{}};
  tensors[1].role = ptc::TensorRole::kExpAvg;
  tensors[2].name = "c.scalar";
  tensors[2].role = ptc::TensorRole::kScalar;
  ptc::MeshShape shape;
  shape[ptc::Axis::kTp] = ranks;
  std::vector<ptc::DeviceId> devices;
  for (int r = 0; r < ranks; ++r) devices.push_back({0, r});
  auto collection = ptc::Collection::Make(std::move(tensors), 1);
  auto mesh = ptc::DeviceMesh::Make(shape, devices);
  return *ptc::Layout::Make(*mesh, *collection);
}

std::string Text(const std::string& path) { return engine::ReadWholeFile(path).value_or(""); }

// The example's tensors as its two files cut them.
ptc::Layout ExampleLayout(int dp, int tp) {
  const std::string path = TESSERA_SOURCE_DIR "/agents/job/example.";
  auto collection = ptc::ApplyRules({"tensors", Text(path + "tensors.json")},
                                    {"rules", Text(path + "rules.json")}, false);
  if (!collection) qFatal("%s", collection.error().ToString().c_str());
  ptc::MeshShape shape;
  shape[ptc::Axis::kDp] = dp;
  shape[ptc::Axis::kTp] = tp;
  std::vector<ptc::DeviceId> devices;
  for (int r = 0; r < dp * tp; ++r) devices.push_back({0, r});
  auto mesh = ptc::DeviceMesh::Make(shape, devices);
  return *ptc::Layout::Make(*mesh, collection->tensors, collection->stages);
}

RankView ViewOf(int rank, int world, std::int64_t epoch, std::int64_t attempt = 0) {
  RankView view;
  view.epoch = epoch;
  view.attempt = attempt;
  view.rank = rank;
  view.world = world;
  view.axis_size[4] = world;
  view.axis_coord[4] = std::max(rank, 0);
  view.node_of_rank.assign(static_cast<std::size_t>(world), 0);
  view.host_of_rank.assign(static_cast<std::size_t>(world), 0);
  view.address_of_rank.assign(static_cast<std::size_t>(world), "127.0.0.1");
  return view;
}

RankView ExampleView(int rank, int dp, int tp, int hosts, std::int64_t epoch) {
  RankView view = ViewOf(rank, dp * tp, epoch);
  view.axis_size[1] = dp;
  view.axis_size[4] = tp;
  view.axis_coord[1] = rank / tp;
  view.axis_coord[4] = rank % tp;
  for (int r = 0; r < view.world; ++r) {
    view.host_of_rank[static_cast<std::size_t>(r)] = r * hosts / view.world;
  }
  return view;
}

struct Device {
  UniqueFd fd;
  std::optional<engine::Arena> arena;
  engine::ArenaHeader& header() const { return arena->header(); }
};

// A node of some devices with an agent, and ranks that are children of the test.
struct Node {
  QTemporaryDir directory;
  std::string socket = (directory.path() + "/ranks").toStdString();
  std::string layout_file = (directory.path() + "/layout.json").toStdString();
  Agent agent{socket};
  std::vector<Device> devices;
  std::map<int, pid_t> processes;  // by device

  std::string program = "tessera-counting-job";

  explicit Node(int count) {
    for (int d = 0; d < count; ++d) {
      Device device;
      device.fd.Reset(*engine::Arena::CreateMemfd("test-n0g" + std::to_string(d), kCapacity));
      device.arena.emplace(std::move(*engine::Arena::Map(device.fd.get(), true)));
      devices.push_back(std::move(device));
    }
    std::ofstream(layout_file) << ptc::ToJson(LayoutOf(1));
  }
  ~Node() {
    for (const auto& [device, pid] : processes) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
  }
  static RankId Id(int device) { return {kJob, {0, device}}; }

  // Writes the table of `epoch` beside the current one.
  engine::PieceTable Place(int device, int ranks, std::int64_t epoch) {
    auto table = engine::AllocateInitial(kJob, epoch, LayoutOf(ranks), device, kCapacity);
    auto& arena = *devices[static_cast<std::size_t>(device)].arena;
    if (!table || !table->Write(arena, engine::PieceTable::SlotOf(epoch))) qFatal("no table");
    return *table;
  }
  // As a transfer that is over: the pieces of the coming epoch hold `value`, the table is flipped.
  void MoveTo(int device, int ranks, std::int64_t epoch, float value) {
    const engine::PieceTable table = Place(device, ranks, epoch);
    auto& arena = *devices[static_cast<std::size_t>(device)].arena;
    for (const auto& entry : table.entries()) {
      auto* data = reinterpret_cast<float*>(arena.data(entry.offset_bytes));
      for (std::int64_t i = 0; i < entry.box.num_elements(); ++i) data[i] = value;
    }
    engine::FlipTo(arena, epoch);
  }
  // The one value of all state elements of a device, or NaN.
  float Value(int device) {
    auto& arena = *devices[static_cast<std::size_t>(device)].arena;
    const auto table = engine::PieceTable::ReadCurrent(arena);
    std::optional<float> value;
    for (const auto& entry : table->entries()) {
      if (entry.kind != engine::PieceEntry::kState) continue;
      const auto* data = reinterpret_cast<const float*>(arena.data(entry.offset_bytes));
      for (std::int64_t i = 0; i < entry.box.num_elements(); ++i) {
        if (value.value_or(data[i]) != data[i]) return std::nanf("");
        value = data[i];
      }
    }
    return value.value_or(std::nanf(""));
  }

  RankEnvironmentSpec Environment(int device, const RankView& view, bool initialise) const {
    return {.base = {"PATH=/usr/bin:/bin", "TESSERA_LEFT_OUT=1"},
            .socket = socket,
            .id = Id(device),
            .settings = R"({"answer": 42})",
            .settings_file = {},
            .initialise = initialise,
            .view = view,
            .layout_file = layout_file};
  }
  void StartRank(int device, const RankView& view, bool initialise, int steps, int step_ms) {
    auto environment = RankEnvironment(Environment(device, view, initialise));
    environment.push_back("TESSERA_ARENA_FD=" + std::to_string(kChildDescriptor));
    const auto pid = StartChild(
        {.argv = {TESSERA_BIN_DIR "/" + program, std::to_string(steps), std::to_string(step_ms)},
         .environment = environment,
         .output = -1,
         .descriptor = devices[static_cast<std::size_t>(device)].fd.get()});
    if (!pid) qFatal("%s", pid.error().ToString().c_str());
    processes[device] = *pid;
  }
  // The example on devices 0…dp*tp-1 in epoch 1; what its pieces hold is not zero.
  void StartExample(int dp, int tp, int hosts, int steps) {
    program = "tessera-job-example";
    std::ofstream(layout_file) << ptc::ToJson(ExampleLayout(1, 1));
    PlaceExample(dp, tp, 1, std::vector<float>(256, 7), 7);
    for (int r = 0; r < dp * tp; ++r) {
      StartRank(r, ExampleView(r, dp, tp, hosts, 1), true, steps, 0);
    }
  }
  // As a transfer that is over.
  void PlaceExample(int dp, int tp, std::int64_t epoch, const std::vector<float>& weights,
                    std::int64_t step) {
    for (int r = 0; r < dp * tp; ++r) {
      auto table = engine::AllocateInitial(kJob, epoch, ExampleLayout(dp, tp), r, kCapacity);
      auto& arena = *devices[static_cast<std::size_t>(r)].arena;
      if (!table || !table->Write(arena, engine::PieceTable::SlotOf(epoch))) qFatal("no table");
      for (const auto& entry : table->entries()) {
        if (entry.kind != engine::PieceEntry::kState) continue;
        void* data = arena.data(entry.offset_bytes);
        if (entry.box.rank() == 0) {
          std::memcpy(data, &step, sizeof step);
        } else {
          std::memcpy(data, weights.data() + entry.box[0].begin,
                      static_cast<std::size_t>(entry.size_bytes));
        }
      }
      engine::FlipTo(arena, epoch);
    }
  }
  std::vector<float> ExampleWeights(int ranks) {
    std::vector<float> weights(256);
    for (int r = 0; r < ranks; ++r) {
      auto& arena = *devices[static_cast<std::size_t>(r)].arena;
      const auto table = engine::PieceTable::ReadCurrent(arena);
      for (const auto& entry : table->entries()) {
        if (entry.kind != engine::PieceEntry::kState || entry.box.rank() == 0) continue;
        std::memcpy(weights.data() + entry.box[0].begin, arena.data(entry.offset_bytes),
                    static_cast<std::size_t>(entry.size_bytes));
      }
    }
    return weights;
  }
  // A job on devices 0…ranks-1 in epoch 1.
  void StartJob(int ranks, int steps, int step_ms) {
    for (int r = 0; r < ranks; ++r) {
      MoveTo(r, ranks, 1, -5);  // what initialisation must overwrite
      StartRank(r, ViewOf(r, ranks, 1), true, steps, step_ms);
    }
  }
  bool Pausing(int ranks) {
    for (int r = 0; r < ranks; ++r) {
      if (!agent.Of(Id(r)).paused) return false;
    }
    return true;
  }
  // Exit status of a rank that ends by itself; -1 if it does not.
  int ExitStatus(int device) {
    int status = 0;
    for (int waited = 0; waited < kLimit; waited += 10) {
      if (::waitpid(processes[device], &status, WNOHANG) > 0) {
        processes.erase(device);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
      }
      QTest::qSleep(10);
    }
    return -1;
  }
};

// Steps of the reports without immediate repeats; empty where they do not ascend one by one.
std::vector<std::int64_t> Steps(const std::vector<RankDecision>& decided) {
  std::vector<std::int64_t> steps;
  for (const RankDecision& decision : decided) {
    if (!steps.empty() && steps.back() == decision.step) continue;
    if (!steps.empty() && steps.back() + 1 != decision.step) return {};
    steps.push_back(decision.step);
  }
  return steps;
}

int OpenDescriptors() {
  int count = 0;
  for ([[maybe_unused]] const auto& fd : std::filesystem::directory_iterator("/proc/self/fd"))
    ++count;
  return count;
}

UniqueFd RawConnection(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  UniqueFd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    fd.Reset();
  return fd;
}

wire::RankToAgent AttachMessage(std::uint32_t protocol) {
  wire::RankToAgent message;
  message.mutable_attach()->set_protocol(protocol);
  message.mutable_attach()->set_job("fake");
  message.mutable_attach()->set_device(7);
  return message;
}

}  // namespace

#define SUCCEEDS(expression)                                                                \
  do {                                                                                      \
    const auto result_of = (expression);                                                    \
    QVERIFY2(result_of.has_value(), result_of ? "" : result_of.error().ToString().c_str()); \
  } while (false)

class JobTest : public QObject {
  Q_OBJECT
 private slots:
  void decideReducesInRankOrder() {
    const std::vector<tessera_record> records = {
        {1.5, 9, 0, 10, 0}, {0.25, 16, 0, 20, 7}, {0.25, 0, 0, 30, 3}};
    const tessera_decision decision = Decide(4, records, 2.5);
    QCOMPARE(decision.step, 4);
    QCOMPARE(decision.loss, 2.0);
    QCOMPARE(decision.norm2, 25.0);
    QCOMPARE(decision.tokens, 60);
    QCOMPARE(decision.pause, 7ULL);
    QCOMPARE(decision.skip, 0);
    QCOMPARE(decision.clip, 2.5 / (5 + 1e-6));
    QCOMPARE(Decide(4, records, 100).clip, 1.0);
    QCOMPARE(Decide(4, records, 0).clip, 1.0);
  }
  void decideSkipsWhatIsNotFinite() {
    std::vector<tessera_record> records = {{1, 1, 0, 1, 0}, {1, 1, 5, 1, 0}};
    QCOMPARE(Decide(1, records, 1).skip, 1);
    QCOMPARE(Decide(1, records, 1).found_inf, 1);
    records[1].found_inf = 0;
    QCOMPARE(Decide(1, records, 1).skip, 0);
    records[0].norm2 = std::numeric_limits<double>::quiet_NaN();
    QCOMPARE(Decide(1, records, 1).skip, 1);
    QCOMPARE(Decide(1, records, 1).clip, 1.0);
  }

  void viewsSurviveTheirTextForm() {
    RankView view = ViewOf(1, 3, 1LL << 40, 2);
    view.micro_batch = 4;
    view.address_of_rank[1] = "fe80::1%eth0";
    const auto parsed = ParseRankView(ToJson(view));
    SUCCEEDS(parsed);
    QVERIFY(*parsed == view);
  }
  void badViewsAreRefused_data() {
    QTest::addColumn<QString>("json");
    QTest::newRow("no json") << "{";
    QTest::newRow("empty world") << "{}";
    QTest::newRow("rank outside the world") << R"({"rank": 2, "world": 2})";
    QTest::newRow("lists too short") << R"({"rank": 0, "world": 1, "node_of_rank": [0]})";
    QTest::newRow("negative micro-batch")
        << R"({"rank": 0, "world": 1, "axis_size": [1,1,1,1,1], "axis_coord": [0,0,0,0,0],
               "micro_batch": -1, "node_of_rank": [0], "host_of_rank": [0],
               "address_of_rank": ["127.0.0.1"]})";
    QTest::newRow("unknown key") << R"({"rnak": 0})";
  }
  void badViewsAreRefused() {
    QFETCH(QString, json);
    const auto view = ParseRankView(json.toStdString());
    QVERIFY(!view);
    QCOMPARE(view.error().code, ErrorCode::kInvalidArgument);
  }

  // The C interface in this process.
  void attachShowsThePieces() {
    Node node(1);
    QVERIFY(node.agent.Start());
    node.MoveTo(0, 1, 1, 3);
    for (const std::string& entry : RankEnvironment(node.Environment(0, ViewOf(0, 1, 1), false))) {
      const auto at = entry.find('=');
      ::setenv(entry.substr(0, at).c_str(), entry.substr(at + 1).c_str(), 1);
    }
    QVERIFY(::getenv("TESSERA_LEFT_OUT") == nullptr);
    const auto attach = [&](tessera_job** job) {
      ::setenv("TESSERA_ARENA_FD", std::to_string(::dup(node.devices[0].fd.get())).c_str(), 1);
      return tessera_attach(job);
    };
    tessera_job* job = nullptr;
    QVERIFY2(attach(&job) == 0, tessera_last_error());
    QCOMPARE(tessera_settings(job), R"({"answer": 42})");
    QCOMPARE(tessera_must_initialise(job), 0);
    QCOMPARE(tessera_current_view(job)->world, 1);
    QCOMPARE(tessera_current_view(job)->address_of_rank[0], "127.0.0.1");
    const tessera_piece* pieces = nullptr;
    std::size_t count = 0;
    QCOMPARE(tessera_pieces(job, &pieces, &count), 0);
    QCOMPARE(count, 3U);
    QCOMPARE(pieces[0].name, "a.cut");
    QCOMPARE(pieces[0].dtype, "f32");
    QCOMPARE(pieces[0].role, "param");
    QCOMPARE(pieces[0].rank, 2);
    QCOMPARE(pieces[0].shape[0], 12);
    QCOMPARE(pieces[0].end[1], 5);
    QCOMPARE(pieces[0].num_elements, 60);
    QCOMPARE(static_cast<float*>(pieces[0].data)[59], 3.0F);
    QVERIFY(pieces[0].gradient != nullptr && pieces[0].gradient != pieces[0].data);
    static_cast<float*>(pieces[0].gradient)[0] = 8;
    const auto table = engine::PieceTable::ReadCurrent(*node.devices[0].arena);
    const auto* gradient = table->Find(engine::PieceEntry::kGradient, 0, table->entries()[0].box);
    QCOMPARE(*reinterpret_cast<float*>(node.devices[0].arena->data(gradient->offset_bytes)), 8.0F);
    QCOMPARE(pieces[1].name, "b.whole");
    QVERIFY(pieces[1].gradient == nullptr);
    QCOMPARE(pieces[2].rank, 0);

    // Rendezvous: a get waits for a set, ends by time, and by the end of its attempt.
    QCOMPARE(tessera_store_set(job, 1, 0, "k", "value", 5), 0);
    void* value = nullptr;
    std::size_t size = 0;
    QVERIFY2(tessera_store_get(job, 1, 0, "k", &value, &size, kLimit) == 0, tessera_last_error());
    QCOMPARE(std::string(static_cast<char*>(value), size), std::string("value"));
    tessera_free(value);
    QVERIFY(tessera_store_get(job, 1, 0, "never", &value, &size, 20) < 0);
    QCOMPARE(tessera_last_error(), "rendezvous key 'never' was not set within 20 ms");
    auto blocked = std::async(std::launch::async, [&] {
      void* v = nullptr;
      std::size_t s = 0;
      const int code = tessera_store_get(job, 2, 1, "later", &v, &s, kLimit);
      return code < 0 ? std::string(tessera_last_error()) : std::string("got it");
    });
    QTest::qSleep(50);
    QCOMPARE(tessera_abandoned(job, 2, 1), 0);
    node.agent.Do([](RankPort& port) {
      port.Abandon(kJob, 2, 1);
      return 0;
    });
    QCOMPARE(blocked.get(), std::string("epoch 2 attempt 1 is abandoned"));
    QCOMPARE(tessera_abandoned(job, 2, 1), 1);
    QVERIFY(tessera_shared_memory(job, 2, 1, "k", 8) < 0);

    // An agent that starts anew learns what was set, and what a get still waits for.
    auto waiting = std::async(std::launch::async, [&] {
      void* v = nullptr;
      std::size_t s = 0;
      const int code = tessera_store_get(job, 1, 0, "after", &v, &s, kLimit);
      tessera_free(v);
      return code;
    });
    QTest::qSleep(50);
    QVERIFY(node.agent.Restart());
    QVERIFY(tessera_store_get(job, 1, 0, "k", &value, &size, kLimit) == 0);
    tessera_free(value);
    QCOMPARE(tessera_store_set(job, 1, 0, "after", "x", 1), 0);
    QCOMPARE(waiting.get(), 0);

    // Shared memory: the same file for the same key, zeroed; no larger than the first asked for.
    const int first = tessera_shared_memory(job, 1, 0, "m", 8);
    const int second = tessera_shared_memory(job, 1, 0, "m", 8);
    QVERIFY2(first >= 0 && second >= 0, tessera_last_error());
    char byte = 7;
    QCOMPARE(::pread(second, &byte, 1, 0), 1);
    QCOMPARE(byte, '\0');
    byte = 9;
    QCOMPARE(::pwrite(first, &byte, 1, 0), 1);
    byte = 0;
    QCOMPARE(::pread(second, &byte, 1, 0), 1);
    QCOMPARE(byte, '\x09');
    ::close(first);
    ::close(second);
    QVERIFY(tessera_shared_memory(job, 1, 0, "m", 9) < 0);
    tessera_detach(job);

    // A process for a coming epoch has no pieces; broken environment is named.
    ::setenv("TESSERA_VIEW", ToJson(ViewOf(0, 1, 2)).c_str(), 1);
    QVERIFY2(attach(&job) == 0, tessera_last_error());
    QCOMPARE(tessera_pieces(job, &pieces, &count), 0);
    QCOMPARE(count, 0U);
    const tessera_view* view = nullptr;
    QVERIFY(tessera_adopt(job, &view) < 0);
    QCOMPARE(tessera_last_error(), "adopt: no layout was commanded");
    tessera_detach(job);
    ::unsetenv("TESSERA_DEVICE");
    QVERIFY(attach(&job) < 0);
    QCOMPARE(tessera_last_error(), "TESSERA_DEVICE is not set: not started by an agent");
  }

  void aJobMakesItsStepsAndLeaves() {
    Node node(2);
    QVERIFY(node.agent.Start());
    node.StartJob(2, 30, 0);
    QTRY_VERIFY_WITH_TIMEOUT(node.Pausing(2), kLimit);
    for (int r = 0; r < 2; ++r) {
      const Heard heard = node.agent.Of(Node::Id(r));
      QCOMPARE(heard.attached, 1);
      QCOMPARE(heard.pid, node.processes[r]);
      QCOMPARE(*heard.paused, -1);
      QVERIFY(heard.connected.at({1, 0}).has_value());
      QCOMPARE(node.Value(r), 0.0F);  // initialised before it waited
    }
    for (int r = 0; r < 2; ++r) SUCCEEDS(node.agent.Command(Node::Id(r), RankCommand::kResume, 1));
    QTRY_VERIFY_WITH_TIMEOUT(node.Pausing(2), kLimit);
    for (int r = 0; r < 2; ++r) {
      const Heard heard = node.agent.Of(Node::Id(r));
      QCOMPARE(*heard.paused, 30);
      QCOMPARE(heard.request, engine::kRequestStepsDone);
      QCOMPARE(Steps(heard.decided).size(), 30U);
      QCOMPARE(heard.decided.front().step, 1);
      QCOMPARE(heard.decided.back().loss, 1.0);
      QCOMPARE(heard.decided.back().tokens, 2);
      QVERIFY(heard.decided.back().seconds > 0);
      QCOMPARE(node.Value(r), 30.0F);
      const auto& header = node.devices[static_cast<std::size_t>(r)].header();
      for (const auto* word :
           {&header.grads_step, &header.decision_step, &header.begin, &header.end}) {
        QCOMPARE(word->load(), 30U);
      }
      QVERIFY(!node.agent.Do([&](RankPort& port) { return port.SendGo(Node::Id(5), 1); }));
    }
    for (int r = 0; r < 2; ++r) SUCCEEDS(node.agent.Command(Node::Id(r), RankCommand::kLeave));
    for (int r = 0; r < 2; ++r) QCOMPARE(node.ExitStatus(r), 0);
    QTRY_COMPARE_WITH_TIMEOUT(node.agent.Of(Node::Id(1)).gone, 1, kLimit);
    QVERIFY(!node.agent.Do([](RankPort& port) { return port.IsAttached(Node::Id(1)); }));
  }

  void aRequestOnOneDevicePausesAllAtOneStep() {
    Node node(3);
    QVERIFY(node.agent.Start());
    node.StartJob(3, 1000000, 1);
    QTRY_VERIFY_WITH_TIMEOUT(node.Pausing(3), kLimit);
    for (int r = 0; r < 3; ++r) SUCCEEDS(node.agent.Command(Node::Id(r), RankCommand::kResume, 1));
    QTRY_VERIFY_WITH_TIMEOUT(node.agent.Of(Node::Id(0)).decided.size() > 5, kLimit);
    auto& header = node.devices[1].header();
    const std::uint64_t from = header.end.load() + 20;
    header.request_step.store(from);
    header.request.store(42);
    QTRY_VERIFY_WITH_TIMEOUT(node.Pausing(3), kLimit);
    header.request.store(0);
    for (int r = 0; r < 3; ++r) {
      const Heard heard = node.agent.Of(Node::Id(r));
      QCOMPARE(*heard.paused, static_cast<std::int64_t>(from));
      QCOMPARE(heard.request, 42U);
      QCOMPARE(node.Value(r), static_cast<float>(from));
      QCOMPARE(heard.decided.back().pause, 42U);
      QCOMPARE(node.devices[static_cast<std::size_t>(r)].header().decision_pause.load(), 42U);
    }
    for (int r = 0; r < 3; ++r) {
      SUCCEEDS(node.agent.Command(Node::Id(r), RankCommand::kResume, 1));
      const Status again = node.agent.Command(Node::Id(r), RankCommand::kResume, 1);
      QVERIFY(!again && again.error().code == ErrorCode::kFailedPrecondition);
    }
    QTRY_VERIFY_WITH_TIMEOUT(
        node.agent.Of(Node::Id(2)).decided.back().step > static_cast<std::int64_t>(from), kLimit);
  }

  void holdKeepsTheUpdateBack() {
    Node node(1);
    QVERIFY(node.agent.Start());
    node.StartJob(1, 1000000, 1);
    QTRY_VERIFY_WITH_TIMEOUT(node.Pausing(1), kLimit);
    auto& header = node.devices[0].header();
    header.hold.store(1);
    SUCCEEDS(node.agent.Command(Node::Id(0), RankCommand::kResume, 1));
    QTRY_COMPARE_WITH_TIMEOUT(header.decision_step.load(), 1U, kLimit);
    QTest::qSleep(50);
    QCOMPARE(header.begin.load(), 0U);
    QCOMPARE(node.Value(0), 0.0F);
    header.hold.store(0);
    QTRY_VERIFY_WITH_TIMEOUT(header.end.load() > 1, kLimit);
  }

  // A hold that names a step lets the updates before it pass.
  void holdOfAStepLetsEarlierUpdatesPass() {
    Node node(1);
    QVERIFY(node.agent.Start());
    node.StartJob(1, 1000000, 1);
    QTRY_VERIFY_WITH_TIMEOUT(node.Pausing(1), kLimit);
    auto& header = node.devices[0].header();
    header.hold.store(6);
    SUCCEEDS(node.agent.Command(Node::Id(0), RankCommand::kResume, 1));
    QTRY_COMPARE_WITH_TIMEOUT(header.decision_step.load(), 6U, kLimit);
    QTest::qSleep(50);
    QCOMPARE(header.begin.load(), 5U);
    QCOMPARE(header.end.load(), 5U);
    QCOMPARE(node.Value(0), 5.0F);
    header.hold.store(0);
    QTRY_VERIFY_WITH_TIMEOUT(header.end.load() > 7, kLimit);
  }

  void aJobGrowsAndShrinks() {
    Node node(3);
    QVERIFY(node.agent.Start());
    node.StartJob(2, 1000000, 1);
    QTRY_VERIFY_WITH_TIMEOUT(node.Pausing(2), kLimit);
    for (int r = 0; r < 2; ++r) SUCCEEDS(node.agent.Command(Node::Id(r), RankCommand::kResume, 1));

    // A first try is abandoned before its third rank has come; training does not notice.
    for (int r = 0; r < 2; ++r) {
      SUCCEEDS(node.agent.Do(
          [&](RankPort& port) { return port.SendConnect(Node::Id(r), ViewOf(r, 3, 2, 1)); }));
    }
    QTRY_VERIFY_WITH_TIMEOUT(node.agent.Of(Node::Id(0)).connected.contains({2, 1}), kLimit);
    node.agent.Do([](RankPort& port) {
      port.Abandon(kJob, 2, 1);
      return 0;
    });
    SUCCEEDS(node.agent.Do(
        [&](RankPort& port) { return port.SendConnect(Node::Id(0), ViewOf(0, 3, 2, 1)); }));
    QTRY_VERIFY_WITH_TIMEOUT(!node.agent.Of(Node::Id(0)).connected.at({2, 1}).has_value(), kLimit);

    // The second: the joiner starts, all connect beside the training.
    node.StartRank(2, ViewOf(2, 3, 2, 2), false, 1000000, 1);
    for (int r = 0; r < 2; ++r) {
      SUCCEEDS(node.agent.Do(
          [&](RankPort& port) { return port.SendConnect(Node::Id(r), ViewOf(r, 3, 2, 2)); }));
    }
    for (int r = 0; r < 3; ++r) {
      QTRY_VERIFY_WITH_TIMEOUT(node.agent.Of(Node::Id(r)).connected.contains({2, 2}), kLimit);
      SUCCEEDS(node.agent.Of(Node::Id(r)).connected.at({2, 2}));
    }
    QTRY_VERIFY_WITH_TIMEOUT(node.agent.Of(Node::Id(2)).paused == -1, kLimit);
    node.devices[0].header().request.store(2);
    QTRY_VERIFY_WITH_TIMEOUT(node.Pausing(2), kLimit);
    node.devices[0].header().request.store(0);
    const std::int64_t step = *node.agent.Of(Node::Id(0)).paused;
    for (int r = 0; r < 3; ++r) {
      const RankView view = ViewOf(r, 3, 2, 2);
      node.MoveTo(r, 3, 2, static_cast<float>(step));
      SUCCEEDS(node.agent.Command(Node::Id(r), RankCommand::kAdopt, 2, &view));
    }
    for (int r = 0; r < 3; ++r) {
      QTRY_VERIFY_WITH_TIMEOUT(node.agent.Of(Node::Id(r)).adopted == 2, kLimit);
    }
    QTest::qSleep(50);
    QCOMPARE(node.agent.Of(Node::Id(0)).decided.back().step, step);  // nobody goes before all may
    for (int r = 0; r < 3; ++r) {
      SUCCEEDS(node.agent.Do([&](RankPort& port) { return port.SendGo(Node::Id(r), 2); }));
    }
    QTRY_VERIFY_WITH_TIMEOUT(node.agent.Of(Node::Id(2)).decided.size() > 5, kLimit);
    QCOMPARE(node.agent.Of(Node::Id(2)).decided.front().step, step + 1);
    QCOMPARE(node.agent.Of(Node::Id(2)).decided.front().tokens, 3);

    // And back to one: two leave.
    SUCCEEDS(node.agent.Do(
        [&](RankPort& port) { return port.SendConnect(Node::Id(1), ViewOf(0, 1, 3, 1)); }));
    QTRY_VERIFY_WITH_TIMEOUT(node.agent.Of(Node::Id(1)).connected.contains({3, 1}), kLimit);
    node.devices[2].header().request.store(3);
    QTRY_VERIFY_WITH_TIMEOUT(node.Pausing(3), kLimit);
    const std::int64_t second = *node.agent.Of(Node::Id(2)).paused;
    for (int r = 0; r < 3; ++r) QCOMPARE(node.Value(r), static_cast<float>(second));
    const RankView alone = ViewOf(0, 1, 3, 1);
    auto table = engine::AllocateInitial(kJob, 3, LayoutOf(1), 0, kCapacity);
    SUCCEEDS(table->Write(*node.devices[1].arena, engine::PieceTable::SlotOf(3)));
    for (const auto& entry : table->entries()) {
      auto* data = reinterpret_cast<float*>(node.devices[1].arena->data(entry.offset_bytes));
      for (std::int64_t i = 0; i < entry.box.num_elements(); ++i)
        data[i] = static_cast<float>(second);
    }
    engine::FlipTo(*node.devices[1].arena, 3);
    SUCCEEDS(node.agent.Command(Node::Id(1), RankCommand::kAdopt, 3, &alone));
    for (int r : {0, 2}) {
      SUCCEEDS(node.agent.Command(Node::Id(r), RankCommand::kLeave));
      QCOMPARE(node.ExitStatus(r), 0);
    }
    QTRY_VERIFY_WITH_TIMEOUT(node.agent.Of(Node::Id(1)).adopted == 3, kLimit);
    SUCCEEDS(node.agent.Do([&](RankPort& port) { return port.SendGo(Node::Id(1), 3); }));
    QTRY_VERIFY_WITH_TIMEOUT(node.agent.Of(Node::Id(1)).decided.back().tokens == 1, kLimit);
    QVERIFY(!Steps(node.agent.Of(Node::Id(1)).decided).empty());  // every step, once, in order
  }

  void adoptRefusesAnEpochThatIsNotFlipped() {
    Node node(1);
    QVERIFY(node.agent.Start());
    node.StartJob(1, 10, 0);
    QTRY_VERIFY_WITH_TIMEOUT(node.Pausing(1), kLimit);
    const RankView view = ViewOf(0, 1, 2);
    SUCCEEDS(node.agent.Command(Node::Id(0), RankCommand::kAdopt, 2, &view));
    QCOMPARE(node.ExitStatus(0), 1);
  }

  void aRestartedAgentHearsItAllAgain_data() {
    QTest::addColumn<QString>("phase");
    QTest::newRow("before the ranks attach") << "start";
    QTest::newRow("while groups are built") << "connect";
    QTest::newRow("while they wait for the start") << "waiting";
    QTest::newRow("while they train") << "training";
    QTest::newRow("while they are paused") << "paused";
    QTest::newRow("while they wait for go") << "adopted";
  }
  void aRestartedAgentHearsItAllAgain() {
    QFETCH(QString, phase);
    Node node(2);
    for (int r = 0; r < 2; ++r) node.MoveTo(r, 2, 1, 0);
    const auto start = [&](int r) { node.StartRank(r, ViewOf(r, 2, 1), true, 1000000, 1); };
    if (phase == "start") {
      start(0);
      start(1);
      QTest::qSleep(300);
      QVERIFY(node.agent.Start());
    } else {
      QVERIFY(node.agent.Start());
      start(0);
      if (phase == "connect") {
        // The first rank has its shared memory from this agent, the second asks the next one.
        QTRY_VERIFY_WITH_TIMEOUT(node.agent.Of(Node::Id(0)).connected.contains({1, 0}), kLimit);
        node.agent.Stop();
        start(1);
        QTest::qSleep(200);
        QVERIFY(node.agent.Restart(milliseconds(0)));
      } else {
        start(1);
      }
    }
    QTRY_VERIFY_WITH_TIMEOUT(node.Pausing(2), kLimit);
    if (phase == "waiting") {
      QVERIFY(node.agent.Restart());
      QTRY_VERIFY_WITH_TIMEOUT(node.Pausing(2), kLimit);
    }
    for (int r = 0; r < 2; ++r) {
      QCOMPARE(*node.agent.Of(Node::Id(r)).paused, -1);
      QVERIFY(node.agent.Of(Node::Id(r)).connected.at({1, 0}).has_value());
      QCOMPARE(node.agent.Of(Node::Id(r)).pid, node.processes[r]);
      SUCCEEDS(node.agent.Command(Node::Id(r), RankCommand::kResume, 1));
    }
    QTRY_VERIFY_WITH_TIMEOUT(node.agent.Of(Node::Id(1)).decided.size() > 3, kLimit);
    if (phase == "training") {
      const std::int64_t before = node.agent.Of(Node::Id(1)).decided.back().step;
      const auto& header = node.devices[1].header();
      node.agent.Stop();
      const std::uint64_t stopped = header.end.load();
      QTRY_VERIFY_WITH_TIMEOUT(header.end.load() > stopped + 50, kLimit);  // trains on alone
      QVERIFY(node.agent.Restart(milliseconds(0)));
      QTRY_VERIFY_WITH_TIMEOUT(node.agent.Of(Node::Id(1)).decided.size() > 55, kLimit);
      const Heard heard = node.agent.Of(Node::Id(1));
      QCOMPARE(heard.pid, node.processes[1]);
      QVERIFY(heard.decided.front().step <= before + 1);  // nothing is missing in between
      QVERIFY(!Steps(heard.decided).empty());             // those made without an agent among them
      QCOMPARE(heard.decided.back().dropped, 0);
    }
    for (int r = 0; r < 2; ++r) {
      SUCCEEDS(node.agent.Do(
          [&](RankPort& port) { return port.SendConnect(Node::Id(r), ViewOf(r, 2, 2, 1)); }));
      QTRY_VERIFY_WITH_TIMEOUT(node.agent.Of(Node::Id(r)).connected.contains({2, 1}), kLimit);
    }
    node.devices[0].header().request.store(2);
    QTRY_VERIFY_WITH_TIMEOUT(node.Pausing(2), kLimit);
    node.devices[0].header().request.store(0);
    const std::int64_t step = *node.agent.Of(Node::Id(0)).paused;
    if (phase == "paused") {
      QVERIFY(node.agent.Restart());
      QTRY_VERIFY_WITH_TIMEOUT(node.Pausing(2), kLimit);
    }
    for (int r = 0; r < 2; ++r) {
      const Heard heard = node.agent.Of(Node::Id(r));
      QCOMPARE(*heard.paused, step);
      QCOMPARE(heard.request, 2U);
      QVERIFY(heard.connected.at({2, 1}).has_value());
      QCOMPARE(heard.decided.back().step, step);
      const RankView view = ViewOf(r, 2, 2, 1);
      node.MoveTo(r, 2, 2, static_cast<float>(step));
      SUCCEEDS(node.agent.Command(Node::Id(r), RankCommand::kAdopt, 2, &view));
    }
    for (int r = 0; r < 2; ++r) {
      QTRY_VERIFY_WITH_TIMEOUT(node.agent.Of(Node::Id(r)).adopted == 2, kLimit);
    }
    if (phase == "adopted") {
      QVERIFY(node.agent.Restart());
      for (int r = 0; r < 2; ++r) {
        QTRY_VERIFY_WITH_TIMEOUT(node.agent.Of(Node::Id(r)).adopted == 2, kLimit);
        const auto state = node.agent.Do([&](RankPort& port) { return port.Find(Node::Id(r)); });
        QVERIFY(state && state->adopted && !state->waits && state->epoch == 2);
      }
    }
    for (int r = 0; r < 2; ++r) {
      SUCCEEDS(node.agent.Do([&](RankPort& port) { return port.SendGo(Node::Id(r), 2); }));
    }
    QTRY_VERIFY_WITH_TIMEOUT(
        node.devices[1].header().end.load() > static_cast<std::uint64_t>(step) + 5, kLimit);
  }

  // The example trains to the same losses on one rank, on two hosts, and across a change of its
  // mesh; it stops where it is asked to and goes on from there.
  void theExampleTrainsOnAnyMesh_data() {
    QTest::addColumn<int>("dp");
    QTest::addColumn<int>("tp");
    QTest::addColumn<int>("hosts");
    QTest::newRow("dp 2") << 2 << 1 << 1;
    QTest::newRow("dp 2, tp 2") << 2 << 2 << 1;
    QTest::newRow("dp 2, tp 2 on two hosts") << 2 << 2 << 2;
    QTest::newRow("tp 4 on four hosts") << 1 << 4 << 4;
  }
  void theExampleTrainsOnAnyMesh() {
    QFETCH(int, dp);
    QFETCH(int, tp);
    QFETCH(int, hosts);
    constexpr int kSteps = 200;
    Node alone(1);
    QVERIFY(alone.agent.Start());
    alone.StartExample(1, 1, 1, kSteps);
    QTRY_VERIFY_WITH_TIMEOUT(alone.Pausing(1), kLimit);
    SUCCEEDS(alone.agent.Command(Node::Id(0), RankCommand::kResume, 1));
    QTRY_VERIFY_WITH_TIMEOUT(alone.Pausing(1), kLimit);
    const std::vector<RankDecision> expected = alone.agent.Of(Node::Id(0)).decided;
    QCOMPARE(expected.size(), std::size_t{kSteps});
    QVERIFY(expected.back().loss < 0.01 * expected.front().loss);

    const int ranks = dp * tp;
    Node node(ranks);
    QVERIFY(node.agent.Start());
    node.StartExample(dp, tp, hosts, kSteps);
    QTRY_VERIFY_WITH_TIMEOUT(node.Pausing(ranks), kLimit);
    for (const float w : node.ExampleWeights(ranks)) QCOMPARE(w, 0.0F);
    node.devices[0].header().request_step.store(60);
    node.devices[0].header().request.store(5);
    for (int r = 0; r < ranks; ++r) {
      SUCCEEDS(node.agent.Command(Node::Id(r), RankCommand::kResume, 1));
    }
    QTRY_VERIFY_WITH_TIMEOUT(node.Pausing(ranks), kLimit);
    node.devices[0].header().request.store(0);
    for (int r = 0; r < ranks; ++r) QCOMPARE(*node.agent.Of(Node::Id(r)).paused, 60);

    // To dp 1, tp 2: the first two stay, the others leave.
    node.PlaceExample(1, 2, 2, node.ExampleWeights(ranks), 60);
    for (int r = 0; r < 2; ++r) {
      SUCCEEDS(node.agent.Do([&](RankPort& port) {
        return port.SendConnect(Node::Id(r), ExampleView(r, 1, 2, 1, 2));
      }));
    }
    for (int r = 0; r < 2; ++r) {
      QTRY_VERIFY_WITH_TIMEOUT(node.agent.Of(Node::Id(r)).connected.contains({2, 0}), kLimit);
      SUCCEEDS(node.agent.Of(Node::Id(r)).connected.at({2, 0}));
      const RankView view = ExampleView(r, 1, 2, 1, 2);
      SUCCEEDS(node.agent.Command(Node::Id(r), RankCommand::kAdopt, 2, &view));
    }
    for (int r = 2; r < ranks; ++r) {
      SUCCEEDS(node.agent.Command(Node::Id(r), RankCommand::kLeave));
      QCOMPARE(node.ExitStatus(r), 0);
    }
    // It stays paused until it is told to go on.
    for (int r = 0; r < 2; ++r) {
      QTRY_VERIFY_WITH_TIMEOUT(node.agent.Of(Node::Id(r)).adopted == 2, kLimit);
      SUCCEEDS(node.agent.Do([&](RankPort& port) { return port.SendGo(Node::Id(r), 2, true); }));
    }
    QTRY_VERIFY_WITH_TIMEOUT(node.Pausing(2), kLimit);
    QCOMPARE(node.agent.Of(Node::Id(0)).decided.back().step, 60);
    for (int r = 0; r < 2; ++r) {
      SUCCEEDS(node.agent.Command(Node::Id(r), RankCommand::kResume, 2));
    }
    QTRY_VERIFY_WITH_TIMEOUT(node.Pausing(2), kLimit);
    const std::vector<RankDecision> decided = node.agent.Of(Node::Id(0)).decided;
    QCOMPARE(decided.size(), expected.size());
    for (std::size_t i = 0; i < decided.size(); ++i) {
      QCOMPARE(decided[i].step, expected[i].step);
      QCOMPARE(decided[i].tokens, 32 * 256);
      QVERIFY2(std::abs(decided[i].loss - expected[i].loss) <= 1e-3 * expected[i].loss + 1e-6,
               qPrintable(QString("step %1: %2 instead of %3")
                              .arg(decided[i].step)
                              .arg(decided[i].loss)
                              .arg(expected[i].loss)));
    }
    for (int r = 0; r < 2; ++r) SUCCEEDS(node.agent.Command(Node::Id(r), RankCommand::kLeave));
    for (int r = 0; r < 2; ++r) QCOMPARE(node.ExitStatus(r), 0);
  }

  // Its peers of a rank that is killed wait until the agent abandons the attempt, then end.
  void theExampleEndsWhenItsGroupIsAbandoned_data() {
    QTest::addColumn<int>("hosts");
    QTest::newRow("one host") << 1;
    QTest::newRow("two hosts") << 2;
  }
  void theExampleEndsWhenItsGroupIsAbandoned() {
    QFETCH(int, hosts);
    Node node(2);
    QVERIFY(node.agent.Start());
    node.StartExample(2, 1, hosts, 1000000);
    QTRY_VERIFY_WITH_TIMEOUT(node.Pausing(2), kLimit);
    for (int r = 0; r < 2; ++r) SUCCEEDS(node.agent.Command(Node::Id(r), RankCommand::kResume, 1));
    QTRY_VERIFY_WITH_TIMEOUT(node.agent.Of(Node::Id(0)).decided.size() > 5, kLimit);
    ::kill(node.processes[1], SIGKILL);
    QTRY_COMPARE_WITH_TIMEOUT(node.agent.Of(Node::Id(1)).gone, 1, kLimit);
    node.agent.Do([](RankPort& port) {
      port.Abandon(kJob, 1, 0);
      return 0;
    });
    QCOMPARE(node.ExitStatus(0), 1);
  }

  void torchrunVariables() {
    RankView view = ViewOf(2, 4, 1);
    view.node_of_rank = {0, 3, 0, 3};
    QCOMPARE(
        TorchrunEnvironment(view, "10.0.0.1", 29400),
        (std::vector<std::string>{"RANK=2", "WORLD_SIZE=4", "LOCAL_RANK=1", "LOCAL_WORLD_SIZE=2",
                                  "MASTER_ADDR=10.0.0.1", "MASTER_PORT=29400"}));
    view.rank = -1;
    QVERIFY(TorchrunEnvironment(view, "10.0.0.1", 29400).empty());
    RankEnvironmentSpec spec{.base = {"RANK=7", "MASTER_PORT=1", "RANKING=1"},
                             .socket = "/s",
                             .id = Node::Id(0),
                             .settings = "{}",
                             .settings_file = {},
                             .initialise = false,
                             .view = ViewOf(0, 1, 1),
                             .layout_file = "/l"};
    const auto environment = RankEnvironment(spec);
    QCOMPARE(environment[0], std::string("RANKING=1"));
    QCOMPARE(std::count(environment.begin(), environment.end(), "RANK=7"), 0);
    QCOMPARE(std::count(environment.begin(), environment.end(), "MASTER_PORT=1"), 0);
  }

  void randomNumbersAreThoseOfTheTrainer() {
    const engine::RandomStream stream(5, engine::RandomPurpose::kInitialise, "w");
    for (const std::int64_t first : {0, 1, 3, 1000}) {
      std::vector<float> values(11);
      tessera_random_normal(5, "w", first, values.data(), values.size());
      for (std::size_t i = 0; i < values.size(); ++i) {
        QCOMPARE(values[i], stream.Normal(first + static_cast<std::int64_t>(i)));
      }
    }
  }

  void aKilledRankIsReported() {
    Node node(1);
    QVERIFY(node.agent.Start());
    node.StartJob(1, 10, 0);
    QTRY_VERIFY_WITH_TIMEOUT(node.Pausing(1), kLimit);
    ::kill(node.processes[0], SIGKILL);
    QTRY_COMPARE_WITH_TIMEOUT(node.agent.Of(Node::Id(0)).gone, 1, kLimit);
    const Status sent = node.agent.Command(Node::Id(0), RankCommand::kResume, 1);
    QVERIFY(!sent && sent.error().code == ErrorCode::kUnavailable);
  }

  void malformedPacketsAreDropped() {
    Node node(0);
    QVERIFY(node.agent.Start());
    const int before = OpenDescriptors();
    {
      const UniqueFd noise = RawConnection(node.socket);
      SUCCEEDS(SendPacket(noise.get(), "this is not a message"));
      QTRY_COMPARE_WITH_TIMEOUT(node.agent.Problems().size(), 1U, kLimit);
      const UniqueFd early = RawConnection(node.socket);
      wire::RankToAgent first;
      first.mutable_adopted()->set_epoch(1);
      SUCCEEDS(SendPacket(early.get(), first.SerializeAsString()));
      QTRY_COMPARE_WITH_TIMEOUT(node.agent.Problems().size(), 2U, kLimit);
      const UniqueFd other = RawConnection(node.socket);
      SUCCEEDS(SendPacket(other.get(), AttachMessage(99).SerializeAsString()));
      QTRY_COMPARE_WITH_TIMEOUT(node.agent.Problems().size(), 3U, kLimit);
      const std::string last = node.agent.Problems().back();
      QVERIFY2(last.find("rank protocol 99, this agent speaks 1") != std::string::npos,
               last.c_str());
      for (const UniqueFd* refused : {&noise, &early, &other}) {
        const auto closed = [&] {
          const auto packet = ReceivePacket(refused->get());
          return !packet && packet.error().code == ErrorCode::kCancelled;
        };
        QTRY_VERIFY_WITH_TIMEOUT(closed(), kLimit);
      }

      const RankId fake{"fake", {0, 7}};
      const UniqueFd rank = RawConnection(node.socket);
      SUCCEEDS(SendPacket(rank.get(), AttachMessage(1).SerializeAsString()));
      QTRY_COMPARE_WITH_TIMEOUT(node.agent.Of(fake).attached, 1, kLimit);
      const int passed[] = {rank.get(), node.directory.isValid() ? 2 : 0};
      SUCCEEDS(SendPacket(rank.get(), std::string("\xff\xff\xff\xff", 4), passed));
      const std::string large(kMaxPacketBytes + 1, 'x');
      QCOMPARE(::send(rank.get(), large.data(), large.size(), 0),
               static_cast<ssize_t>(large.size()));
      wire::RankToAgent unasked;
      unasked.mutable_shared_memory_held()->set_key("no descriptor");
      SUCCEEDS(SendPacket(rank.get(), unasked.SerializeAsString()));
      unasked.mutable_shared_memory()->set_bytes(-1);
      SUCCEEDS(SendPacket(rank.get(), unasked.SerializeAsString()));
      unasked.mutable_adopted()->set_epoch(9);
      SUCCEEDS(SendPacket(rank.get(), unasked.SerializeAsString()));
      QTRY_VERIFY_WITH_TIMEOUT(node.agent.Of(fake).adopted == 9, kLimit);
      QCOMPARE(node.agent.Problems().size(), 6U);
      QVERIFY(node.agent.Do([&](RankPort& port) { return port.IsAttached(fake); }));
    }
    QTRY_COMPARE_WITH_TIMEOUT(OpenDescriptors(), before, kLimit);
  }

  void aSocketPathThatIsTooLongIsRefused() {
    Loop loop;
    const auto port = RankPort::Listen(loop, "/tmp/" + std::string(200, 'x'), {});
    QVERIFY(!port);
    QCOMPARE(port.error().code, ErrorCode::kInvalidArgument);
  }
};

QTEST_APPLESS_MAIN(JobTest)
#include "job_test.moc"
