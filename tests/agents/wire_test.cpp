// SPDX-License-Identifier: Apache-2.0
#include <QTest>
#include <cmath>
#include <limits>
#include <string>

#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "agents/wire/utf8.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::agents;

namespace {

class Any {
 public:
  explicit Any(std::uint64_t seed) : rng_(seed) {}
  std::uint64_t Below(std::uint64_t n) { return rng_() % n; }
  bool Flip() { return Below(2) == 0; }
  std::int64_t Count() { return static_cast<std::int64_t>(rng_() >> (1 + Below(62))); }
  double Real() { return static_cast<double>(rng_() >> 11) * 0x1p-40 - 4096.0; }
  std::string Text() {
    static const char* kTexts[] = {"",        "n0", "gpt-mini", "loss fell", "größer als 2 GiB",
                                   "→ 8 GPUs"};
    return kTexts[Below(std::size(kTexts))];
  }
  template <typename Enum>
  Enum OneOf(Enum last) {
    return static_cast<Enum>(Below(static_cast<std::uint64_t>(last) + 1));
  }
  ptc::DeviceId Device() {
    return {static_cast<std::int32_t>(Below(1000)), static_cast<std::int32_t>(Below(16))};
  }
  std::vector<ptc::DeviceId> Devices() {
    std::vector<ptc::DeviceId> devices(Below(5));
    for (auto& device : devices) device = Device();
    return devices;
  }
  ptc::MeshShape Mesh() {
    ptc::MeshShape mesh;
    for (auto& size : mesh.sizes) size = 1 + static_cast<std::int64_t>(Below(64));
    return mesh;
  }
  engine::StepOptions Options() { return {Flip(), Count()}; }
  double Seconds() { return std::abs(Real()); }
  std::vector<engine::FlowStatus> Flows() {
    std::vector<engine::FlowStatus> flows(Below(4));
    for (auto& flow : flows) flow = Flow();
    return flows;
  }
  engine::FlowStatus Flow() {
    return {Device(), Device(), Count(), Count(), Real(), OneOf(engine::FlowState::kDone), Text()};
  }
  engine::TxnStatus Txn() {
    engine::TxnStatus txn{Count(),   Text(),   OneOf(engine::TxnPhase::kInDoubt),
                          Mesh(),    Mesh(),   Devices(),
                          Devices(), Count(),  Count(),
                          {},        Real(),   Count(),
                          Text(),    Flows(),  Flip(),
                          Options(), Options()};
    if (Flip()) txn.eta = Real();
    if (Flip()) txn.eta_least = Real();
    if (Flip()) txn.eta_most = Real();
    txn.throttle = Count();
    txn.kind = OneOf(engine::ChangeKind::kBegin);
    txn.rests = Flip();
    txn.step = Count();
    return txn;
  }
  engine::ClusterSnapshot Snapshot() {
    engine::ClusterSnapshot snapshot;
    snapshot.cluster = Text();
    snapshot.sequence = Count();
    snapshot.link_bytes_per_second = Real();
    snapshot.plain_lanes = Flip();
    if (Flip()) snapshot.lease = engine::OperatorLease{Text(), Text(), Real()};
    if (Flip()) snapshot.simulation = engine::SimulationStatus{Text(), Real(), Real(), Count()};
    snapshot.time = Real();
    snapshot.one_host = Flip();
    for (std::uint64_t n = Below(4); n > 0; --n) {
      engine::NodeStatus node{static_cast<std::int32_t>(Below(100)),
                              OneOf(engine::NodeState::kLeft),
                              Real(),
                              {},
                              Text(),
                              Text(),
                              Text(),
                              Count(),
                              {Count(), Count(), Count(), Count(), Count()}};
      if (Flip()) node.rack = Text();
      if (Flip()) node.problem = Text();
      for (std::uint64_t d = Below(4); d > 0; --d) {
        engine::DeviceStatus device{Device(), Count(), Count(), Text(),  {},
                                    Flip(),   Flip(),  Count(), Count(), Count()};
        if (Flip()) device.rank = static_cast<int>(Below(99));
        node.devices.push_back(device);
      }
      snapshot.nodes.push_back(node);
    }
    for (std::uint64_t n = Below(3); n > 0; --n) {
      engine::JobStatus job;
      job.name = Text();
      job.model = Text();
      job.state = OneOf(engine::JobState::kFailed);
      job.reason = Text();
      job.step = Count();
      if (Flip()) job.loss = Real();
      if (Flip()) job.tokens_per_second = Real();
      job.mesh = Mesh();
      job.devices = Devices();
      job.epoch = Count();
      job.timeline = Count();
      job.layout_hash = Text();
      job.global_batch = Count();
      job.num_tensors = Count();
      job.state_bytes = Count();
      job.max_steps = Count();
      job.options = Options();
      if (Flip()) job.step_seconds = Seconds();
      job.command = Text();
      for (std::uint64_t parts = Below(3); parts > 0; --parts) {
        job.data.parts.push_back({Text(), Text(), Count(), Seconds()});
      }
      if (!job.data.empty()) {
        job.data.num_samples = Count();
        job.data.sequence = Count();
        job.data.seed = Count();
      }
      job.metrics = Metrics();
      job.origin = Count();
      if (Flip()) job.survival = engine::Survival{Device().node, Count()};
      job.starts_again = Flip();
      job.finished = Flip();
      job.started = Seconds();
      job.owner = Text();
      if (Flip()) job.decision = Decision();
      snapshot.jobs.push_back(job);
    }
    if (Flip()) snapshot.transaction = Txn();
    return snapshot;
  }
  engine::DecisionStatus Decision() {
    engine::DecisionStatus decision;
    decision.loss = OneOf(engine::LossCase::kCheckpointOnly);
    decision.lost = Devices();
    decision.reason = Text();
    if (Flip()) decision.chosen = OneOf(engine::LossChoice::kWait);
    if (Flip()) decision.seconds_left = Seconds();
    for (std::uint64_t n = Below(4); n > 0; --n) {
      engine::RecoveryWay way;
      way.source = OneOf(engine::RecoverySource::kCheckpoint);
      way.mesh = Mesh();
      way.devices = Devices();
      way.options = Options();
      way.moved_bytes = Count();
      if (Flip()) way.seconds = Seconds();
      if (Flip()) way.step_seconds = Seconds();
      if (Flip()) way.survival = engine::Survival{Device().node, Count()};
      way.step = Count();
      way.steps_lost = Count();
      way.checkpoint = Text();
      decision.ways.push_back(way);
    }
    decision.why_not = Text();
    decision.awaited = Devices();
    decision.missing = {Text(), Text()};
    decision.missing_bytes = Count();
    decision.missing_layers = {{Count(), Count()}};
    decision.missing_others = {Text()};
    return decision;
  }
  engine::Event Event() {
    engine::Event event{Count(), Real(), OneOf(engine::Severity::kError), Text(), Text()};
    if (Flip()) event.note = {3, OneOf(engine::NodeState::kLeft), {0, 2}};
    return event;
  }
  engine::Sample Sample() {
    engine::Sample sample{Text(), Count(), Real(), Real(), Real(), Real()};
    sample.metrics = Metrics();
    sample.origin = Count();
    return sample;
  }
  engine::Metrics Metrics() {
    engine::Metrics metrics;
    if (Flip()) metrics = {{"accuracy", Real()}, {"eval/loss", Real()}};
    return metrics;
  }
  engine::PlanSummary Plan() {
    engine::PlanSummary plan;
    plan.job = Text();
    plan.epoch = Count();
    plan.from_layout_hash = Text();
    plan.from_mesh = Mesh();
    plan.to_mesh = Mesh();
    plan.from_devices = Devices();
    plan.to_devices = Devices();
    plan.hash = Text();
    plan.kept = Count();
    plan.device = Count();
    plan.host = Count();
    plan.network = Count();
    plan.snapshot = Count();
    plan.storage = Count();
    plan.relayed = Flip();
    plan.network_direct = Count();
    plan.volume_bound = Count();
    plan.certificate = {Text(),    Count(), Seconds(), Count(),   Seconds(), Count(),
                        Seconds(), Count(), Count(),   Seconds(), Seconds(), Text()};
    plan.idle = Devices();
    for (std::uint64_t n = Below(4); n > 0; --n) {
      plan.peak_memory.push_back({Device(), Count(), Count()});
    }
    plan.single_source = Count();
    plan.pause_estimate = Real();
    plan.rollback = Flip();
    plan.flows = Flows();
    plan.global_batch = Count();
    plan.why = Text();
    plan.from_options = Options();
    plan.to_options = Options();
    if (Flip()) plan.from_step_seconds = Seconds();
    if (Flip()) plan.to_step_seconds = Seconds();
    if (Flip()) plan.survival = engine::Survival{Device().node, Count()};
    return plan;
  }
  engine::HistoryEntry History() {
    engine::HistoryEntry entry{Count(), Text(),  Text(),  Text(), Real(), Text(),  Text(), {},
                               Real(),  Count(), Count(), Text(), Text(), Count(), Count()};
    for (std::uint64_t n = Below(4); n > 0; --n)
      entry.phases["phase " + std::to_string(n)] = Real();
    entry.from_options = Options();
    entry.to_options = Options();
    entry.requester = Text();
    entry.kept = Count();
    entry.device = Count();
    entry.host = Count();
    entry.network = Count();
    entry.pause_estimate = Seconds();
    entry.flows = Flows();
    entry.origin = Count();
    entry.kind = OneOf(engine::ChangeKind::kBegin);
    if (Flip()) entry.gap = Seconds();
    return entry;
  }
  engine::Proposal Proposal() {
    engine::Proposal proposal;
    proposal.job = Text();
    for (std::uint64_t n = Below(4); n > 0; --n) {
      engine::Candidate candidate;
      candidate.mesh = Mesh();
      candidate.options = Options();
      candidate.devices = Devices();
      candidate.idle = Devices();
      candidate.step_seconds = Seconds();
      candidate.pause_seconds = Seconds();
      candidate.moved_bytes = Count();
      candidate.peak_bytes = Count();
      candidate.capacity = Count();
      candidate.current = Flip();
      candidate.recommended = Flip();
      candidate.fastest = Flip();
      candidate.moves_least = Flip();
      if (Flip()) candidate.survival = engine::Survival{Device().node, Count()};
      proposal.candidates.push_back(candidate);
    }
    proposal.why = Text();
    if (Flip()) proposal.calibrated = Seconds();
    return proposal;
  }
  std::vector<engine::Check> Checks() {
    std::vector<engine::Check> checks(Below(5));
    for (engine::Check& check : checks) {
      if (Flip()) check.node = static_cast<std::int32_t>(Below(100));
      check.name = Text();
      check.verdict = OneOf(engine::Check::Verdict::kSkipped);
      check.value = Text();
      check.remedy = Text();
    }
    return checks;
  }

