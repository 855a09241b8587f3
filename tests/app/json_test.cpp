// SPDX-License-Identifier: Apache-2.0
#include "app/commands/json.h"

#include <QTest>
#include <nlohmann/json.hpp>

#include "agents/wire/tessera/wire/control.pb.h"
#include "tests/support/test_main.h"

using namespace tessera;
using app::Json;

namespace {

ptc::MeshShape Mesh(std::string_view text) { return *ptc::ParseMeshShape(text); }

QStringList Keys(const Json& json) {
  QStringList keys;
  for (const auto& [key, value] : json.items()) keys << QString::fromStdString(key);
  return keys;
}

/// Whether `json` has all of `keys`: scripts may rely on these, more may stand beside them.
bool HasKeys(const Json& json, const QStringList& keys) {
  const QStringList there = Keys(json);
  return std::ranges::all_of(keys, [&](const QString& key) { return there.contains(key); });
}

}  // namespace

class JsonTest : public QObject {
  Q_OBJECT

 private slots:
  void statusHasTheKeysThatScriptsUse() {
    engine::ClusterSnapshot snapshot;
    snapshot.cluster = "local";
    snapshot.nodes = {
        {0,
         engine::NodeState::kAlive,
         0.2,
         {{{0, 0}, 5, 512, "gpt", 3, false, false}, {{0, 1}, 0, 512, "", {}, false, false}},
         "lab3",
         "10.0.0.3",
         "0.1.0"}};
    engine::JobStatus job;
    job.name = "gpt";
    job.state = engine::JobState::kRunning;
    job.step = 12;
    job.mesh = Mesh("dp=2,tp=2");
    job.devices = {{0, 0}, {1, 2}};
    job.options = {true, 4};
    job.step_seconds = 0.25;
    snapshot.jobs = {job};
    engine::JobStatus unknown;
    unknown.name = "held";
    unknown.state = engine::JobState::kUnknown;
    unknown.epoch = 4;
    const Json held = app::toJson(unknown);
    QCOMPARE(held["state"].get<std::string>(), std::string("unknown"));
    QCOMPARE(held["epoch"].get<int>(), 4);
    for (const char* key : {"step", "mesh", "zero", "layout_hash"}) {
      QVERIFY2(held.contains(key) && held[key].is_null(), key);
    }
    QCOMPARE(held["devices"].dump(), std::string("[]"));
    const Json json = app::toJson(snapshot);
    QVERIFY(HasKeys(json, {"cluster", "nodes", "jobs", "transaction"}));
    QVERIFY(json["transaction"].is_null());
    const Json& node = json["nodes"][0];
    QVERIFY(HasKeys(node, {"name", "state", "devices"}));
    QCOMPARE(node["name"].get<std::string>(), std::string("n0"));
    QCOMPARE(node["state"].get<std::string>(), std::string("alive"));
    QCOMPARE(node["host"].get<std::string>(), std::string("lab3"));
    QCOMPARE(node["address"].get<std::string>(), std::string("10.0.0.3"));
    QVERIFY(node["rack"].is_null());
    snapshot.nodes[0].rack = "r12";
    QCOMPARE(app::toJson(snapshot)["nodes"][0]["rack"].get<std::string>(), std::string("r12"));
    QCOMPARE(node["version"].get<std::string>(), std::string("0.1.0"));
    QVERIFY(HasKeys(node["devices"][0], {"name", "used_bytes", "total_bytes", "job", "rank"}));
    QCOMPARE(node["devices"][0]["rank"].get<int>(), 3);
    QVERIFY(node["devices"][1]["job"].is_null());
    QVERIFY(node["devices"][1]["rank"].is_null());
    const Json& first = json["jobs"][0];
    QVERIFY(HasKeys(first, {"name", "state", "step", "loss", "tokens_per_second", "mesh", "devices",
                            "epoch", "timeline", "layout_hash"}));
    QVERIFY(first["loss"].is_null());
    QVERIFY(first["started"].is_null());
    snapshot.jobs[0].started = 1'795'237'100.5;
    QCOMPARE(app::toJson(snapshot)["jobs"][0]["started"].get<double>(), 1795237100.5);
    QVERIFY(first["zero"].get<bool>());
    QCOMPARE(first["micro_batch"].get<int>(), 4);
    QCOMPARE(first["step_seconds"].get<double>(), 0.25);
    QVERIFY(first["command"].is_null());
    QCOMPARE(first["mesh"]["dp"].get<int>(), 2);
    QCOMPARE(first["devices"].dump(), std::string(R"(["n0g0","n1g2"])"));

    QVERIFY(first["survives"].is_null());  // it opens its data: nothing is placed
    const auto survives = [&](std::int32_t lost, std::int64_t bytes) {
      snapshot.jobs[0].survival = engine::Survival{lost, bytes};
      return app::toJson(snapshot)["jobs"][0]["survives"].dump();
    };
    QCOMPARE(survives(0, 0), std::string(R"({"any_node":true,"worst_node":null,"lost_bytes":0})"));
    QCOMPARE(survives(1, 18 << 20),
             std::string(R"({"any_node":false,"worst_node":"n1","lost_bytes":18874368})"));
  }