 private:
  std::mt19937_64 rng_;
};

/// Encodes to bytes and decodes them, as between two processes.
template <typename Wire, typename Value>
Value RoundTrip(const Value& value) {
  Wire out;
  Encode(value, &out);
  Wire in;
  if (!in.ParseFromString(out.SerializeAsString())) qFatal("does not parse");
  const auto decoded = Decode(in);
  if (!decoded) qFatal("%s", decoded.error().ToString().c_str());
  return *decoded;
}

}  // namespace

class WireTest : public QObject {
  Q_OBJECT
 private slots:
  void everyValueComesBackAsItWas() {
    Any any(test::Seed());
    for (int i = 0; i < 500; ++i) {
      const auto snapshot = any.Snapshot();
      QVERIFY(RoundTrip<wire::Snapshot>(snapshot) == snapshot);
      const auto txn = any.Txn();
      QVERIFY(RoundTrip<wire::TxnInfo>(txn) == txn);
      const auto event = any.Event();
      QVERIFY(RoundTrip<wire::EventInfo>(event) == event);
      const auto sample = any.Sample();
      QVERIFY(RoundTrip<wire::SampleInfo>(sample) == sample);
      const auto plan = any.Plan();
      QVERIFY(RoundTrip<wire::PlanInfo>(plan) == plan);
      const auto entry = any.History();
      QVERIFY(RoundTrip<wire::HistoryInfo>(entry) == entry);
      const auto proposal = any.Proposal();
      QVERIFY(RoundTrip<wire::ProposeReply>(proposal) == proposal);
      const auto checks = any.Checks();
      QVERIFY(RoundTrip<wire::DoctorReply>(checks) == checks);
    }
  }

  // A message with a flipped bit often still parses. Decoding must then refuse it or return a value
  // whose enums are all known; ToString checks that.
  void corruptBytesNeverCrash() {
#if GOOGLE_PROTOBUF_VERSION < 4022000
    google::protobuf::SetLogHandler(nullptr);  // it would print a line for each bad string
#endif
    Any any(test::Seed() + 1);
    int refused = 0;
    int taken = 0;
    for (int i = 0; i < 10000; ++i) {
      wire::Snapshot out;
      Encode(any.Snapshot(), &out);
      std::string bytes = out.SerializeAsString();
      if (any.Below(4) == 0) {
        bytes.resize(any.Below(200));
        for (char& c : bytes) c = static_cast<char>(any.Below(256));
      } else if (!bytes.empty()) {
        for (std::uint64_t n = 1 + any.Below(4); n > 0; --n) {
          bytes[any.Below(bytes.size())] = static_cast<char>(any.Below(256));
        }
      }
      wire::Snapshot in;
      const auto decoded = in.ParseFromString(bytes)
                               ? Decode(in)
                               : Result<engine::ClusterSnapshot>(DataLoss("does not parse"));
      if (!decoded) {
        ++refused;
        QVERIFY(!decoded.error().message.empty());
        continue;
      }
      ++taken;
      for (const auto& node : decoded->nodes) QVERIFY(!ToString(node.state).empty());
      for (const auto& job : decoded->jobs) {
        QVERIFY(!ToString(job.state).empty());
        QVERIFY(job.mesh.num_ranks() >= 1);
      }
      if (decoded->transaction) QVERIFY(!ToString(decoded->transaction->phase).empty());
    }
    QVERIFY2(refused > 1000 && taken > 10, qPrintable(QString("%1 %2").arg(refused).arg(taken)));
  }