  void transactionIsNullOnceItIsOver() {
    engine::ClusterSnapshot snapshot;
    snapshot.transaction.emplace();
    snapshot.transaction->id = 4;
    snapshot.transaction->phase = engine::TxnPhase::kTransferring;
    const Json moving = app::toJson(snapshot)["transaction"];
    QVERIFY(HasKeys(moving, {"id", "job", "phase", "done_bytes", "total_bytes", "eta_seconds"}));
    QCOMPARE(moving["phase"].get<std::string>(), std::string("transferring"));
    QVERIFY(moving["eta_seconds"].is_null());
    for (const auto phase :
         {engine::TxnPhase::kDone, engine::TxnPhase::kRolledBack, engine::TxnPhase::kFailed}) {
      snapshot.transaction->phase = phase;
      QVERIFY(app::toJson(snapshot)["transaction"].is_null());
    }
  }

  void planHasTheKeysThatScriptsUse() {
    engine::PlanSummary plan;
    plan.host = 3;
    plan.network = 4;
    plan.peak_memory = {{{0, 1}, 77, 512}};
    plan.idle = {{1, 3}};
    const Json json = app::toJson(plan);
    QVERIFY(HasKeys(
        json, {"job", "from", "to", "hash", "bytes", "volume_bound_bytes", "busiest_port", "idle",
               "peak_bytes", "single_source", "pause_estimate_seconds", "rollback", "relay"}));
    QCOMPARE(Keys(json["relay"]), (QStringList{"on", "network_direct_bytes"}));
    QCOMPARE(Keys(json["bytes"]),
             (QStringList{"kept", "device", "host", "network", "snapshot", "storage"}));
    QVERIFY(HasKeys(json["from"], {"mesh", "devices", "zero", "micro_batch"}));
    QVERIFY(json["step_seconds"]["to"].is_null());
    QCOMPARE(Keys(json["busiest_port"]),
             (QStringList{"bytes", "bound_bytes", "gap", "port", "seconds", "bound_seconds",
                          "relayed_bound_bytes", "relayed_seconds"}));
    QCOMPARE(Keys(json["bandwidths"]),
             (QStringList{"host_bytes_per_second", "network_bytes_per_second", "from"}));
    QCOMPARE(json["peak_bytes"]["n0g1"].get<int>(), 77);
    QCOMPARE(json["idle"].dump(), std::string(R"(["n1g3"])"));
    QVERIFY(json["move_memory"].is_null() && json["rollback"] == true);
    plan.in_rounds = {100, 3, {{{0, 1}, 90, 0}}};
    const Json rounds = app::toJson(plan);
    QCOMPARE(rounds["rollback"].dump(), std::string(R"("until the first round")"));
    QCOMPARE(rounds["move_memory"].dump(),
             std::string(R"({"limit_bytes":100,"rounds":3,"extra_bytes":{"n0g1":90}})"));
  }

  void historyAndMetricsHaveTheirKeys() {
    engine::HistoryEntry entry;
    entry.phases = {{"pausing", 0.25}};
    entry.requester = "tesseractl, lena@lab3";
    entry.network = 9;
    entry.flows = {{{0, 0}, {1, 1}, 9, 9, 4.5}};
    const Json json = app::toJson(entry);
    QVERIFY(HasKeys(json, {"id", "job", "from", "to", "started", "result", "phase_seconds",
                           "moved_bytes", "volume_bound_bytes", "digest_before", "digest_after"}));
    QCOMPARE(json["phase_seconds"]["pausing"].get<double>(), 0.25);
    QCOMPARE(json["who"].get<std::string>(), std::string("tesseractl, lena@lab3"));
    QCOMPARE(json["bytes"]["network"].get<int>(), 9);
    QCOMPARE(json["flows"].dump(),
             std::string(R"([{"source":"n0g0","destination":"n1g1","bytes":9,)"
                         R"("planned_bytes":9,"bytes_per_second":4.5}])"));
    QCOMPARE(
        Keys(app::toJson(engine::Sample())),
        (QStringList{"job", "step", "time", "loss", "grad_norm", "tokens_per_second",
                     "job_started", "metrics"}));
    wire::DigestReply digest;
    (*digest.mutable_tensors())["wte"] = "00ff";
    QCOMPARE(Keys(app::toJson(digest)),
             (QStringList{"job", "epoch", "timeline", "step", "digest", "tensors"}));
  }

  void proposalsAndChecksHaveTheirKeys() {
    engine::Proposal proposal;
    proposal.job = "gpt";
    proposal.candidates.resize(2);
    proposal.candidates[0].mesh = Mesh("dp=2,pp=2");
    proposal.candidates[0].devices = {{0, 0}, {0, 1}, {0, 2}, {0, 3}};
    proposal.candidates[0].options = {true, 8};
    proposal.candidates[0].recommended = true;
    proposal.candidates[1].peak_bytes = 2;
    proposal.candidates[1].capacity = 1;
    const Json json = app::toJson(proposal);
    QCOMPARE(Keys(json), (QStringList{"job", "candidates", "why", "calibrated"}));
    QVERIFY(json["calibrated"].is_null());
    const Json& best = json["candidates"][0];
    QCOMPARE(Keys(best), (QStringList{"mesh", "devices", "zero", "micro_batch", "idle",
                                      "step_seconds", "pause_seconds", "moved_bytes", "peak_bytes",
                                      "capacity_bytes", "fits", "current", "recommended", "fastest",
                                      "moves_least", "uses_all", "survives"}));
    QCOMPARE(best["mesh"]["pp"].get<int>(), 2);
    QVERIFY(best["zero"].get<bool>() && best["recommended"].get<bool>() &&
            best["fits"].get<bool>());
    QVERIFY(!json["candidates"][1]["fits"].get<bool>());

    engine::Check check;
    check.name = "clock";
    check.verdict = engine::Check::Verdict::kWarning;
    const Json one = app::toJson(check);
    QCOMPARE(Keys(one), (QStringList{"node", "name", "verdict", "value", "remedy"}));
    QVERIFY(one["node"].is_null());
    QCOMPARE(one["verdict"].get<std::string>(), std::string("warning"));
    check.node = 3;
    QCOMPARE(app::toJson(check)["node"].get<std::string>(), std::string("n3"));
  }

  void documentsHaveAVersionAndTakeAnyBytes() {
    const std::string line = app::lineOf({{"reason", "broken \xff byte"}, {"step", 3}});
    QVERIFY(line.starts_with("{\"version\":1,"));
    QVERIFY(line.find('\n') == std::string::npos);
    const Json json = Json::parse(line);
    QCOMPARE(json["reason"].get<std::string>(), std::string("broken \xef\xbf\xbd byte"));
    QCOMPARE(json["step"].get<int>(), 3);
  }

  // Bytes, seconds and rates name their unit at the end of the key, or of the object around them.
  void keysNameTheirUnit() {
    engine::ClusterSnapshot snapshot;
    snapshot.nodes.resize(1);
    snapshot.nodes[0].devices.resize(1);
    snapshot.jobs.resize(1);
    snapshot.transaction.emplace();
    snapshot.transaction->phase = engine::TxnPhase::kTransferring;
    engine::HistoryEntry entry;
    entry.flows.resize(1);
    engine::Proposal proposal;
    proposal.candidates.resize(1);
    for (const Json& document : {app::toJson(snapshot), app::toJson(entry), app::toJson(proposal),
                                 app::toJson(engine::PlanSummary())})
      for (const char* vague :
           {"\"used\"", "\"total\"", "\"bytes_moved\"", "\"bytes_done\"", "\"bytes_total\"",
            "\"eta\"", "\"pause\"", "\"paused\"", "\"tokens_per_s\"", "\"bytes_per_s\"",
            "\"capacity\"", "\"volume_bound\"", "\"link\"", "\"gradients\""})
        QVERIFY2(document.dump().find(vague) == std::string::npos, vague);
  }

  void lossKeepsEveryDigit() {
    engine::Sample sample;
    sample.loss = 5.123456789012345;
    QCOMPARE(Json::parse(app::toJson(sample).dump())["loss"].get<double>(), sample.loss);
  }
};

TESSERA_TEST_APPLESS(JsonTest)
#include "json_test.moc"