  void refusalsNameWhatIsWrong_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("text");
    const auto row = [](const char* name, const wire::Snapshot& snapshot, const char* text) {
      const std::string bytes = snapshot.SerializeAsString();
      QTest::newRow(name) << QByteArray(bytes.data(), static_cast<qsizetype>(bytes.size())) << text;
    };
    wire::Snapshot snapshot;
    snapshot.add_nodes()->set_state(17);
    row("unknown node state", snapshot, "node state 17 is above the last known one, 5");
    snapshot.Clear();
    snapshot.add_nodes()->add_devices()->mutable_id()->set_index(-1);
    row("negative device", snapshot, "device.index -1 is below 0");
    snapshot.Clear();
    snapshot.add_jobs()->mutable_mesh()->add_sizes(4);
    row("short mesh", snapshot, "mesh has 1 degrees, not 5");
    snapshot.Clear();
    for (int i = 0; i < 5; ++i) {
      if (i == 0) snapshot.add_jobs();
      snapshot.mutable_jobs(0)->mutable_mesh()->add_sizes(0);
    }
    row("zero degree", snapshot, "mesh degree 0 is not between 1 and 65536");
    snapshot.Clear();
    snapshot.set_link_bytes_per_second(std::numeric_limits<double>::infinity());
    row("infinite rate", snapshot, "snapshot.link_bytes_per_second inf is not finite");
    snapshot.Clear();
    wire::JobInfo& job = *snapshot.add_jobs();
    Encode(ptc::MeshShape{}, job.mutable_mesh());
    job.mutable_options()->set_micro_batch(-4);
    row("negative micro-batch", snapshot, "micro-batch -4 is below 0");
    job.mutable_options()->set_micro_batch(4);
    job.set_step_seconds(-0.5);
    row("negative time", snapshot, "job.step_seconds -0.500000 is below 0");
  }
  void refusalsNameWhatIsWrong() {
    QFETCH(QByteArray, bytes);
    QFETCH(QString, text);
    wire::Snapshot in;
    QVERIFY(in.ParseFromArray(bytes.constData(), static_cast<int>(bytes.size())));
    const auto decoded = Decode(in);
    QVERIFY(!decoded);
    QCOMPARE(decoded.error().code, ErrorCode::kInvalidArgument);
    QCOMPARE(QString::fromStdString(decoded.error().message), text);
  }

  void errorsKeepCodeAndContext() {
    wire::ErrorReply reply;
    Encode(Error{ErrorCode::kNotFound, "no job 'x'", "plan"}, &reply);
    QCOMPARE(Decode(reply), (Error{ErrorCode::kNotFound, "plan: no job 'x'", {}}));
    reply.set_code(4711);
    QCOMPARE(Decode(reply).code, ErrorCode::kInternal);
  }

  void anyBytesOfAProcessMayTravelAsText() {
    engine::Event event;
    event.text =
        "abc\xff\xc3(\xed\xa0\x80 gr\xc3\xb6\xc3\x9f"
        "er";
    QCOMPARE(QString::fromStdString(RoundTrip<wire::EventInfo>(event).text),
             QString::fromUtf8(
                 "abc\xef\xbf\xbd\xef\xbf\xbd(\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd größer"));
  }

  void utf8KeepsWhatIsWellFormed() {
    const std::string all =
        "a\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf";
    QCOMPARE(Utf8(all), all);
    QCOMPARE(Utf8(""), std::string());
    for (const char* bad :
         {"\xc0\x80", "\xe0\x80\x80", "\xf4\x90\x80\x80", "\xc3", "\xf0\x90\x80"}) {
      QVERIFY(Utf8(bad) != bad);
      QCOMPARE(Utf8(Utf8(bad)), Utf8(bad));
    }
  }
};
TESSERA_TEST_APPLESS(WireTest)
#include "wire_test.moc"
